//! The two engines under equal names: opening, reading, writing, waking up, giving out ids.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bourse_wire::Timestamp;
use futures_util::future::BoxFuture;

use crate::StoreError;
use crate::analytics::Pruned;
use crate::args::args;
use crate::follow::Watcher;
use crate::health::LastLook;
use crate::minutes::DatabaseClock;
use crate::recent::Recent;
use crate::rounds::Rounds;
use crate::session::Session;

/// What the database is asked for, on its way. Boxed here, because the body of an async function is compiled anew by
/// every crate that awaits it: so transactions are compiled once, in this crate.
pub type Pending<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Where the database is.
#[derive(Clone)]
pub enum DatabaseUrl {
    /// A SQLite file, made when missing.
    Sqlite(PathBuf),
    /// A PostgreSQL address. It may hold a password, so it is never printed.
    Postgres(String),
}

/// How to open a store.
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions {
    /// Connections at once: all of them on PostgreSQL, the reading ones on SQLite.
    pub connections_max: u32,
    /// How many versions of each collection's change log are kept for followers.
    pub changes_kept: u64,
    /// How long the journal of SQLite may be before readers are waited for so that it can be emptied.
    pub journal_bytes_max: u64,
    /// How long to wait for one's turn: for a connection of PostgreSQL, or for the writer of SQLite, which another process may keep.
    pub turn_timeout: Duration,
    /// How long PostgreSQL may be silent before it is asked whether it is there, and how long it may take to answer that.
    pub patience: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            connections_max: 8,
            changes_kept: 10_000,
            journal_bytes_max: 64 << 20,
            turn_timeout: Duration::from_secs(30),
            patience: Duration::from_secs(1),
        }
    }
}

/// The store. Cheap to clone; every clone is the same store.
#[derive(Clone)]
pub struct Store {
    pub(crate) engine: Engine,
    pub(crate) options: OpenOptions,
    pub(crate) recent: Arc<Recent>,
    pub(crate) rounds: Arc<Rounds>,
    pub(crate) last_look: Arc<LastLook>,
    pub(crate) clock: DatabaseClock,
    pub(crate) pruned: Arc<Pruned>,
    /// Where the files of hosted collections are, which metadata names. Nowhere for who serves nobody.
    pub(crate) public_url: Arc<str>,
}

#[derive(Clone)]
pub(crate) enum Engine {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

/// A kind of id that is given out once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sequence {
    Collection,
    Project,
    Key,
    HostedCollection,
    Asset,
    Link,
    Audience,
    Contact,
    Contract,
    Task,
    Account,
    Audit,
    /// Of listeners, and of letters that could not be delivered to them.
    Webhook,
}

impl Sequence {
    fn name(self) -> &'static str {
        match self {
            Self::Collection => "collection_ids",
            Self::Project => "project_ids",
            Self::Key => "key_ids",
            Self::HostedCollection => "hosted_collection_ids",
            Self::Asset => "asset_ids",
            Self::Link => "link_ids",
            Self::Audience => "audience_ids",
            Self::Contact => "contact_ids",
            Self::Contract => "contract_ids",
            Self::Task => "task_ids",
            Self::Account => "account_ids",
            Self::Audit => "audit_ids",
            Self::Webhook => "webhook_ids",
        }
    }
}

