//! One resident collection.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLockReadGuard};

use bourse_budget::{Held, Share};
use bourse_catalog::{Collection, Column, Draft, Edit, PreparedOrder, Progress, Update, Versions};
use bourse_store::{Changes, CollectionId, CollectionKey, Mark};
use bourse_wire::{CollectionNumbers, Timestamp};
use futures_util::FutureExt as _;
use tokio::sync::OwnedMutexGuard;

use super::currencies::Currencies;
use super::lock;

/// Orders that are prepared before other requests have a turn: a batch of them takes longer than most answers.
const ORDERS_AT_ONCE: usize = 32;

/// Tokens from which on what looks at all of them is done on a thread of its own, beside those that answer.
const MANY_TOKENS: usize = 2_048;

/// Versions that are remembered to have been taken over. Those who committed them and come a moment later find them here.
const MARKS_KEPT: usize = 64;

/// One resident collection.
pub(crate) struct Slot {
    key: CollectionKey,
    id: CollectionId,
    versions: Versions,
    /// What is to be shown next, for one writer at a time.
    draft: Arc<tokio::sync::Mutex<Draft>>,
    /// The versions that it was brought to, the last one being its own.
    marks: Mutex<VecDeque<Mark>>,
    /// The edition of the currencies that its prices are worth something by.
    currencies: AtomicU64,
    share: Share,
    /// The version whose memory was measured.
    weighed: AtomicU64,
    /// The second up to which time has passed in it.
    passed_seconds: AtomicI64,
    following: tokio::sync::Mutex<()>,
}

impl Slot {
    /// A collection, with the number drawn with its version and the memory that it takes, and the edition of its currencies.
    pub(super) fn new(
        key: CollectionKey,
        id: CollectionId,
        (collection, stamp, share): (Collection, u64, Share),
        currencies: u64,
    ) -> Self {
        let marks = Mutex::new(VecDeque::from([Mark { version: collection.version(), stamp }]));
        let weighed = collection.version().into();
        let passed_seconds = AtomicI64::new(collection.now().unix_seconds());
        let (versions, draft) = (Versions::new(collection), Arc::default());
        let (currencies, following) = (AtomicU64::new(currencies), tokio::sync::Mutex::default());
        Self { key, id, versions, draft, marks, currencies, share, weighed, passed_seconds, following }
    }

    pub(crate) fn key(&self) -> CollectionKey {
        self.key
    }

    pub(crate) fn id(&self) -> CollectionId {
        self.id
    }

    /// Waits until nobody else brings it up to date.
    pub(super) async fn following(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.following.lock().await
    }

    /// Finds out how much memory it takes after so many versions: for a large one that takes a while.
    pub(super) fn weigh(&self, versions: u64) {
        let version = self.read().version();
        if version >= self.weighed.load(Ordering::Relaxed) + versions {
            self.weighed.store(version, Ordering::Relaxed);
            self.share.set(self.versions.bytes());
        }
    }

