//! How many are in an audience.

use schemars::JsonSchema;
use serde::Serialize;

use super::types::AudienceRequest;
use crate::call::Call;
use crate::failure::Failure;

/// How many there are.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetAudienceRegistrationPublicStatusAnswer")]
pub(crate) struct Answer {
    status: RegistrationStatus,
}

/// How many are in an audience, whether they signed themselves up or were added.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RegistrationStatus {
    /// How many; up to five seconds ago.
    total_count: u64,
}

pub(crate) async fn handle(call: Call, request: AudienceRequest) -> Result<Answer, Failure> {
    let (scope, id) = (call.scope(), request.audience_id);
    let counts = &call.app.audience_counts;
    let total_count = if let Some(count) = counts.get(scope.project(), id, call.now) {
        count
    } else {
        let count = call.app.store.registered_count(scope, id).await?;
        counts.keep(scope.project(), id, count, call.now);
        count
    };
    Ok(Answer { status: RegistrationStatus { total_count } })
}
