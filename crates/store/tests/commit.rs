//! The write path of collections: versions, replays, all or nothing, writers at once.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod orders;
    pub(crate) mod projects;
}

use std::collections::{BTreeMap, BTreeSet};

use bourse_store::testing::{self, changes_since, load_all, metered, on_citus, usage_since};
use bourse_store::{
    AttributionPage, Author, Batch, Change, CollectionId, CollectionKey, Committed, DatabaseUrl, MeteredLine,
    Store, StoreError, StoredToken,
};
use bourse_wire::{Address, Amount, ChainId, Day, OrderFacts, OrderStatus, ProjectId, Timestamp, TokenId};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use support::database::open;
use support::orders::{change, offer};
use support::projects::project;
use tokio::task::JoinSet;

fn collection(number: u8) -> CollectionKey {
    CollectionKey { chain: ChainId(1), address: Address::from_bytes([number; 20]) }
}

fn token(id: u64, metadata: &str) -> Change {
    Change::Token { token_id: id.into(), metadata: metadata.to_owned() }
}

fn batch(collection: CollectionKey, changes: Vec<Change>) -> Batch {
    testing::batch(collection, changes)
}

fn order(id: &str, price: u64) -> Change {
    change(OrderFacts { price_amount: price.into(), ..offer(id) })
}

fn balance(token: u64, amount: u64) -> Change {
    Change::Balance { token_id: token.into(), account: Address::ZERO, balance: amount.into() }
}

async fn id_of(store: &Store, key: CollectionKey) -> CollectionId {
    store.collection(key).await.unwrap().unwrap()
}

async fn tokens_of(store: &Store, id: CollectionId) -> BTreeMap<TokenId, String> {
    let loaded = load_all(store, id).await.unwrap();
    loaded.tokens.into_iter().map(|token| (token.token_id, token.metadata)).collect()
}

