//! What is counted of a project's events, in pieces, and the versions by which several processes count together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bourse_wire::{Day, ProjectId};

use crate::args::{Arg, args};
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Engine, Pending, Store};
use crate::collections::Mark;
use crate::columns::{Insert, Value as _, or_replace, record, selection};
use crate::events::{Event, insert_events};
use crate::session::{Session, list};
use crate::versions::IDS_PER_READ;
use crate::{MarketStep, ProjectScope, StoreError, market_projects, projects};

/// The name of a piece: kind, day and part.
pub type ChunkKey = (u8, i32, u32);

record! {
    /// A piece as it is stored.
    struct ChunkRow: "analytics_chunks" ("project_id, kind, day, part") {
        kind: u8,
        day: i32,
        part: u32,
        version: u64,
        body: Vec<u8>,
    }
}

record! {
    struct BatchRow: "analytics_batches" ("project_id, batch_id") {
        batch_id: String,
        day: i64,
    }
}

record! {
    struct SeenRow: "analytics_seen" ("project_id, version") {
        version: u64,
        day: i64,
        body: Vec<u8>,
    }
}

/// One piece of what is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its name.
    pub key: ChunkKey,
    /// What it says; nothing when the piece is no more.
    pub body: Vec<u8>,
}

/// What a process has already, so that it is given the rest.
#[derive(Clone, Debug, Default)]
pub struct CountsCursor {
    /// The versions of what it has. The rest is of use only where the counts have become what they are by way of these.
    pub after: Vec<Mark>,
    /// Kinds of pieces, with the version up to which each is known.
    pub kinds: Vec<(u8, u64)>,
    /// The version up to which ids of events are known; `None` when they do not matter.
    pub seen: Option<u64>,
}

/// What of the counts is newer than what was known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The version that they are of; 0 when nothing was ever counted.
    pub version: u64,
    /// The number that was drawn with it.
    pub stamp: u64,
    /// Whether the database does not know of the versions that are known: it was set back, or has become too much else
    /// since. Then there is nothing else here, and everything must be read anew.
    pub is_another: bool,
    /// Pieces that are different.
    pub chunks: Vec<Chunk>,
    /// Hashes of ids, with the day on which they were counted.
    pub seen: Vec<(Day, Vec<u8>)>,
    /// The latest day under which batches or ids of events are remembered, where ids matter and there is something new.
    pub latest_day: Option<Day>,
}

/// What counting events changes, all at once or not at all.
#[derive(Clone, Debug, Default)]
pub struct CountsCommit {
    /// The version that it was prepared for.
    pub expected: u64,
    /// The number that was drawn with that.
    pub follows: u64,
    /// A number drawn at random, by which the version that this becomes is told from others of its number.
    pub stamp: u64,
    /// Batches that it counts.
    pub batches: Vec<BatchMark>,
    /// Parts of markets that it counts, of different collections.
    pub market: Vec<MarketStep>,
    /// Pieces that are different.
    pub chunks: Vec<Chunk>,
    /// Hashes of the ids of the events.
    pub seen: Vec<u8>,
    /// Events to be kept as they are.
    pub raw: Vec<Event>,
    /// When, and what is by then too old to be kept.
    pub days: RetentionDays,
    /// Who had a wallet forgotten, when that is what it does. The audit log does not name the wallet: it is forgotten.
    pub forgotten_by: Option<Actor>,
}

impl CountsCommit {
    /// Whether something of it is remembered under its day, by which everybody knows of that day.
    pub fn is_remembered(&self) -> bool {
        !self.seen.is_empty() || self.batches.iter().any(|batch| !batch.for_good)
    }
}

/// The mark of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchMark {
    /// Its name within the project.
    pub id: String,
    /// Whether it is remembered for good, rather than for some days.
    pub for_good: bool,
}

/// What is kept how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionDays {
    /// Today.
    pub today: Day,
    /// The first day whose batches are remembered.
    pub batches_from: Day,
    /// The first day whose ids of events are remembered.
    pub seen_from: Day,
    /// The first day whose events are kept as they are.
    pub raw_from: Day,
}

impl Default for RetentionDays {
    fn default() -> Self {
        let always = Day::from_number(i32::MIN);
        Self { today: always, batches_from: always, seen_from: always, raw_from: always }
    }
}

/// What became of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountsCommitted {
    /// It is stored as this version.
    As(u64),
    /// Somebody else was faster: nothing is stored, and it must be prepared anew.
    Behind,
    /// These batches, or parts of markets, were counted before: nothing is stored.
    Repeated(Vec<String>),
}

/// The day of a batch that is remembered for good.
const FOR_GOOD: i64 = i64::MAX;

