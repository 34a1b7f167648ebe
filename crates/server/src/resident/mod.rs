//! Collections held in memory: loaded at first touch, kept up to date, dropped when memory is short.

mod check;
mod currencies;
mod kept;
mod load;
mod reach;
mod roster;
mod slot;
mod under_way;

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use bourse_budget::{Budget, Outgrown, Shelf};
use bourse_peers::ServerId;
use bourse_store::{
    CollectionId, CollectionKey, Lookout, Mark, Replica, Store, StoreError, Troubles, Versions,
};
use bourse_wire::{Currency, ServiceName};
use futures_util::FutureExt as _;
use hashbrown::{HashMap, HashSet};
use tokio::sync::Semaphore;

use crate::clock::Clock;
use crate::forwarding::Elsewhere;
use crate::metrics::ResidentMetrics;
pub(crate) use check::Verdict;
use currencies::Currencies;
pub(crate) use kept::KeptFiles;
use load::LoadOutcome;
use roster::Roster;
pub(crate) use slot::Slot;
pub(crate) use under_way::Patience;
use under_way::{Load, LoadProgress, UnderWay};

/// The resident collections. Cheap to clone; every clone is the same.
#[derive(Clone)]
pub(crate) struct Resident(Arc<Inner>);

/// What loading collections may take of what others need too.
pub(crate) struct MemoryLimits {
    /// The memory.
    pub(crate) budget: Budget,
    /// Collections that may be loaded at once: each keeps a connection for as long as it takes.
    pub(crate) loads_max: usize,
    /// How long a request waits for a collection that is being loaded before it is told to come back.
    pub(crate) patience: Duration,
    /// Where they are kept on disk, if anywhere.
    pub(crate) kept: Option<KeptFiles>,
    /// Where they are loaded from, if not from the store.
    pub(crate) replica: Option<Replica>,
}

struct Inner {
    budget: Budget,
    /// Whoever loads has one of these. Nobody closes it, so that there always is one some day.
    turns: Semaphore,
    patience: Duration,
    kept: Option<KeptFiles>,
    replica: Option<Replica>,
    store: Store,
    clock: Clock,
    service: ServiceName,
    metrics: ResidentMetrics,
    currencies: Currencies,
    slots: Shelf<CollectionKey, Slot>,
    roster: Roster,
    lookout: Lookout,
    /// Loads under way. A collection is here or in a slot, or in neither: both change under this lock.
    loads: Mutex<HashMap<CollectionKey, UnderWay>>,
    too_large: Outgrown<CollectionKey>,
    troubles: Troubles,
}

/// Versions that this process itself committed, and took over at once, after which memory is measured again: they are
/// small, and may come many times a second.
const OWN_VERSIONS_UNWEIGHED: u64 = 16;

/// What came of a load that did not fail.
#[derive(Clone, Copy)]
enum Loaded {
    /// The collection is resident, or known to be larger than the memory there is.
    Done,
    /// There was no memory for it beside what else is being loaded.
    NoRoom,
}

/// Where a collection can be read.
pub(crate) enum Residence {
    /// Here.
    Resident(Arc<Slot>),
    /// In the store only: it is larger than the memory there is.
    Stored(CollectionId),
    /// Nowhere.
    Missing,
}

/// Why a collection cannot be loaded; everyone who waited for it is told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The store failed.
    #[error("loading a collection: {0}")]
    Store(Arc<StoreError>),
    /// There is no memory for it just now.
    #[error(
        "collection {} on chain {} cannot be loaded just now: others that are being loaded take all the memory that \
         storage.resident_bytes_max allows; try again shortly",
        key.address, key.chain
    )]
    NoRoom {
        /// The collection.
        key: CollectionKey,
    },
    /// Another server holds it, and is to be asked.
    #[error("collection {} on chain {} is held by another server", key.address, key.chain)]
    HeldElsewhere {
        /// The collection.
        key: CollectionKey,
    },
    /// It is large, and takes longer to be loaded than a request may.
    #[error(
        "collection {} on chain {} is being brought into memory: {progress}; try again shortly",
        key.address, key.chain
    )]
    UnderWay {
        /// The collection.
        key: CollectionKey,
        /// How much of it is there.
        progress: String,
    },
    /// What is stored of it cannot be read. The log told why.
    #[error(
        "collection {} on chain {} cannot be read from the database, and is tried again in {seconds} s: the log of the \
         service says why",
        key.address, key.chain
    )]
    Stale {
        /// The collection.
        key: CollectionKey,
        /// When it is tried again.
        seconds: u64,
    },
}

