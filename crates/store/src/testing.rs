//! A fresh database for every test, of the engine that `STORE` names: `sqlite`, the default; `postgres`, at the server that
//! `BOURSE_TEST_POSTGRES` names; or `citus`, on the cluster whose coordinator `BOURSE_TEST_CITUS` names.

pub(crate) mod citus_rules;
mod digest;
pub(crate) mod fan_out;
mod nodes;
mod older_copy;
mod past;
mod patience;
mod relay;
pub(crate) mod row_counts;
mod scale;
mod template;
mod workers;

use std::any::Any;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use bourse_wire::{
    ActivityAction, ActivityFacts, Address, ChainId, Day, Marketplace, OrderFacts, OrderKey, ProjectId,
    Timestamp, TokenId,
};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

pub use self::fan_out::on_citus;
use self::nodes::{Nodes, new_name};
pub use self::older_copy::OlderCopy;
pub use self::past::{PAST_IDS, PAST_KEY, Tables, add_past_rows, note_schema, tables_of};
pub use self::patience::given_up_after;
pub use self::relay::{Cut, Fate, Outage, Relay};
pub use self::row_counts::most_rows;
pub use self::scale::{make_collections, make_holders, make_orders, numbered_address};
pub use self::workers::WorkerRelays;
use crate::args::args;
use crate::attributions::Authorship;
use crate::backend::Engine;
use crate::columns::{Insert, or_replace};
use crate::commit::{Changed, NextVersion, raise_version};
use crate::{
    Actor, Author, Batch, Change, Changes, CollectionId, CollectionKey, DatabaseUrl, Event, Mark,
    MeteredLine, OpenOptions, Part, ProjectScope, Store, StoreError, UsageTotal,
};
use crate::{activities, feed, market_projects};

/// What a table has columns for.
pub trait Members {
    /// All of it by name, as something to change.
    fn members(&mut self) -> Vec<(&'static str, &mut dyn Any)>;
}

/// A database that nobody else uses. A SQLite one is deleted with this value, one of PostgreSQL when the next one is made,
/// by this process or by the next.
pub struct TestDatabase {
    /// Where it is.
    pub url: DatabaseUrl,
    /// A directory of the test's own.
    pub directory: tempfile::TempDir,
}

/// Has minutes pass for a store when a test says so, whatever the clock of its database shows.
pub fn show_time(store: &Store, tell: impl Fn() -> Timestamp + Send + Sync + 'static) {
    let _is_first = store.clock.stand_in.set(Box::new(tell));
}

/// A batch of the operator, without a key.
pub fn batch(collection: CollectionKey, changes: Vec<Change>) -> Batch {
    Batch { collection, changes, key: None, author: Author::Operator, at: Timestamp::ZERO }
}

/// Something that happened to one of a token, known by its transaction; nothing else is known of it.
pub fn happened(action: ActivityAction, token: u64, tx: &str) -> ActivityFacts {
    ActivityFacts {
        action,
        marketplace: Marketplace::Unknown,
        token_id: Some(token.into()),
        tx_hash: tx.to_owned(),
        from: Address::ZERO,
        to: None,
        quantity: 1.into(),
        quantity_decimals: 0,
        price_amount: None,
        currency: None,
        at: Timestamp::ZERO,
        log_index: 0,
        block_number: None,
        block_hash: None,
        unique_hash: tx.to_owned(),
        created_at: Timestamp::ZERO,
    }
}

/// The operator, where no test asks when.
pub fn operator() -> Actor {
    Actor::command_line(Timestamp::ZERO)
}

/// The operator at a time.
pub fn operator_at(at: Timestamp) -> Actor {
    Actor::command_line(at)
}

/// How long a server may be silent that no test takes away.
const PATIENCE: Duration = Duration::from_mins(1);

/// Tells apart the databases of one test process.
static COUNTER: AtomicU32 = AtomicU32::new(0);

impl TestDatabase {
    /// Makes one with all tables and nothing in them, as a copy of a template.
    pub async fn fresh() -> Result<Self, StoreError> {
        let directory = directory()?;
        let url = match Server::named()? {
            Server::Sqlite => template::copy_file(&directory.path().join(FILE)).await?,
            Server::Postgres(server) => template::copy_database(&server, &new_name()).await?,
        };
        Ok(Self { url, directory })
    }

    /// Makes one without tables, for tests of what comes before there are any.
    pub async fn empty() -> Result<Self, StoreError> {
        let directory = directory()?;
        let url = match Server::named()? {
            Server::Sqlite => DatabaseUrl::Sqlite(directory.path().join(FILE)),
            Server::Postgres(server) => {
                let name = new_name();
                Nodes::of(&server).await?.make(&name).await?;
                database_at(&server, &name)
            }
        };
        Ok(Self { url, directory })
    }

