//! The counting house: events in, charts out. Every project has a desk, which is opened when somebody first comes to it.

mod batch;
mod desk;
mod event_ids;
mod load;
mod market;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bourse_analytics::{Corrupt, EventRefusal};
use bourse_budget::{Budget, Outgrown, Refused, Shelf};
use bourse_store::{Actor, Mark, ProjectScope, Store, StoreError, Versions};
use bourse_wire::{Address, Day, ProjectId, Timestamp};

pub use batch::{BatchId, EventBatch, Forgotten, Tracked, TrackedEvent};
pub use desk::Desk;
use desk::Keeping;
pub use market::{MarketCounter, MarketMembers};

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
    /// There is no memory for what is counted of the project, just now or ever.
    #[error("{}", no_memory(*.0))]
    Memory(#[from] Refused),
    /// What is needed of the project is still being read, which goes on.
    #[error(
        "what is counted of the project is being loaded, which takes a while where there are many wallets: try again shortly"
    )]
    Loading,
    /// Whoever counted is gone; sent again, the batch is counted once.
    #[error("counting was interrupted")]
    Interrupted,
}

fn no_memory(refused: Refused) -> &'static str {
    match refused {
        Refused::TooLarge => {
            "what is counted of the project takes more memory than storage.resident_bytes_max allows: raise it"
        }
        Refused::NoRoom => {
            "what is counted of the project cannot be loaded just now: what else is being loaded takes all the memory that \
             storage.resident_bytes_max allows; try again shortly"
        }
    }
}

/// What a house is given by whoever runs it.
pub struct Surroundings {
    /// Where counts are stored.
    pub store: Store,
    /// For how long what is kept there.
    pub retention: Retention,
    /// Tells how much time has passed since some moment, however the time of day was set meanwhile.
    pub passed: Box<dyn Fn() -> Duration + Send + Sync>,
    /// Draws a number that nobody else draws, by which a version is told from another of its number.
    pub draw_stamp: fn() -> u64,
}

/// All desks. Cheap to clone; every clone is the same house.
#[derive(Clone)]
pub struct CountingHouse(Arc<Inner>);

struct Inner {
    surroundings: Surroundings,
    budget: Budget,
    desks: Shelf<ProjectId, Desk>,
    too_large: Outgrown<ProjectId>,
}

impl CountingHouse {
    /// A house that takes as much memory as it wants.
    pub fn new(surroundings: Surroundings) -> Self {
        Self::within(Budget::new(usize::MAX), surroundings)
    }

    /// A house that shares its memory with others.
    pub fn within(budget: Budget, surroundings: Surroundings) -> Self {
        let (desks, too_large) = (budget.shelf(), Outgrown::default());
        Self(Arc::new(Inner { surroundings, budget, desks, too_large }))
    }

    fn store(&self) -> &Store {
        &self.0.surroundings.store
    }

    fn passed(&self) -> Duration {
        (self.0.surroundings.passed)()
    }

    /// Memory that the desks take.
    pub fn bytes(&self) -> usize {
        self.0.desks.size().1
    }

    /// Counts a batch of events. Once this returns they are stored, and in every chart of this process. The same batch
    /// again counts nothing.
    pub async fn track(
        &self,
        scope: ProjectScope,
        batch: EventBatch,
        now: Timestamp,
    ) -> Result<Tracked, Arc<CountingError>> {
        let desk = self.desk(scope, now).map_err(CountingError::from)?;
        let told = desk.enqueue(batch);
        // A task of its own, so that a caller who goes away interrupts nobody else's batch.
        let (house, counting) = (self.clone(), Arc::clone(&desk));
        tokio::spawn(async move { counting.drain(house.keeping(now)).await });
        let tracked = told.await.unwrap_or_else(|_| Err(Arc::new(CountingError::Interrupted)));
        self.settle(scope, tracked.as_ref().map_err(|error| &**error).err());
        tracked
    }

    /// Loads all that counting needs of a project, unless it is there. Whoever has waited so long is told to come again,
    /// while the load goes on: with very many wallets it takes longer than a request may.
    pub async fn prepare(
        &self,
        scope: ProjectScope,
        now: Timestamp,
        patience: Duration,
    ) -> Result<(), CountingError> {
        let desk = self.desk(scope, now)?;
        if desk.is_prepared() {
            return Ok(());
        }
        let house = self.clone();
        self.patiently(scope, patience, async move { desk.prepare(house.keeping(now)).await }).await
    }

    /// Waits for a load in a task of its own, which goes on when nobody waits for it any more.
    async fn patiently(
        &self,
        scope: ProjectScope,
        patience: Duration,
        load: impl Future<Output = Result<(), CountingError>> + Send + 'static,
    ) -> Result<(), CountingError> {
        let house = self.clone();
        let loading = tokio::spawn(async move {
            let loaded = load.await;
            house.settle(scope, loaded.as_ref().err());
            loaded
        });
        match tokio::time::timeout(patience, loading).await {
            Ok(loaded) => loaded.unwrap_or(Err(CountingError::Interrupted)),
            Err(_) => Err(CountingError::Loading),
        }
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
        let forgotten = self.desk(scope, now)?.forget(self.keeping(now), wallet, actor).await;
        self.settle(scope, forgotten.as_ref().err());
        forgotten
    }

