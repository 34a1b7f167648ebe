//! The demo's projects, and their shops.

use bourse_store::{Project, ProjectScope};
use bourse_wire::{Storefront, from_value};
use serde_json::Value;

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

/// Switches on the pages for buyers, unless somebody said something of the storefront.
pub(super) async fn open_shop(
    context: &Context,
    scope: ProjectScope,
    storefront: Value,
) -> Result<(), CommandError> {
    if context.store.storefront(scope).await?.is_some() {
        return Ok(());
    }
    let storefront: Storefront =
        from_value(storefront).map_err(|error| CommandError::Refused(error.into()))?;
    context.store.put_storefront(scope, storefront, context.actor()).await?;
    Ok(())
}
