//! What several operations of the service share.

use bourse_wire::{Audience, Error, ProjectId, RecordId, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::route::request;

/// Which audience.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AudienceRequest {
    /// The credential's own project, when given.
    pub(super) project_id: Option<ProjectId>,
    /// Audience id.
    pub(super) audience_id: RecordId,
}
request!(AudienceRequest, project_id);

/// An audience.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AudienceAnswer {
    pub(super) audience: Audience,
}

/// That it was done.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AudienceOkAnswer")]
pub(crate) struct OkAnswer {
    /// Always true; a failure is an error.
    pub(super) ok: bool,
}

/// Refuses an audience without a name.
pub(super) fn check_name(name: &Text<256>) -> Result<(), Error> {
    if name.as_str().trim().is_empty() { Err(Error::invalid("name", "must not be empty")) } else { Ok(()) }
}

/// Refuses more contacts in one call than the limit.
pub(super) fn check_count(call: &Call, member: &str, count: usize) -> Result<(), Error> {
    let count_max = call.app.settings.limits.contacts_max;
    if count > count_max {
        let reason = format!("{count} contacts where at most {count_max} are allowed in one call");
        return Err(Error::invalid(member, reason));
    }
    Ok(())
}
