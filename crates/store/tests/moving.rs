//! Moving a database from SQLite to PostgreSQL. Where the tests are for SQLite there is nothing to move to.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bourse_store::testing::{Tables, TestDatabase, add_past_rows, batch, load_all, tables_of};
use bourse_store::{
    Change, CollectionKey, DatabaseUrl, Migration, Move, MoveError, OpenOptions, Store, StoreError,
};
use bourse_wire::{Address, ChainId, Timestamp, TokenId};
use tokio::sync::Notify;

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(137), address: Address::ZERO };

/// A SQLite database, and where to move it.
struct Journey {
    directory: tempfile::TempDir,
    target: TestDatabase,
    to: String,
}

impl Journey {
    async fn new() -> Option<Self> {
        let target = TestDatabase::empty().await.unwrap();
        let DatabaseUrl::Postgres(to) = target.url.clone() else { return None };
        Some(Self { directory: tempfile::tempdir().unwrap(), target, to })
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("bourse.db")
    }

    async fn source(&self) -> Store {
        open(&self.file()).await
    }

    async fn begin(&self) -> Result<Move, MoveError> {
        Move::begin(&self.file(), &self.to, Timestamp::ZERO).await
    }

    /// Moves everything; how many rows were copied.
    async fn go(&self) -> Result<u64, MoveError> {
        let begun = self.begin().await?;
        let copied = begun.copy(&mut |_| ()).await?;
        begun.finish(&mut |_| ()).await?;
        begun.close().await;
        Ok(copied)
    }
}

async fn open(file: &Path) -> Store {
    let url = DatabaseUrl::Sqlite(file.to_owned());
    Store::open(&url, OpenOptions::default(), Timestamp::ZERO).await.unwrap()
}

/// Puts rows into every table.
async fn fill(store: &Store) {
    for schema in 1..=Migration::newest() {
        add_past_rows(store, schema).await.unwrap();
    }
}

/// What is in a database, but for when its tables were made.
async fn tables(database: &TestDatabase) -> Tables {
    let mut tables = tables_of(database, None).await.unwrap();
    tables.rows.remove("schema_migrations");
    tables
}

/// What a database in PostgreSQL has that was filled there.
async fn filled_there() -> Tables {
    let database = TestDatabase::fresh().await.unwrap();
    let store = database.open().await.unwrap();
    fill(&store).await;
    store.close().await;
    tables(&database).await
}

#[tokio::test]
async fn every_row_of_every_table_is_moved() {
    let Some(journey) = Journey::new().await else { return };
    let source = journey.source().await;
    fill(&source).await;
    let (name, now) = ("made after all", Timestamp::ZERO);
    let copied = journey.go().await.unwrap();
    assert!(copied > 50, "{copied}");
    let moved = tables(&journey.target).await;
    assert!(moved.rows.values().all(|rows| !rows.is_empty()));
    assert_eq!(moved, filled_there().await);
    // Ids go on where they ended.
    let target = journey.target.open().await.unwrap();
    let actor = || bourse_store::testing::operator_at(now);
    let made_there = target.create_project(name.parse().unwrap(), actor()).await.unwrap();
    let made_here = source.create_project(name.parse().unwrap(), actor()).await.unwrap();
    assert_eq!(made_there, made_here);
    source.close().await;
    target.close().await;
}

#[tokio::test]
async fn a_move_that_was_interrupted_goes_on_and_nobody_is_served_before_its_end() {
    let Some(journey) = Journey::new().await else { return };
    let source = journey.source().await;
    fill(&source).await;
    let begun = journey.begin().await.unwrap();
    let rows = begun.rows().await.unwrap();
    let (stop, mut first) = (Arc::new(Notify::new()), 0);
    let told = Arc::clone(&stop);
    let mut told = |copied: u64| {
        first = copied;
        if copied > rows / 3 {
            told.notify_one();
        }
    };
    tokio::select! {
        biased;
        () = stop.notified() => {}
        copied = begun.copy(&mut told) => panic!("all of {} at once", copied.unwrap()),
    }
    begun.close().await;
    assert!(first > rows / 3 && first < rows, "{first} of {rows}");
    assert!(matches!(journey.target.open().await, Err(StoreError::UnfinishedMove)));
    // What was under way when it stopped may have been committed or not.
    let rest = journey.go().await.unwrap();
    assert!(rest <= rows - first && rest > 0, "{rest} after {first} of {rows}");
    assert_eq!(tables(&journey.target).await, filled_there().await);
    journey.target.open().await.unwrap().close().await;
    source.close().await;
}

