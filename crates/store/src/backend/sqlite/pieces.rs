//! Reading all pieces of a kind of what is counted from SQLite, on several threads.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bourse_wire::ProjectId;
use rusqlite::{OptionalExtension as _, Transaction};

use super::Sqlite;
use super::readers::{ONCE_CACHE_SIZE, open_reader};
use crate::StoreError;
use crate::analytics::{ChunkKey, Lineage};
use crate::collections::Mark;

/// Days that a thread reads before it looks for more to do.
const DAYS_AT_ONCE: usize = 4;
/// Threads that read at once.
const THREADS_MAX: usize = 8;

impl Sqlite {
    /// Reads and decodes every piece of a kind, with the version that they are of.
    pub(crate) async fn pieces<T, D>(
        &self,
        project: ProjectId,
        kind: u8,
        decode: D,
    ) -> Result<(Mark, Vec<T>), StoreError>
    where
        T: Send + 'static,
        D: Fn(ChunkKey, &[u8]) -> T + Send + Sync + 'static,
    {
        let path = self.path.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
            // Each thread has a snapshot of its own. When somebody committed between two of them, one has to do.
            match read_on(threads, &path, project, kind, &decode)? {
                Some(read) => Ok(read),
                None => read_on(1, &path, project, kind, &decode)?
                    .ok_or_else(|| StoreError::corrupt("analytics version", "two in one snapshot")),
            }
        });
        reading.await.map_err(|_| StoreError::Closed)?
    }
}

/// Reads on so many threads; nothing when they saw different versions.
fn read_on<T: Send>(
    threads: usize,
    path: &Path,
    project: ProjectId,
    kind: u8,
    decode: &(impl Fn(ChunkKey, &[u8]) -> T + Sync),
) -> Result<Option<(Mark, Vec<T>)>, StoreError> {
    let next = AtomicUsize::new(0);
    let read = || read_days(path, (project, kind), &next, decode);
    let parts: Vec<Result<(Mark, Vec<T>), StoreError>> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(read)).collect();
        let own = read();
        let join = |other: thread::ScopedJoinHandle<'_, _>| {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        others.into_iter().map(join).chain([own]).collect()
    });
    let mut all: Option<(Mark, Vec<T>)> = None;
    for part in parts {
        let (version, mut pieces) = part?;
        match &mut all {
            None => all = Some((version, pieces)),
            Some((known, _)) if *known != version => return Ok(None),
            Some((_, all)) => all.append(&mut pieces),
        }
    }
    Ok(all)
}

/// Reads the pieces of some days, and of more as long as others left any.
fn read_days<T>(
    path: &Path,
    (project, kind): (ProjectId, u8),
    next: &AtomicUsize,
    decode: &impl Fn(ChunkKey, &[u8]) -> T,
) -> Result<(Mark, Vec<T>), StoreError> {
    let project = u64::from(project);
    let mut connection = open_reader(path, ONCE_CACHE_SIZE)?;
    let snapshot = connection.transaction()?;
    let sql = "SELECT version, stamps FROM analytics_versions WHERE project_id = ?";
    let lineage = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
    let lineage = snapshot.query_row(sql, [project], lineage).optional()?;
    let mark = match lineage {
        Some((version, stamps)) => Lineage::stored(version, &stamps)?.newest(),
        None => Mark::default(),
    };
    let days = days(&snapshot, project, kind)?;
    let sql = "SELECT day, part, body FROM analytics_chunks
        WHERE project_id = ? AND kind = ? AND day BETWEEN ? AND ?";
    let mut statement = snapshot.prepare(sql)?;
    let (day, part) = (statement.column_index("day")?, statement.column_index("part")?);
    let body = statement.column_index("body")?;
    let mut pieces = Vec::new();
    // Whoever has the same version has the same days.
    while let Some(days) = days.chunks(DAYS_AT_ONCE).nth(next.fetch_add(1, Ordering::Relaxed)) {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { break };
        let mut rows = statement.query((project, kind, first, last))?;
        while let Some(row) = rows.next()? {
            let body = row.get_ref(body)?.as_blob().map_err(|error| StoreError::corrupt("piece", error))?;
            pieces.push(decode((kind, row.get(day)?, row.get(part)?), body));
        }
    }
    Ok((mark, pieces))
}

/// The days of a kind, ascending, found by stepping from one to the next.
fn days(snapshot: &Transaction<'_>, project: u64, kind: u8) -> Result<Vec<i32>, StoreError> {
    let sql = "SELECT MIN(day) FROM analytics_chunks WHERE project_id = ? AND kind = ? AND day > ?";
    let mut statement = snapshot.prepare(sql)?;
    let mut days = Vec::new();
    let mut before = i64::MIN;
    while let Some(day) = statement.query_row((project, kind, before), |row| row.get::<_, Option<i32>>(0))? {
        days.push(day);
        before = day.into();
    }
    Ok(days)
}
