//! A fresh store, and projects.

use bourse_store::testing::TestDatabase;
use bourse_store::{ProjectScope, Store};
use bourse_wire::Timestamp;

/// A database of the test's own, and a store on it.
pub(crate) async fn open() -> (TestDatabase, Store) {
    let database = TestDatabase::fresh().await.unwrap();
    let store = database.open().await.unwrap();
    (database, store)
}

/// Makes a project.
pub(crate) async fn project(store: &Store) -> ProjectScope {
    let project = store.create_project("project".parse().unwrap(), Timestamp::ZERO).await.unwrap();
    ProjectScope::of_operator(project.id)
}
