//! Reading a whole collection from SQLite.

use std::path::Path;

use bourse_wire::OrderFacts;
use rusqlite::{OptionalExtension as _, Transaction};
use tokio::sync::mpsc::Sender;

use super::Sqlite;
use super::readers::{ONCE_CACHE_SIZE, open_reader};
use crate::StoreError;
use crate::collections::{CollectionId, Mark, StoredToken};
use crate::load::{Balance, Gatherer, LoadEnd, Loaded, Part, select_all};
use crate::row::{Row, RowCopy};

impl Sqlite {
    /// Reads and sends a collection, on a thread and a connection of its own.
    pub(crate) async fn load(&self, id: CollectionId, parts: Sender<Part>) -> Result<(), LoadEnd> {
        let path = self.path.clone();
        let loading = tokio::task::spawn_blocking(move || load(&path, id, &parts));
        loading.await.map_err(|_| StoreError::Closed)?
    }
}

fn load(path: &Path, id: CollectionId, parts: &Sender<Part>) -> Result<(), LoadEnd> {
    let mut connection = open_reader(path, ONCE_CACHE_SIZE)?;
    // Until it ends, every statement sees the state that the first one saw.
    let snapshot = connection.transaction()?;

    let sql = "SELECT version, stamp FROM collection_versions WHERE collection_id = $1";
    let mark = |row: &rusqlite::Row<'_>| Ok(Mark { version: row.get(0)?, stamp: row.get(1)? });
    let mark = snapshot.query_row(sql, [id.0], mark).optional()?;
    send(parts, Part::Begin { mark: mark.unwrap_or_default() })?;
    let sql = "SELECT info FROM contracts WHERE collection_id = $1";
    if let Some(info) = snapshot.query_row(sql, [id.0], |row| row.get(0)).optional()? {
        send(parts, Part::Contract(info))?;
    }
    send_all::<StoredToken>(&snapshot, id, parts)?;
    send_all::<Balance>(&snapshot, id, parts)?;
    send_all::<OrderFacts>(&snapshot, id, parts)
}

fn send(parts: &Sender<Part>, part: Part) -> Result<(), LoadEnd> {
    parts.blocking_send(part).map_err(|_| LoadEnd::ReceiverGone)
}

fn send_all<T: Loaded>(
    snapshot: &Transaction<'_>,
    id: CollectionId,
    parts: &Sender<Part>,
) -> Result<(), LoadEnd> {
    let mut statement = snapshot.prepare(&select_all::<T>())?;
    let columns = statement.column_count();
    let mut rows = statement.query([id.0])?;
    let mut gatherer = Gatherer::<T>::new();
    let mut copy = RowCopy::default();
    while let Some(source) = rows.next()? {
        copy.clear();
        super::statements::copy(source, columns, &mut copy)?;
        let row = Row::Copied(std::mem::take(&mut copy));
        if let Some(part) = gatherer.add(&row)? {
            send(parts, part)?;
        }
        // The next row uses the same memory.
        if let Row::Copied(used) = row {
            copy = used;
        }
    }
    gatherer.finish().map_or(Ok(()), |part| send(parts, part))
}
