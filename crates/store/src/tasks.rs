//! What projects asked to be fetched anew, and how far it is.

use bourse_wire::{Code, ContractInfo, Error, MetadataStatus, RecordId, TaskStatus, Timestamp, TokenId};

use crate::args::{Arg, args};
use crate::backend::{Sequence, Store};
use crate::collections::hold;
use crate::collections::{self, CollectionId, CollectionKey, read_contract, read_tokens};
use crate::commit::{Batch, Change, commit_within};
use crate::metadata_queue::{ASK_ANEW, FRESH, GIVEN_UP, ask_anew, instant, item_id, millis, read_json};
use crate::row::Row;
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

/// What asking brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refreshed {
    /// The task; an earlier one when it is too early for another.
    pub task: RefreshTask,
    /// The collection's version, when it changed.
    pub version: Option<u64>,
}

/// A task, as far as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshTask {
    /// Number of the task.
    pub id: RecordId,
    /// The contract.
    pub collection: CollectionKey,
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
    /// What went wrong: a token, or nothing for the contract itself, and why; some of them when they are many.
    pub reasons: Vec<(Option<TokenId>, String)>,
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
    pub async fn refresh(
        &self,
        scope: ProjectScope,
        collection: CollectionKey,
        wanted: Refresh,
        now: Timestamp,
    ) -> Result<Refreshed, StoreError> {
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
                    && let Some(task) =
                        recent_task(session, scope, (id, collection), now, again_after_ms).await?
                {
                    return Ok(Refreshed { task, version: None });
                }
                let (tokens, changes, total) = put_in_queue(session, id, &wanted, now).await?;
                let batch = Batch { collection, changes, key: None };
                let committed = commit_within(session, batch, changes_kept).await?;
                let task = insert_task(session, scope, id, (wanted.kind(), tokens, total), now).await?;
                let task = read_task(session, scope, task).await?;
                Ok(Refreshed { task, version: (committed.changed > 0).then_some(committed.version) })
            })
        })
        .await
    }

    /// A task of a project.
    pub async fn task(&self, scope: ProjectScope, id: RecordId) -> Result<RefreshTask, StoreError> {
        self.snapshot(move |mut session| Box::pin(async move { read_task(&mut session, scope, id).await }))
            .await
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
                ON CONFLICT (collection_id, token_id) {ASK_ANEW}"
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

async fn insert_task(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: CollectionId,
    (kind, tokens, total): (u8, Vec<String>, u64),
    now: Timestamp,
) -> Result<RecordId, StoreError> {
    let oldest = millis(now).saturating_sub(KEPT_DAYS * MILLIS_PER_DAY);
    let sql = "DELETE FROM tasks WHERE project_id = $1 AND created_at < $2";
    session.execute(sql, args![scope.project(), oldest]).await?;
    let task = session.next_id(Sequence::Task).await?;
    let tokens = serde_json::to_string(&tokens).map_err(|error| StoreError::corrupt("task", error))?;
    let sql = "INSERT INTO tasks (project_id, task_id, collection_id, kind, tokens, total, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    session.execute(sql, args![scope.project(), task, id.0, kind, tokens, total, millis(now)]).await?;
    task.try_into().map_err(|error| StoreError::corrupt("task id", error))
}

/// The project's last task for all tokens of a collection, when it is not older than so many milliseconds.
async fn recent_task(
    session: &mut Session<'_>,
    scope: ProjectScope,
    (id, collection): (CollectionId, CollectionKey),
    now: Timestamp,
    again_after_ms: u64,
) -> Result<Option<RefreshTask>, StoreError> {
    let oldest = millis(now).saturating_sub(i64::try_from(again_after_ms).unwrap_or(i64::MAX));
    let sql = format!(
        "{SELECT_TASKS} WHERE project_id = $1 AND collection_id = $2 AND kind = {ALL_TOKENS} AND created_at > $3
        ORDER BY created_at DESC, task_id DESC LIMIT 1"
    );
    match session.first(sql, args![scope.project(), id.0, oldest]).await? {
        Some(row) => progress(session, &row, collection).await.map(Some),
        None => Ok(None),
    }
}

const SELECT_TASKS: &str = "SELECT task_id, collection_id, kind, tokens, total, created_at FROM tasks";

async fn read_task(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<RefreshTask, StoreError> {
    let sql = format!("{SELECT_TASKS} WHERE project_id = $1 AND task_id = $2");
    let row = session.first(sql, args![scope.project(), id]).await?;
    let missing = || Error::new(Code::NotFound, format!("task {id} not found"));
    let row = row.ok_or_else(missing)?;
    let sql = "SELECT chain_id, contract_address FROM collections WHERE collection_id = $1";
    let found = session.first(sql, args![row.i64(1)?]).await?;
    let found = found.ok_or_else(|| StoreError::corrupt("task", "its collection is gone"))?;
    let chain = bourse_wire::ChainId(found.u64(0, "chain id")?);
    let collection = CollectionKey { chain, address: found.parse(1, "contract address")? };
    progress(session, &row, collection).await
}

/// How far a task is: whatever waits since it was asked for, or longer, is not done.
async fn progress(
    session: &mut Session<'_>,
    row: &Row,
    collection: CollectionKey,
) -> Result<RefreshTask, StoreError> {
    let names: Vec<String> = row.json(3, "task tokens")?;
    let mut args = args![row.i64(1)?, row.i64(5)?];
    args.extend(names.iter().map(|name| Arg::from(name.as_str())));
    let of_task = if row.u8(2, "task kind")? == ALL_TOKENS {
        "token_id <> ''".to_owned()
    } else {
        format!("token_id IN ({})", list(names.len(), 2))
    };
    let of_task = format!("WHERE collection_id = $1 AND queued_at <= $2 AND {of_task}");
    let mut task = RefreshTask {
        id: row.id(0, "task id")?,
        collection,
        total: row.u64(4, "task total")?,
        waiting: 0,
        failed: 0,
        attempts: 0,
        run_at: None,
        created_at: instant(row.i64(5)?),
        reasons: Vec::new(),
    };
    let sql = format!(
        "SELECT state, COUNT(*), MAX(attempts), MIN(due_at) FROM metadata_queue {of_task} GROUP BY state"
    );
    for row in session.all(sql, args.clone()).await? {
        let count = row.u64(1, "count")?;
        task.attempts = task.attempts.max(row.u64(2, "attempts")?);
        if row.u8(0, "state")? == GIVEN_UP {
            task.failed += count;
        } else {
            task.waiting += count;
            let due = instant(row.i64(3)?);
            task.run_at = Some(task.run_at.map_or(due, |earlier| earlier.min(due)));
        }
    }
    let sql = format!(
        "SELECT token_id, reason FROM metadata_queue {of_task} AND reason <> ''
        ORDER BY token_id LIMIT {REASONS_MAX}"
    );
    for row in session.all(sql, args).await? {
        let token = if row.text(0)?.is_empty() { None } else { Some(row.parse(0, "token id")?) };
        task.reasons.push((token, row.text(1)?));
    }
    Ok(task)
}
