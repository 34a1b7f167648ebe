//! The projects whose market a collection is in, and how far its market is counted for each of them.

use bourse_wire::{ChainId, ProjectId, Timestamp};

use crate::activities::{self, Activity};
use crate::args::{Arg, args};
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Store};
use crate::collections::{CollectionId, CollectionKey, find, find_or_create, read_contract};
use crate::columns::{Insert, or_nothing, record, selection};
use crate::hosted::linking_projects;
use crate::session::Session;
use crate::{ProjectScope, StoreError, projects};

/// A part of a collection's activities that is counted for a project, as a whole and once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarketStep {
    /// The collection.
    pub collection: CollectionId,
    /// The last activity before them.
    pub from: u64,
    /// The last of them.
    pub to: u64,
    /// How often activities had been taken back when they were read.
    pub rewinds: u64,
}

impl MarketStep {
    /// A name that no other batch of the project has.
    pub fn name(&self) -> String {
        let Self { collection, from, to, rewinds } = self;
        format!("market:{}:{rewinds}:{from}-{to}", collection.0)
    }
}

/// Activities that are to be counted for a project.
#[derive(Clone, Debug)]
pub struct MarketNews {
    /// What counting them does.
    pub step: MarketStep,
    /// The activities, oldest first. Those that are known to be counted are left out.
    pub activities: Vec<Activity>,
}

/// A collection of a project's market.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketCollection {
    /// Chain and address.
    pub key: CollectionKey,
    /// What its contract says of itself, as JSON text, when anything is known of it.
    pub info: Option<String>,
}

/// A collection in a project's market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Market {
    /// The project.
    pub project: ProjectId,
    /// The collection.
    pub collection: CollectionId,
    /// Its chain and address.
    pub key: CollectionKey,
}

impl Store {
    /// Puts a collection, which is made when it is new, into a project's market: what happened and will happen in it is
    /// counted for the project.
    pub fn join_market(&self, scope: ProjectScope, key: CollectionKey, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                let id = find_or_create(&mut session, key).await?;
                if join(&mut session, scope.project(), id).await? {
                    audit::put(&mut session, &actor, joined(scope.project(), key)).await?;
                }
                Ok(())
            })
        })
    }

    /// Every project with every collection of its market.
    pub fn markets(&self) -> Pending<'_, Vec<Market>> {
        self.read(|mut session| {
            Box::pin(async move {
                let sql = "FROM collection_projects JOIN collections
                    ON collections.collection_id = collection_projects.collection_id";
                let rows: Vec<(MarketRow, CollectionKey)> = session.select(sql, args![]).await?;
                let market = |(row, key): (MarketRow, CollectionKey)| Market {
                    project: row.project_id,
                    collection: row.collection_id,
                    key,
                };
                Ok(rows.into_iter().map(market).collect())
            })
        })
    }

    /// Some collections of a project's market, those that were made first before the others.
    pub fn market_collections(
        &self,
        scope: ProjectScope,
        skip: u64,
        limit: u64,
    ) -> Pending<'_, Vec<MarketCollection>> {
        self.read(move |mut session| {
            Box::pin(async move { market_collections(&mut session, scope.project(), skip, limit).await })
        })
    }

    /// Collections of a project's market, of a chain or of all, in the order of their numbers, from the one after a number on.
    pub fn market_keys(
        &self,
        scope: ProjectScope,
        chain: Option<ChainId>,
        after: u64,
        limit: u64,
    ) -> Pending<'_, Vec<(CollectionId, CollectionKey)>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let mut args = args![scope.project(), after, limit];
                args.extend(chain.map(Arg::from));
                let of_chain = if chain.is_some() { "AND collections.chain_id = $4" } else { "" };
                let sql = format!(
                    "FROM collection_projects JOIN collections
                    ON collections.collection_id = collection_projects.collection_id
                    WHERE collection_projects.project_id = $1 AND collection_projects.collection_id > $2 {of_chain}
                    ORDER BY collection_projects.collection_id LIMIT $3"
                );
                session.select(sql, args).await
            })
        })
    }

    /// The oldest activities of a collection that are not counted for a project yet, so many at most.
    pub fn market_news(
        &self,
        scope: ProjectScope,
        id: CollectionId,
        limit: u64,
    ) -> Pending<'_, Option<MarketNews>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let Some(cursor) = Cursor::read(&mut session, scope.project(), id).await? else {
                    return Ok(None);
                };
                let sql = format!(
                    "FROM activities WHERE collection_id = $1 AND activity_id > $2 AND {}
                    ORDER BY activity_id LIMIT $3",
                    activities::is_known()
                );
                let args = args![id.0, cursor.counted_to, limit];
                let mut activities = activities::select(&mut session, sql, args).await?;
                let Some(to) = activities.last().map(|last| last.id) else { return Ok(None) };
                activities.retain(|activity| !cursor.knows(activity));
                let step =
                    MarketStep { collection: id, from: cursor.counted_to, to, rewinds: cursor.rewinds };
                Ok(Some(MarketNews { step, activities }))
            })
        })
    }
}