impl Store {
    /// Opens the database and brings its tables up to date.
    pub fn open(url: &DatabaseUrl, options: OpenOptions, now: Timestamp) -> Pending<'_, Self> {
        Box::pin(async move {
            let store = Self::connect(url, options).await?;
            store.migrate(now).await?;
            store.refuse_unfinished_move().await?;
            Ok(store)
        })
    }

    /// Opens the database as it is, for commands that only look.
    pub fn connect(url: &DatabaseUrl, options: OpenOptions) -> Pending<'_, Self> {
        Box::pin(async move {
            let engine = match url {
                DatabaseUrl::Sqlite(path) => Engine::Sqlite(sqlite::Sqlite::open(path, options).await?),
                DatabaseUrl::Postgres(url) => Engine::Postgres(postgres::Postgres::open(url, options).await?),
            };
            Ok(Self {
                engine,
                options,
                recent: Arc::default(),
                rounds: Arc::default(),
                last_look: Arc::default(),
                clock: DatabaseClock::default(),
                pruned: Arc::default(),
                public_url: Arc::default(),
            })
        })
    }

    /// The store of a service that is at an address.
    #[must_use]
    pub fn served_at(self, public_url: &str) -> Self {
        Self { public_url: public_url.into(), ..self }
    }

    /// Runs `work` on a connection to the database as it is, which changes nothing of it and makes nothing. `None` when it
    /// would be made first.
    pub(crate) async fn look<T, W>(url: &DatabaseUrl, work: W) -> Result<Option<T>, StoreError>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T> + Send + 'static,
    {
        match url {
            DatabaseUrl::Sqlite(path) => sqlite::look(path, work).await,
            DatabaseUrl::Postgres(url) => {
                let options = OpenOptions { connections_max: 1, ..OpenOptions::default() };
                let engine = Box::pin(postgres::Postgres::open(url, options)).await?;
                let found = engine.snapshot(work).await;
                engine.close().await;
                found.map(Some)
            }
        }
    }

    /// The name of the engine, for people.
    pub fn engine_name(&self) -> &'static str {
        match self.engine {
            Engine::Sqlite(_) => "SQLite",
            Engine::Postgres(_) => "PostgreSQL",
        }
    }

    /// How long the journal of SQLite is, in which everything is until it comes to where it belongs; there is none on
    /// PostgreSQL.
    pub fn journal_bytes(&self) -> Option<u64> {
        match &self.engine {
            Engine::Sqlite(engine) => Some(engine.journal_bytes()),
            Engine::Postgres(_) => None,
        }
    }

    /// Whether several servers may work on it.
    pub fn is_for_several(&self) -> bool {
        match &self.engine {
            Engine::Sqlite(_) => false,
            Engine::Postgres(_) => true,
        }
    }

    /// Whether the tables are distributed over the nodes of a cluster.
    pub(crate) fn is_distributed(&self) -> bool {
        match &self.engine {
            Engine::Sqlite(_) => false,
            Engine::Postgres(engine) => engine.is_distributed(),
        }
    }

    /// The same where nobody has looked yet.
    pub(crate) fn may_be_distributed(&self) -> bool {
        match &self.engine {
            Engine::Sqlite(_) => false,
            Engine::Postgres(engine) => engine.may_be_distributed(),
        }
    }

    /// For how long nobody has heard of the database, while it is away. A file is never away: what fails of it fails at once.
    pub fn away_for(&self) -> Option<Duration> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(engine) => engine.away_for(),
        }
    }

    /// Returns once the database is not away: at once, where it is not.
    pub fn until_reached(&self) -> BoxFuture<'_, ()> {
        match &self.engine {
            Engine::Sqlite(_) => Box::pin(std::future::ready(())),
            Engine::Postgres(engine) => Box::pin(engine.until_reached()),
        }
    }

    /// Waits for writes under way and closes the database.
    pub fn close(&self) -> BoxFuture<'_, ()> {
        match &self.engine {
            Engine::Sqlite(engine) => Box::pin(engine.close()),
            Engine::Postgres(engine) => Box::pin(engine.close()),
        }
    }

    /// Runs `work` on a reading connection.
    pub(crate) fn read<T, W>(&self, work: W) -> Pending<'_, T>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T> + Send + 'static,
    {
        match &self.engine {
            Engine::Sqlite(engine) => Box::pin(engine.read(work)),
            Engine::Postgres(engine) => Box::pin(engine.read(work)),
        }
    }

    /// Runs `work` on a connection that sees one state of the database throughout.
    pub(crate) fn snapshot<T, W>(&self, work: W) -> Pending<'_, T>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T> + Send + 'static,
    {
        match &self.engine {
            Engine::Sqlite(engine) => Box::pin(engine.snapshot(work)),
            Engine::Postgres(engine) => Box::pin(engine.snapshot(work)),
        }
    }

    /// Runs `work` in a transaction: when it fails nothing of it stays, and when this returns `Ok` it is on disk.
    pub(crate) fn write<T, W>(&self, work: W) -> Pending<'_, T>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T> + Send + 'static,
    {
        self.write_then(work, |_| ())
    }

    /// Like [`Store::write`], and calls `kept` as soon as the transaction is on disk: on SQLite for one transaction after
    /// the other, as they were committed; on PostgreSQL those that end at the same time may overtake each other.
    pub(crate) fn write_then<T, W, K>(&self, work: W, kept: K) -> Pending<'_, T>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T> + Send + 'static,
        K: FnOnce(&mut T) + Send + 'static,
    {
        match &self.engine {
            Engine::Sqlite(engine) => Box::pin(engine.write(work, kept)),
            Engine::Postgres(engine) => Box::pin(engine.write(work, kept)),
        }
    }

    /// Something that wakes up when anyone changes the database.
    pub fn watch(&self) -> Pending<'_, Watcher> {
        match &self.engine {
            Engine::Sqlite(engine) => Box::pin(async { Ok(Watcher::Sqlite(engine.watch().await?)) }),
            Engine::Postgres(engine) => Box::pin(async { Ok(Watcher::Postgres(engine.watch().await?)) }),
        }
    }
}

