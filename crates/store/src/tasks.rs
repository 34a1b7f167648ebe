//! What projects asked to be fetched anew, and how far it is.

use std::collections::BTreeMap;

use bourse_wire::{Code, ContractInfo, Error, MetadataStatus, RecordId, TaskStatus, Timestamp, TokenId};

use crate::args::{Arg, args};
use crate::attributions::Author;
use crate::backend::{Pending, Sequence, Store};
use crate::collections::hold;
use crate::collections::{self, CollectionId, CollectionKey, Mark, read_contract, read_tokens};
use crate::columns::{Insert, record, selection};
use crate::commit::{Batch, Change, commit_within};
use crate::metadata_queue::{
    FRESH, GIVEN_UP, ask_anew, instant, item_id, millis, or_ask_anew, read_json, token_of,
};
use crate::session::{Session, list};
use crate::{ProjectScope, StoreError};

/// Days after which a task is forgotten.
const KEPT_DAYS: i64 = 30;
const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1_000;
/// Reasons that a task tells.
const REASONS_MAX: u64 = 20;

/// What is to be fetched anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// Some tokens. Those that are not known are left out.
    Tokens(Vec<TokenId>),
    /// All tokens; not again before so many milliseconds have gone by.
    AllTokens {
        /// How long the project has to wait before the next time.
        again_after_ms: u64,
    },
    /// The contract's own information.
    Contract,
}

impl Refresh {
    fn kind(&self) -> u8 {
        match self {
            Self::Tokens(_) => 0,
            Self::AllTokens { .. } => ALL_TOKENS,
            Self::Contract => 2,
        }
    }
}

const ALL_TOKENS: u8 = 1;
/// Several contracts: the task's tokens are the numbers of their collections.
const CONTRACTS: u8 = 3;

/// What asking brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refreshed {
    /// The task; an earlier one when it is too early for another.
    pub task: RefreshTask,
    /// Collections that changed, and their versions by now.
    pub versions: Vec<(CollectionKey, Mark)>,
}

/// A task, as far as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshTask {
    /// Number of the task.
    pub id: RecordId,
    /// The contract; or several, where their own information is fetched.
    pub collections: Vec<CollectionKey>,
    /// Tokens or contracts that it is about.
    pub total: u64,
    /// How many are still to be fetched.
    pub waiting: u64,
    /// How many could not be.
    pub failed: u64,
    /// How often the one that was tried most was tried in vain.
    pub attempts: u64,
    /// When the next is due.
    pub run_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// What went wrong; some of it when there is much.
    pub reasons: Vec<RefreshReason>,
}

/// Why something could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshReason {
    /// What it is about.
    pub of: RefreshedThing,
    /// Why.
    pub why: String,
}

/// What can be fetched anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshedThing {
    /// A token.
    Token(TokenId),
    /// What a contract says of itself.
    Contract(CollectionKey),
}

impl RefreshTask {
    /// How far it is, in a word.
    pub fn status(&self) -> TaskStatus {
        if self.waiting > 0 {
            TaskStatus::Queued
        } else if self.failed > 0 && self.failed >= self.total {
            TaskStatus::Failed
        } else {
            TaskStatus::Completed
        }
    }
}

impl Store {
    /// Puts tokens or a contract into the queue, says so in their metadata, and remembers who asked, in one transaction.
    /// Of all tokens of a collection the metadata says nothing: there may be a million.
    pub fn refresh(
        &self,
        scope: ProjectScope,
        collection: CollectionKey,
        wanted: Refresh,
        now: Timestamp,
    ) -> Pending<'_, Refreshed> {
        let changes_kept = self.options.changes_kept;
        self.write(move |mut session| {
            Box::pin(async move {
                let session = &mut session;
                crate::projects::require(session, scope.project()).await?;
                let unknown = || {
                    not_found(format_args!("contract {} on chain {}", collection.address, collection.chain))
                };
                let id = collections::find(session, collection).await?.ok_or_else(unknown)?;
                hold(session, id).await?;
                if let Refresh::AllTokens { again_after_ms } = wanted
                    && let Some(task) = recent_task(session, scope, id, oldest(now, again_after_ms)).await?
                {
                    let task = progress(session, task, vec![(id, collection)]).await?;
                    return Ok(Refreshed { task, versions: Vec::new() });
                }
                let (tokens, changes, total) = put_in_queue(session, id, &wanted, now).await?;
                let batch = Batch { collection, changes, key: None, author: Author::Fetcher, at: now };
                let committed = commit_within(session, batch, changes_kept).await?;
                let version = (committed.changed > 0).then_some((collection, committed.mark()));
                let new = TaskRow {
                    task_id: new_task_id(session).await?,
                    collection_id: id,
                    kind: wanted.kind(),
                    tokens,
                    total,
                    created_at: millis(now),
                };
                insert_task(session, scope, &new).await?;
                let task = progress(session, new, vec![(id, collection)]).await?;
                Ok(Refreshed { task, versions: version.into_iter().collect() })
            })
        })
    }

    /// The same for what several contracts say of themselves, as one task. Those that are not known are left out.
    pub fn refresh_contracts(
        &self,
        scope: ProjectScope,
        contracts: Vec<CollectionKey>,
        now: Timestamp,
    ) -> Pending<'_, Refreshed> {
        let changes_kept = self.options.changes_kept;
        self.write(move |mut session| {
            Box::pin(async move {
                let session = &mut session;
                crate::projects::require(session, scope.project()).await?;
                let mut known = BTreeMap::new();
                for key in contracts {
                    known.extend(collections::find(session, key).await?.map(|id| (id, key)));
                }
                let none = || Error::new(Code::NotFound, "none of these contracts is known");
                let first = *known.keys().next().ok_or_else(none)?;
                let mut versions = Vec::new();
                // In the order of their numbers, so that two who hold several never wait for each other.
                for (&id, &collection) in &known {
                    hold(session, id).await?;
                    let (_, changes, _) = put_in_queue(session, id, &Refresh::Contract, now).await?;
                    let batch = Batch { collection, changes, key: None, author: Author::Fetcher, at: now };
                    let committed = commit_within(session, batch, changes_kept).await?;
                    versions.extend((committed.changed > 0).then_some((collection, committed.mark())));
                }
                let new = TaskRow {
                    task_id: new_task_id(session).await?,
                    collection_id: first,
                    kind: CONTRACTS,
                    tokens: known.keys().map(|id| id.0.to_string()).collect(),
                    total: known.len() as u64,
                    created_at: millis(now),
                };
                insert_task(session, scope, &new).await?;
                let task = progress(session, new, known.into_iter().collect()).await?;
                Ok(Refreshed { task, versions })
            })
        })
    }

    /// A task of a project.
    pub fn task(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, RefreshTask> {
        self.snapshot(move |mut session| Box::pin(async move { read_task(&mut session, scope, id).await }))
    }
}

