//! A fresh database for every test, of the engine that `STORE` names (`sqlite`, the default, or `postgres`, at the
//! server that `BOURSE_TEST_POSTGRES` names).

mod digest;

use std::sync::atomic::{AtomicU32, Ordering};

use bourse_wire::{ChainId, Timestamp};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::args::args;
use crate::market_projects;
use crate::{Changes, CollectionId, DatabaseUrl, Event, OpenOptions, Part, ProjectScope, Store, StoreError};

/// A database that nobody else uses. A SQLite one is deleted with this value; PostgreSQL's go with their server.
pub struct TestDatabase {
    /// Where it is.
    pub url: DatabaseUrl,
    /// A directory of the test's own.
    pub directory: tempfile::TempDir,
}

/// Tells apart the databases of one test process.
static COUNTER: AtomicU32 = AtomicU32::new(0);

impl TestDatabase {
    /// Makes one.
    #[expect(clippy::disallowed_methods, reason = "the environment chooses the engine of tests")]
    pub async fn fresh() -> Result<Self, StoreError> {
        let unusable = |reason: String| StoreError::Address { url: "test database".to_owned(), reason };
        let directory = tempfile::tempdir().map_err(|error| unusable(error.to_string()))?;
        let url = match std::env::var("STORE").as_deref() {
            Err(_) | Ok("sqlite") => DatabaseUrl::Sqlite(directory.path().join("bourse.db")),
            Ok("postgres") => {
                let server = std::env::var("BOURSE_TEST_POSTGRES").map_err(|_| {
                    unusable("STORE=postgres needs BOURSE_TEST_POSTGRES, the server's URL".to_owned())
                })?;
                DatabaseUrl::Postgres(create_database(&server).await?)
            }
            Ok(other) => return Err(unusable(format!("STORE={other} is neither sqlite nor postgres"))),
        };
        Ok(Self { url, directory })
    }

    /// Opens it, as often as the test likes.
    pub async fn open(&self) -> Result<Store, StoreError> {
        Store::open(&self.url, OpenOptions { connections_max: 4, ..OpenOptions::default() }, Timestamp::ZERO)
            .await
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
                let sql = "DELETE FROM activities WHERE collection_id = $1 AND tx_hash LIKE $2";
                session.execute(sql, args![id.0, format!("%{tx_hash}%")]).await?;
                market_projects::uncount(&mut session, id).await
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
                Part::Begin { version } => all.version = version,
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

async fn create_database(server: &str) -> Result<String, StoreError> {
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = format!("bourse_test_{}_{count}", std::process::id());
    let mut connection = PgConnection::connect(server).await?;
    sqlx::raw_sql(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name}"))).execute(&mut connection).await?;
    sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await?;
    connection.close().await?;
    let base = server.rsplit_once('/').map_or(server, |(base, _)| base);
    Ok(format!("{base}/{name}"))
}

/// A number for a collection that no database knows, for stand-ins of the store.
pub fn collection_id(number: u64) -> CollectionId {
    CollectionId(number)
}