impl Resident {
    pub(crate) async fn open(
        MemoryLimits { budget, loads_max, patience, kept, replica }: MemoryLimits,
        store: Store,
        clock: Clock,
        service: ServiceName,
        metrics: ResidentMetrics,
    ) -> Result<Self, StoreError> {
        let (currencies, slots) = (Currencies::load(&store).await?, budget.shelf());
        Ok(Self(Arc::new(Inner {
            budget,
            turns: Semaphore::new(loads_max.max(1)),
            patience,
            kept,
            replica,
            store,
            clock,
            service,
            metrics,
            currencies,
            slots,
            roster: Roster::default(),
            lookout: Lookout::default(),
            loads: Mutex::default(),
            too_large: Outgrown::default(),
            troubles: Troubles::default(),
        })))
    }

    /// Finds a collection, loading it when it is not resident yet.
    pub(crate) async fn find(&self, key: CollectionKey) -> Result<Residence, LoadError> {
        self.find_within(key, &mut self.patience()).await
    }

    /// A collection that is here already.
    pub(crate) fn resident(&self, key: CollectionKey) -> Option<Arc<Slot>> {
        self.0.slots.touch(&key).filter(|slot| !slot.is_ahead_of(self.0.clock.now()))
    }

    /// Whether a collection is in memory just now.
    pub(crate) fn has(&self, key: &CollectionKey) -> bool {
        self.0.slots.get(key).is_some()
    }

    /// How long a request waits for collections, however many it needs.
    pub(crate) fn patience(&self) -> Patience {
        Patience { left: self.0.patience, elsewhere: None }
    }

    /// Finds one of several collections, and waits as long as is left of the patience.
    pub(crate) async fn find_within(
        &self,
        key: CollectionKey,
        patience: &mut Patience,
    ) -> Result<Residence, LoadError> {
        match self.0.slots.touch(&key) {
            Some(slot) if !slot.is_ahead_of(self.0.clock.now()) => Ok(Residence::Resident(slot)),
            None if patience.elsewhere.as_ref().is_some_and(|asked| self.holder(key, asked).is_some()) => {
                Err(LoadError::HeldElsewhere { key })
            }
            // Boxed, because it is large and rare, and every request would carry it along.
            Some(_) | None => self.find_stored(key, patience).boxed().await,
        }
    }

    /// The other server that is to be asked for a collection which is not resident here. One that is asked for often is
    /// loaded beside that: every server follows the store by itself, so that any number of them may hold the same.
    pub(crate) fn holder(&self, key: CollectionKey, elsewhere: &Elsewhere) -> Option<ServerId> {
        let holder = elsewhere.holder(key).filter(|_| self.0.slots.get(&key).is_none())?;
        if elsewhere.note_asked(key) {
            let resident = self.clone();
            tokio::spawn(async move {
                if let Err(error) = resident.find(key).await {
                    tracing::debug!(%error, "a collection that is asked for often is not held here");
                }
            });
        }
        Some(holder)
    }

    async fn find_stored(&self, key: CollectionKey, patience: &mut Patience) -> Result<Residence, LoadError> {
        let inner = &self.0;
        loop {
            if let Some(slot) = inner.slots.touch(&key) {
                inner.set_back(&slot).await.map_err(|error| LoadError::Store(Arc::new(error)))?;
                if inner.slots.holds(&key, &slot) {
                    return Ok(Residence::Resident(slot));
                }
            }
            inner.check_stale(key)?;
            let found = inner.store.collection(key).await;
            let Some(id) = found.map_err(|error| LoadError::Store(Arc::new(error)))? else {
                return Ok(Residence::Missing);
            };
            if inner.too_large.has(&key, inner.clock.passed()) {
                return Ok(Residence::Stored(id));
            }
            let (load, progress) = self.load(key, id);
            match patience.wait(load).await {
                Err(_elapsed) => {
                    let progress = inner.told_of(&progress, id).await;
                    return Err(LoadError::UnderWay { key, progress });
                }
                Ok(Ok(Loaded::Done)) => {}
                Ok(Ok(Loaded::NoRoom)) => return Err(LoadError::NoRoom { key }),
                Ok(Err(error)) => {
                    inner.check_stale(key)?;
                    return Err(LoadError::Store(error));
                }
            }
        }
    }

    /// The load of a collection: the one under way, or a new one.
    fn load(&self, key: CollectionKey, id: CollectionId) -> (Load, Arc<LoadProgress>) {
        let mut loads = lock(&self.0.loads);
        // Between our look at the slots and now it may have come.
        if self.0.slots.get(&key).is_some() {
            return (futures_util::future::ready(Ok(Loaded::Done)).boxed().shared(), Arc::default());
        }
        let begin = || {
            let (inner, progress) = (Arc::clone(&self.0), Arc::<LoadProgress>::default());
            let told = Arc::clone(&progress);
            UnderWay::begin(async move { inner.load(key, id, &told).await }, progress)
        };
        loads.entry(key).or_insert_with(begin).shared()
    }