fn not_found(what: impl std::fmt::Display) -> StoreError {
    Error::not_found(what).into()
}

/// Puts what is wanted into the queue. Returns the tokens by name, what their metadata says now, and how many they are.
async fn put_in_queue(
    session: &mut Session<'_>,
    id: CollectionId,
    wanted: &Refresh,
    now: Timestamp,
) -> Result<(Vec<String>, Vec<Change>, u64), StoreError> {
    match wanted {
        Refresh::Tokens(tokens) => {
            let mut tokens = tokens.clone();
            tokens.sort_unstable();
            tokens.dedup();
            let mut items = Vec::new();
            let mut changes = Vec::new();
            for stored in read_tokens(session, id, tokens).await? {
                items.push(Some(stored.token_id));
                let mut token: bourse_wire::TokenMetadata = read_json("token metadata", &stored.metadata)?;
                (token.status, token.queued_at) = (Some(waiting(token.status)), Some(now));
                changes.push(Change::Token { token_id: stored.token_id, metadata: token.to_json()? });
            }
            if items.is_empty() {
                return Err(Error::new(Code::NotFound, "none of these tokens is known").into());
            }
            ask_anew(session, id, &items, now).await?;
            let total = items.len() as u64;
            Ok((items.into_iter().map(item_id).collect(), changes, total))
        }
        Refresh::AllTokens { .. } => {
            let sql = format!(
                "INSERT INTO metadata_queue
                (collection_id, token_id, state, attempts, due_at, queued_at, host, reason)
                SELECT collection_id, token_id, {FRESH}, 0, $2, $2, '', '' FROM tokens WHERE collection_id = $1
                {}",
                or_ask_anew()
            );
            let total = session.execute(sql, args![id.0, millis(now)]).await?;
            Ok((Vec::new(), Vec::new(), total))
        }
        Refresh::Contract => {
            let mut changes = Vec::new();
            if let Some(text) = read_contract(session, id).await? {
                let mut info: ContractInfo = read_json("contract information", &text)?;
                (info.status, info.queued_at) = (Some(waiting(info.status)), Some(now));
                changes.push(Change::Contract(info.to_json()?));
            }
            ask_anew(session, id, &[None], now).await?;
            Ok((vec![item_id(None)], changes, 1))
        }
    }
}

/// What is said of metadata that is being fetched: only what there is can be fetched anew.
fn waiting(status: Option<MetadataStatus>) -> MetadataStatus {
    match status {
        Some(MetadataStatus::NotAvailable) => MetadataStatus::NotAvailable,
        Some(MetadataStatus::Refreshing | MetadataStatus::Available) | None => MetadataStatus::Refreshing,
    }
}

record! {
    /// A task as it is stored: the tokens by name, none for all of them.
    struct TaskRow: "tasks" ("project_id, task_id") {
        task_id: RecordId,
        collection_id: CollectionId,
        kind: u8,
        tokens: Vec<String>,
        total: u64,
        created_at: i64,
    }
}

async fn new_task_id(session: &mut Session<'_>) -> Result<RecordId, StoreError> {
    let id = session.next_id(Sequence::Task).await?;
    id.try_into().map_err(|error| StoreError::corrupt("task id", error))
}

