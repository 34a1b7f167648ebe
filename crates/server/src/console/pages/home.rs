//! The way in: to the projects, or to the sign-in page.

use crate::console::door::Visitor;
use crate::console::{Answer, see_other};

pub(super) async fn show(_visitor: Visitor) -> Answer {
    Ok(see_other("/console/projects"))
}
