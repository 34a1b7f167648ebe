//! Moving an installation from SQLite to PostgreSQL: every row of every table, and then a look at all of them in both.
//!
//! How far it is is noted in the database that is moved to, along with the rows: whatever stops a move, the same command goes
//! on with it. Until both are found to be the same nobody can be served from there.

mod digest;
mod rows;
mod tables;

use std::path::{Path, PathBuf};
use std::time::Duration;

use bourse_wire::Timestamp;
use futures_util::future::BoxFuture;

pub use self::digest::Digest;
use self::rows::Chunk;
use self::tables::Table;
use crate::args::args;
use crate::backend::{DatabaseUrl, Engine, OpenOptions, Store};
use crate::columns::{Insert, selection};
use crate::session::Session;
use crate::{MigrationState, Pending, StoreError, Upgrade};

/// There while a move is not finished, with the last row that was moved of each table, as SQLite numbers them.
const NOTES: &str =
    "CREATE TABLE unfinished_move (table_name TEXT NOT NULL PRIMARY KEY, last_row BIGINT NOT NULL)";

/// How long the server may be silent: nobody waits for a move who could ask somebody else.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why an installation cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// There is nothing.
    #[error("there is no database {0}")]
    Missing(PathBuf),
    /// It is not of this version of the program.
    #[error(
        "the database that is to be moved has schema {applied} and this program needs {known}: run `bourse upgrade` on it \
         with this version first"
    )]
    Schema {
        /// The schema that it has.
        applied: i64,
        /// The one of this program.
        known: i64,
    },
    /// Somebody else's rows would be among those that are moved.
    #[error("the database to move to is not empty, there are rows in `{0}`: name one that is")]
    NotEmpty(&'static str),
    /// What was moved is not what is there.
    #[error(
        "`{table}` is not the same after the move: {from} in SQLite, {to} in PostgreSQL. Was it served or changed since the \
         move began? Empty the database in PostgreSQL and move again. The one in SQLite is as it was"
    )]
    Differs {
        /// The table.
        table: &'static str,
        /// What is in SQLite.
        from: Digest,
        /// What is in PostgreSQL.
        to: Digest,
    },
    /// One of the databases failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

type Moving<'a, T> = BoxFuture<'a, Result<T, MoveError>>;

/// A move that was begun. Whoever has it sees to it that nobody changes what is moved.
pub struct Move {
    from: Store,
    to: Store,
    tables: Vec<Table>,
}

selection! {
    struct LastRow {
        table_name: String,
        last_row: i64,
    }
}

impl Move {
    /// Begins to move a SQLite database to an empty one in PostgreSQL, or goes on with a move that was interrupted.
    pub fn begin<'a>(from: &'a Path, to: &'a str, now: Timestamp) -> Moving<'a, Self> {
        Box::pin(async move {
            if !from.exists() {
                return Err(MoveError::Missing(from.to_owned()));
            }
            let url = DatabaseUrl::Sqlite(from.to_owned());
            let schema = Upgrade::look(&url).await?.schema;
            if schema.state() != MigrationState::UpToDate {
                return Err(MoveError::Schema { applied: schema.applied, known: schema.known });
            }
            let options = OpenOptions { connections_max: 2, patience: PATIENCE, ..OpenOptions::default() };
            let to = Store::connect(&DatabaseUrl::Postgres(to.to_owned()), options).await?;
            to.migrate(now).await?;
            let from = Store::connect(&url, options).await?;
            let tables =
                to.read(|mut session| Box::pin(async move { tables::read(&mut session).await })).await?;
            let begun = Self { from, to, tables };
            begun.claim().await?;
            Ok(begun)
        })
    }

    /// Makes the database that is moved to one that nobody can use until it is done.
    async fn claim(&self) -> Result<(), MoveError> {
        let tables = self.tables.clone();
        let claimed = self.to.write(move |mut session| {
            Box::pin(async move {
                if is_unfinished(&mut session).await? {
                    return Ok(None);
                }
                for table in tables.iter().filter(|table| !table.is_seeded()) {
                    if !rows::is_empty(&mut session, table).await? {
                        return Ok(Some(table.name));
                    }
                }
                session.execute(NOTES, args![]).await?;
                for table in tables.iter().filter(|table| table.is_seeded()) {
                    session.execute(format!("DELETE FROM {}", table.name), args![]).await?;
                }
                Ok(None)
            })
        });
        claimed.await?.map_or(Ok(()), |table| Err(MoveError::NotEmpty(table)))
    }

