//! Pauses a webhook, or resumes it.

use schemars::JsonSchema;
use serde::Serialize;

use super::types::{Listener, One};
use crate::call::Call;
use crate::failure::Failure;

/// The listener.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToggleWebhookListenerAnswer")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The listener as it is now.
    webhook_listener: Listener,
}

pub(crate) async fn handle(call: Call, request: One) -> Result<Answer, Failure> {
    let webhook = call.app.store.toggle_webhook(call.scope(), request.id, call.actor()).await?;
    Ok(Answer { webhook_listener: webhook.into() })
}
