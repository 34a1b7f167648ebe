//! Deletes an audience with its contacts and contract links.

use super::types::{AudienceRequest, OkAnswer};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: AudienceRequest) -> Result<OkAnswer, Failure> {
    call.app.store.delete_audience(call.scope(), request.audience_id).await?;
    Ok(OkAnswer { ok: true })
}
