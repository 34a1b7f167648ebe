//! The desk of one project: what is counted of it, and the one place where it is counted.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use bourse_analytics::{Changes, CountingCalendar, Key, Project, Wallets};
use bourse_budget::{Held, Share};
use bourse_store::{
    Actor, BatchMark, Chunk, Counts, CountsCommit, CountsCommitted, CountsCursor, Event, Mark, MarketStep,
    ProjectScope, RetentionDays, Store,
};
use bourse_wire::{Address, Day, ProjectId, Timestamp};
use hashbrown::HashSet;
use tokio::sync::oneshot;

use super::batch::{BatchId, EventBatch, Forgotten, Tracked, TrackedEvent};
use super::event_ids::{CountedIds, IdHash, to_bytes};
use super::load::{decode_all, read_all, read_wallets};
use super::{CountingError, Retention};

/// Events that are counted in one go, about: more would only keep the first of them waiting.
const GROUP_EVENTS_MAX: usize = 20_000;
/// Batches that are counted in one go.
const GROUP_BATCHES_MAX: usize = 256;
/// Versions after which memory is measured again where that takes a while: most of them change little.
const VERSIONS_UNWEIGHED: u64 = 16;
/// What is smaller is measured after every version.
const SMALL_BYTES: usize = 16 << 20;

type BatchResult = Result<Tracked, Arc<CountingError>>;

/// The desk of one project.
pub struct Desk {
    scope: ProjectScope,
    share: Share,
    /// The version whose memory was measured.
    weighed: AtomicU64,
    charts: RwLock<Charts>,
    /// Held by whoever counts or loads.
    books: tokio::sync::Mutex<Books>,
    /// Whether the books were ever loaded.
    has_books: AtomicBool,
    waiting: Mutex<VecDeque<Waiting>>,
    touched_seconds: AtomicI64,
}

/// What charts are made of.
#[derive(Default)]
struct Charts {
    /// The version it is of; `None` before anything was loaded.
    mark: Option<Mark>,
    /// Whether sets are loaded too: counters alone are enough for some charts, and loaded in no time.
    has_sets: bool,
    project: Project,
}

/// What only counting needs.
#[derive(Default)]
struct Books {
    /// The version they are of.
    mark: Mark,
    wallets: Wallets,
    seen: CountedIds,
    calendar: CountingCalendar,
}

/// A batch that is to be counted.
struct Waiting {
    batch: EventBatch,
    told: oneshot::Sender<BatchResult>,
}

/// Where counted events go, for how long what of them is kept there, and when that is.
#[derive(Clone, Copy)]
pub(super) struct Keeping<'s> {
    pub(super) store: &'s Store,
    pub(super) retention: Retention,
    pub(super) today: Day,
    /// How much time has passed, however the clock was set.
    pub(super) passed: Duration,
    pub(super) draw_stamp: fn() -> u64,
}

impl Keeping<'_> {
    /// What is kept from which day on.
    fn days(&self, calendar: &CountingCalendar) -> RetentionDays {
        let today = calendar.day(self.today, self.passed);
        RetentionDays {
            today,
            batches_from: Retention::first_day(today, self.retention.batches_days),
            seen_from: Retention::first_day(today, self.retention.event_ids_days),
            // By the clock: what happened when is told by whoever sends it.
            raw_from: Retention::first_day(self.today, self.retention.raw_events_days),
        }
    }
}

/// Batches that are counted in one go: which of their events count, and the ids of those.
struct Group<'b> {
    events: Vec<&'b TrackedEvent>,
    ids: Vec<IdHash>,
    tracked: Vec<Tracked>,
}

impl Desk {
    pub(super) fn new(scope: ProjectScope, share: Share) -> Self {
        Self {
            scope,
            share,
            weighed: AtomicU64::new(0),
            charts: RwLock::default(),
            books: tokio::sync::Mutex::default(),
            has_books: AtomicBool::new(false),
            waiting: Mutex::default(),
            touched_seconds: AtomicI64::new(0),
        }
    }

    pub(super) fn project(&self) -> ProjectId {
        self.scope.project()
    }

    pub(super) fn touch(&self, now: Timestamp) {
        self.touched_seconds.store(now.unix_seconds(), Ordering::Relaxed);
    }

