//! Compute units that servers meter themselves.
//!
//! Each line is of one counter of one server, which tells all that it counted by then: so it is told as often as nobody knows whether
//! it is stored, and counts once however often that was, and in whatever order it arrived. Lines of different counters add up.

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::time::Duration;

use bourse_wire::{Day, ProjectId};
use futures_util::stream::{self, StreamExt as _};

use crate::args::args;
use crate::backend::{Pending, Store};
use crate::columns::{Insert, selection};
use crate::usage::{UsageLine, UsageTotal, sums};
use crate::{ProjectScope, StoreError};

/// How the names of metered lines begin; reported lines must not.
pub const METERED_PREFIX: &str = "metered:";

/// What a counter of a server counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeteredLine {
    /// Project.
    pub project: ProjectId,
    /// Service.
    pub service: String,
    /// Day.
    pub day: Day,
    /// Name of the counter, which no other server has, and which nobody has again for this service and day.
    pub counter: String,
    /// All units that it counted by now. Fewer than are stored change nothing.
    pub units: u64,
}

selection! {
    struct ServiceUsage {
        service: String,
        units: u64 = "CAST(SUM(units) AS BIGINT)",
    }
}

/// What a counter told before it told more may come after that, by a connection that nobody waits for any more.
const OR_MORE: &str = "ON CONFLICT (project_id, record_id) DO UPDATE SET units = excluded.units
    WHERE usage.units < excluded.units";

/// Projects that are read at once, so that others find connections.
const PROJECTS_AT_ONCE: usize = 4;

/// How long a write or a read of what is metered may take, in times that the database may be silent: it may wait for one connection,
/// for a node of a cluster or for a row, while the database answers everybody else.
const PATIENCES: u32 = 3;

impl Store {
    /// Stores what counters counted, all or none. What fails may be told again, whether it is stored or not.
    pub async fn put_metered(&self, lines: Vec<MeteredLine>) -> Result<(), StoreError> {
        let mut projects: BTreeMap<ProjectId, Vec<UsageLine>> = BTreeMap::new();
        for MeteredLine { project, service, day, counter, units } in lines {
            let id = format!("{METERED_PREFIX}{service}:{day}:{counter}");
            projects.entry(project).or_default().push(UsageLine { id, service, day, units });
        }
        let writing = self.write(move |mut session| {
            Box::pin(async move {
                for (project, lines) in projects {
                    session.insert(Insert::owned(project, lines)?, OR_MORE).await?;
                }
                Ok(())
            })
        });
        self.briefly(writing).await
    }

    /// These projects, those together whose records are on the same node of a cluster: what fails, or takes long, there does so of all
    /// of them.
    pub async fn projects_by_node(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<Vec<Vec<ProjectId>>, StoreError> {
        if !self.is_distributed() || projects.is_empty() {
            return Ok(vec![projects]);
        }
        let numbers = projects.iter().map(|project| project.get()).collect();
        let nodes: HashMap<u64, u64> = self.briefly(self.nodes_of("usage", numbers)).await?;
        let mut apart: BTreeMap<Option<u64>, Vec<ProjectId>> = BTreeMap::new();
        for project in projects {
            apart.entry(nodes.get(&project.get()).copied()).or_default().push(project);
        }
        Ok(apart.into_values().collect())
    }

    /// What every project used of every service from one day on, as servers metered it. Reported lines may tell of what was used
    /// elsewhere. That asks all nodes of a cluster.
    pub async fn metered_since(&self, day: Day) -> Result<Vec<UsageTotal>, StoreError> {
        let reading = self
            .read(move |mut session| Box::pin(async move { sums(&mut session, day, metered_names()).await }));
        self.patiently(reading).await
    }

    /// The same of these projects, each by itself and a few at a time: what cannot be read of one keeps nobody from the others.
    pub async fn metered_apart(
        &self,
        projects: Vec<ProjectScope>,
        day: Day,
    ) -> Vec<(ProjectId, Result<Vec<(String, u64)>, StoreError>)> {
        let mut left: Vec<ProjectId> = projects.iter().map(|scope| scope.project()).collect();
        let read = async |scope: ProjectScope| (scope.project(), self.metered_of(scope, day).await);
        let mut found = Vec::with_capacity(left.len());
        let reading = async {
            let mut reading = pin!(stream::iter(projects).map(read).buffer_unordered(PROJECTS_AT_ONCE));
            while let Some(read) = reading.next().await {
                found.push(read);
            }
            Ok(())
        };
        if let Err(error) = self.briefly(reading).await {
            left.retain(|project| found.iter().all(|(read, _)| read != project));
            found.extend(left.into_iter().map(|project| (project, Err(error.shared()))));
        }
        found
    }

    /// The same of one project: the units of each service, by its name.
    pub fn metered_of(&self, scope: ProjectScope, day: Day) -> Pending<'_, Vec<(String, u64)>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM usage WHERE project_id = $1 AND day >= $2 AND record_id LIKE $3
                    GROUP BY service ORDER BY service";
                let args = args![scope.project(), day, metered_names()];
                let rows: Vec<ServiceUsage> = session.select(sql, args).await?;
                Ok(rows.into_iter().map(|row| (row.service, row.units)).collect())
            })
        })
    }

    /// Waits for so long and no longer. A file has no silent connections: who waits for it waits for their turn.
    async fn briefly<T>(&self, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        if !self.is_for_several() {
            return work.await;
        }
        let timeout: Duration = self.options.patience * PATIENCES;
        let silent = || StoreError::Unavailable("what is metered waits for too long".into());
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_elapsed| Err(silent()))
    }
}

fn metered_names() -> String {
    format!("{METERED_PREFIX}%")
}
