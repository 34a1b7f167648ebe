//! Projects.

use bourse_store::{ProjectScope, Store};
use bourse_wire::Timestamp;

/// Makes a project.
pub(crate) async fn project(store: &Store) -> ProjectScope {
    let project = store.create_project("project".parse().unwrap(), Timestamp::ZERO).await.unwrap();
    ProjectScope::of_operator(project.id)
}
