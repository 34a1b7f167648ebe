//! A fresh store.

use bourse_store::Store;
use bourse_store::testing::TestDatabase;

/// A database of the test's own, and a store on it.
pub(crate) async fn open() -> (TestDatabase, Store) {
    let database = TestDatabase::fresh().await.unwrap();
    let store = database.open().await.unwrap();
    (database, store)
}
