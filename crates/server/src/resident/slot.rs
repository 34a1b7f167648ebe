//! One resident collection.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use bourse_catalog::{Collection, Column, PreparedOrder, Update};
use bourse_store::{Changes, CollectionId, CollectionKey, Mark};
use bourse_wire::{CollectionNumbers, Timestamp};

use super::currencies::Currencies;
use super::{lock, read, write};

/// Orders that are prepared or put in before other requests have a turn: a batch of them takes longer than most answers.
const ORDERS_AT_ONCE: usize = 32;

/// Versions that are remembered to have been taken over. Those who committed them and come a moment later find them here.
const MARKS_KEPT: usize = 64;

/// One resident collection.
pub(crate) struct Slot {
    key: CollectionKey,
    id: CollectionId,
    collection: RwLock<Collection>,
    /// The versions that it was brought to, the last one being its own; changed only under the lock of the collection.
    marks: Mutex<VecDeque<Mark>>,
    /// The edition of the currencies that its prices are worth something by.
    currencies: AtomicU64,
    bytes: AtomicUsize,
    /// The version whose memory was measured.
    weighed: AtomicU64,
    touched: AtomicU64,
    /// The second up to which time has passed in it.
    passed_seconds: AtomicI64,
    following: tokio::sync::Mutex<()>,
}

impl Slot {
    /// A collection, with the number drawn with its version, and the edition of its currencies.
    pub(super) fn new(
        key: CollectionKey,
        id: CollectionId,
        (collection, stamp): (Collection, u64),
        currencies: u64,
    ) -> Self {
        let marks = Mutex::new(VecDeque::from([Mark { version: collection.version(), stamp }]));
        let (bytes, weighed) = (collection.bytes().into(), collection.version().into());
        let passed_seconds = AtomicI64::new(collection.now().unix_seconds());
        let (collection, currencies) = (RwLock::new(collection), AtomicU64::new(currencies));
        let (touched, following) = (AtomicU64::new(0), tokio::sync::Mutex::default());
        Self { key, id, collection, marks, currencies, bytes, weighed, touched, passed_seconds, following }
    }

    pub(super) fn key(&self) -> CollectionKey {
        self.key
    }

    pub(super) fn id(&self) -> CollectionId {
        self.id
    }

    /// Waits until nobody else brings it up to date.
    pub(super) async fn following(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.following.lock().await
    }

    pub(super) fn touch(&self, touch: u64) {
        self.touched.store(touch, Ordering::Relaxed);
    }

    pub(super) fn touched(&self) -> u64 {
        self.touched.load(Ordering::Relaxed)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Finds out how much memory it takes after so many versions: for a large one that takes a while.
    pub(super) fn weigh(&self, versions: u64) {
        let collection = self.read();
        if collection.version() >= self.weighed.load(Ordering::Relaxed) + versions {
            self.weighed.store(collection.version(), Ordering::Relaxed);
            self.bytes.store(collection.bytes(), Ordering::Relaxed);
        }
    }

    /// The collection, to read what does not depend on the time. Writers wait no longer than an answer takes to put
    /// together.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Collection> {
        read(&self.collection)
    }