    /// Opens it, as often as the test likes.
    pub async fn open(&self) -> Result<Store, StoreError> {
        // However busy the machine is, nobody takes the server for gone.
        let options = OpenOptions { connections_max: 4, patience: PATIENCE, ..OpenOptions::default() };
        Store::open(&self.url, options, Timestamp::ZERO).await
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let DatabaseUrl::Postgres(url) = &self.url {
            nodes::finished(url);
        }
    }
}

/// Keeps events without counting them, as was done before events were counted.
pub async fn keep_uncounted(
    store: &Store,
    scope: ProjectScope,
    events: Vec<Event>,
) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move { crate::events::insert_events(&mut session, scope.project(), events).await })
        })
        .await
}

/// Forgets links by their contracts, as if a server had made them that knows nothing of that table.
pub async fn forget_links(store: &Store, contracts: Vec<CollectionKey>) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move {
                for contract in contracts {
                    let sql = "DELETE FROM contract_links WHERE chain_id = $1 AND contract_address = $2";
                    session.execute(sql, args![contract.chain, contract.address]).await?;
                }
                Ok(())
            })
        })
        .await
}

/// Puts tokens of a collection into the queue of metadata to be fetched, `None` being the contract itself. A collection that
/// is not known is left alone.
pub async fn enqueue_metadata(
    store: &Store,
    collection: CollectionKey,
    items: Vec<Option<TokenId>>,
    due_at: Timestamp,
) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move {
                match crate::collections::find(&mut session, collection).await? {
                    Some(id) => crate::metadata_queue::enqueue(&mut session, id, &items, due_at).await,
                    None => Ok(()),
                }
            })
        })
        .await
}

/// Changes rows of a collection, which is `$1`, and tells nobody: neither its version nor its change log.
pub async fn change_unnoticed(store: &Store, id: CollectionId, sql: &'static str) -> Result<u64, StoreError> {
    store.write(move |mut session| Box::pin(async move { session.execute(sql, args![id.0]).await })).await
}

/// Has the administrator of PostgreSQL run a statement in a database, for which `NAME` stands in it. False where the
/// database is of another kind.
pub async fn administer(database: &TestDatabase, sql: &str) -> Result<bool, StoreError> {
    let (Server::Postgres(server), DatabaseUrl::Postgres(url)) = (Server::named()?, &database.url) else {
        return Ok(false);
    };
    let name = nodes::name_of(url);
    let DatabaseUrl::Postgres(direct) = database_at(&server, name) else { return Ok(false) };
    let mut connection = PgConnection::connect(&direct).await?;
    // What the test has set for others is not for the administrator.
    run(&mut connection, "SET role = none; SET default_transaction_read_only = off".to_owned()).await?;
    run(&mut connection, sql.replace("NAME", name)).await?;
    connection.close().await?;
    Ok(true)
}

/// Returns once all watchers were told of what was committed by now.
pub async fn announced(store: &Store) {
    match &store.engine {
        Engine::Sqlite(_) => {}
        Engine::Postgres(engine) => engine.announced().await,
    }
}

/// What every project used of every service from one day on, metered or reported.
pub async fn usage_since(store: &Store, day: Day) -> Result<Vec<UsageTotal>, StoreError> {
    store
        .read(move |mut session| {
            Box::pin(async move { crate::usage::sums(&mut session, day, "%".to_owned()).await })
        })
        .await
}

/// What a counter of a test counted of a service on a day.
pub fn metered(project: ProjectId, service: &str, day: Day, units: u64) -> MeteredLine {
    MeteredLine { project, service: service.to_owned(), day, counter: "test".to_owned(), units }
}

/// A collection that has this number, in no store.
pub fn collection_id(number: u64) -> CollectionId {
    CollectionId(number)
}

/// Takes activities of a collection back that have this text in their transaction, as a chain does that goes another way.
/// With `anew` everything of the chain will be read once more.
pub async fn take_back(
    store: &Store,
    id: CollectionId,
    tx_hash: &'static str,
    anew: bool,
) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move {
                if anew {
                    market_projects::keep_counted(&mut session, id).await?;
                }
                let named = args![format!("%{tx_hash}%")];
                let gone = activities::remove(&mut session, id, "tx_hash LIKE $2", named).await?;
                feed::retract(&mut session, id, (!anew).then_some(gone)).await
            })
        })
        .await
}

