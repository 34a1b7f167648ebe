//! Projects.

use bourse_store::{Actor, ProjectScope, Store};
use bourse_wire::Timestamp;

/// Makes a project.
pub(crate) async fn project(store: &Store) -> ProjectScope {
    let project =
        store.create_project("project".parse().unwrap(), Actor::command_line(Timestamp::ZERO)).await.unwrap();
    ProjectScope::of_operator(project.id)
}