    /// The collection, to read what does not depend on the time. Nobody who reads waits for whoever writes.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Collection> {
        self.versions.read()
    }

    /// The collection as it is at a time, and ready to be read in an order. Waits only where an instant has come at which an
    /// order changes, or nobody asked for that order before.
    pub(crate) async fn read_at(
        self: &Arc<Self>,
        now: Timestamp,
        column: Option<Column>,
    ) -> RwLockReadGuard<'_, Collection> {
        loop {
            if let Some(collection) = self.read_ready(now, column) {
                return collection;
            }
            self.make_ready(now, column).boxed().await;
        }
    }

    fn read_ready(&self, now: Timestamp, column: Option<Column>) -> Option<RwLockReadGuard<'_, Collection>> {
        Some(self.read()).filter(|collection| collection.is_ready(now, column))
    }

    async fn make_ready(self: &Arc<Self>, now: Timestamp, column: Option<Column>) {
        let edits = move |collection: &Collection| {
            // While we waited somebody may have done it.
            let is_ready = collection.is_ready(now, column);
            let order = column.and_then(Edit::of_order);
            if is_ready { Vec::new() } else { std::iter::once(Edit::of_time(now)).chain(order).collect() }
        };
        self.write(edits, |_| {}).await;
    }

    /// Makes edits, which are told from what is shown by then, and shows them together; `shown` is called after that, unless
    /// there is nothing to be made. Whoever asked for it may go away meanwhile.
    async fn write<E, S>(self: &Arc<Self>, edits: E, shown: S)
    where
        E: FnOnce(&Collection) -> Vec<Edit> + Send + 'static,
        S: FnOnce(&Self) + Send + 'static,
    {
        let slot = Arc::clone(self);
        let written = tokio::spawn(async move {
            let mut draft = Arc::clone(&slot.draft).lock_owned().await;
            let edits = edits(&slot.read());
            if edits.is_empty() {
                return;
            }
            draft.add(edits);
            let is_first = !draft.has_copy();
            if slot.show(draft).await.is_some() {
                if is_first {
                    slot.weigh(0);
                }
                slot.passed_seconds.store(slot.read().now().unix_seconds(), Ordering::Relaxed);
                shown(&slot);
            }
        });
        // It is the trouble of whoever asked for it.
        if let Err(error) = written.await
            && let Ok(panic) = error.try_into_panic()
        {
            std::panic::resume_unwind(panic);
        }
    }

    /// Goes on with a draft until it is shown, and lets others have a turn after each step.
    async fn show(self: &Arc<Self>, mut draft: OwnedMutexGuard<Draft>) -> Option<OwnedMutexGuard<Draft>> {
        loop {
            let progress = if draft.is_heavy() && self.read().len() > MANY_TOKENS {
                let slot = Arc::clone(self);
                let step = move || (slot.versions.step(&mut draft), draft);
                let (progress, given_back) = tokio::task::spawn_blocking(step).await.ok()?;
                draft = given_back;
                progress
            } else {
                self.versions.step(&mut draft)
            };
            if progress == Progress::Shown {
                return Some(draft);
            }
            tokio::task::yield_now().await;
        }
    }

    /// Whether more time has passed in it than the clock says by now. Requests that came at the same moment may read the clock
    /// before and after each other, so that a second is no difference.
    pub(super) fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.passed_seconds.load(Ordering::Relaxed) > now.unix_seconds() + 1
    }

    /// Sets its time back; `false` when it must be loaded anew for that.
    pub(super) async fn go_back(self: &Arc<Self>, now: Timestamp) -> bool {
        let can_go_back = self.read().can_go_back(now);
        if can_go_back {
            self.write(move |_| vec![Edit::of_time_back(now)], |_| {}).await;
        }
        can_go_back
    }

    /// Its version.
    pub(super) fn mark(&self) -> Mark {
        lock(&self.marks).back().copied().unwrap_or_default()
    }

    /// Whether it is at a version, or was brought from there to its own.
    pub(super) fn has_been(&self, mark: Mark) -> bool {
        lock(&self.marks).contains(&mark)
    }

    /// Takes over what changed.
    pub(super) async fn apply(self: &Arc<Self>, changes: Changes) {
        let mark = Mark { version: changes.version, stamp: changes.stamp };
        let update = update(self.key, changes).await;
        let edits = move |collection: &Collection| {
            // Two followers may race; the state never goes back.
            if mark.version <= collection.version() { Vec::new() } else { Edit::of_update(update) }
        };
        self.write(edits, move |slot| slot.note(mark)).await;
    }

    /// Notes that it was brought to a version.
    fn note(&self, mark: Mark) {
        let mut marks = lock(&self.marks);
        marks.push_back(mark);
        let excess = marks.len().saturating_sub(MARKS_KEPT);
        marks.drain(..excess);
    }

    /// Takes over what was loaded anew. Whoever calls this is the one who brings it up to date.
    pub(super) async fn replace(&self, whole: Arc<Self>) {
        let (currencies, mark) = (whole.currencies.load(Ordering::Acquire), whole.mark());
        let mut draft = self.draft.lock().await;
        self.share.set(whole.share.bytes());
        // Whoever wrote it or compared it has let go of it, mostly.
        let shown = |whole: Self| whole.versions.into_shown();
        let mut whole = Some(Arc::try_unwrap(whole).map_or_else(|whole| whole.read().clone(), shown));
        while !self.versions.replace(&mut draft, &mut whole) {
            tokio::task::yield_now().await;
        }
        self.passed_seconds.store(self.read().now().unix_seconds(), Ordering::Relaxed);
        *lock(&self.marks) = VecDeque::from([mark]);
        self.currencies.store(currencies, Ordering::Release);
    }

    /// Whether its prices are worth something by the same rates as those of another.
    pub(super) fn has_rates_of(&self, other: &Self) -> bool {
        self.currencies.load(Ordering::Acquire) == other.currencies.load(Ordering::Acquire)
    }

    /// Takes over currencies that changed since it last did.
    pub(super) async fn put_currencies(self: &Arc<Self>, currencies: &Currencies) {
        let (edition, currencies) = currencies.of(self.key.chain);
        if self.currencies.load(Ordering::Acquire) >= edition {
            return;
        }
        let slot = Arc::clone(self);
        let edits = move |_: &Collection| {
            // While we waited somebody may have brought newer ones.
            let are_newer = slot.currencies.load(Ordering::Acquire) < edition;
            are_newer.then(|| Edit::of_currencies(currencies)).into_iter().collect()
        };
        self.write(edits, move |slot| slot.currencies.store(edition, Ordering::Release)).await;
    }
}

impl Held for Slot {
    fn share(&self) -> &Share {
        &self.share
    }

    fn note_dropped(&self) {
        tracing::info!(chain = %self.key.chain, contract = %self.key.address, "dropping a resident collection");
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
