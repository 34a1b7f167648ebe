//! Webhooks: what happens in collections, sent to addresses that projects name.
//!
//! A listener and a collection are a line, along which one message follows another: the next is sent once the one before it
//! arrived, or was tried as often as anything is. Lines know nothing of each other. How far a line is, is in the store, and moves
//! when a message has arrived, so that whatever stops a server, another goes on there: at least once, in order.
//!
//! ```text
//!   activities ──► news since the cursor ──► message, signed ──► guarded POST ──► arrived: the cursor moves
//!     (store)         [`steps`], [`turn`]    [`message`]          (chain::fetch)  failed: later, longer each time
//!                          ▲                                                      failed too often: put aside
//!   [`Board`]: whose turn it is        [`Courier`]: gives turns, so many at once
//!   [`Alive`]: which servers deliver, of which each listener has one
//! ```

mod alive;
mod board;
mod courier;
mod message;
mod resend;
mod signature;
mod steps;
mod turn;

use std::sync::Arc;

use bourse_chain::fetch::{GetError, Poster, SystemLookup};
use bourse_store::Webhook;
use bourse_wire::{Error, Timestamp};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

pub(crate) use self::courier::Courier;
pub(crate) use self::resend::resend;
use crate::entropy;
use crate::settings::Webhooks as Section;
use crate::shares::Shares;

/// Who is sent something is told that it comes from here.
const USER_AGENT: &str = concat!("bourse/", env!("CARGO_PKG_VERSION"), " (webhooks)");

/// What it takes to deliver.
pub(crate) struct Webhooks {
    poster: Poster,
    places: Arc<Shares>,
    /// By which name this server holds listeners.
    server: String,
    metrics: WebhookMetrics,
}

/// The series of webhooks.
#[derive(Clone, Default)]
pub(crate) struct WebhookMetrics {
    delivered: Counter,
    failed: Counter,
    dead: Counter,
}

impl WebhookMetrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let webhooks = Self::default();
        let help = "Messages of webhooks that arrived";
        registry.register("webhooks_delivered", help, webhooks.delivered.clone());
        let help = "Times that a message of a webhook did not arrive";
        registry.register("webhooks_failed", help, webhooks.failed.clone());
        let help = "Messages of webhooks that were tried as often as any is, and put aside";
        registry.register("webhooks_dead", help, webhooks.dead.clone());
        webhooks
    }
}

impl Webhooks {
    pub(crate) fn open(settings: &Section, metrics: WebhookMetrics) -> Result<Self, GetError> {
        Ok(Self {
            poster: Poster::new(settings.rules(), Arc::new(SystemLookup), USER_AGENT)?,
            places: Shares::new(settings.deliveries_max, settings.project_deliveries_max),
            server: entropy::word(),
            metrics,
        })
    }

    /// Refuses an address that nothing would ever be sent to.
    pub(crate) fn check(&self, url: &str) -> Result<(), Error> {
        let is_of_web =
            |start: &&str| url.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start));
        if !["https://", "http://"].iter().any(is_of_web) {
            return Err(Error::invalid("url", "must begin with https:// or http://"));
        }
        self.poster.address(url).map(drop).map_err(|error| Error::invalid("url", error))
    }

    /// Sends a message to a listener.
    async fn send(
        &self,
        webhook: &Webhook,
        (name, body): (&str, &str),
        now: Timestamp,
    ) -> Result<(), GetError> {
        let url = self.poster.address(&webhook.url)?;
        let headers = signature::headers(name, now, &webhook.secret, body);
        let sent = self.poster.post(&url, &headers, body).await;
        match &sent {
            Ok(()) => self.metrics.delivered.inc(),
            Err(_) => self.metrics.failed.inc(),
        };
        sent
    }
}
