//! Copies what is in the journal to where it belongs, on a thread of its own: it takes an fsync of the whole database, for
//! which nobody who writes should wait.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::readers::{ONCE_CACHE_SIZE, open_reader};
use crate::StoreError;

/// The thread that does it. It ends with this.
pub(super) struct Checkpoints {
    /// To ask for one. There is room for one that is asked for while another runs.
    asked: Option<SyncSender<()>>,
    turn: Arc<Mutex<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    pub(super) fn start(database: &Path) -> io::Result<Self> {
        let (asked, asks) = sync_channel(1);
        let turn = Arc::new(Mutex::new(()));
        let (path, turns) = (database.to_owned(), Arc::clone(&turn));
        let builder = std::thread::Builder::new().name("sqlite-journal".to_owned());
        let thread = builder.spawn(move || run(&path, &asks, &turns))?;
        Ok(Self { asked: Some(asked), turn, thread: Some(thread) })
    }

    /// Asks for one, and does not wait for it.
    pub(super) fn ask(&self) {
        // Where one is asked for already, that one will do.
        let _ = self.asked.as_ref().map(|asked| asked.try_send(()));
    }

    /// Waits until none runs, and keeps others from running: SQLite refuses a second one rather than wait for the first.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.asked = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that keeps the journal of the database short panicked");
        }
    }
}

fn run(path: &Path, asks: &Receiver<()>, turns: &Mutex<()>) {
    let mut opened = None;
    while asks.recv().is_ok() {
        let _turn = turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = copy(path, &mut opened) {
            // It is asked for again with the next commit.
            tracing::warn!(%error, "copying the journal into the database");
        }
    }
}

/// Copies as much as can be copied while others read and write.
fn copy(path: &Path, opened: &mut Option<Connection>) -> Result<(), StoreError> {
    let connection = match opened {
        Some(connection) => connection,
        None => opened.insert(open_reader(path, ONCE_CACHE_SIZE)?),
    };
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
}
