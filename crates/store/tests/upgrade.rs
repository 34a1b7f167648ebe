//! Databases of every schema of the past, with data: looked at, brought up to date, and read. And those of the future.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::sync::Arc;

use bourse_store::testing::{
    PAST_IDS, Tables, TestDatabase, add_past_rows, administer, load_all, note_schema, operator, tables_of,
};
use bourse_store::{
    Blocks, BlocksCommitted, CollectionKey, DatabaseUrl, Migration, MigrationState, StoreError, Upgrade,
};
use bourse_wire::{Address, Amount, ChainId, Marketplace, ServiceName};
use futures_util::StreamExt as _;

/// Tables that a migration fills from others, and the first schema that has them: up to date, they have the same rows
/// whether a program of today or the migration wrote them.
const FILLED: [(&str, i64); 5] = [
    ("collection_projects", 6),
    ("grants", 11),
    ("project_files", 15),
    ("contract_links", 23),
    ("link_queue", 31),
];

async fn rows(database: &TestDatabase) -> Tables {
    tables_of(database, None).await.unwrap()
}

/// What a database of today holds with the rows of all schemas up to each: the first is of schema 1.
async fn written_today() -> Vec<Tables> {
    let database = TestDatabase::fresh().await.unwrap();
    let store = database.open().await.unwrap();
    let mut all = Vec::new();
    for schema in 1..=Migration::newest() {
        add_past_rows(&store, schema).await.unwrap();
        all.push(rows(&database).await);
    }
    store.close().await;
    all
}

/// Databases that are brought up to date at once: the server of PostgreSQL has several processes.
const AT_ONCE: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn every_table_of_every_schema_has_rows_that_are_brought_along() {
    let today = Arc::new(written_today().await);
    let upgrades =
        (1..=Migration::newest()).map(|schema| tokio::spawn(bring_along(schema, Arc::clone(&today))));
    let mut upgrades = futures_util::stream::iter(upgrades).buffer_unordered(AT_ONCE);
    while let Some(done) = upgrades.next().await {
        done.unwrap();
    }
}

async fn bring_along(schema: i64, today: Arc<Vec<Tables>>) {
    let written = &today[usize::try_from(schema - 1).unwrap()];
    let database = TestDatabase::of_schema(schema).await.unwrap();
    let before = rows(&database).await;
    for (table, rows) in &before.rows {
        assert!(
            !rows.is_empty(),
            "schema {schema} has no row in {table}: add one to testing/past/{schema:04}.sql"
        );
    }
    let looked = Upgrade::look(&database.url).await.unwrap();
    assert_eq!((looked.schema.applied, looked.obstacle), (schema, None));
    assert_eq!(rows(&database).await, before, "looking changes nothing");
    let store = database.open().await.unwrap();
    assert_eq!(store.schema_state().await.unwrap().state(), MigrationState::UpToDate);
    store.close().await;
    // What was there is there, and what came to it is what a program of today would have written.
    let kept = tables_of(&database, Some(&before)).await.unwrap();
    for (table, rows) in &before.rows {
        let missing: Vec<&String> = rows.iter().filter(|row| !kept.rows[table].contains(row)).collect();
        assert!(missing.is_empty(), "schema {schema} loses {missing:?} of {table}");
    }
    let mut expected = written.clone();
    for (table, since) in FILLED.into_iter().filter(|(_, since)| *since > schema) {
        let rows = today.last().unwrap().rows[table].clone();
        assert!(!rows.is_empty(), "{table} since {since}");
        expected.rows.insert(table.to_owned(), rows);
    }
    assert_eq!(rows(&database).await, expected, "schema {schema}");
}

/// The first schema in which chains were followed.
const CHAINS_SINCE: i64 = 4;

#[tokio::test]
async fn what_blocks_replaced_before_an_upgrade_is_written_back_after_it() {
    let relics = CollectionKey { chain: ChainId(137), address: account(0xc2) };
    for schema in [CHAINS_SINCE, 9, Migration::newest()] {
        let database = TestDatabase::of_schema(schema).await.unwrap();
        let store = database.open().await.unwrap();
        let id = store.collection(relics).await.unwrap().unwrap();
        let expected = "0x2222222222222222222222222222222222222222222222222222222222222222".parse().unwrap();
        let covered = vec![relics.address];
        let rewind = Blocks {
            chain: relics.chain,
            expected,
            rewind_to: Some(101),
            blocks: Vec::new(),
            covered,
            window: 4,
        };
        let done = store.commit_blocks(rewind).await.unwrap();
        assert!(matches!(done, BlocksCommitted::Done { .. }), "schema {schema}: {done:?}");
        let all = load_all(&store, id).await.unwrap();
        let order = all.orders.iter().find(|order| order.order_id == "7").unwrap();
        assert_eq!((order.quantity_remaining, order.block_number), (Amount::from(3), 101), "schema {schema}");
        let held = all.balances.iter().find(|held| held.account == account(0xa1)).unwrap();
        assert_eq!(held.balance, Amount::from(1), "schema {schema}");
        store.close().await;
    }
}

