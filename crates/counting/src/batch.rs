//! What is counted together.

use bourse_analytics::{Event, EventDetail};
use bourse_store::{EventKind, MarketStep};
use bourse_wire::{Address, Day, Timestamp};
use sha2::{Digest as _, Sha256};

/// Something a wallet did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedEvent {
    /// Who; not the zero address.
    pub wallet: Address,
    /// What.
    pub kind: EventKind,
    /// When.
    pub at: Timestamp,
    /// Its name within the project: the same event, reported again within some days, counts once.
    pub id: Option<Box<str>>,
    /// What kind of trade it was.
    pub action: Option<Box<str>>,
}

impl From<bourse_store::Event> for TrackedEvent {
    fn from(event: bourse_store::Event) -> Self {
        let bourse_store::Event { id, wallet, kind, at } = event;
        Self { wallet, kind, at, id: Some(id.into_boxed_str()), action: None }
    }
}

impl TrackedEvent {
    pub(super) fn to_count(&self) -> Event<'_> {
        let detail = match self.kind {
            EventKind::Session => EventDetail::Session,
            EventKind::Transaction => EventDetail::Transaction,
            EventKind::Market => EventDetail::Market(self.action.as_deref()),
        };
        Event { wallet: self.wallet, day: Day::of(self.at), detail }
    }
}

/// The name of a batch within its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchId {
    /// Given by whoever sent it; remembered for some days.
    Given(String),
    /// Made from what is in it; remembered for good, since a file may be imported again at any time.
    OfContent(String),
    /// A part of a market, with the name of that; what is counted of the market is remembered for good.
    OfMarket(String, MarketStep),
}

impl BatchId {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Given(id) | Self::OfContent(id) | Self::OfMarket(id, _) => id,
        }
    }
}

/// Events that are counted all or none.
#[derive(Clone, Debug)]
pub struct EventBatch {
    /// Its name.
    pub id: BatchId,
    /// The events.
    pub events: Vec<TrackedEvent>,
}

impl EventBatch {
    /// A batch whose name follows from what is in it: the same file, read again, makes the same batches.
    pub fn of_content(events: Vec<TrackedEvent>) -> Self {
        let mut hash = Sha256::new();
        for event in &events {
            hash.update(event.wallet.bytes());
            hash.update([event.kind as u8]);
            hash.update(event.at.unix_nanos().to_le_bytes());
            for text in [&event.id, &event.action] {
                let text = text.as_deref().unwrap_or_default();
                hash.update(text.len().to_le_bytes());
                hash.update(text);
            }
        }
        let id = BatchId::OfContent(format!("content:{}", const_hex::encode(hash.finalize())));
        Self { id, events }
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    /// Events that were counted.
    pub counted: usize,
    /// Events that had been counted before, by their ids.
    pub known: usize,
    /// Whether the whole batch had been counted before.
    pub replayed: bool,
}

/// What forgetting a wallet took away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The days on which it was active.
    pub active_days: Vec<Day>,
    /// On how many of them it had sent a transaction.
    pub sent_days: usize,
    /// On how many of them it had traded.
    pub market_days: usize,
    /// How many of its events were kept as they came.
    pub raw_events: u64,
}
