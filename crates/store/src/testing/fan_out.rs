//! On a cluster, every statement of the store asks one shard, or has its reason here. Whoever asks all of them waits for the
//! slowest node, and fails with any of them.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, Row as _};

use crate::StoreError;

/// Parts of statements that may ask all shards, and why.
const ALLOWED: &[(&str, &str)] = &[
    (
        "FROM collection_versions WHERE collection_id BETWEEN",
        "what changed anywhere is looked for, many collections at once",
    ),
    ("FROM collection_versions WHERE collection_id IN", "the same, of some of them"),
    ("FROM analytics_versions", "the same, of what is counted"),
    (
        "collection_id IN (SELECT collection_id FROM followed_collections WHERE chain_id = $1)",
        "a block that is replaced or settled is that of all collections of its chain",
    ),
    (
        "collection_id IN (SELECT collection_id FROM followed_collections WHERE chain_id = $1 AND live = $3)",
        "the same, of those that move on with it",
    ),
    ("FROM chain_undo WHERE number > $1 AND collection_id IN", "the same, of those on nodes that are there"),
    ("FROM orders WHERE maker IN", "what an account has or allows changed, whatever it sells"),
    ("FROM orders WHERE order_id IN", "a chain names an order, and not the collection"),
    (
        "CROSS JOIN orders WHERE followed.chain_id = $1",
        "money of makers is asked for, whatever they offer it for",
    ),
    ("FROM orders CROSS JOIN followed_collections", "the same, of those whose money changed"),
    ("FROM orders CROSS JOIN collections", "the same, of one who is asked to allow more of it"),
    ("FROM (SELECT * FROM orders WHERE status = 1", "the collection is named around it, which is the same"),
    ("FROM standing_queue CROSS JOIN", "the chain is asked about signed orders of any collection"),
    ("FROM metadata_queue JOIN collections", "what is due is fetched, of whichever collection it is"),
    ("FROM balances WHERE account = $1", "what an account holds is asked, whatever collection it is of"),
    ("FROM contracts WHERE collection_id IN", "the same, of the contracts that it is of"),
    (
        "FROM activities WHERE from_account = $1",
        "what an account gave is asked, whatever collection it is of",
    ),
    ("FROM activities WHERE to_account = $1", "the same, of what it was given"),
    ("FROM activities WHERE tx_hash = $1", "a transaction may move tokens of any collection"),
    ("FROM contracts JOIN collections", "contracts are listed, all of them"),
    ("FROM contracts CROSS JOIN collections", "the same, those of some chains"),
    ("FROM contracts WHERE collection_id IN", "an address may be a contract's on every chain"),
    ("FROM hosted_assets WHERE content_hash IN", "a file is kept as long as any project has it"),
    ("SUM(filesize) AS bytes FROM hosted_assets", "an operator has all projects counted again"),
    ("FROM usage WHERE day >= $1", "what all projects used is read once, at the start"),
    (
        "FROM contract_collections LEFT JOIN contract_links",
        "links of all projects are looked through once, at the start",
    ),
    ("quote(", "tests compare whole tables"),
    ("quote_nullable(", "tests compare whole tables"),
    ("UPDATE attributions SET author = $1", "tests write what a newer version would"),
    ("UPDATE orders SET marketplace = $1", "tests write what a newer version would"),
    ("UPDATE standing_queue SET marketplace = $1", "tests write what a newer version would"),
    ("UPDATE chain_undo SET before = REPLACE", "tests write what an older version did"),
];

/// What a statement is explained by.
pub(crate) const EXPLAIN: &str = "EXPLAIN (COSTS OFF)";

/// Whether tests run on a cluster.
pub fn on_citus() -> bool {
    *ON_CITUS
}

#[expect(clippy::disallowed_methods, reason = "the environment chooses the engine of tests")]
static ON_CITUS: LazyLock<bool> =
    LazyLock::new(|| std::env::var("STORE").is_ok_and(|store| store == "citus"));

/// Statements that were looked at.
static SEEN: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// Whether a statement is yet to be looked at, which is then said to be.
pub(crate) fn is_new(sql: &str) -> bool {
    let plans = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"];
    on_citus()
        && plans.iter().any(|word| sql.trim_start().starts_with(word))
        && SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(sql.to_owned())
}

/// Whether a statement may ask all shards.
pub(crate) fn is_allowed(sql: &str) -> bool {
    let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    ALLOWED.iter().any(|(part, _)| sql.contains(part))
}

/// Refuses a statement that would ask more than one shard. `query` is the statement behind [`EXPLAIN`].
pub(crate) async fn check(
    connection: &mut PgConnection,
    sql: &str,
    query: Query<'_, Postgres, PgArguments>,
) -> Result<(), StoreError> {
    let mut shards = 0_u32;
    for line in query.fetch_all(connection).await? {
        let line: String = line.try_get(0)?;
        if let Some((_, count)) = line.split_once("Task Count: ") {
            shards = shards.max(count.trim().parse().unwrap_or(u32::MAX));
        }
    }
    if shards > 1 && !is_allowed(sql) {
        let message = format!("it asks {shards} shards: {sql}");
        return Err(StoreError::corrupt("statement", message));
    }
    Ok(())
}