/// Runs a statement behind the store's back.
async fn behind_its_back(url: &DatabaseUrl, sql: &str) {
    match url {
        DatabaseUrl::Sqlite(path) => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
        DatabaseUrl::Postgres(url) => {
            let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
            let mut connection = PgConnection::connect(url).await.unwrap();
            sql.execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
    }
}

/// The version that came of a commit, how many records are different, and whether it had been applied before. No order was
/// refused.
fn told(committed: &Committed) -> (u64, u64, bool) {
    assert_eq!(committed.refused, []);
    (committed.version, committed.changed, committed.replayed)
}

#[tokio::test]
async fn a_change_raises_the_version_by_one_and_a_repetition_does_not() {
    let (_database, store) = open().await;
    let key = collection(1);
    let changes = [
        Change::Contract("{}".to_owned()),
        token(1, "a"),
        token(1, "b"),
        balance(1, 5),
        balance(1, 0),
        order("o", 1),
        order("o", 2),
    ];
    for (before, change) in changes.into_iter().enumerate() {
        let first = store.commit(batch(key, vec![change.clone()])).await.unwrap();
        assert_eq!(told(&first), (before as u64 + 1, 1, false), "{change:?}");
        let second = store.commit(batch(key, vec![change.clone()])).await.unwrap();
        assert_eq!(second, Committed { changed: 0, ..first }, "{change:?}");
    }
    let nothing = store.commit(batch(key, Vec::new())).await.unwrap();
    assert_eq!((nothing.version, nothing.changed), (7, 0));
    let many =
        vec![token(1, "c"), token(2, "c"), balance(1, 9), order("p", 1), Change::Contract("[]".to_owned())];
    assert_eq!(told(&store.commit(batch(key, many)).await.unwrap()), (8, 5, false));
    let id = id_of(&store, key).await;
    assert_eq!(store.versions(vec![id]).await.unwrap()[0].1.version, 8);
    assert_eq!(store.versions(Vec::new()).await.unwrap(), []);
}

#[tokio::test]
async fn a_batch_larger_than_a_statement_is_one_commit() {
    let (_database, store) = open().await;
    let many = |text: &str| (0..3_000).map(|id| token(id, text)).collect::<Vec<_>>();
    let first = store.commit(batch(collection(1), many("a"))).await.unwrap();
    assert_eq!(told(&first), (1, 3_000, false));
    let second = store.commit(batch(collection(1), many("b"))).await.unwrap();
    assert_eq!(told(&second), (2, 3_000, false));
    let id = id_of(&store, collection(1)).await;
    let since = changes_since(&store, id, 1).await.unwrap().unwrap();
    assert_eq!(since.tokens.len(), 3_000);
    assert!(since.tokens.iter().all(|token| token.metadata == "b"));
}

#[tokio::test]
async fn a_batch_key_counts_once_whatever_it_brings() {
    let (_database, store) = open().await;
    let keyed = |collection, text: &str| Batch {
        key: Some("k".to_owned()),
        ..batch(collection, vec![token(1, text)])
    };
    let first = store.commit(keyed(collection(1), "a")).await.unwrap();
    assert_eq!(told(&first), (1, 1, false));
    for text in ["a", "b"] {
        let again = store.commit(keyed(collection(1), text)).await.unwrap();
        assert_eq!(told(&again), (1, 0, true));
    }
    let id = id_of(&store, collection(1)).await;
    assert_eq!(tokens_of(&store, id).await[&TokenId::from(1)], "a");
    let elsewhere = store.commit(keyed(collection(2), "b")).await.unwrap();
    assert_eq!(told(&elsewhere), (1, 1, false), "keys are a collection's own");
}

#[tokio::test]
async fn of_two_changes_to_one_thing_the_later_counts() {
    let (_database, store) = open().await;
    let twice = vec![
        token(1, "a"),
        balance(1, 1),
        order("o", 1),
        Change::Contract("1".to_owned()),
        token(1, "b"),
        balance(1, 2),
        order("o", 2),
        Change::Contract("2".to_owned()),
    ];
    let committed = store.commit(batch(collection(1), twice)).await.unwrap();
    assert_eq!(told(&committed), (1, 4, false));
    let id = id_of(&store, collection(1)).await;
    assert_eq!(tokens_of(&store, id).await[&TokenId::from(1)], "b");
    assert_eq!(store.contract(id).await.unwrap().as_deref(), Some("2"));
    let later = vec![balance(1, 2), order("o", 2)];
    assert_eq!(store.commit(batch(collection(1), later)).await.unwrap().changed, 0);
}

#[tokio::test]
async fn a_commit_that_fails_leaves_nothing() {
    let (database, store) = open().await;
    store.commit(batch(collection(1), vec![token(1, "a")])).await.unwrap();
    let keyed = |collection| Batch {
        collection,
        changes: vec![
            Change::Contract("{}".to_owned()),
            token(1, "b"),
            token(2, "b"),
            balance(1, 1),
            order("o", 1),
        ],
        key: Some("k".to_owned()),
        author: Author::Operator,
        at: Timestamp::ZERO,
    };
    // The first and the last that the orders of a batch are written to, and where it is kept who stated them.
    for table in ["orders", "activities", "attributions"] {
        behind_its_back(&database.url, &format!("ALTER TABLE {table} RENAME TO hidden")).await;
        for collection in [collection(1), collection(2)] {
            assert!(matches!(store.commit(keyed(collection)).await, Err(StoreError::Database(_))));
        }
        behind_its_back(&database.url, &format!("ALTER TABLE hidden RENAME TO {table}")).await;
        let loaded = load_all(&store, id_of(&store, collection(1)).await).await.unwrap();
        let counts = (loaded.version, loaded.contract, loaded.balances.len(), loaded.orders.len());
        assert_eq!(counts, (1, None, 0, 0));
        assert_eq!(loaded.tokens, [StoredToken { token_id: 1.into(), metadata: "a".to_owned() }]);
        assert_eq!(store.collection(collection(2)).await.unwrap(), None);
        let attributions = store.attributions(collection(1), AttributionPage::newest(10)).await.unwrap();
        assert_eq!(attributions.len(), 1, "nobody said what was not committed");
    }

    let second = store.commit(keyed(collection(1))).await.unwrap();
    assert_eq!(told(&second), (2, 5, false), "the key was not used up");
}

#[tokio::test]
async fn a_failure_takes_no_neighbour_with_it() {
    // On a cluster only the coordinator knows which projects there are, so that nothing fails here.
    if on_citus() {
        return;
    }
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let missing: ProjectId = 77.try_into().unwrap();
    let day: Day = "2024-01-01".parse().unwrap();
    let line = move |project, counter: u32, units| MeteredLine {
        counter: counter.to_string(),
        ..metered(project, "s", day, units)
    };
    let mut tasks = JoinSet::new();
    for number in 0..30 {
        let store = store.clone();
        tasks.spawn(async move {
            // The second line of every third task fails after the first was written.
            let fails = number % 3 == 0;
            let second =
                if fails { line(missing, number, 1) } else { line(scope.project(), 100 + number, 10) };
            let result = store.put_metered(vec![line(scope.project(), number, 100), second]).await;
            assert_eq!(result.is_err(), fails);
        });
    }
    tasks.join_all().await;
    let totals = usage_since(&store, day).await.unwrap();
    assert_eq!(totals.iter().map(|total| total.units).collect::<Vec<_>>(), [20 * 110]);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_flush_at_once_do_not_block_each_other() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let day: Day = "2024-01-01".parse().unwrap();
    let mut tasks = JoinSet::new();
    for task in 0..4 {
        let store = store.clone();
        tasks.spawn(async move {
            for units in 1..=10 {
                let line = |service: u32| MeteredLine {
                    counter: task.to_string(),
                    ..metered(scope.project(), &service.to_string(), day, units)
                };
                let mut lines: Vec<_> = (0..20).map(line).collect();
                lines.rotate_left(task * 5);
                store.put_metered(lines).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    let totals = usage_since(&store, day).await.unwrap();
    assert!(totals.len() == 20 && totals.iter().all(|total| total.units == 40), "{totals:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_at_once_to_one_collection_follow_each_other() {
    const TASKS: u64 = 32;
    const COMMITS: u64 = 20;
    let (database, store) = open().await;
    let elsewhere = database.open().await.unwrap();
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let store = if task % 4 == 0 { elsewhere.clone() } else { store.clone() };
        tasks.spawn(async move {
            let mut versions = Vec::new();
            for commit in 0..COMMITS {
                let changes =
                    vec![token(task * COMMITS + commit, "x"), Change::Contract(format!("[{task},{commit}]"))];
                let committed = store.commit(batch(collection(1), changes)).await.unwrap();
                assert_eq!((committed.changed, committed.replayed), (2, false));
                versions.push(committed.version);
            }
            assert!(versions.is_sorted());
            versions
        });
    }
    let versions: BTreeSet<u64> = tasks.join_all().await.into_iter().flatten().collect();
    assert!(versions.into_iter().eq(1..=TASKS * COMMITS));
    let id = id_of(&store, collection(1)).await;
    let loaded = load_all(&store, id).await.unwrap();
    assert_eq!(loaded.version, TASKS * COMMITS);
    let tokens: BTreeSet<TokenId> = loaded.tokens.iter().map(|token| token.token_id).collect();
    assert!(tokens.into_iter().eq((0..TASKS * COMMITS).map(TokenId::from)));
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_at_once_to_different_collections_do_not_meet() {
    let (_database, store) = open().await;
    let mut tasks = JoinSet::new();
    for task in 0..16_u8 {
        let store = store.clone();
        tasks.spawn(async move {
            for commit in 0..20 {
                // The same batch key everywhere, and two tasks to a collection at first.
                let first = store.commit(batch(collection(task / 2), vec![token(task.into(), "x")])).await;
                assert_eq!(first.unwrap().changed, u64::from(commit == 0));
                let key = Some(commit.to_string());
                let own =
                    Batch { key, ..batch(collection(100 + task), vec![token(commit, &task.to_string())]) };
                let committed = store.commit(own).await.unwrap();
                assert_eq!(told(&committed), (commit + 1, 1, false));
            }
        });
    }
    tasks.join_all().await;
    for task in 0..16_u8 {
        let id = id_of(&store, collection(100 + task)).await;
        let tokens = tokens_of(&store, id).await;
        assert!(tokens.len() == 20 && tokens.values().all(|text| *text == task.to_string()));
        let shared = load_all(&store, id_of(&store, collection(task / 2)).await).await.unwrap();
        assert_eq!((shared.version, shared.tokens.len()), (2, 2));
    }
}

/// An ending counts for what an order is at that moment, and in the order of the changes of its batch.
#[tokio::test]
async fn an_order_ends_unless_it_is_over() {
    let (_database, store) = open().await;
    let key = collection(1);
    let end = |id: &str| Change::OrderEnded { key: offer(id).key(), status: OrderStatus::Cancelled };
    let filled = |id: &str| change(OrderFacts { quantity_remaining: Amount::ZERO, ..offer(id) });
    let changes = [order("open", 1), filled("sold"), order("ended at once", 1), end("ended at once")];
    assert_eq!(store.commit(batch(key, changes.into())).await.unwrap().changed, 3);
    let id = id_of(&store, key).await;
    let ends = ["open", "sold", "ended at once", "unknown"].map(end);
    assert_eq!(store.commit(batch(key, ends.into())).await.unwrap().changed, 1);
    let again = [end("open"), order("open", 2)];
    assert_eq!(store.commit(batch(key, again.into())).await.unwrap().changed, 1);
    let status = async |name: &str| {
        let orders = store.orders_by_key(id, vec![offer(name).key()]).await.unwrap();
        orders.into_iter().map(|order| order.status).collect::<Vec<_>>()
    };
    assert_eq!(status("open").await, [OrderStatus::Active], "the later change counts");
    assert_eq!(status("sold").await, [OrderStatus::Active], "what is over is left alone");
    assert_eq!(status("ended at once").await, [OrderStatus::Cancelled]);
    assert_eq!(status("unknown").await, []);
}

/// Indices have to be looked through for every column that a statement names, whether it has another value or not.
#[tokio::test]
async fn a_new_price_replaces_nothing_that_an_index_has() {
    let (database, store) = open().await;
    if !matches!(database.url, DatabaseUrl::Sqlite(_)) {
        return;
    }
    store.commit(batch(collection(1), vec![order("7", 1)])).await.unwrap();
    let refuse =
        "CREATE TRIGGER refuse AFTER UPDATE OF maker, token_id, status, side, block_number, operator, native,
        backing, order_id ON orders BEGIN SELECT RAISE(ABORT, 'an index is touched'); END";
    behind_its_back(&database.url, refuse).await;
    assert_eq!(store.commit(batch(collection(1), vec![order("7", 2)])).await.unwrap().changed, 1);
    let id = id_of(&store, collection(1)).await;
    let price = async || store.orders_by_key(id, vec![offer("7").key()]).await.unwrap()[0].price_amount;
    assert_eq!(price().await, Amount::from(2));
    // What an index has is replaced where it differs.
    let moved = OrderFacts { maker: Address::from_bytes([9; 20]), ..offer("7") };
    store.commit(batch(collection(1), vec![change(moved)])).await.unwrap_err();
    assert_eq!(price().await, Amount::from(2));
}
