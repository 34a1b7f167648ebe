//! The counting house: events in, charts out. Every project has a desk, which is opened when somebody first comes to it.

mod batch;
mod calendar;
mod desk;
mod event_ids;
mod load;
mod market;

use std::sync::{Arc, Mutex, PoisonError};

use bourse_analytics::{Corrupt, EventRefusal};
use bourse_store::{Actor, Mark, ProjectScope, Store, StoreError};
use bourse_wire::{Address, Code, Day, Error, ProjectId, Timestamp};
use hashbrown::HashMap;

pub use batch::{BatchId, EventBatch, Forgotten, Tracked, TrackedEvent};
pub(crate) use desk::Desk;
use desk::Keeping;
pub(crate) use market::{MarketCounter, MarketMembers};

use crate::clock::Clock;
use crate::failure::Failure;
use crate::settings::Analytics;

/// Time after which a desk that nobody comes to is closed.
const IDLE_SECONDS: i64 = 3_600;

/// How long what is kept beside the counts.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// Days for which the names of batches are remembered.
    pub batches_days: u32,
    /// Days for which the ids of events are remembered.
    pub event_ids_days: u32,
    /// Days for which events are kept as they came; 0 when they are not.
    pub raw_events_days: u32,
}

impl From<&Analytics> for Retention {
    fn from(settings: &Analytics) -> Self {
        let Analytics { batches_days, event_ids_days, raw_events_days, .. } = *settings;
        Self { batches_days, event_ids_days, raw_events_days }
    }
}

impl Retention {
    /// The first of so many days, the last of which is today.
    fn first_day(today: Day, days: u32) -> Day {
        let days = i32::try_from(days).unwrap_or(i32::MAX);
        Day::from_number(today.number().saturating_sub(days).saturating_add(1))
    }
}

/// Why nothing could be counted, or nothing told.
#[derive(Debug, thiserror::Error)]
pub enum CountingError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is stored makes no sense.
    #[error("what is stored of analytics is damaged: {0}")]
    Corrupt(#[from] Corrupt),
    /// Events that cannot be counted.
    #[error(transparent)]
    Refused(#[from] EventRefusal),
    /// Whoever counted is gone; sent again, the batch is counted once.
    #[error("counting was interrupted")]
    Interrupted,
}

impl From<&CountingError> for Failure {
    fn from(error: &CountingError) -> Self {
        match error {
            // Whoever waited at the same desk is told the same.
            CountingError::Store(error) => error.shared().into(),
            CountingError::Refused(refused) => {
                Self::Refused(Error::new(Code::InvalidArgument, refused.to_string()))
            }
            CountingError::Corrupt(_) | CountingError::Interrupted => {
                Self::Internal(error.to_string().into())
            }
        }
    }
}

/// All desks. Cheap to clone; every clone is the same house.
#[derive(Clone)]
pub struct CountingHouse(Arc<Inner>);

struct Inner {
    store: Store,
    retention: Retention,
    clock: Clock,
    desks: Mutex<HashMap<ProjectId, Arc<Desk>>>,
}

impl CountingHouse {
    /// A house over a store. The clock tells how much time passes.
    pub fn new(store: Store, retention: Retention, clock: Clock) -> Self {
        Self(Arc::new(Inner { store, retention, clock, desks: Mutex::default() }))
    }

    /// Counts a batch of events. Once this returns they are stored, and in every chart of this process. The same batch
    /// again counts nothing.
    pub async fn track(
        &self,
        scope: ProjectScope,
        batch: EventBatch,
        now: Timestamp,
    ) -> Result<Tracked, Arc<CountingError>> {
        let desk = self.desk(scope, now);
        let told = desk.enqueue(batch);
        // A task of its own, so that a caller who goes away interrupts nobody else's batch.
        let (house, counting) = (self.clone(), Arc::clone(&desk));
        tokio::spawn(async move { counting.drain(house.keeping(now)).await });
        told.await.unwrap_or_else(|_| Err(Arc::new(CountingError::Interrupted)))
    }

    /// Counts what happened in all markets and is not counted yet; tells how many of them failed, which the log explains.
    pub async fn count_markets(&self, now: Timestamp) -> Result<usize, StoreError> {
        MarketCounter::default().round(self, &MarketMembers::default(), now).await
    }

    /// Takes a wallet out of everything that is counted of a project; `None` when it is not known there.
    pub async fn forget(
        &self,
        scope: ProjectScope,
        wallet: Address,
        actor: Actor,
    ) -> Result<Option<Forgotten>, CountingError> {
        let now = actor.at;
        self.desk(scope, now).forget(self.keeping(now), wallet, actor).await
    }

    /// The desk of a project, with all that a chart needs: counters, and sets of wallets if it is about those.
    pub(crate) async fn open(
        &self,
        scope: ProjectScope,
        needs_sets: bool,
        now: Timestamp,
    ) -> Result<Arc<Desk>, CountingError> {
        let desk = self.desk(scope, now);
        desk.open(&self.0.store, needs_sets).await?;
        Ok(desk)
    }

    /// Takes over what other processes counted, and closes desks that nobody comes to; tells whether all could be taken over.
    /// A desk whose counts cannot be read is closed: whoever comes next is told, and those at other desks notice nothing.
    pub(crate) async fn refresh(&self, now: Timestamp) -> Result<bool, StoreError> {
        let desks: Vec<Arc<Desk>> = {
            let mut desks = self.desks();
            desks.retain(|_, desk| !desk.is_idle(now, IDLE_SECONDS));
            desks.values().cloned().collect()
        };
        if desks.is_empty() {
            return Ok(true);
        }
        let stored: HashMap<ProjectId, Mark> = self.0.store.counts_versions().await?.into_iter().collect();
        let mut is_whole = true;
        for desk in desks {
            let stored = stored.get(&desk.project()).copied().unwrap_or_default();
            if let Err(error) = desk.follow(&self.0.store, stored).await {
                tracing::warn!(%error, project = %desk.project(), "what is counted cannot be followed");
                match error {
                    CountingError::Corrupt(_) | CountingError::Store(StoreError::Corrupt { .. }) => {
                        self.close(&desk);
                    }
                    CountingError::Store(_) | CountingError::Refused(_) | CountingError::Interrupted => {
                        is_whole = false;
                    }
                }
            }
        }
        Ok(is_whole)
    }

    /// Forgets what is loaded of a project, unless somebody opened another desk for it.
    fn close(&self, desk: &Arc<Desk>) {
        let mut desks = self.desks();
        if desks.get(&desk.project()).is_some_and(|open| Arc::ptr_eq(open, desk)) {
            desks.remove(&desk.project());
        }
    }

    /// Where what is counted now goes.
    fn keeping(&self, now: Timestamp) -> Keeping<'_> {
        let Inner { store, retention, clock, .. } = &*self.0;
        Keeping { store, retention: *retention, today: Day::of(now), passed: clock.passed() }
    }

    fn desk(&self, scope: ProjectScope, now: Timestamp) -> Arc<Desk> {
        let mut desks = self.desks();
        let desk = desks.entry(scope.project()).or_insert_with(|| Arc::new(Desk::new(scope)));
        desk.touch(now);
        Arc::clone(desk)
    }

    fn desks(&self) -> std::sync::MutexGuard<'_, HashMap<ProjectId, Arc<Desk>>> {
        self.0.desks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
