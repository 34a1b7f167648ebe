//! What projects have told to addresses of theirs: listeners, how far each was told, what could not be delivered, and which
//! server delivers.

mod delivery;
mod holders;
mod letters;
mod listeners;

use bourse_wire::{Address, ChainId, EventFilter, ProjectId, RecordId, Timestamp};

pub use self::delivery::{LineKey, Sent, WebhookLine};
pub use self::holders::DeliveringServer;
pub use self::letters::{DeadLetter, NewLetter};
pub use self::listeners::{NewWebhook, WebhookChanges};
use crate::StoreError;
use crate::columns::record;

/// An address that a project has told what happens. `Debug` is left out on purpose: its secret is in no log.
#[derive(Clone, PartialEq)]
pub struct Webhook {
    /// Number of the listener.
    pub id: RecordId,
    /// Whose it is.
    pub project: ProjectId,
    /// The chain of its contracts.
    pub chain: ChainId,
    /// The address.
    pub url: String,
    /// What it is told of.
    pub filters: EventFilter,
    /// What the project calls it; may be empty.
    pub name: String,
    /// What deliveries are signed with.
    pub secret: String,
    /// Whether it is told anything.
    pub active: bool,
    /// Why not, where the project did not say so itself.
    pub pause: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the project, or a pause, last changed it.
    pub updated_at: Timestamp,
}

record! {
    #[derive(Clone)]
    struct ListenerRow: "webhook_listeners" ("project_id, listener_id") {
        project_id: ProjectId,
        listener_id: RecordId,
        chain_id: ChainId,
        url: String,
        filters: String,
        name: String,
        secret: String,
        active: bool,
        pause: String,
        created_at: Timestamp,
        updated_at: Timestamp,
        holder: String,
    }
}

impl ListenerRow {
    fn webhook(self) -> Result<Webhook, StoreError> {
        let filters = serde_json::from_str(&self.filters)
            .map_err(|error| StoreError::corrupt("filters of a webhook", error))?;
        Ok(Webhook {
            id: self.listener_id,
            project: self.project_id,
            chain: self.chain_id,
            url: self.url,
            filters,
            name: self.name,
            secret: self.secret,
            active: self.active,
            pause: self.pause,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

fn filters_text(filters: &EventFilter) -> Result<String, StoreError> {
    serde_json::to_string(filters).map_err(|error| StoreError::corrupt("filters of a webhook", error))
}

/// The contracts that filters name, each once.
fn contracts(filters: &EventFilter) -> Vec<Address> {
    let mut contracts = filters.contract_addresses.clone();
    contracts.sort_unstable();
    contracts.dedup();
    contracts
}