    /// Takes over a version of a collection, when it is resident or about to be: whoever asks after this returns sees
    /// what was committed as that version. Where it cannot be taken over, nothing older is in memory any more.
    pub(crate) async fn follow(&self, key: CollectionKey, committed: Mark) {
        self.follow_from(key, |_| Some(committed)).await;
    }

    /// Takes over what the store has, which may be less than what is in memory: it failed over to an older copy.
    pub(crate) async fn follow_stored(&self, key: CollectionKey, stored: Mark) {
        self.follow_from(key, |known| Some(stored).filter(|stored| *stored >= known)).await;
    }

    /// Takes over a version that may depend on the one that is known, or whatever is stored when there is none.
    async fn follow_from(&self, key: CollectionKey, until: impl FnOnce(Mark) -> Option<Mark>) {
        self.0.roster.note(key);
        let Some(slot) = self.after_load(key).await else { return };
        if let Err(error) = self.0.catch_up(&slot, until(slot.mark())).await {
            self.0.note_trouble(key, &error);
            self.0.unload(&slot);
        }
    }

    /// What is in memory of a collection that changed, and may be old. A load under way is told of the change: what comes of
    /// it is not.
    async fn after_load(&self, key: CollectionKey) -> Option<Arc<Slot>> {
        let under_way = lock(&self.0.loads).get_mut(&key).map(UnderWay::note_change);
        match under_way {
            // Nobody is answered before it has what is new. Whoever wrote that need not wait until everything else is there.
            Some(None) => return None,
            // A load that failed left nothing that could be old.
            Some(Some(load)) => drop(load.await),
            None => {}
        }
        self.0.slots.get(&key)
    }

    /// Takes over what changed in the store; tells whether all of it could be. A collection that cannot be read fails alone.
    /// One that the store does not know of is forgotten: the database failed over to an older copy, or was restored from one.
    pub(crate) async fn refresh(&self) -> Result<bool, StoreError> {
        let inner = &self.0;
        let resident: Vec<CollectionId> = inner.slots.all().iter().map(|slot| slot.id()).collect();
        let look = inner.lookout.look(&inner.store, &resident).await?;
        let mut slots = inner.slots.all();
        slots.retain(|slot| look.may_have_changed(slot.id()));
        let (marks, unread) = inner.read_versions(&mut slots).await?;
        // One without any version has no number to be known by, and is loaded in no time.
        let is_known = |slot: &Slot| marks.contains_key(&slot.id()) && slot.mark() != Mark::default();
        for slot in slots.iter().filter(|slot| !is_known(slot)) {
            inner.unload(slot);
        }
        let behind = |slot: &Slot| match marks.get(&slot.id()) {
            Some(stored) if *stored != slot.mark() => {
                stored.version.saturating_sub(slot.mark().version).max(1)
            }
            Some(_) | None => 0,
        };
        inner.metrics.lag_versions.set(largest(slots.iter().map(|slot| behind(slot))));
        for slot in slots.iter().filter(|slot| is_known(slot) && behind(slot) > 0) {
            let ahead = marks.get(&slot.id()).copied().filter(|stored| *stored > slot.mark());
            if let Err(error) = inner.catch_up(slot, ahead).await
                && inner.note_trouble(slot.key(), &error)
            {
                inner.unload(slot);
            }
            slot.weigh(1);
        }
        for slot in &slots {
            slot.weigh(OWN_VERSIONS_UNWEIGHED);
            if behind(slot) == 0 {
                inner.troubles.end(slot.key());
            }
        }
        slots.retain(|slot| inner.slots.holds(&slot.key(), slot));
        let left = largest(slots.iter().map(|slot| behind(slot)));
        let unsettled = slots.iter().filter(|slot| behind(slot) > 0 || !is_known(slot));
        let unsettled = unsettled.map(|slot| slot.id()).chain(unread.iter().copied());
        inner.lookout.settle(look, unsettled);
        inner.metrics.lag_versions.set(left);
        inner.budget.settle();
        Ok(left == 0 && unread.is_empty())
    }

    /// Takes over rates and currencies that changed, for whoever asks for those themselves.
    pub(crate) async fn read_currencies(&self) -> Result<(), StoreError> {
        self.0.currencies.refresh(&self.0.store).await
    }