pub(crate) use postgres::PostgresWatch;
pub(crate) use sqlite::SqliteWatch;
pub use sqlite::copy_sqlite;

impl Session<'_> {
    /// Gives out `count` ids that nobody had before.
    pub(crate) async fn next_ids(&mut self, sequence: Sequence, count: u64) -> Result<Vec<u64>, StoreError> {
        match self {
            Self::Sqlite(_) => sqlite::next_ids(self, sequence, count).await,
            Self::Postgres(_) => postgres::next_ids(self, sequence, count).await,
        }
    }

    /// Gives out one id that nobody had before.
    pub(crate) async fn next_id(&mut self, sequence: Sequence) -> Result<u64, StoreError> {
        let ids = self.next_ids(sequence, 1).await?;
        ids.first().copied().ok_or_else(|| StoreError::corrupt("id sequence", sequence.name()))
    }

    /// Waits until no other transaction holds a number, and holds it until this one ends.
    pub(crate) async fn hold_number(&mut self, number: i64) -> Result<(), StoreError> {
        match self {
            // There is one writer.
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(_) => self.has("SELECT pg_advisory_xact_lock($1)", args![number]).await.map(drop),
        }
    }

    /// Has every watcher told, soon after this transaction is committed, that something changed. Whoever looks finds it at once,
    /// and those who were not told do so in less than a second.
    pub(crate) fn notify_soon(&mut self) {
        match self {
            // Whoever watches a file sees every change of it.
            Self::Sqlite(_) => {}
            Self::Postgres(connection) => connection.announce_soon(),
        }
    }

    /// A number drawn at random, by which what changes is known again.
    pub(crate) async fn draw(&mut self) -> Result<u64, StoreError> {
        let drawn = match self {
            Self::Sqlite(_) => sqlite::notify(self).await,
            Self::Postgres(_) => postgres::draw(self).await,
        };
        drawn?.ok_or_else(|| StoreError::corrupt("random number", "missing"))
    }

    /// Tells every watcher, once this transaction commits, that something changed. Gives a number drawn at random, by which
    /// what changes is known again.
    pub(crate) async fn notify(&mut self) -> Result<u64, StoreError> {
        let drawn = match self {
            Self::Sqlite(_) => sqlite::notify(self).await,
            Self::Postgres(_) => postgres::notify(self).await,
        };
        drawn?.ok_or_else(|| StoreError::corrupt("random number", "missing"))
    }
}