    /// How many rows there are to be moved.
    pub fn rows(&self) -> Moving<'_, u64> {
        Box::pin(async {
            let mut rows = 0;
            for table in self.tables.clone() {
                let count = self
                    .from
                    .read(move |mut session| Box::pin(async move { rows::count(&mut session, &table) }));
                rows += count.await?;
            }
            Ok(rows)
        })
    }

    /// Copies what was not copied before; says how many rows it has copied by now.
    pub fn copy<'a>(&'a self, told: &'a mut (dyn FnMut(u64) + Send)) -> Moving<'a, u64> {
        Box::pin(async move {
            let mut copied = 0;
            let noted = self.to.read(|mut session| {
                Box::pin(async move { session.select::<LastRow>("FROM unfinished_move", args![]).await })
            });
            let noted = noted.await?;
            for table in &self.tables {
                let last = noted.iter().find(|note| note.table_name == table.name);
                let mut last = last.map_or(i64::MIN, |note| note.last_row);
                while let Some(chunk) = self.chunk(table, last).await? {
                    (last, copied) = (chunk.last, copied + chunk.rows.len() as u64);
                    self.put(table, chunk).await?;
                    told(copied);
                }
            }
            Ok(copied)
        })
    }

    async fn chunk(&self, table: &Table, after: i64) -> Result<Option<Chunk>, StoreError> {
        let table = table.clone();
        let read = move |mut session: Session<'_>| rows::chunk(&mut session, &table, after);
        self.from.read(move |session| Box::pin(async move { read(session) })).await
    }

    /// Writes rows, and that they are written.
    async fn put(&self, table: &Table, Chunk { rows, last }: Chunk) -> Result<(), StoreError> {
        let (name, columns) = (table.name, table.list());
        let write = self.to.write(move |mut session| {
            Box::pin(async move {
                session.insert(Insert::plain(name, &columns, rows), "").await?;
                let sql = "INSERT INTO unfinished_move (table_name, last_row) VALUES ($1, $2)
                    ON CONFLICT (table_name) DO UPDATE SET last_row = excluded.last_row";
                session.execute(sql, args![name, last]).await.map(drop)
            })
        });
        write.await
    }

    /// Reads both whole, and lets the new one be used if they are the same; how many rows each table has, and their digest.
    pub fn finish<'a>(
        &'a self,
        told: &'a mut (dyn FnMut(u64) + Send),
    ) -> Moving<'a, Vec<(&'static str, Digest)>> {
        Box::pin(async move {
            let (mut digests, mut rows) = (Vec::new(), 0);
            for table in &self.tables {
                let (from, to) = (digest(&self.from, table).await?, digest(&self.to, table).await?);
                if from != to {
                    return Err(MoveError::Differs { table: table.name, from, to });
                }
                rows += from.rows();
                told(rows);
                digests.push((table.name, from));
            }
            self.release().await?;
            Ok(digests)
        })
    }

    /// Lets the new database be used, with ids that go on where those of the old one ended.
    async fn release(&self) -> Result<(), StoreError> {
        selection! {
            struct LastId {
                name: String,
                value: i64,
            }
        }
        let ids = self.from.read(|mut session| {
            Box::pin(async move { session.select::<LastId>("FROM id_counters", args![]).await })
        });
        let ids = ids.await?;
        let write = self.to.write(move |mut session| {
            Box::pin(async move {
                for LastId { name, value } in ids {
                    // A sequence begins at 1, and says beside whether that was given out.
                    let sql = "SELECT setval($1::REGCLASS, GREATEST($2, 1), $2 > 0)";
                    session.has(sql, args![name, value]).await?;
                }
                session.execute("DROP TABLE unfinished_move", args![]).await?;
                session.notify().await.map(drop)
            })
        });
        write.await
    }

    /// Closes both.
    pub async fn close(self) {
        self.from.close().await;
        self.to.close().await;
    }
}

async fn digest(store: &Store, table: &Table) -> Result<Digest, StoreError> {
    let table = table.clone();
    store.snapshot(move |mut session| Box::pin(async move { rows::digest(&mut session, &table).await })).await
}

/// Whether a move into a database was not finished.
async fn is_unfinished(session: &mut Session<'_>) -> Result<bool, StoreError> {
    session.has("SELECT 1::BIGINT FROM pg_class WHERE oid = to_regclass('unfinished_move')", args![]).await
}

impl Store {
    /// Refuses a database that was not moved to as a whole.
    pub(crate) fn refuse_unfinished_move(&self) -> Pending<'_, ()> {
        if matches!(self.engine, Engine::Sqlite(_)) {
            return Box::pin(async { Ok(()) });
        }
        self.read(|mut session| {
            Box::pin(async move {
                if is_unfinished(&mut session).await? { Err(StoreError::UnfinishedMove) } else { Ok(()) }
            })
        })
    }
}
