//! Changes a webhook.

use bourse_store::WebhookChanges;
use bourse_wire::{EventFilter, ProjectId, RecordId, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::event_filter::check_filter;
use super::types::Done;
use crate::call::Call;
use crate::failure::Failure;
use crate::route;

/// What is to be different.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "UpdateWebhookListenerRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// The listener as it is to be.
    listener: ListenerInput,
}

/// A listener as it is to be; what is left out stays as it is.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WebhookListenerInput")]
#[serde(rename_all = "camelCase")]
struct ListenerInput {
    /// Number of the listener.
    id: RecordId,
    /// The credential's own project, when given.
    #[serde(rename = "projectID")]
    project_id: Option<ProjectId>,
    /// The address, `https` or `http`.
    url: Option<Text<2048>>,
    /// What it is told of. Contracts that were not named before are told of from then on.
    filters: Option<EventFilter>,
    /// What to call it.
    name: Option<Text<256>>,
    /// Whether it is told anything. Who is told again is told what happened meanwhile.
    active: Option<bool>,
}

impl route::Request for Request {
    fn claimed_project(&self) -> Option<ProjectId> {
        self.project_id.or(self.listener.project_id)
    }
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Done, Failure> {
    let ListenerInput { id, url, filters, name, active, .. } = request.listener;
    let app = &call.app;
    if let Some(url) = &url {
        app.webhooks.check(url.as_str())?;
    }
    if let Some(filters) = &filters {
        check_filter(app, "listener.filters", app.settings.webhooks.contracts_max, filters)?;
    }
    let changes = WebhookChanges {
        url: url.map(Text::into_string),
        filters,
        name: name.map(Text::into_string),
        active,
        pause: String::new(),
    };
    app.store.update_webhook(call.scope(), id, changes, call.actor()).await?;
    Ok(Done::new())
}