async fn market_collections(
    session: &mut Session<'_>,
    project: ProjectId,
    skip: u64,
    limit: u64,
) -> Result<Vec<MarketCollection>, StoreError> {
    let sql = "FROM collection_projects JOIN collections
        ON collections.collection_id = collection_projects.collection_id
        WHERE collection_projects.project_id = $1
        ORDER BY collection_projects.collection_id LIMIT $2 OFFSET $3";
    let mut found = Vec::new();
    let collections: Vec<(CollectionId, CollectionKey)> =
        session.select(sql, args![project, limit, skip]).await?;
    for (id, key) in collections {
        // Contracts lie with their collections and not with projects, where tables are distributed.
        let info = read_contract(session, id).await?;
        found.push(MarketCollection { key, info });
    }
    Ok(found)
}

record! {
    /// A collection that is put into a project's market.
    struct MarketRow: "collection_projects" ("project_id, collection_id") {
        project_id: ProjectId,
        collection_id: CollectionId,
        counted_to: u64,
        rewinds: u64,
    }
}

selection! {
    /// How far a collection is counted for a project, and from when to when what happened on the chain was counted before
    /// it was read anew.
    struct Cursor {
        counted_to: u64,
        rewinds: u64,
        known_from: Option<Timestamp>,
        known_to: Option<Timestamp>,
    }
}

impl Cursor {
    async fn read(
        session: &mut Session<'_>,
        project: ProjectId,
        id: CollectionId,
    ) -> Result<Option<Self>, StoreError> {
        let sql = "FROM collection_projects WHERE project_id = $1 AND collection_id = $2";
        session.select_first(sql, args![project, id.0]).await
    }

    fn knows(&self, activity: &Activity) -> bool {
        let known = self.known_from.zip(self.known_to);
        let is_within = |(from, to)| (from..=to).contains(&activity.facts.at);
        !activity.facts.tx_hash.is_empty() && known.is_some_and(is_within)
    }
}

/// Puts a collection into a project's market; tells whether it was not in it.
pub(crate) async fn join(
    session: &mut Session<'_>,
    project: ProjectId,
    id: CollectionId,
) -> Result<bool, StoreError> {
    let row = MarketRow { project_id: project, collection_id: id, counted_to: 0, rewinds: 0 };
    let joined = session.insert_counting(Insert::of([row])?, &or_nothing::<MarketRow>()).await?;
    if joined > 0 {
        // Whoever counts must look at it.
        session.notify().await?;
    }
    Ok(joined > 0)
}

/// What the audit log says of a collection that comes into a project's market.
fn joined(project: ProjectId, key: CollectionKey) -> Entry {
    Entry::new(Act::MarketJoined, format!("{} on chain {}", key.address, key.chain)).of(project)
}