/// A version of a collection with the number drawn with it: its own, or one that the change log goes on from. Any other is
/// told with the number 0.
pub async fn mark_of(store: &Store, id: CollectionId, version: u64) -> Result<Mark, StoreError> {
    store
        .read(move |mut session| {
            Box::pin(async move {
                let newest = crate::collections::read_version(&mut session, id).await?;
                if newest.version == version {
                    return Ok(newest);
                }
                let sql = "SELECT follows FROM collection_changes WHERE collection_id = $1 AND version = $2";
                let stamp = session.value(sql, args![id.0, version + 1]).await?.unwrap_or_default();
                Ok(Mark { version, stamp })
            })
        })
        .await
}

/// Everything that changed after a version, for whoever knows that by its number alone.
pub async fn changes_since(
    store: &Store,
    id: CollectionId,
    version: u64,
) -> Result<Option<Changes>, StoreError> {
    let stamp = mark_of(store, id, version).await?.stamp;
    store.changes(id, Mark { version, stamp }).await
}

/// Takes the last version of a collection back, with an order that it changed as it was before: as a database is that was set
/// back to an older state of itself.
pub async fn set_back(store: &Store, id: CollectionId, order: OrderFacts) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move {
                let version = crate::collections::hold(&mut session, id).await?.version;
                let sql = "DELETE FROM collection_changes WHERE collection_id = $1 AND version = $2
                    RETURNING follows";
                let stamp: Option<u64> = session.value(sql, args![id.0, version]).await?;
                let sql = "UPDATE collection_versions SET version = $2, stamp = $3 WHERE collection_id = $1";
                session.execute(sql, args![id.0, version - 1, stamp.unwrap_or_default()]).await?;
                let sql = "DELETE FROM attributions WHERE collection_id = $1 AND version = $2";
                session.execute(sql, args![id.0, version]).await?;
                let orders = Insert::owned(id, [order])?;
                session.insert(orders, &or_replace::<OrderFacts>(&[])).await
            })
        })
        .await
}

/// Gives an order a side by its number, as a version of the service might that knows more sides, and raises the version.
pub async fn write_side(
    store: &Store,
    id: CollectionId,
    order: OrderKey,
    side: u8,
) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move {
                let before = crate::collections::hold(&mut session, id).await?;
                let sql = "UPDATE orders SET side = $4
                    WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
                let key = args![id.0, order.marketplace.number(), order.order_id.as_str(), side];
                session.execute(sql, key).await?;
                let changed = Changed { orders: vec![order], ..Changed::default() };
                let authorship = &Authorship::new(Author::Operator, Timestamp::ZERO);
                let changes_kept = OpenOptions::default().changes_kept;
                let next = NextVersion { before, changed: &changed, authorship, changes_kept };
                raise_version(&mut session, id, next).await.map(drop)
            })
        })
        .await
}

/// Lets a project state something by the number of its subject, as a version of the service might that knows more.
pub async fn write_grant(store: &Store, scope: ProjectScope, subject: u8) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move {
                crate::revisions::Revision::Credentials.raise(&mut session).await?;
                let sql = "INSERT INTO grants (project_id, subject, chain_id, contract_address, granted_at)
                    VALUES ($1, $2, 0, '', $3)";
                session.execute(sql, args![scope.project(), subject, Timestamp::ZERO]).await.map(drop)
            })
        })
        .await
}

/// Writes a number into a column of every row of a table, as a version of the service might that knows more of them.
pub async fn write_number(
    store: &Store,
    table: &'static str,
    column: &'static str,
    number: u8,
) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move {
                session.execute(format!("UPDATE {table} SET {column} = $1"), args![number]).await.map(drop)
            })
        })
        .await
}

/// Writes something else into what the blocks of chains replaced, as a version of the service might that knows more.
pub async fn write_undo(store: &Store, known: String, other: String) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE chain_undo SET before = REPLACE(before, $1, $2)";
                session.execute(sql, args![known, other]).await.map(drop)
            })
        })
        .await
}

/// Gives an entry of the audit log another act, as a version of the service might that knows more.
pub async fn write_act(store: &Store, entry: u64, word: &'static str) -> Result<(), StoreError> {
    store
        .write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE audit SET act = $2 WHERE audit_id = $1";
                session.execute(sql, args![entry, word]).await.map(drop)
            })
        })
        .await
}

/// A hash over everything that the blocks of a chain made: two stores that have the same one know the same. What the
/// funds of makers cover of their offers is left out, as no block states it.
pub async fn facts_digest(store: &Store, chain: ChainId) -> Result<[u8; 32], StoreError> {
    let rows = facts_rows(store, chain).await?;
    Ok(alloy_primitives::keccak256(rows.join("\n")).0)
}

