//! Reads an audience with its contacts and linked contracts.

use bourse_wire::{Audience, AudienceContract, Code, Contact, Error};
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
    if !call.caller.is_meant_for_service() {
        let message = "this access key does not open contacts, as it is public: it takes a secret token, or a key that was \
            made for it, with `bourse key create PROJECT --service builder`";
        return Err(Error::new(Code::PermissionDenied, message).into());
    }
    let view = call.app.store.audience(call.scope(), request.audience_id).await?;
    Ok(Answer { audience: view.audience, contacts: view.contacts, contracts: view.contracts })
}