/// Puts a contract that a project links into its market. Where nothing is known of the contract yet, that is done when there is
/// something ([`join_all_linked`]), and who linked it is written down now.
pub(crate) async fn join_linked(
    session: &mut Session<'_>,
    project: ProjectId,
    key: CollectionKey,
    actor: &Actor,
) -> Result<(), StoreError> {
    let detail = match find(session, key).await? {
        Some(id) if !join(session, project, id).await? => return Ok(()),
        Some(_) => "by linking its contract",
        None => "by linking its contract, as soon as anything is known of it",
    };
    audit::put(session, actor, joined(project, key).with(detail)).await
}

/// Puts a new collection into the markets of the projects that linked its contract before.
pub(crate) async fn join_all_linked(
    session: &mut Session<'_>,
    key: CollectionKey,
    id: CollectionId,
) -> Result<(), StoreError> {
    let projects = linking_projects(session, key).await?;
    let row = |project_id| MarketRow { project_id, collection_id: id, counted_to: 0, rewinds: 0 };
    session.insert(Insert::of(projects.into_iter().map(row))?, &or_nothing::<MarketRow>()).await
}

/// Holds the cursors of some steps, and tells the names of those that somebody else was faster with, or whose activities
/// are no more. Whoever calls this sorted them, so that two never wait for each other.
pub(crate) async fn hold(
    session: &mut Session<'_>,
    project: ProjectId,
    steps: &[MarketStep],
) -> Result<Vec<String>, StoreError> {
    let mut stale = Vec::new();
    for step in steps {
        let sql = "UPDATE collection_projects SET rewinds = rewinds
            WHERE project_id = $1 AND collection_id = $2 AND counted_to = $3 AND rewinds = $4";
        let args = args![project, step.collection.0, step.from, step.rewinds];
        if session.execute(sql, args).await? == 0 {
            stale.push(step.name());
        }
    }
    Ok(stale)
}

/// Moves cursors that are held.
pub(crate) async fn advance(
    session: &mut Session<'_>,
    project: ProjectId,
    steps: &[MarketStep],
) -> Result<(), StoreError> {
    for step in steps {
        let sql =
            "UPDATE collection_projects SET counted_to = $3 WHERE project_id = $1 AND collection_id = $2";
        session.execute(sql, args![project, step.collection.0, step.to]).await?;
    }
    Ok(())
}

/// Lowers the cursors of a collection to the last activity that is left, after some were taken back: numbers above it are
/// given again. Whoever calls this holds the collection. Tells which activity that is.
pub(crate) async fn uncount(session: &mut Session<'_>, id: CollectionId) -> Result<u64, StoreError> {
    let last = activities::next_number(session, id).await? - 1;
    let sql = "UPDATE collection_projects SET rewinds = rewinds + 1,
        counted_to = CASE WHEN counted_to > $2 THEN $2 ELSE counted_to END WHERE collection_id = $1";
    session.execute(sql, args![id.0, last]).await?;
    Ok(last)
}

/// Remembers from when to when what happened on the chain is counted, before all of that is deleted to be read anew.
/// Whoever calls this holds the collection, and calls [`uncount`] after the deletion.
pub(crate) async fn keep_counted(session: &mut Session<'_>, id: CollectionId) -> Result<(), StoreError> {
    selection! {
        struct Times {
            first: Option<String> = "MIN(at)",
            last: Option<String> = "MAX(at)",
        }
    }
    let rows: Vec<MarketRow> =
        session.select("FROM collection_projects WHERE collection_id = $1", args![id.0]).await?;
    for MarketRow { project_id, counted_to, .. } in rows {
        // Times of blocks are whole seconds, so that as texts they sort as times.
        let sql = "FROM activities WHERE collection_id = $1 AND activity_id <= $2 AND tx_hash <> ''";
        let times: Option<Times> = session.select_first(sql, args![id.0, counted_to]).await?;
        let Some(Times { first: Some(from), last: Some(to) }) = times else { continue };
        let sql = "UPDATE collection_projects SET
            known_from = CASE WHEN known_from < $3 THEN known_from ELSE $3 END,
            known_to = CASE WHEN known_to > $4 THEN known_to ELSE $4 END
            WHERE project_id = $1 AND collection_id = $2";
        session.execute(sql, args![project_id, id.0, from, to]).await?;
    }
    Ok(())
}
