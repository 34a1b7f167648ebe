//! A disk below SQLite that fails where a test wants it.
//!
//! The first [`Disk`] puts a layer between SQLite and its files, for the whole process: everything is passed on to the
//! files, but for what a plan says of those in the directory of a disk. Nothing above has to know of it. Whoever sees
//! to a database in such a directory can have its n-th write refused, its disk full for a while, or its power cut.
//!
//! What a power cut leaves is what was synced: [`Disk::after_power_cut`] writes that to another directory, where the
//! database is opened as after a restart.

mod image;
mod plan;
mod vfs;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use image::Kept;
pub use plan::{Fault, Operation, Weather};

use plan::State;

/// The files in one directory. Cheap to clone; every clone is the same disk.
#[derive(Clone)]
pub struct Disk(Arc<State>);

impl Disk {
    /// The disk that the files in a directory are on from now on, which must be there. Files that are open already are not.
    pub fn under(directory: &Path) -> io::Result<Self> {
        let state = Arc::new(State::new(directory.canonicalize()?));
        vfs::watch(&state)?;
        Ok(Self(state))
    }

    /// Lets the `nth` operation of a kind fail from now on, once; a power cut fails everything after it too. Numbers begin
    /// with 1.
    pub fn fail(&self, operation: Operation, nth: u32, fault: Fault) {
        self.0.arm(operation, nth, fault);
    }

    /// How the disk is until it is told otherwise.
    pub fn set_weather(&self, weather: Weather) {
        self.0.set_weather(weather);
    }

    /// Lets nothing fail any more. Tells whether something did that [`Disk::fail`] asked for.
    pub fn spare(&self) -> bool {
        self.0.spare()
    }

    /// How many operations failed so far, for whatever reason.
    pub fn failed(&self) -> u64 {
        self.0.failed()
    }

    /// Waits until every file is closed, but no longer than this; tells whether they are.
    pub fn wait_until_closed(&self, at_most: Duration) -> bool {
        self.0.wait_until_closed(at_most)
    }

    /// Writes what is left of the files after a power cut to another directory.
    pub fn after_power_cut(&self, to: &Path, kept: Kept) -> io::Result<()> {
        self.0.images().write_to(to, kept)
    }
}