    pub(super) fn is_idle(&self, now: Timestamp, seconds: i64) -> bool {
        now.unix_seconds() - self.touched_seconds.load(Ordering::Relaxed) > seconds
    }

    /// Reads what is counted.
    pub fn read<T>(&self, read: impl FnOnce(&Project) -> T) -> T {
        read(&self.charts.read().unwrap_or_else(PoisonError::into_inner).project)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Charts> {
        self.charts.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of what is loaded, and whether that has sets.
    fn loaded(&self) -> (Option<Mark>, bool) {
        let charts = self.charts.read().unwrap_or_else(PoisonError::into_inner);
        (charts.mark, charts.has_sets)
    }

    /// Whether what a chart needs is there.
    pub(super) fn is_open(&self, needs_sets: bool) -> bool {
        is_enough(self.loaded(), needs_sets)
    }

    /// Loads what a chart needs, unless it is there.
    pub(super) async fn open(&self, store: &Store, needs_sets: bool) -> Result<(), CountingError> {
        self.load_charts(store, needs_sets, |loaded| is_enough(loaded, needs_sets)).await
    }

    /// Whether what counting needs is there, or was and is only to be followed.
    pub(super) fn is_prepared(&self) -> bool {
        self.has_books.load(Ordering::Acquire)
    }

    /// Loads what counting needs, unless it is there.
    pub(super) async fn prepare(&self, keeping: Keeping<'_>) -> Result<(), CountingError> {
        let mut books = self.books.lock().await;
        // Somebody may have been faster.
        if self.is_prepared() { Ok(()) } else { self.catch_up(keeping, &mut books).await }
    }

    /// Takes over what others counted, up to what is stored. What nobody asked for yet is not loaded.
    pub(super) async fn follow(&self, store: &Store, stored: Mark) -> Result<(), CountingError> {
        let is_enough = |(known, _): (Option<Mark>, bool)| known.is_none_or(|known| known == stored);
        self.load_charts(store, false, is_enough).await
    }

    async fn load_charts(
        &self,
        store: &Store,
        needs_sets: bool,
        is_enough: impl Fn((Option<Mark>, bool)) -> bool,
    ) -> Result<(), CountingError> {
        if is_enough(self.loaded()) {
            return Ok(());
        }
        let books = self.books.lock().await;
        // Somebody may have been faster.
        if is_enough(self.loaded()) {
            return Ok(());
        }
        let counts =
            self.take_in(store, needs_sets, CountsCursor::default(), &mut Wallets::default()).await?;
        if counts.is_another {
            self.read_anew(store, needs_sets).await?;
        }
        self.weigh(&books, 0);
        Ok(())
    }

    /// Finds out how much memory everything takes after so many versions: with many days and wallets that takes a moment.
    fn weigh(&self, books: &Books, versions: u64) {
        let version = self.loaded().0.unwrap_or_default().version;
        if version >= self.weighed.load(Ordering::Relaxed) + versions {
            self.weighed.store(version, Ordering::Relaxed);
            self.share.set(self.read(Project::bytes) + books.wallets.bytes() + books.seen.bytes());
        }
    }

    /// Reads everything again where the database knows nothing of the version that is loaded: it failed over to an older
    /// copy, or was restored from one. Whoever calls this has the books.
    async fn read_anew(&self, store: &Store, needs_sets: bool) -> Result<(), CountingError> {
        tracing::warn!(project = %self.project(), "the database was set back: what is counted is read anew");
        let anew = Self::new(self.scope, self.share.sibling());
        let needs_sets = needs_sets || self.loaded().1;
        let counts =
            anew.take_in(store, needs_sets, CountsCursor::default(), &mut Wallets::default()).await?;
        if counts.is_another {
            return Err(CountingError::Interrupted);
        }
        *self.write() = std::mem::take(&mut *anew.write());
        Ok(())
    }

    /// Reads what is newer than what is loaded, and takes it in; whoever calls this has the books. `known` tells what is to
    /// be read beside what charts are made of. The version, and the ids of events; or that the database does not know of the
    /// versions that are known, and then nothing is taken in.
    async fn take_in(
        &self,
        store: &Store,
        needs_sets: bool,
        mut known: CountsCursor,
        wallets: &mut Wallets,
    ) -> Result<Counts, CountingError> {
        let (mark, has_sets) = self.loaded();
        let version = mark.unwrap_or_default().version;
        known.after.extend(mark);
        known.kinds.push((Key::COUNTERS, version));
        let load = Arc::new(self.share.sibling());
        let reads_sets = needs_sets && !has_sets;
        self.reserve(store, &known, reads_sets, &load).await?;
        let mut sets = Vec::new();
        if has_sets {
            known.kinds.push((Key::PRESENCE, version));
        } else if reads_sets {
            let (read_at, all) = read_all(store, self.scope, Key::PRESENCE, &load).await?;
            known.kinds.push((Key::PRESENCE, read_at.version));
            known.after.push(read_at);
            sets = all;
        }
        let mut counts = store.counts(self.scope, known).await?;
        if counts.is_another {
            return Ok(counts);
        }
        let newer = decode_all(&mut counts, wallets).await?;
        let mut charts = self.write();
        charts.project.load(sets.into_iter().chain(newer));
        charts.mark = Some(Mark { version: counts.version, stamp: counts.stamp });
        charts.has_sets |= needs_sets;
        Ok(counts)
    }

    /// Takes memory for what is to be read from its beginning, as large as it is stored, before any of it is.
    async fn reserve(
        &self,
        store: &Store,
        known: &CountsCursor,
        reads_sets: bool,
        load: &Share,
    ) -> Result<(), CountingError> {
        let unknown = known.kinds.iter().filter(|(_, since)| *since == 0).map(|(kind, _)| *kind);
        let kinds: Vec<u8> = unknown.chain(reads_sets.then_some(Key::PRESENCE)).collect();
        if !kinds.is_empty() {
            let stored = store.counts_bytes(self.scope, kinds, known.seen == Some(0)).await?;
            load.take(usize::try_from(stored).unwrap_or(usize::MAX))?;
        }
        Ok(())
    }

    /// Brings everything that counting needs to the same, newest version.
    async fn catch_up(&self, keeping: Keeping<'_>, books: &mut Books) -> Result<(), CountingError> {
        let mut counts = self.follow_books(keeping.store, books).await?;
        if counts.is_another {
            *books = Books::default();
            self.read_anew(keeping.store, true).await?;
            counts = self.follow_books(keeping.store, books).await?;
        }
        if counts.is_another {
            return Err(CountingError::Interrupted);
        }
        books.calendar.learn(counts.latest_day, keeping.passed);
        for (day, ids) in &counts.seen {
            books.seen.load(*day, ids);
        }
        books.mark = Mark { version: counts.version, stamp: counts.stamp };
        self.has_books.store(true, Ordering::Release);
        self.weigh(books, 0);
        Ok(())
    }

    /// Takes in what is newer than the books: all, where there is nothing in them yet. Whoever goes away meanwhile leaves them
    /// as they were.
    async fn follow_books(&self, store: &Store, books: &mut Books) -> Result<Counts, CountingError> {
        let Mark { version, .. } = books.mark;
        let mut newer = CountsCursor {
            after: vec![books.mark],
            kinds: vec![(Key::WALLETS, version)],
            seen: Some(version),
        };
        if version > 0 {
            return self.take_in(store, true, newer, &mut books.wallets).await;
        }
        let load = self.share.sibling();
        let (read_at, mut wallets) = read_wallets(store, self.scope, &load).await?;
        newer.after.push(read_at);
        newer.kinds = vec![(Key::WALLETS, read_at.version)];
        let counts = self.take_in(store, true, newer, &mut wallets).await?;
        if !counts.is_another {
            books.wallets = wallets;
        }
        Ok(counts)
    }

    /// Lets a batch wait for its turn. What became of it is told through the channel.
    pub(super) fn enqueue(&self, batch: EventBatch) -> oneshot::Receiver<BatchResult> {
        let (told, answer) = oneshot::channel();
        self.waiting().push_back(Waiting { batch, told });
        answer
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts what waits, several batches in one go.
    pub(super) async fn drain(&self, keeping: Keeping<'_>) {
        let mut books = self.books.lock().await;
        loop {
            let group = take_group(&mut self.waiting());
            if group.is_empty() {
                return;
            }
            self.count(keeping, &mut books, group).await;
        }
    }

    /// Counts batches, and tells their owners.
    async fn count(&self, keeping: Keeping<'_>, books: &mut Books, mut waiting: Vec<Waiting>) {
        while !waiting.is_empty() {
            match self.try_count(keeping, books, &waiting).await {
                Ok(Attempt::Counted(tracked)) => {
                    for (waiting, tracked) in waiting.into_iter().zip(tracked) {
                        // The owner may have gone away; it is counted all the same.
                        let _ = waiting.told.send(Ok(tracked));
                    }
                    return;
                }
                Ok(Attempt::Behind) => {}
                Ok(Attempt::Repeated(names)) => {
                    let is_repeated =
                        |waiting: &mut Waiting| names.iter().any(|name| name == waiting.batch.id.as_str());
                    for waiting in waiting.extract_if(.., is_repeated) {
                        let _ = waiting.told.send(Ok(Tracked { replayed: true, ..Tracked::default() }));
                    }
                }
                Err(error) => {
                    let error = Arc::new(error);
                    for waiting in waiting {
                        let _ = waiting.told.send(Err(Arc::clone(&error)));
                    }
                    return;
                }
            }
        }
    }

    async fn try_count(
        &self,
        keeping: Keeping<'_>,
        books: &mut Books,
        waiting: &[Waiting],
    ) -> Result<Attempt, CountingError> {
        if self.loaded() != (Some(books.mark), true) {
            self.catch_up(keeping, books).await?;
        }
        let Keeping { store, retention, .. } = keeping;
        let (days, keeps_raw) = (keeping.days(&books.calendar), retention.raw_events_days > 0);
        books.seen.forget_before(days.seen_from);
        let earlier =
            if books.mark.version == 0 { self.uncounted(store, books, days).await? } else { Vec::new() };
        let group = choose(waiting, &books.seen);
        let events = earlier.iter().chain(group.events.iter().copied()).map(TrackedEvent::to_count);
        let changes = self.read(|project| project.prepare(&books.wallets, events))?;
        let stamp = (keeping.draw_stamp)();
        let commit = CountsCommit {
            expected: books.mark.version,
            follows: books.mark.stamp,
            stamp,
            batches: waiting.iter().filter_map(|waiting| mark(&waiting.batch.id)).collect(),
            market: waiting.iter().filter_map(|waiting| step(&waiting.batch.id)).collect(),
            chunks: stored(&changes),
            seen: to_bytes(&group.ids),
            raw: if keeps_raw { raw(waiting, &group) } else { Vec::new() },
            days,
            forgotten_by: None,
        };
        let remembered = commit.is_remembered().then_some(days.today);
        match store.commit_counts(self.scope, commit).await? {
            CountsCommitted::As(version) => {
                books.seen.add(days.today, group.ids);
                books.calendar.learn(remembered, keeping.passed);
                self.publish(books, changes, Mark { version, stamp })?;
                Ok(Attempt::Counted(group.tracked))
            }
            CountsCommitted::Behind => {
                self.catch_up(keeping, books).await?;
                Ok(Attempt::Behind)
            }
            CountsCommitted::Repeated(names) => Ok(Attempt::Repeated(names)),
        }
    }

    /// The events that were kept as they came before anything was counted. They are counted along with the first batch,
    /// after which they are kept no longer than any others; their ids are known from here on.
    async fn uncounted(
        &self,
        store: &Store,
        books: &mut Books,
        days: RetentionDays,
    ) -> Result<Vec<TrackedEvent>, CountingError> {
        let kept = store.events(self.scope).await?;
        // No other check: they were taken once.
        let events: Vec<TrackedEvent> =
            kept.into_iter().filter(|event| event.wallet != Address::ZERO).map(TrackedEvent::from).collect();
        books.seen.add(days.today, events.iter().filter_map(|event| event.id.as_deref()).map(IdHash::of));
        Ok(events)
    }

    /// Takes in what was stored.
    fn publish(&self, books: &mut Books, changes: Changes, mark: Mark) -> Result<(), CountingError> {
        let mut charts = self.write();
        charts.project.publish(&mut books.wallets, changes)?;
        charts.mark = Some(mark);
        books.mark = mark;
        drop(charts);
        self.weigh(books, if self.share.bytes() < SMALL_BYTES { 1 } else { VERSIONS_UNWEIGHED });
        Ok(())
    }

    pub(super) async fn forget(
        &self,
        keeping: Keeping<'_>,
        wallet: Address,
        actor: Actor,
    ) -> Result<Option<Forgotten>, CountingError> {
        let mut books = self.books.lock().await;
        let store = keeping.store;
        let raw_events = store.forget_events(self.scope, wallet).await?;
        loop {
            self.catch_up(keeping, &mut books).await?;
            let days = keeping.days(&books.calendar);
            let Some(forgotten) = self.read(|project| project.prepare_forget(&books.wallets, &wallet)) else {
                return Ok(None);
            };
            let stamp = (keeping.draw_stamp)();
            let commit = CountsCommit {
                expected: books.mark.version,
                follows: books.mark.stamp,
                stamp,
                chunks: stored(&forgotten.changes),
                days,
                forgotten_by: Some(actor.clone()),
                ..CountsCommit::default()
            };
            if let CountsCommitted::As(version) = store.commit_counts(self.scope, commit).await? {
                let (sent_days, market_days) = (forgotten.sent_days, forgotten.market_days);
                let active_days = forgotten.active_days;
                self.publish(&mut books, forgotten.changes, Mark { version, stamp })?;
                return Ok(Some(Forgotten { active_days, sent_days, market_days, raw_events }));
            }
        }
    }
}

impl Held for Desk {
    fn share(&self) -> &Share {
        &self.share
    }

    fn note_dropped(&self) {
        tracing::info!(project = %self.project(), "dropping what is counted of a project");
    }
}

fn is_enough((mark, has_sets): (Option<Mark>, bool), needs_sets: bool) -> bool {
    mark.is_some() && has_sets >= needs_sets
}

/// What became of an attempt to count.
enum Attempt {
    /// Everything is counted.
    Counted(Vec<Tracked>),
    /// Nothing is: others were faster, which is taken in by now.
    Behind,
    /// Nothing is: these batches were counted before.
    Repeated(Vec<String>),
}

/// Batches for one go, in their order. Two with the same name never go together: the second is a repetition.
fn take_group(waiting: &mut VecDeque<Waiting>) -> Vec<Waiting> {
    let mut names = HashSet::new();
    let (mut group, mut events) = (Vec::new(), 0);
    while let Some(next) = waiting.front() {
        let is_full = events + next.batch.events.len() > GROUP_EVENTS_MAX || group.len() == GROUP_BATCHES_MAX;
        if (!group.is_empty() && is_full) || !names.insert(next.batch.id.as_str().to_owned()) {
            break;
        }
        events += next.batch.events.len();
        group.extend(waiting.pop_front());
    }
    group
}

/// The events that count: not those whose ids were counted lately, here or before.
fn choose<'b>(waiting: &'b [Waiting], seen: &CountedIds) -> Group<'b> {
    let mut group = Group { events: Vec::new(), ids: Vec::new(), tracked: Vec::new() };
    let mut own = HashSet::new();
    for waiting in waiting {
        let mut tracked = Tracked::default();
        for event in &waiting.batch.events {
            let id = event.id.as_deref().map(IdHash::of);
            if id.is_some_and(|id| seen.has(id) || !own.insert(id)) {
                tracked.known += 1;
            } else {
                tracked.counted += 1;
                group.ids.extend(id);
                group.events.push(event);
            }
        }
        group.tracked.push(tracked);
    }
    group
}

fn mark(id: &BatchId) -> Option<BatchMark> {
    let for_good = match id {
        BatchId::Given(_) => false,
        BatchId::OfContent(_) => true,
        BatchId::OfMarket(..) => return None,
    };
    Some(BatchMark { id: id.as_str().to_owned(), for_good })
}

fn step(id: &BatchId) -> Option<MarketStep> {
    match id {
        BatchId::Given(_) | BatchId::OfContent(_) => None,
        BatchId::OfMarket(_, step) => Some(*step),
    }
}

fn stored(changes: &Changes) -> Vec<Chunk> {
    changes.chunks().map(|(key, body)| Chunk { key: key.columns(), body }).collect()
}

/// The events as they came. Those without an id get one.
fn raw(waiting: &[Waiting], group: &Group<'_>) -> Vec<Event> {
    let batch = waiting.first().map_or("", |waiting| waiting.batch.id.as_str());
    let event = |(index, event): (usize, &&TrackedEvent)| Event {
        id: event.id.as_deref().map_or_else(|| format!("{batch}#{index}"), str::to_owned),
        wallet: event.wallet,
        kind: event.kind,
        at: event.at,
    };
    group.events.iter().enumerate().map(event).collect()
}