/// What was signed is the only one that tells it of an order that is there already.
#[tokio::test]
async fn orders_of_before_are_filled_whole_as_they_were_signed() {
    let orders = [
        ("opensea", r#"{"offerer":"0x","orderType":0,"startTime":"0"}"#, true),
        ("opensea", r#"{"offerer":"0x","orderType":1,"startTime":"0"}"#, false),
        ("mintify", r#"{"offerer":"0x","orderType":2,"startTime":"0"}"#, true),
        ("magic_eden", r#"{"offerer":"0x","orderType":3,"startTime":"0"}"#, false),
        ("magic_eden", r#"{"protocol":1,"cosigner":"0x"}"#, true),
        ("payment_processor", r#"{"protocol":0,"cosigner":"0x"}"#, true),
        ("payment_processor", r#"{"protocol":2,"cosigner":"0x"}"#, false),
        ("looks_rare", r#"{"quoteType":1}"#, true),
        ("x2y2", r#"{"id":1}"#, true),
        ("zerox", r#"{"direction":0}"#, false),
        ("blur", r#"{"trader":"0x","orderType":0,"nonce":"0"}"#, false),
    ];
    let service = ServiceName::new("bourse");
    let copies = orders.iter().enumerate().map(|(number, (marketplace, native, _))| {
        let marketplace = Marketplace::parse(marketplace, &service).unwrap().number();
        format!(
            "INSERT INTO orders (collection_id, marketplace, order_id, side, status, origin_name, token_id, maker, price_amount,
                currency_address, quantity_initial, quantity_remaining, quantity_decimals, fee_bps, fee_breakdown, valid_from,
                valid_until, block_number, order_created_at, order_updated_at, created_at, updated_at, native)
            SELECT collection_id, {marketplace}, 'copy {number}', side, status, origin_name, token_id, maker, price_amount,
                currency_address, quantity_initial, quantity_remaining, quantity_decimals, fee_bps, fee_breakdown, valid_from,
                valid_until, block_number, order_created_at, order_updated_at, created_at, updated_at, '{native}'
            FROM orders WHERE order_id = 'signed';\n"
        )
    });
    let database = TestDatabase::of_schema_and(26, copies.collect()).await.unwrap();
    let store = database.open().await.unwrap();
    let relics = CollectionKey { chain: ChainId(137), address: account(0xc2) };
    let id = store.collection(relics).await.unwrap().unwrap();
    let all = load_all(&store, id).await.unwrap().orders;
    for (number, (marketplace, native, is_whole)) in orders.iter().enumerate() {
        let order = all.iter().find(|order| order.order_id == format!("copy {number}")).unwrap();
        assert_eq!(order.is_whole, *is_whole, "{marketplace} {native}");
    }
    store.close().await;
}

fn account(number: u8) -> Address {
    let mut bytes = [0; 20];
    bytes[19] = number;
    Address::from_bytes(bytes)
}

#[tokio::test]
async fn ids_go_on_where_they_were() {
    let database = TestDatabase::of_schema(1).await.unwrap();
    let store = database.open().await.unwrap();
    let project = store.create_project("new".parse().unwrap(), operator()).await.unwrap();
    assert_eq!(project.id.get(), PAST_IDS + 1);
    store.close().await;
}

#[tokio::test]
async fn a_schema_of_tomorrow_is_refused_and_left_as_it_is() {
    let newest = Migration::newest();
    let database = TestDatabase::of_schema(newest).await.unwrap();
    note_schema(&database, newest + 1, "of_tomorrow").await.unwrap();
    let before = rows(&database).await;
    let refused = database.open().await.err().unwrap();
    assert!(
        matches!(refused, StoreError::Newer { found, known } if (found, known) == (newest + 1, newest)),
        "{refused}"
    );
    let looked = Upgrade::look(&database.url).await.unwrap();
    assert_eq!(looked.schema.state(), MigrationState::Ahead);
    assert_eq!(looked.obstacle, Some(refused.to_string()));
    assert!(looked.steps().is_empty());
    assert_eq!(rows(&database).await, before);
}

#[tokio::test]
async fn a_history_that_is_not_ours_is_refused_and_left_as_it_is() {
    // Somebody else's tables, and ours of which a step was never applied.
    for (schema, noted, name) in [(3, 4, "of_another"), (3, 5, "fetch")] {
        let database = TestDatabase::of_schema(schema).await.unwrap();
        note_schema(&database, noted, name).await.unwrap();
        let before = rows(&database).await;
        let refused = database.open().await.err().unwrap();
        assert!(
            matches!(&refused, StoreError::OtherHistory { found, expected }
                if *found == format!("{noted} {name}") && expected == "4 chain"),
            "{refused}"
        );
        let looked = Upgrade::look(&database.url).await.unwrap();
        assert_eq!(looked.obstacle, Some(refused.to_string()));
        assert_eq!(rows(&database).await, before);
    }
}

#[tokio::test]
async fn looking_makes_no_file_and_leaves_those_that_are_there() {
    let database = TestDatabase::empty().await.unwrap();
    let DatabaseUrl::Sqlite(path) = &database.url else { return };
    let looked = Upgrade::look(&database.url).await.unwrap();
    assert_eq!((looked.schema.applied, looked.steps().len()), (0, Migration::ALL.len()));
    assert_eq!(files(&database), []);
    // One that nobody has open, and then one with a journal that somebody has.
    let closed = TestDatabase::fresh().await.unwrap();
    let before = files(&closed);
    assert_eq!(Upgrade::look(&closed.url).await.unwrap().schema.state(), MigrationState::UpToDate);
    assert_eq!(files(&closed), before);
    let store = database.open().await.unwrap();
    let open = files(&database);
    assert!(open.len() > 1, "it has a journal: {open:?}");
    assert_eq!(Upgrade::look(&database.url).await.unwrap().schema.state(), MigrationState::UpToDate);
    assert_eq!(files(&database), open);
    // As a process leaves it that is killed: the files as they are, at another place.
    let killed = TestDatabase::empty().await.unwrap();
    let DatabaseUrl::Sqlite(to) = &killed.url else { return };
    std::fs::copy(path, to).unwrap();
    std::fs::copy(path.with_extension("db-wal"), to.with_extension("db-wal")).unwrap();
    assert_eq!(Upgrade::look(&killed.url).await.unwrap().schema.state(), MigrationState::UpToDate);
    let [database_file, journal] =
        ["db", "db-wal"].map(|ending| std::fs::read(to.with_extension(ending)).unwrap());
    assert_eq!(database_file, std::fs::read(path).unwrap());
    assert_eq!(journal, std::fs::read(path.with_extension("db-wal")).unwrap());
    store.close().await;
}

/// The names and contents of the files of a SQLite database, but for the index of the journal, which is memory that
/// processes share.
fn files(database: &TestDatabase) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(database.directory.path()).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| !name.ends_with("-shm"))
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn whoever_may_not_alter_the_tables_is_told_so_before() {
    let database = TestDatabase::of_schema(3).await.unwrap();
    let administer = async |sql: &str| administer(&database, sql).await.unwrap();
    let obstacle = async || Upgrade::look(&database.url).await.unwrap().obstacle.unwrap_or_default();
    assert_eq!(obstacle().await, "");
    if !administer("ALTER DATABASE NAME SET default_transaction_read_only = on").await {
        return;
    }
    assert!(obstacle().await.contains("only read"), "{}", obstacle().await);
    assert!(matches!(database.open().await.err().unwrap(), StoreError::Unavailable(_)));
    administer("ALTER DATABASE NAME RESET default_transaction_read_only").await;
    // Somebody who may only use the tables, and then somebody who may make others.
    administer("CREATE ROLE NAME").await;
    administer("GRANT ALL ON ALL TABLES IN SCHEMA public TO NAME").await;
    administer("ALTER DATABASE NAME SET role = NAME").await;
    assert!(obstacle().await.contains("GRANT CREATE"), "{}", obstacle().await);
    administer("GRANT CREATE ON SCHEMA public TO NAME").await;
    assert!(obstacle().await.contains("another user"), "{}", obstacle().await);
    administer("ALTER DATABASE NAME RESET role").await;
    administer("DROP OWNED BY NAME").await;
    administer("DROP ROLE NAME").await;
    assert_eq!(obstacle().await, "");
}

#[tokio::test]
async fn nothing_is_in_the_way_of_a_program_that_has_nothing_to_do() {
    let database = TestDatabase::fresh().await.unwrap();
    administer(&database, "ALTER DATABASE NAME SET default_transaction_read_only = on").await.unwrap();
    let looked = Upgrade::look(&database.url).await.unwrap();
    assert_eq!((looked.schema.state(), looked.obstacle), (MigrationState::UpToDate, None));
}