    /// Takes over rates and currencies that changed, in every resident collection.
    pub(crate) async fn refresh_currencies(&self) -> Result<(), StoreError> {
        let inner = &self.0;
        inner.currencies.refresh(&inner.store).await?;
        for slot in inner.slots.all() {
            slot.put_currencies(&inner.currencies).await;
        }
        Ok(())
    }

    /// The currencies of a chain.
    pub(crate) fn currencies(&self, chain: bourse_wire::ChainId) -> Arc<[Currency]> {
        self.0.currencies.of(chain).1
    }

    /// The currencies of every chain, by chain.
    pub(crate) fn all_currencies(&self) -> Vec<Arc<[Currency]>> {
        self.0.currencies.all()
    }

    /// Brings the gauges up to date; so many bytes are taken by charts.
    pub(crate) fn measure(&self, charts: usize) {
        let number = |size: usize| i64::try_from(size).unwrap_or(i64::MAX);
        let (Inner { metrics, budget, .. }, (collections, bytes)) = (&*self.0, self.0.slots.size());
        metrics.collections.set(number(collections));
        metrics.bytes.set(number(bytes));
        metrics.charts.set(number(charts));
        metrics.promised.set(number(budget.taken().saturating_sub(bytes + charts)));
        metrics.stale.set(number(self.0.troubles.stale_count()));
    }
}

fn largest(lags: impl Iterator<Item = u64>) -> i64 {
    lags.max().unwrap_or_default().cast_signed()
}

impl Inner {
    /// The versions of collections, and those whose version is not known: they are taken out, and left as they are in memory.
    async fn read_versions(
        &self,
        slots: &mut Vec<Arc<Slot>>,
    ) -> Result<(HashMap<CollectionId, Mark>, HashSet<CollectionId>), StoreError> {
        let (resting, asked): (Vec<_>, Vec<_>) =
            slots.drain(..).partition(|slot| self.troubles.is_resting(slot.key()));
        let mut unread: HashSet<CollectionId> = resting.iter().map(|slot| slot.id()).collect();
        let ids = asked.iter().map(|slot| slot.id()).collect();
        let Versions { found, failed } = self.store.versions_apart(ids).await?;
        for (ids, error) in failed {
            error.log("the versions of some collections cannot be read");
            let ids: HashSet<CollectionId> = ids.into_iter().collect();
            for slot in asked.iter().filter(|slot| ids.contains(&slot.id())) {
                self.metrics.follow_failures.inc();
                if self.troubles.note(slot.key(), &error) {
                    self.unload(slot);
                }
            }
            unread.extend(ids);
        }
        slots.extend(asked.into_iter().filter(|slot| !unread.contains(&slot.id())));
        Ok((found.into_iter().collect(), unread))
    }

    /// Notes that a collection could not be read; tells whether what is in memory of it is not to be served any more. While the
    /// database is away that is no trouble of a collection.
    fn note_trouble(&self, key: CollectionKey, error: &StoreError) -> bool {
        if matches!(error, StoreError::Away) {
            return false;
        }
        let is_stale = self.troubles.note(key, error);
        self.metrics.follow_failures.inc();
        let CollectionKey { chain, address } = key;
        tracing::warn!(%error, %chain, contract = %address, is_stale, "a collection cannot be followed");
        is_stale
    }

    /// Refuses a collection that could not be read lately.
    fn check_stale(&self, key: CollectionKey) -> Result<(), LoadError> {
        match self.troubles.stale_for(key) {
            Some(left) => Err(LoadError::Stale { key, seconds: left.as_secs() + 1 }),
            None => Ok(()),
        }
    }

    /// Forgets a collection, so that whoever asks next loads it.
    fn unload(&self, slot: &Arc<Slot>) {
        self.slots.remove(&slot.key(), slot);
    }

    async fn load(
        &self,
        key: CollectionKey,
        id: CollectionId,
        progress: &Arc<LoadProgress>,
    ) -> Result<Loaded, StoreError> {
        let started = Instant::now();
        let loaded = match self.read_kept(key, id).await {
            Some(slot) => Ok(LoadOutcome::Whole(slot)),
            None => self.load_slot(key, id, progress).await,
        };
        self.end_load(key, loaded, started).await
    }

