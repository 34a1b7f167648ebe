//! Looking at the database without changing it.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::StoreError;
use crate::args::args;
use crate::backend::postgres::IS_CLUSTER;
use crate::backend::{Pending, Store};
use crate::columns::selection;
use crate::migrate::{Migration, newest_applied};
use crate::session::Session;

/// How the tables stand to this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaState {
    /// Newest migration applied, 0 for an empty database.
    pub applied: i64,
    /// Newest migration this program knows.
    pub known: i64,
}

/// What to do about the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationState {
    /// Nothing.
    UpToDate,
    /// Migrations are applied at the next start.
    Behind,
    /// The program is too old for the database.
    Ahead,
}

impl SchemaState {
    /// What to do about it.
    pub fn state(&self) -> MigrationState {
        match self.applied.cmp(&self.known) {
            std::cmp::Ordering::Less => MigrationState::Behind,
            std::cmp::Ordering::Equal => MigrationState::UpToDate,
            std::cmp::Ordering::Greater => MigrationState::Ahead,
        }
    }
}

/// A worker of a cluster, as its coordinator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Host and port.
    pub name: String,
    /// Whether it can be reached.
    pub answers: bool,
    /// By which number the cluster says what is on it.
    pub(crate) group: u64,
}

/// How the workers were when they were last looked at.
#[derive(Default)]
pub(crate) struct LastLook(Mutex<Option<LookAtWorkers>>);

struct LookAtWorkers {
    began: Instant,
    ended: Instant,
    /// Nothing where that could not be found out.
    found: Option<Vec<Worker>>,
}

/// How long a look at the workers holds.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

selection! { Worker {
    name = "nodename || ':' || nodeport",
    answers = "success",
    group = "CAST(groupid AS BIGINT)",
} }

impl Store {
    /// The workers of the cluster that the tables are on; none where they are on no cluster. Each is given a second to answer.
    /// Anybody may ask, and all who do within a second share one look, also one that failed.
    pub async fn workers(&self) -> Result<Vec<Worker>, StoreError> {
        self.look_at_workers(None).await
    }

    /// The same by a look that began after a moment, for whoever saw something fail since.
    pub(crate) async fn workers_since(&self, moment: Instant) -> Result<Vec<Worker>, StoreError> {
        self.look_at_workers(Some(moment)).await
    }

    /// Whether a worker could not be reached when they were last looked at.
    pub(crate) async fn was_one_away(&self) -> bool {
        let last = self.last_look.0.lock().await;
        let found = last.as_ref().and_then(|look| look.found.as_ref());
        found.is_some_and(|workers| workers.iter().any(|worker| !worker.answers))
    }

    async fn look_at_workers(&self, after: Option<Instant>) -> Result<Vec<Worker>, StoreError> {
        if !self.may_be_distributed() {
            return Ok(Vec::new());
        }
        let mut last = self.last_look.0.lock().await;
        if let Some(LookAtWorkers { began, ended, found }) = &*last
            && ended.elapsed() < LOOK_INTERVAL
            && after.is_none_or(|moment| *began >= moment)
        {
            let failed = || StoreError::Unavailable("the nodes of the cluster could not be asked".into());
            return found.clone().ok_or_else(failed);
        }
        let began = Instant::now();
        let workers = self.ask_workers().await;
        let found = workers.as_ref().ok().cloned();
        *last = Some(LookAtWorkers { began, ended: Instant::now(), found });
        workers
    }

    async fn ask_workers(&self) -> Result<Vec<Worker>, StoreError> {
        let asking = self.snapshot(|mut session| {
            Box::pin(async move {
                if !session.has(IS_CLUSTER, args![]).await? {
                    return Ok(Vec::new());
                }
                let patience =
                    "SELECT 1::BIGINT FROM set_config('citus.node_connection_timeout', '1000', TRUE)";
                session.has(patience, args![]).await?;
                let sql = "FROM run_command_on_workers('SELECT 1') AS asked
                    JOIN pg_dist_node USING (nodename, nodeport) ORDER BY 1";
                session.select(sql, args![]).await
            })
        });
        self.patiently(asking).await
    }

    /// Whether the role that we connect with may tell the nodes of a cluster how transactions ended that they do not know the
    /// end of; nothing where there is no cluster.
    pub async fn may_settle(&self) -> Result<Option<bool>, StoreError> {
        if !self.may_be_distributed() {
            return Ok(None);
        }
        let asking = self.read(|mut session| {
            Box::pin(async move {
                let sql = "SELECT has_function_privilege(oid, 'EXECUTE') FROM pg_proc
                    WHERE proname = 'recover_prepared_transactions'";
                session.value(sql, args![]).await
            })
        });
        asking.await
    }

    /// Whether the database answers.
    pub fn ping(&self) -> Pending<'_, ()> {
        self.read(|mut session| Box::pin(async move { session.has("SELECT 1", args![]).await.map(drop) }))
    }

    /// Which migrations the database has.
    pub fn schema_state(&self) -> Pending<'_, SchemaState> {
        self.read(|mut session| {
            Box::pin(async move {
                let applied =
                    if has_history(&mut session).await? { newest_applied(&mut session).await? } else { 0 };
                Ok(SchemaState { applied, known: Migration::newest() })
            })
        })
    }
}

/// Whether the database has the table in which migrations are noted.
pub(crate) async fn has_history(session: &mut Session<'_>) -> Result<bool, StoreError> {
    let sql = match session {
        Session::Sqlite(_) => "SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'",
        Session::Postgres(_) => "SELECT 1::BIGINT WHERE to_regclass('schema_migrations') IS NOT NULL",
    };
    session.has(sql, args![]).await
}
