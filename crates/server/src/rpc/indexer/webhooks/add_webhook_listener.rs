//! Has what happens in contracts sent to an address.

use bourse_store::NewWebhook;
use bourse_wire::{ChainRef, EventFilter, ProjectId, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::event_filter::check_filter;
use super::types::Listener;
use crate::call::Call;
use crate::entropy;
use crate::failure::Failure;
use crate::route::request;

/// Where to, and what.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AddWebhookListenerRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Chain of the contracts, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// The address, `https` or `http`.
    url: Text<2048>,
    /// What it is told of.
    filters: EventFilter,
    /// What to call it.
    name: Option<Text<256>>,
}
request!(Request, project_id);

/// The listener.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AddWebhookListenerAnswer")]
pub(crate) struct Answer {
    /// Always true.
    status: bool,
    /// The listener.
    listener: Listener,
    /// What messages to it are signed with. No other operation answers with it.
    secret: String,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let app = &call.app;
    app.webhooks.check(request.url.as_str())?;
    check_filter(app, "filters", app.settings.webhooks.contracts_max, &request.filters)?;
    let secret = const_hex::encode(entropy::bytes::<32>());
    let new = NewWebhook {
        chain: call.chain(request.chain_id.as_ref())?,
        url: request.url.into_string(),
        filters: request.filters,
        name: request.name.map(Text::into_string).unwrap_or_default(),
        secret: secret.clone(),
    };
    let most = app.settings.webhooks.listeners_max;
    let webhook = app.store.add_webhook(call.scope(), new, most, call.actor()).await?;
    Ok(Answer { status: true, listener: webhook.into(), secret })
}