/// What [`facts_digest`] is made of, as lines: for whoever wants to see what differs.
pub async fn facts_rows(store: &Store, chain: ChainId) -> Result<Vec<String>, StoreError> {
    store.snapshot(move |mut session| Box::pin(async move { digest::rows(&mut session, chain).await })).await
}

/// Everything of a collection, put together from its parts: what changed since there was nothing.
pub async fn load_all(store: &Store, id: CollectionId) -> Result<Changes, StoreError> {
    let (sender, mut parts) = tokio::sync::mpsc::channel(4);
    let collect = async {
        let mut all = Changes::default();
        while let Some(part) = parts.recv().await {
            match part {
                Part::Begin { mark } => (all.version, all.stamp) = (mark.version, mark.stamp),
                Part::Contract(info) => all.contract = Some(info),
                Part::Tokens(tokens) => all.tokens.extend(tokens),
                Part::Balances(balances) => all.balances.extend(balances),
                Part::Orders(orders) => all.orders.extend(orders),
            }
        }
        all
    };
    let (loaded, all) = tokio::join!(store.load(id, sender), collect);
    loaded.map(|()| all)
}

/// What the databases of tests are on.
enum Server {
    Sqlite,
    /// Its URL, or that of a cluster's coordinator.
    Postgres(String),
}

impl Server {
    #[expect(clippy::disallowed_methods, reason = "the environment chooses the engine of tests")]
    fn named() -> Result<Self, StoreError> {
        let (store, variable) = match std::env::var("STORE").as_deref() {
            Err(_) | Ok("sqlite") => return Ok(Self::Sqlite),
            Ok("postgres") => ("postgres", "BOURSE_TEST_POSTGRES"),
            Ok("citus") => ("citus", "BOURSE_TEST_CITUS"),
            Ok(other) => {
                let reason = format_args!("STORE={other} is neither sqlite nor postgres nor citus");
                return Err(unusable(reason));
            }
        };
        let needed = || unusable(format_args!("STORE={store} needs {variable}, the server's URL"));
        std::env::var(variable).map(Self::Postgres).map_err(|_| needed())
    }
}

/// The file of a SQLite database, within the test's directory.
const FILE: &str = "bourse.db";

fn unusable(reason: impl std::fmt::Display) -> StoreError {
    StoreError::Address { url: "test database".to_owned(), reason: reason.to_string() }
}

fn directory() -> Result<tempfile::TempDir, StoreError> {
    tempfile::tempdir().map_err(unusable)
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<(), StoreError> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await?;
    Ok(())
}

fn database_at(server: &str, name: &str) -> DatabaseUrl {
    let (base, database) = server.rsplit_once('/').unwrap_or((server, ""));
    let parameters = database.find('?').map_or("", |start| &database[start..]);
    DatabaseUrl::Postgres(format!("{base}/{name}{parameters}"))
}

/// A write of another process that is not through yet: whoever writes waits for it, whoever reads sees what was before.
pub struct HeldWrite {
    release: tokio::sync::oneshot::Sender<()>,
    written: tokio::task::JoinHandle<Result<(), StoreError>>,
}

impl HeldWrite {
    /// Writes a batch, and holds the transaction open. Returns once it is written.
    pub async fn begin(store: &Store, batch: Batch) -> Self {
        let (store, changes_kept) = (store.clone(), store.options.changes_kept);
        let (release, released) = tokio::sync::oneshot::channel();
        let (began, begun) = tokio::sync::oneshot::channel();
        let written = tokio::spawn(async move {
            store
                .write(move |mut session| {
                    Box::pin(async move {
                        crate::commit::commit_within(&mut session, batch, changes_kept).await?;
                        let _ = began.send(());
                        // Dropping the sender lets it go as well.
                        let _ = released.await;
                        Ok(())
                    })
                })
                .await
        });
        // When it failed, the release says so.
        let _ = begun.await;
        Self { release, written }
    }

    /// Whether another write of the same store waits for it by now.
    pub async fn is_waited_for(&self, store: &Store) -> Result<bool, StoreError> {
        if let Engine::Sqlite(engine) = &store.engine {
            return Ok(engine.queued() > 0);
        }
        // On a cluster whoever waits does so on the node that has what is held.
        let sql = if on_citus() {
            "SELECT 1::BIGINT FROM citus_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'"
        } else {
            "SELECT 1::BIGINT FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'"
        };
        store.read(move |mut session| Box::pin(async move { session.has(sql, args![]).await })).await
    }

    /// Lets it end, and waits until it is on disk.
    pub async fn release(self) -> Result<(), StoreError> {
        let _ = self.release.send(());
        self.written.await.map_err(|_| StoreError::Closed)?
    }
}