    /// Makes what was loaded resident, with everything that was committed meanwhile.
    async fn end_load(
        &self,
        key: CollectionKey,
        mut loaded: Result<LoadOutcome, StoreError>,
        started: Instant,
    ) -> Result<Loaded, StoreError> {
        let is_behind = lock(&self.loads).get_mut(&key).is_some_and(UnderWay::close);
        if let Ok(LoadOutcome::Whole(slot)) = &loaded
            && is_behind
        {
            loaded = match self.bring_forward(slot).await {
                Ok(true) => loaded,
                Ok(false) => Ok(LoadOutcome::NoRoom),
                Err(error) => Err(error),
            };
        }
        let has_room = !matches!(loaded, Ok(LoadOutcome::NoRoom));
        let slot = match self.install(key, loaded, started) {
            Ok(slot) => slot,
            Err(error) => {
                self.note_trouble(key, &error);
                return Err(error);
            }
        };
        self.troubles.end(key);
        let Some(slot) = slot else { return Ok(if has_room { Loaded::Done } else { Loaded::NoRoom }) };
        // Whoever was told of changes meanwhile did not know of this slot.
        let caught_up = self.catch_up(&slot, None).await;
        if let Err(error) = &caught_up {
            self.note_trouble(key, error);
            self.unload(&slot);
        }
        caught_up.map(|()| Loaded::Done)
    }

    /// Ends a load: the slot, when there is one now.
    fn install(
        &self,
        key: CollectionKey,
        loaded: Result<LoadOutcome, StoreError>,
        started: Instant,
    ) -> Result<Option<Arc<Slot>>, StoreError> {
        let mut loads = lock(&self.loads);
        loads.remove(&key);
        let slot: Arc<Slot> = match loaded? {
            LoadOutcome::Whole(slot) => slot,
            LoadOutcome::TooLarge => {
                self.too_large.note(key, self.clock.passed());
                return Ok(None);
            }
            LoadOutcome::NoRoom => return Ok(None),
        };
        self.metrics.load_seconds.observe(started.elapsed().as_secs_f64());
        self.too_large.end(&key);
        self.slots.insert(key, Arc::clone(&slot));
        self.lookout.forget(slot.id());
        Ok(Some(slot))
    }

    /// Brings a slot to a version at least, or to the latest when none is named. One follower at a time: what it brings,
    /// those who waited need not. Where the database has become what it is without the version that the slot has, that is
    /// loaded anew.
    async fn catch_up(&self, slot: &Arc<Slot>, until: Option<Mark>) -> Result<(), StoreError> {
        let _following = slot.following().await;
        if until.is_some_and(|until| slot.has_been(until)) {
            return Ok(());
        }
        let (started, known) = (Instant::now(), slot.mark());
        if known == Mark::default() {
            // It has no number to be known by.
            return self.reload(slot).await;
        }
        let own = until.and_then(|until| self.store.take_own_changes(slot.id(), known, until));
        if let Some(versions) = own {
            // One after the other, so that nobody who reads has to wait for all of them.
            for changes in versions {
                slot.apply(changes).await;
            }
            slot.put_currencies(&self.currencies).await;
            self.metrics.follow_seconds.observe(started.elapsed().as_secs_f64());
            return Ok(());
        }
        match self.store.changes(slot.id(), known).await? {
            Some(changes) => slot.apply(changes).await,
            None => self.reload(slot).await?,
        }
        slot.put_currencies(&self.currencies).await;
        self.metrics.follow_seconds.observe(started.elapsed().as_secs_f64());
        Ok(())
    }

    /// Loads the whole of a slot again. Whoever calls this is the one who brings it up to date.
    async fn reload(&self, slot: &Arc<Slot>) -> Result<(), StoreError> {
        // A database that was set back may give its number to another collection.
        if self.store.collection(slot.key()).await? != Some(slot.id()) {
            self.unload(slot);
            return Ok(());
        }
        match self.load_slot(slot.key(), slot.id(), &Arc::default()).await? {
            LoadOutcome::Whole(whole) => slot.replace(whole).await,
            // Once it is gone there is memory to load it.
            LoadOutcome::NoRoom => self.unload(slot),
            // It outgrew the memory there is: better read from the store than old.
            LoadOutcome::TooLarge => {
                self.too_large.note(slot.key(), self.clock.passed());
                self.unload(slot);
            }
        }
        Ok(())
    }

    /// Sets the time of a slot back to what the clock says, when that was wrong: orders that ended too early are good again.
    async fn set_back(&self, slot: &Arc<Slot>) -> Result<(), StoreError> {
        if !slot.is_ahead_of(self.clock.now()) {
            return Ok(());
        }
        let _following = slot.following().await;
        let now = self.clock.now();
        // Somebody may have been faster.
        if slot.is_ahead_of(now) && !slot.go_back(now).await {
            tracing::info!(chain = %slot.key().chain, contract = %slot.key().address, "the clock went back: loading anew");
            self.reload(slot).await?;
        }
        Ok(())
    }
}

/// What a lock guards stays whole when somebody panics: every change under one is a single insertion or removal.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
