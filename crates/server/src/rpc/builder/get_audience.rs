//! Reads an audience with its contacts and linked contracts.

use bourse_wire::{Audience, AudienceContract, Contact};
use schemars::JsonSchema;
use serde::Serialize;

use super::types::AudienceRequest;
use crate::call::Call;
use crate::failure::Failure;

/// The audience and everything in it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetAudienceAnswer")]
pub(crate) struct Answer {
    audience: Audience,
    contacts: Vec<Contact>,
    contracts: Vec<AudienceContract>,
}

pub(crate) async fn handle(call: Call, request: AudienceRequest) -> Result<Answer, Failure> {
    let view = call.app.store.audience(call.scope(), request.audience_id).await?;
    Ok(Answer { audience: view.audience, contacts: view.contacts, contracts: view.contracts })
}
