//! Compute units used, per project, service and day.

use std::collections::BTreeMap;

use bourse_wire::{Day, ProjectId};
use futures_util::stream::{self, StreamExt as _};

use crate::args::args;
use crate::backend::{Pending, Store};
use crate::columns::{Insert, or_replace_different, record, selection};
use crate::session::Session;
use crate::{ProjectScope, StoreError, projects};

/// Units used of a service on a day, as somebody reported or metered them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageLine {
    /// Name of the line within the project: the same line again replaces it, others add up.
    pub id: String,
    /// Service.
    pub service: String,
    /// Day.
    pub day: Day,
    /// Units.
    pub units: u64,
}

/// Units used of a service on a day, all lines together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageTotal {
    /// The project.
    pub project: ProjectId,
    /// Service.
    pub service: String,
    /// Units.
    pub units: u64,
}

/// Units that a project used of a service on a day, all lines together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayUsage {
    /// Day.
    pub day: Day,
    /// Service.
    pub service: String,
    /// Units.
    pub units: u64,
}

record! { UsageLine: "usage" ("project_id, record_id") { id = "record_id", service, day, units } }

selection! { UsageTotal { project = "project_id", service, units = "CAST(SUM(units) AS BIGINT)" } }

selection! { DayUsage { day, service, units = "CAST(SUM(units) AS BIGINT)" } }

/// Projects that are read at once, so that others find connections.
const PROJECTS_AT_ONCE: usize = 4;

impl Store {
    /// Stores reported lines; tells how many are different now.
    pub fn put_usage(&self, scope: ProjectScope, lines: Vec<UsageLine>) -> Pending<'_, u64> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                let unique: BTreeMap<String, UsageLine> =
                    lines.into_iter().map(|line| (line.id.clone(), line)).collect();
                let lines = Insert::owned(scope.project(), unique.into_values())?;
                session.insert_counting(lines, &or_replace_different::<UsageLine>(&[], &[])).await
            })
        })
    }

    /// Adds units that this service metered itself. All or none, so that a failed flush can be tried again.
    pub fn add_metered(&self, mut lines: Vec<(ProjectId, String, Day, u64)>) -> Pending<'_, ()> {
        // In one order everywhere, or servers that flush at once would wait for each other.
        lines.sort_unstable();
        self.write(move |mut session| {
            Box::pin(async move {
                for (project, service, day, units) in lines {
                    add_metered(&mut session, project, &service, day, units).await?;
                }
                Ok(())
            })
        })
    }

    /// What a project used of every service on the days from one to another, both included.
    pub fn usage_between(&self, scope: ProjectScope, first: Day, last: Day) -> Pending<'_, Vec<DayUsage>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql =
                    "FROM usage WHERE project_id = $1 AND day >= $2 AND day <= $3 GROUP BY day, service";
                session.select(sql, args![scope.project(), first, last]).await
            })
        })
    }

    /// What every project used of every service from one day on, as this service metered it. Reported lines may tell of
    /// what was used elsewhere. That asks all nodes of a cluster.
    pub async fn metered_since(&self, day: Day) -> Result<Vec<UsageTotal>, StoreError> {
        let names = format!("{METERED_PREFIX}%");
        let reading =
            self.read(move |mut session| Box::pin(async move { sums(&mut session, day, names).await }));
        self.patiently(reading).await
    }

    /// The same of these projects, each by itself and a few at a time: what cannot be read of one keeps nobody from the others.
    pub async fn metered_apart(
        &self,
        projects: Vec<ProjectScope>,
        day: Day,
    ) -> Vec<(ProjectId, Result<Vec<(String, u64)>, StoreError>)> {
        let read =
            async |scope: ProjectScope| (scope.project(), self.patiently(self.metered_of(scope, day)).await);
        stream::iter(projects).map(read).buffer_unordered(PROJECTS_AT_ONCE).collect().await
    }

    /// The same of one project: the units of each service, by its name.
    pub fn metered_of(&self, scope: ProjectScope, day: Day) -> Pending<'_, Vec<(String, u64)>> {
        let names = format!("{METERED_PREFIX}%");
        self.read(move |mut session| {
            Box::pin(async move {
                selection! {
                    struct ServiceUsage {
                        service: String,
                        units: u64 = "CAST(SUM(units) AS BIGINT)",
                    }
                }
                let sql = "FROM usage WHERE project_id = $1 AND day >= $2 AND record_id LIKE $3
                    GROUP BY service ORDER BY service";
                let rows: Vec<ServiceUsage> = session.select(sql, args![scope.project(), day, names]).await?;
                Ok(rows.into_iter().map(|row| (row.service, row.units)).collect())
            })
        })
    }
}

/// Sums of the lines from one day on whose names are like this, of all projects.
pub(crate) async fn sums(
    session: &mut Session<'_>,
    day: Day,
    names: String,
) -> Result<Vec<UsageTotal>, StoreError> {
    let sql = "FROM usage WHERE day >= $1 AND record_id LIKE $2 GROUP BY project_id, service";
    session.select(sql, args![day, names]).await
}

/// How the names of metered lines begin; reported lines must not.
pub const METERED_PREFIX: &str = "metered:";

async fn add_metered(
    session: &mut Session<'_>,
    project: ProjectId,
    service: &str,
    day: Day,
    units: u64,
) -> Result<(), StoreError> {
    let id = format!("{METERED_PREFIX}{service}:{day}");
    let add = "ON CONFLICT (project_id, record_id) DO UPDATE SET units = usage.units + excluded.units";
    let line = UsageLine { id, service: service.to_owned(), day, units };
    session.insert(Insert::owned(project, [line])?, add).await
}