#[tokio::test]
async fn tables_of_any_length_and_rows_of_any_size_are_moved() {
    let Some(journey) = Journey::new().await else { return };
    let source = journey.source().await;
    let token = |number: u64| Change::Token {
        token_id: TokenId::from(number),
        // Some are so large that few are copied at once.
        metadata: format!(
            r#"{{"name":"{number}","text":"{}"}}"#,
            "x".repeat(if number < 30 { 700_000 } else { 3 })
        ),
    };
    for first in [0, 6_000] {
        let changes = (first..first + 6_000).map(token).collect();
        source.commit(batch(COLLECTION, changes)).await.unwrap();
    }
    let id = source.collection(COLLECTION).await.unwrap().unwrap();
    journey.go().await.unwrap();
    let target = journey.target.open().await.unwrap();
    assert_eq!(target.collection(COLLECTION).await.unwrap(), Some(id));
    let (mut there, mut here) = (load_all(&target, id).await.unwrap(), load_all(&source, id).await.unwrap());
    for tokens in [&mut there.tokens, &mut here.tokens] {
        tokens.sort_by_key(|token| token.token_id);
    }
    assert_eq!((there.tokens.len(), there == here), (12_000, true));
    source.close().await;
    target.close().await;
}

#[tokio::test]
async fn what_changed_meanwhile_is_noticed() {
    let Some(journey) = Journey::new().await else { return };
    let source = journey.source().await;
    fill(&source).await;
    let begun = journey.begin().await.unwrap();
    begun.copy(&mut |_| ()).await.unwrap();
    let token = Change::Token { token_id: TokenId::from(7_u64), metadata: r#"{"name":"late"}"#.to_owned() };
    source.commit(batch(COLLECTION, vec![token])).await.unwrap();
    let refused = begun.finish(&mut |_| ()).await.unwrap_err();
    assert!(matches!(refused, MoveError::Differs { .. }), "{refused}");
    begun.close().await;
    assert!(matches!(journey.target.open().await, Err(StoreError::UnfinishedMove)));
    source.close().await;
}

#[tokio::test]
async fn what_cannot_be_moved_is_refused_and_nothing_is_changed() {
    let Some(journey) = Journey::new().await else { return };
    let missing = journey.begin().await.err().unwrap();
    assert!(matches!(missing, MoveError::Missing(_)), "{missing}");
    assert!(!journey.file().exists());
    let source = journey.source().await;
    // One that is in use already.
    let target = journey.target.open().await.unwrap();
    fill(&target).await;
    target.close().await;
    let before = tables(&journey.target).await;
    let refused = journey.go().await.unwrap_err();
    assert!(matches!(refused, MoveError::NotEmpty(_)), "{refused}");
    assert_eq!(tables(&journey.target).await, before);
    source.close().await;
    // One of another version of the program.
    let Some(journey) = Journey::new().await else { return };
    let older = rusqlite_of_schema(&journey.file()).await;
    let refused = journey.begin().await.err().unwrap();
    assert!(matches!(refused, MoveError::Schema { applied, .. } if applied == older), "{refused}");
    assert!(tables_of(&journey.target, None).await.unwrap().rows.is_empty(), "not even tables are made");
}

/// A database as an older program left it; its schema.
async fn rusqlite_of_schema(file: &Path) -> i64 {
    open(file).await.close().await;
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.execute("DELETE FROM schema_migrations WHERE version = $1", [Migration::newest()]).unwrap();
    Migration::newest() - 1
}

#[tokio::test]
async fn a_text_that_postgres_cannot_store_is_named() {
    let Some(journey) = Journey::new().await else { return };
    let source = journey.source().await;
    fill(&source).await;
    source.close().await;
    let connection = rusqlite::Connection::open(journey.file()).unwrap();
    connection.execute("UPDATE projects SET name = 'a' || char(0) || 'b'", []).unwrap();
    drop(connection);
    let refused = journey.go().await.unwrap_err().to_string();
    assert!(refused.contains("stored projects cannot be read: row 1 has a NUL"), "{refused}");
}