    /// The collection as it is at a time, and ready to be read in an order.
    pub(crate) fn read_at(&self, now: Timestamp, column: Option<Column>) -> RwLockReadGuard<'_, Collection> {
        loop {
            let collection = self.read();
            if collection.is_ready(now, column) {
                return collection;
            }
            drop(collection);
            let mut collection = write(&self.collection);
            collection.make_ready(now, column);
            self.passed_seconds.store(collection.now().unix_seconds(), Ordering::Relaxed);
        }
    }

    /// Whether more time has passed in it than the clock says by now. Requests that came at the same moment may read the clock
    /// before and after each other, so that a second is no difference.
    pub(super) fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.passed_seconds.load(Ordering::Relaxed) > now.unix_seconds() + 1
    }

    /// Sets its time back; `false` when it must be loaded anew for that.
    pub(super) fn go_back(&self, now: Timestamp) -> bool {
        let mut collection = write(&self.collection);
        let went = collection.go_back(now);
        self.passed_seconds.store(collection.now().unix_seconds(), Ordering::Relaxed);
        went
    }

    /// Its version.
    pub(super) fn mark(&self) -> Mark {
        lock(&self.marks).back().copied().unwrap_or_default()
    }

    /// Whether it is at a version, or was brought from there to its own.
    pub(super) fn has_been(&self, mark: Mark) -> bool {
        lock(&self.marks).contains(&mark)
    }

    /// Takes over what changed, orders a few at a time: readers wait no longer than that takes. The version is told when
    /// everything is there.
    pub(super) async fn apply(&self, changes: Changes) {
        // Before readers have to wait.
        let mark = Mark { version: changes.version, stamp: changes.stamp };
        let Update { version, contract, tokens, balances, orders, gone_orders } =
            update(self.key, changes).await;
        let mut orders = orders.into_iter().peekable();
        let mut part = Update { contract, tokens, balances, gone_orders, ..Update::default() };
        loop {
            part.orders = orders.by_ref().take(ORDERS_AT_ONCE).collect();
            let is_last = orders.peek().is_none();
            {
                let mut collection = self.collection.write().unwrap_or_else(PoisonError::into_inner);
                // Two followers may race; the state never goes back.
                if version <= collection.version() {
                    return;
                }
                part.version = if is_last { version } else { collection.version() };
                collection.apply(part);
                if is_last {
                    let mut marks = lock(&self.marks);
                    marks.push_back(mark);
                    let excess = marks.len().saturating_sub(MARKS_KEPT);
                    marks.drain(..excess);
                }
            }
            if is_last {
                return;
            }
            part = Update::default();
            tokio::task::yield_now().await;
        }
    }

    /// Takes over what was loaded anew. Whoever calls this is the one who brings it up to date.
    pub(super) fn replace(&self, whole: Self) {
        let (currencies, mark) = (whole.currencies.load(Ordering::Acquire), whole.mark());
        let whole = whole.collection.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut collection = write(&self.collection);
        self.passed_seconds.store(whole.now().unix_seconds(), Ordering::Relaxed);
        *collection = whole;
        *lock(&self.marks) = VecDeque::from([mark]);
        self.currencies.store(currencies, Ordering::Release);
    }

    /// Whether its prices are worth something by the same rates as those of another.
    pub(super) fn has_rates_of(&self, other: &Self) -> bool {
        self.currencies.load(Ordering::Acquire) == other.currencies.load(Ordering::Acquire)
    }

    /// Takes over currencies that changed since it last did.
    pub(super) fn put_currencies(&self, currencies: &Currencies) {
        let (edition, currencies) = currencies.of(self.key.chain);
        if self.currencies.load(Ordering::Acquire) >= edition {
            return;
        }
        let mut collection = write(&self.collection);
        // While we waited somebody may have brought newer ones.
        if self.currencies.fetch_max(edition, Ordering::AcqRel) < edition {
            collection.put_currencies(&currencies);
        }
    }
}

async fn update(key: CollectionKey, changes: Changes) -> Update {
    let numbers = CollectionNumbers::new(key.chain, key.address);
    let mut orders = Vec::with_capacity(changes.orders.len());
    for (index, order) in changes.orders.iter().enumerate() {
        if index % ORDERS_AT_ONCE == ORDERS_AT_ONCE - 1 {
            tokio::task::yield_now().await;
        }
        orders.push(PreparedOrder::new(numbers, order));
    }
    Update {
        version: changes.version,
        contract: changes.contract,
        tokens: changes.tokens.into_iter().map(|token| (token.token_id, token.metadata)).collect(),
        balances: changes.balances.iter().map(|held| (held.token_id, held.account, held.balance)).collect(),
        orders,
        gone_orders: changes.gone_orders,
    }
}