    /// The desk of a project, with all that a chart needs: counters, and sets of wallets if it is about those. Whoever has
    /// waited so long is told to come again, while the load goes on.
    pub async fn open(
        &self,
        scope: ProjectScope,
        needs_sets: bool,
        now: Timestamp,
        patience: Duration,
    ) -> Result<Arc<Desk>, CountingError> {
        let desk = self.desk(scope, now)?;
        if desk.is_open(needs_sets) {
            self.settle(scope, None);
            return Ok(desk);
        }
        let (house, opening) = (self.clone(), Arc::clone(&desk));
        let open = async move { opening.open(house.store(), needs_sets).await };
        self.patiently(scope, patience, open).await?;
        Ok(desk)
    }

    /// Makes room for what a project takes by now, or remembers that there will never be so much.
    fn settle(&self, scope: ProjectScope, error: Option<&CountingError>) {
        let Inner { budget, too_large, .. } = &*self.0;
        match error {
            None => {
                too_large.end(&scope.project());
                budget.settle();
            }
            Some(CountingError::Memory(Refused::TooLarge)) => too_large.note(scope.project(), self.passed()),
            Some(_) => {}
        }
    }

    /// Takes over what other processes counted, and closes desks that nobody comes to; tells whether all could be taken over.
    /// A desk whose counts cannot be read is closed: whoever comes next is told, and those at other desks notice nothing.
    pub async fn refresh(&self, now: Timestamp) -> Result<bool, StoreError> {
        let (idle, desks): (Vec<_>, Vec<_>) =
            self.0.desks.all().into_iter().partition(|desk| desk.is_idle(now, IDLE_SECONDS));
        for desk in &idle {
            self.close(desk);
        }
        if desks.is_empty() {
            return Ok(true);
        }
        let projects = desks.iter().map(|desk| desk.project()).collect();
        let Versions { found, failed } = self.store().counts_versions_apart(projects).await?;
        let found: HashMap<ProjectId, Mark> = found.into_iter().collect();
        let mut behind: HashMap<ProjectId, StoreError> = HashMap::new();
        for (mut projects, error) in failed {
            let last = projects.pop();
            behind.extend(projects.into_iter().map(|project| (project, error.shared())));
            behind.extend(last.map(|project| (project, error)));
        }
        let mut is_whole = true;
        for desk in &desks {
            let followed = match behind.remove(&desk.project()) {
                None => {
                    let stored = found.get(&desk.project()).copied().unwrap_or_default();
                    desk.follow(self.store(), stored).await
                }
                Some(error) => Err(error.into()),
            };
            if let Err(error) = followed {
                is_whole &= self.is_let_go(desk, &error)?;
            }
        }
        self.0.budget.settle();
        Ok(is_whole)
    }

    /// Closes a desk that cannot be followed, if that is for good; tells whether it is.
    fn is_let_go(&self, desk: &Arc<Desk>, error: &CountingError) -> Result<bool, StoreError> {
        if let CountingError::Store(StoreError::Away) = error {
            return Err(StoreError::Away);
        }
        tracing::warn!(%error, project = %desk.project(), "what is counted cannot be followed");
        match error {
            CountingError::Corrupt(_)
            | CountingError::Memory(_)
            | CountingError::Store(StoreError::Corrupt { .. }) => {
                self.close(desk);
                Ok(true)
            }
            CountingError::Store(_)
            | CountingError::Refused(_)
            | CountingError::Loading
            | CountingError::Interrupted => Ok(false),
        }
    }

    /// Forgets what is loaded of a project, unless somebody opened another desk for it.
    fn close(&self, desk: &Arc<Desk>) {
        self.0.desks.remove(&desk.project(), desk);
    }

    /// Where what is counted now goes.
    fn keeping(&self, now: Timestamp) -> Keeping<'_> {
        let Surroundings { store, retention, draw_stamp, .. } = &self.0.surroundings;
        let (retention, draw_stamp) = (*retention, *draw_stamp);
        Keeping { store, retention, today: Day::of(now), passed: self.passed(), draw_stamp }
    }

    fn desk(&self, scope: ProjectScope, now: Timestamp) -> Result<Arc<Desk>, Refused> {
        let Inner { budget, desks, too_large, .. } = &*self.0;
        if too_large.has(&scope.project(), self.passed()) {
            return Err(Refused::TooLarge);
        }
        let desk = desks.touch_or_put(scope.project(), || Desk::new(scope, budget.share()));
        desk.touch(now);
        Ok(desk)
    }
}