impl Store {
    /// What of a project's counts is newer than what is known.
    pub fn counts(&self, scope: ProjectScope, known: CountsCursor) -> Pending<'_, Counts> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let project = scope.project();
                let lineage = lineage(&mut session, project).await?;
                let Mark { version, stamp } = lineage.newest();
                let mut counts = Counts { version, stamp, ..Counts::default() };
                if !known.after.iter().all(|mark| lineage.has(*mark)) {
                    counts.is_another = true;
                    return Ok(counts);
                }
                for (kind, since) in known.kinds.into_iter().filter(|(_, since)| *since < counts.version) {
                    counts.chunks.extend(chunks(&mut session, project, kind, since).await?);
                }
                if let Some(since) = known.seen.filter(|since| *since < counts.version) {
                    counts.seen = seen(&mut session, project, since).await?;
                    counts.latest_day = latest_day(&mut session, project).await?;
                }
                Ok(counts)
            })
        })
    }

    /// How many bytes are stored of these kinds of pieces, and of the ids of events where those matter.
    pub fn counts_bytes(&self, scope: ProjectScope, kinds: Vec<u8>, seen: bool) -> Pending<'_, u64> {
        self.read(move |mut session| {
            Box::pin(async move {
                let mut bytes = 0;
                for kind in kinds {
                    let sql = "SELECT CAST(COALESCE(SUM(LENGTH(body)), 0) AS BIGINT) FROM analytics_chunks
                        WHERE project_id = $1 AND kind = $2";
                    bytes += session.value(sql, args![scope.project(), kind]).await?.unwrap_or(0);
                }
                if seen {
                    let sql = "SELECT CAST(COALESCE(SUM(LENGTH(body)), 0) AS BIGINT) FROM analytics_seen
                        WHERE project_id = $1";
                    bytes += session.value(sql, args![scope.project()]).await?.unwrap_or(0);
                }
                Ok(bytes)
            })
        })
    }

    /// Every piece of one kind, decoded where it is read, which may be on several threads, with the version that they are of.
    pub async fn all_counts<T, D>(
        &self,
        scope: ProjectScope,
        kind: u8,
        decode: D,
    ) -> Result<(Mark, Vec<T>), StoreError>
    where
        T: Send + 'static,
        D: Fn(ChunkKey, &[u8]) -> T + Send + Sync + 'static,
    {
        if let Engine::Sqlite(engine) = &self.engine {
            return engine.pieces(scope.project(), kind, decode).await;
        }
        let known = CountsCursor { kinds: vec![(kind, 0)], ..CountsCursor::default() };
        let Counts { version, stamp, chunks, .. } = self.counts(scope, known).await?;
        let decoding = tokio::task::spawn_blocking(move || {
            chunks.into_iter().map(|chunk| decode(chunk.key, &chunk.body)).collect()
        });
        Ok((Mark { version, stamp }, decoding.await.map_err(|_| StoreError::Closed)?))
    }

    /// The versions of the counts of projects that have any.
    pub fn counts_versions(&self) -> Pending<'_, Vec<(ProjectId, Mark)>> {
        self.read(|mut session| {
            Box::pin(
                async move { counts_versions(&mut session, "FROM analytics_versions".into(), args![]).await },
            )
        })
    }

    /// The same of these projects.
    pub(crate) fn counts_versions_of(&self, projects: Vec<ProjectId>) -> Pending<'_, Vec<(ProjectId, Mark)>> {
        self.read(|mut session| {
            Box::pin(async move {
                let mut versions = Vec::with_capacity(projects.len());
                for group in projects.chunks(IDS_PER_READ) {
                    let sql =
                        format!("FROM analytics_versions WHERE project_id IN ({})", list(group.len(), 0));
                    let args = group.iter().map(|project| Arg::from(*project)).collect();
                    versions.extend(counts_versions(&mut session, sql, args).await?);
                }
                Ok(versions)
            })
        })
    }

    /// Stores what counting events changed, unless somebody else counted since it was prepared.
    pub fn commit_counts(&self, scope: ProjectScope, commit: CountsCommit) -> Pending<'_, CountsCommitted> {
        let (pruned, project, days) = (Arc::clone(&self.pruned), scope.project(), commit.days);
        let is_pruned = pruned.is(project, days);
        self.write_then(
            move |mut session| Box::pin(async move { store(&mut session, scope, commit, is_pruned).await }),
            move |committed: &mut CountsCommitted| {
                if matches!(committed, CountsCommitted::As(_)) {
                    pruned.note(project, days);
                }
            },
        )
    }
}

