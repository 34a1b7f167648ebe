//! Collections held in memory: loaded at first touch, kept up to date, dropped when memory is short.

mod check;
mod currencies;
mod find;
mod follow;
mod install;
mod kept;
mod load;
mod reach;
mod roster;
mod slot;
mod under_way;

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bourse_budget::{Budget, Outgrown, Shelf};
use bourse_store::{CollectionKey, Lookout, Replica, Store, StoreError, Troubles};
use bourse_wire::{Currency, ServiceName};
use hashbrown::HashMap;
use tokio::sync::Semaphore;

use crate::clock::Clock;
use crate::metrics::ResidentMetrics;
pub(crate) use check::Verdict;
use currencies::Currencies;
pub(crate) use find::{LoadError, Residence};
pub(crate) use kept::KeptFiles;
use roster::Roster;
pub(crate) use slot::Slot;
pub(crate) use under_way::Patience;
use under_way::UnderWay;

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

impl Inner {
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

    /// Forgets a collection, so that whoever asks next loads it.
    fn unload(&self, slot: &Arc<Slot>) {
        self.slots.remove(&slot.key(), slot);
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
