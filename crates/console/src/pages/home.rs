//! The way in: to the projects, or to the sign-in page.

use crate::access::Visitor;
use crate::{Answer, see_other};

pub(super) async fn show(_visitor: Visitor) -> Answer {
    Ok(see_other("/console/projects"))
}
