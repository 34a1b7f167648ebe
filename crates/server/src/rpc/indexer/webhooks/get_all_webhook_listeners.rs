//! Lists the project's webhooks.

use schemars::JsonSchema;
use serde::Serialize;

use super::types::{All, Listener};
use crate::call::Call;
use crate::failure::Failure;

/// The listeners.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetAllWebhookListenersAnswer")]
pub(crate) struct Answer {
    /// The listeners, oldest first.
    listeners: Vec<Listener>,
}

pub(crate) async fn handle(call: Call, request: All) -> Result<Answer, Failure> {
    let chain = call.named_chain(request.chain_id.as_ref())?;
    let webhooks = call.app.store.webhooks(call.scope(), chain).await?;
    Ok(Answer { listeners: webhooks.into_iter().map(Listener::from).collect() })
}