/// For which days this process last forgot what is too old of each project: as long as these are the same there is nothing to
/// forget, but for events that were too old when they came.
#[derive(Default)]
pub(crate) struct Pruned(Mutex<HashMap<ProjectId, RetentionDays>>);

impl Pruned {
    fn is(&self, project: ProjectId, days: RetentionDays) -> bool {
        self.lock().get(&project) == Some(&days)
    }

    fn note(&self, project: ProjectId, days: RetentionDays) {
        self.lock().insert(project, days);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProjectId, RetentionDays>> {
        // Nothing under it can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many of the latest versions of a project's counts are told apart by their numbers. Whoever is further behind reads
/// everything anew.
const STAMPS_KEPT: usize = 32;

/// The latest versions of a project's counts.
#[derive(Default)]
pub(crate) struct Lineage {
    version: u64,
    /// The numbers drawn with them, that of the newest last.
    stamps: Vec<u64>,
}

selection! { Lineage { version, stamps } }

impl Lineage {
    /// As it is stored.
    pub(crate) fn stored(version: u64, stamps: &str) -> Result<Self, StoreError> {
        let stamps = serde_json::from_str(stamps);
        Ok(Self { version, stamps: stamps.map_err(|error| StoreError::corrupt("analytics version", error))? })
    }

    /// The newest version. What was counted before there were numbers has none.
    pub(crate) fn newest(&self) -> Mark {
        Mark { version: self.version, stamp: self.stamps.last().copied().unwrap_or_default() }
    }

    /// Whether the newest version is this one, or came after it.
    fn has(&self, mark: Mark) -> bool {
        if mark.version == 0 || mark == self.newest() {
            return true;
        }
        let later = self.version.checked_sub(mark.version).and_then(|later| usize::try_from(later).ok());
        let stamp = later.and_then(|later| self.stamps.iter().rev().nth(later));
        stamp == Some(&mark.stamp)
    }

    /// The version after this one.
    fn next(&self, stamp: u64) -> Self {
        let mut stamps = self.stamps.clone();
        stamps.push(stamp);
        stamps.drain(..stamps.len().saturating_sub(STAMPS_KEPT));
        Self { version: self.version + 1, stamps }
    }
}

async fn lineage(session: &mut Session<'_>, project: ProjectId) -> Result<Lineage, StoreError> {
    let sql = "FROM analytics_versions WHERE project_id = $1";
    Ok(session.select_first(sql, args![project]).await?.unwrap_or_default())
}

async fn chunks(
    session: &mut Session<'_>,
    project: ProjectId,
    kind: u8,
    since: u64,
) -> Result<Vec<Chunk>, StoreError> {
    // Everything is read in the order of the keys; for what is new the versions are the better way.
    let everything = "FROM analytics_chunks WHERE project_id = $1 AND kind = $2";
    let rows: Vec<ChunkRow> = if since == 0 {
        session.select(everything, args![project, kind]).await?
    } else {
        session.select(format!("{everything} AND version > $3"), args![project, kind, since]).await?
    };
    let chunk = |row: ChunkRow| Chunk { key: (row.kind, row.day, row.part), body: row.body };
    Ok(rows.into_iter().map(chunk).collect())
}

async fn seen(
    session: &mut Session<'_>,
    project: ProjectId,
    since: u64,
) -> Result<Vec<(Day, Vec<u8>)>, StoreError> {
    selection! {
        struct Seen {
            day: i32,
            body: Vec<u8>,
        }
    }
    let sql = "FROM analytics_seen WHERE project_id = $1 AND version > $2";
    let seen: Vec<Seen> = session.select(sql, args![project, since]).await?;
    Ok(seen.into_iter().map(|seen| (Day::from_number(seen.day), seen.body)).collect())
}

/// The latest day under which batches or ids of events of a project are remembered.
async fn latest_day(session: &mut Session<'_>, project: ProjectId) -> Result<Option<Day>, StoreError> {
    let mut latest = None;
    for table in ["analytics_batches", "analytics_seen"] {
        let sql = format!("SELECT MAX(day) FROM {table} WHERE project_id = $1 AND day < $2");
        let day: Option<Option<i32>> = session.value(sql, args![project, FOR_GOOD]).await?;
        latest = latest.max(day.flatten().map(Day::from_number));
    }
    Ok(latest)
}

async fn store(
    session: &mut Session<'_>,
    scope: ProjectScope,
    mut commit: CountsCommit,
    is_pruned: bool,
) -> Result<CountsCommitted, StoreError> {
    let project = scope.project();
    projects::require(session, project).await?;
    let mut repeated = known_batches(session, project, &commit.batches).await?;
    commit.market.sort_unstable();
    repeated.extend(market_projects::hold(session, project, &commit.market).await?);
    if !repeated.is_empty() {
        return Ok(CountsCommitted::Repeated(repeated));
    }
    let expected = Mark { version: commit.expected, stamp: commit.follows };
    let Some(version) = advance(session, project, expected, commit.stamp).await? else {
        return Ok(CountsCommitted::Behind);
    };
    let today = i64::from(commit.days.today.number());
    let chunks = commit.chunks.into_iter();
    let chunks =
        chunks.map(|Chunk { key: (kind, day, part), body }| ChunkRow { kind, day, part, version, body });
    session.insert(Insert::owned(project, chunks)?, &or_replace::<ChunkRow>(&[])).await?;
    let day = |for_good| if for_good { FOR_GOOD } else { today };
    let batches = commit.batches.into_iter();
    let batches = batches.map(|BatchMark { id, for_good }| BatchRow { batch_id: id, day: day(for_good) });
    session.insert(Insert::owned(project, batches)?, "").await?;
    if !commit.seen.is_empty() {
        let seen = SeenRow { version, day: today, body: commit.seen };
        session.insert(Insert::owned(project, [seen])?, "").await?;
    }
    market_projects::advance(session, project, &commit.market).await?;
    if !is_pruned {
        prune(session, project, commit.days).await?;
    }
    if !is_pruned || !commit.raw.is_empty() {
        insert_events(session, project, commit.raw).await?;
        prune_events(session, project, commit.days).await?;
    }
    if let Some(actor) = &commit.forgotten_by {
        audit::put(session, actor, Entry::new(Act::WalletForgotten, "a wallet").of(project)).await?;
    }
    session.notify_soon();
    Ok(CountsCommitted::As(version))
}

async fn known_batches(
    session: &mut Session<'_>,
    project: ProjectId,
    batches: &[BatchMark],
) -> Result<Vec<String>, StoreError> {
    let names = list(batches.len(), 1);
    let sql =
        format!("SELECT batch_id FROM analytics_batches WHERE project_id = $1 AND batch_id IN ({names})");
    let mut args = args![project];
    args.extend(batches.iter().map(|batch| batch.id.as_str().into()));
    session.values(sql, args).await
}

/// The next version, when the last one is still what it is thought to be.
async fn advance(
    session: &mut Session<'_>,
    project: ProjectId,
    expected: Mark,
    stamp: u64,
) -> Result<Option<u64>, StoreError> {
    let before = lineage(session, project).await?;
    if before.newest() != expected {
        return Ok(None);
    }
    let next = before.next(stamp);
    let (stamps, stamps_before) = (next.stamps.arg()?, before.stamps.arg()?);
    let advanced = if expected.version == 0 {
        let sql = "INSERT INTO analytics_versions (project_id, version, stamps) VALUES ($1, $2, $3)
            ON CONFLICT DO NOTHING";
        session.execute(sql, vec![project.into(), next.version.into(), stamps]).await?
    } else {
        // Somebody may have been faster since it was read.
        let sql = "UPDATE analytics_versions SET version = $2, stamps = $3
            WHERE project_id = $1 AND version = $4 AND stamps = $5";
        let (version, before) = (next.version.into(), before.version.into());
        session.execute(sql, vec![project.into(), version, stamps, before, stamps_before]).await?
    };
    Ok((advanced == 1).then_some(next.version))
}

/// Forgets batches and ids of events that are too old.
async fn prune(session: &mut Session<'_>, project: ProjectId, days: RetentionDays) -> Result<(), StoreError> {
    for (table, first) in [("analytics_batches", days.batches_from), ("analytics_seen", days.seen_from)] {
        let sql = format!("DELETE FROM {table} WHERE project_id = $1 AND day < $2");
        session.execute(sql, args![project, i64::from(first.number())]).await?;
    }
    Ok(())
}

/// Forgets events that are too old.
async fn prune_events(
    session: &mut Session<'_>,
    project: ProjectId,
    days: RetentionDays,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM events WHERE project_id = $1 AND at < $2";
    session.execute(sql, args![project, days.raw_from.to_string()]).await.map(drop)
}

/// The versions that rows of what is counted have.
async fn counts_versions(
    session: &mut Session<'_>,
    sql: String,
    args: Vec<Arg>,
) -> Result<Vec<(ProjectId, Mark)>, StoreError> {
    selection! {
        struct Counted {
            project_id: ProjectId,
        }
    }
    let counted: Vec<(Counted, Lineage)> = session.select(sql, args).await?;
    Ok(counted.into_iter().map(|(of, lineage)| (of.project_id, lineage.newest())).collect())
}
