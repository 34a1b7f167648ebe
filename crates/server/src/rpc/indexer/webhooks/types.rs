//! What operations on webhooks share.

use bourse_store::Webhook;
use bourse_wire::{ChainId, ChainRef, EventFilter, ProjectId, RecordId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::route::request;

/// An address that is told what happens.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WebhookListener")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listener {
    /// Number of the listener.
    id: RecordId,
    /// The project it belongs to.
    #[serde(rename = "projectID")]
    project_id: ProjectId,
    /// The chain of its contracts.
    chain_id: ChainId,
    /// The address.
    url: String,
    /// What it is told of.
    filters: EventFilter,
    /// What the project calls it; may be empty.
    name: String,
    /// When it last changed.
    updated_at: Timestamp,
    /// Whether it is told anything.
    active: bool,
    /// Why it is not, where nobody of the project said so.
    #[serde(skip_serializing_if = "String::is_empty")]
    pause: String,
}

impl From<Webhook> for Listener {
    fn from(webhook: Webhook) -> Self {
        Self {
            id: webhook.id,
            project_id: webhook.project,
            chain_id: webhook.chain,
            url: webhook.url,
            filters: webhook.filters,
            name: webhook.name,
            updated_at: webhook.updated_at,
            active: webhook.active,
            pause: webhook.pause,
        }
    }
}

/// Which listener.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WebhookListenerRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct One {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Number of the listener.
    pub(super) id: RecordId,
}
request!(One, project_id);

/// Which listeners.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WebhookListenersRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct All {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Those of a chain, by number or by name; all where neither this nor the address names one.
    pub(super) chain_id: Option<ChainRef>,
}
request!(All, project_id);

/// That it was done.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WebhookListenerStatusAnswer")]
pub(crate) struct Done {
    /// Always true.
    status: bool,
}

impl Done {
    pub(super) fn new() -> Self {
        Self { status: true }
    }
}
