//! Whose projects they are that the demo finds.

use bourse_store::Project;

use crate::context::{CommandError, Context};

/// The project of the plain demo.
pub(super) const PLAIN: &str = "Bourse demo";
/// The project of the demo on a chain.
pub(super) const ON_CHAIN: &str = "Bourse demo on a chain";

/// The project of this name. Among projects of somebody else the demo has no business.
pub(super) fn own<'a>(
    projects: &'a [Project],
    name: &str,
    context: &Context,
) -> Result<Option<&'a Project>, CommandError> {
    if projects.iter().all(|project| [PLAIN, ON_CHAIN].contains(&project.name.as_str())) {
        return Ok(projects.iter().find(|project| project.name == name));
    }
    Err(CommandError::Other(format!(
        "{} holds projects of your own: give the demo a directory of its own with --data DIR",
        context.settings.storage.data.display()
    )))
}
