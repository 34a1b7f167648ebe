//! Reads a webhook of the project.

use schemars::JsonSchema;
use serde::Serialize;

use super::types::{Listener, One};
use crate::call::Call;
use crate::failure::Failure;

/// The listener.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetWebhookListenerAnswer")]
pub(crate) struct Answer {
    /// The listener.
    listener: Listener,
}

pub(crate) async fn handle(call: Call, request: One) -> Result<Answer, Failure> {
    let webhook = call.app.store.webhook(call.scope(), request.id).await?;
    Ok(Answer { listener: webhook.into() })
}