/// Remembers a task, and forgets old ones.
async fn insert_task(
    session: &mut Session<'_>,
    scope: ProjectScope,
    task: &TaskRow,
) -> Result<(), StoreError> {
    let oldest = task.created_at.saturating_sub(KEPT_DAYS * MILLIS_PER_DAY);
    let sql = "DELETE FROM tasks WHERE project_id = $1 AND created_at < $2";
    session.execute(sql, args![scope.project(), oldest]).await?;
    session.insert(Insert::owned(scope.project(), [task])?, "").await
}

/// So many milliseconds before an instant.
fn oldest(now: Timestamp, again_after_ms: u64) -> i64 {
    millis(now).saturating_sub(i64::try_from(again_after_ms).unwrap_or(i64::MAX))
}

/// The project's last task for all tokens of a collection, when it is younger than an instant.
async fn recent_task(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: CollectionId,
    oldest: i64,
) -> Result<Option<TaskRow>, StoreError> {
    let sql = format!(
        "FROM tasks WHERE project_id = $1 AND collection_id = $2 AND kind = {ALL_TOKENS} AND created_at > $3
        ORDER BY created_at DESC, task_id DESC LIMIT 1"
    );
    session.select_first(sql, args![scope.project(), id.0, oldest]).await
}

async fn read_task(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<RefreshTask, StoreError> {
    let sql = "FROM tasks WHERE project_id = $1 AND task_id = $2";
    let task: Option<TaskRow> = session.select_first(sql, args![scope.project(), id]).await?;
    let task = task.ok_or_else(|| Error::new(Code::NotFound, format!("task {id} not found")))?;
    let ids = match task.kind {
        CONTRACTS => task.tokens.iter().map(|id| collection_number(id)).collect::<Result<_, _>>()?,
        _ => vec![task.collection_id],
    };
    let sql =
        format!("FROM collections WHERE collection_id IN ({}) ORDER BY collection_id", list(ids.len(), 0));
    let args = ids.iter().map(|id| Arg::from(id.0)).collect();
    let collections: Vec<(CollectionId, CollectionKey)> = session.select(sql, args).await?;
    if collections.is_empty() {
        return Err(StoreError::corrupt("task", "its collection is gone"));
    }
    progress(session, task, collections).await
}

fn collection_number(text: &str) -> Result<CollectionId, StoreError> {
    text.parse().map(CollectionId).map_err(|error| StoreError::corrupt("task", error))
}

selection! {
    /// What waits in one state.
    struct QueueState {
        state: u8,
        count: u64 = "COUNT(*)",
        attempts: u64 = "MAX(attempts)",
        due_at: i64 = "MIN(due_at)",
    }
}

selection! {
    struct Reason {
        token_id: String,
        reason: String,
    }
}

/// How far a task is: whatever waits since it was asked for, or longer, is not done.
async fn progress(
    session: &mut Session<'_>,
    row: TaskRow,
    collections: Vec<(CollectionId, CollectionKey)>,
) -> Result<RefreshTask, StoreError> {
    let mut task = RefreshTask {
        id: row.task_id,
        collections: collections.iter().map(|(_, key)| *key).collect(),
        total: row.total,
        waiting: 0,
        failed: 0,
        attempts: 0,
        run_at: None,
        created_at: instant(row.created_at),
        reasons: Vec::new(),
    };
    // Each collection for itself: on a cluster they are on different nodes.
    for (id, key) in collections {
        add_progress(session, &row, (id, key), &mut task).await?;
    }
    Ok(task)
}

/// Adds how far a task is with one collection.
async fn add_progress(
    session: &mut Session<'_>,
    row: &TaskRow,
    (id, key): (CollectionId, CollectionKey),
    task: &mut RefreshTask,
) -> Result<(), StoreError> {
    let mut args = args![id.0, row.created_at];
    let of_task = match row.kind {
        ALL_TOKENS => "token_id <> ''".to_owned(),
        CONTRACTS => "token_id = ''".to_owned(),
        _ => {
            args.extend(row.tokens.iter().map(|name| Arg::from(name.as_str())));
            format!("token_id IN ({})", list(row.tokens.len(), 2))
        }
    };
    let of_task = format!("WHERE collection_id = $1 AND queued_at <= $2 AND {of_task}");
    let sql = format!("FROM metadata_queue {of_task} GROUP BY state");
    let states: Vec<QueueState> = session.select(sql, args.clone()).await?;
    for QueueState { state, count, attempts, due_at } in states {
        task.attempts = task.attempts.max(attempts);
        if state == GIVEN_UP {
            task.failed += count;
        } else {
            task.waiting += count;
            let due = instant(due_at);
            task.run_at = Some(task.run_at.map_or(due, |earlier| earlier.min(due)));
        }
    }
    let room = REASONS_MAX.saturating_sub(task.reasons.len() as u64);
    let sql = format!("FROM metadata_queue {of_task} AND reason <> '' ORDER BY token_id LIMIT {room}");
    let reasons: Vec<Reason> = session.select(sql, args).await?;
    for Reason { token_id, reason: why } in reasons {
        let of = token_of(&token_id)?.map_or(RefreshedThing::Contract(key), RefreshedThing::Token);
        task.reasons.push(RefreshReason { of, why });
    }
    Ok(())
}
