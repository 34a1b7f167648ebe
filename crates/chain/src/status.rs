//! How following a chain goes, for whoever asks: readiness, metrics, `bourse status`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bourse_market::facts::Block;
use bourse_wire::{Address, ChainId, Timestamp};

/// What a follower is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It has not asked anybody yet.
    #[default]
    Starting,
    /// Another process follows the chain.
    Standby,
    /// It is behind the newest block.
    CatchingUp,
    /// It has the newest block.
    Live,
    /// It cannot go on before somebody does something about it.
    Stopped {
        /// What is wrong, and what to do.
        message: String,
    },
}

/// How far one collection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Its contract.
    pub address: Address,
    /// The first block that is read for it.
    pub from: u64,
    /// The first block that was not read for it yet.
    pub next_block: u64,
    /// Whether it moves on with the chain.
    pub live: bool,
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// When.
    pub at: Timestamp,
    /// What.
    pub message: String,
}

/// A node that is left alone, or was lately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeTrouble {
    /// How it may be called in a log.
    pub node: String,
    /// What it did, and when.
    pub trouble: Trouble,
}

/// How it goes with being told of new blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionState {
    /// How the node may be called in a log that tells of them, or was to.
    pub node: String,
    /// Whether it does.
    pub is_alive: bool,
    /// Why it, or one before it, stopped.
    pub trouble: Option<Trouble>,
}

/// How following a chain goes right now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Which chain.
    pub chain: ChainId,
    /// What is being done.
    pub phase: Phase,
    /// The newest block that a node told of.
    pub head: Option<Block>,
    /// The newest block that was followed.
    pub checkpoint: Option<Block>,
    /// Every followed collection.
    pub collections: Arc<Vec<Progress>>,
    /// What went wrong last.
    pub last_error: Option<Trouble>,
    /// How often something went wrong.
    pub errors: u64,
    /// How often the chain took blocks back.
    pub reorgs: u64,
    /// Logs that were not what their names said, and were passed over.
    pub malformed_logs: u64,
    /// Requests that nodes were sent.
    pub requests: u64,
    /// The nodes that are left alone, or were lately.
    pub nodes: Vec<NodeTrouble>,
    /// Whether new blocks are told of; absent where nobody is to tell.
    pub subscription: Option<SubscriptionState>,
}

impl Snapshot {
    /// How many blocks are missing, when it is known.
    pub fn lag(&self) -> Option<u64> {
        Some(self.head?.number.saturating_sub(self.checkpoint?.number))
    }
}

/// What a block tells of the royalties of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoyaltyNews {
    /// Its height.
    block: u64,
    /// Whether they are others now, rather than those of an order that is new.
    pub(crate) has_changed: bool,
}

/// A shared view of a follower; cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Status {
    snapshot: Arc<Mutex<Snapshot>>,
    royalties: Arc<Mutex<BTreeMap<Address, RoyaltyNews>>>,
    requests: Arc<AtomicU64>,
    malformed: Arc<AtomicU64>,
}

impl Status {
    /// The status of a follower that has not begun; `requests` is what its nodes count in.
    pub fn new(chain: ChainId, requests: Arc<AtomicU64>) -> Self {
        let snapshot = Snapshot {
            chain,
            phase: Phase::Starting,
            head: None,
            checkpoint: None,
            collections: Arc::default(),
            last_error: None,
            errors: 0,
            reorgs: 0,
            malformed_logs: 0,
            requests: 0,
            nodes: Vec::new(),
            subscription: None,
        };
        Self {
            snapshot: Arc::new(Mutex::new(snapshot)),
            royalties: Arc::default(),
            requests,
            malformed: Arc::default(),
        }
    }

    /// How it goes right now.
    pub fn get(&self) -> Snapshot {
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        snapshot.requests = self.requests.load(Ordering::Relaxed);
        snapshot.malformed_logs = self.malformed.load(Ordering::Relaxed);
        snapshot
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut Snapshot)) {
        change(&mut self.snapshot.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Takes that a block, which may not be followed yet, tells something of the royalties of a collection.
    pub(crate) fn note_royalties(&self, collection: Address, block: u64, has_changed: bool) {
        let mut royalties = self.royalties.lock().unwrap_or_else(PoisonError::into_inner);
        let news = royalties.entry(collection).or_default();
        news.block = news.block.max(block);
        news.has_changed |= has_changed;
    }

    /// What blocks up to one told of royalties, once.
    pub(crate) fn take_royalties(&self, until: u64) -> Vec<(Address, RoyaltyNews)> {
        let mut royalties = self.royalties.lock().unwrap_or_else(PoisonError::into_inner);
        royalties.extract_if(.., |_, news| news.block <= until).collect()
    }

    pub(crate) fn malformed(&self, logs: u64) {
        self.malformed.fetch_add(logs, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self, at: Timestamp, message: String) {
        self.set(|snapshot| {
            snapshot.errors += 1;
            snapshot.last_error = Some(Trouble { at, message });
        });
    }
}
