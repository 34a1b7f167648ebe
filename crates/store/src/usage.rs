//! Compute units used, per project, service and day.

use std::collections::BTreeMap;

use bourse_wire::{Day, ProjectId};

use crate::args::args;
use crate::backend::Store;
use crate::row::Row;
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

impl Store {
    /// Stores reported lines; tells how many are different now.
    pub async fn put_usage(&self, scope: ProjectScope, lines: Vec<UsageLine>) -> Result<u64, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                let unique: BTreeMap<String, UsageLine> =
                    lines.into_iter().map(|line| (line.id.clone(), line)).collect();
                let rows = unique
                    .into_values()
                    .map(|line| args![scope.project(), line.id, line.service, line.day, line.units])
                    .collect();
                let tail = "ON CONFLICT (project_id, record_id) DO UPDATE SET service = excluded.service,
                    day = excluded.day, units = excluded.units
                    WHERE (usage.service, usage.day, usage.units)
                        <> (excluded.service, excluded.day, excluded.units) RETURNING 1";
                Ok(session.insert(INSERT_USAGE, tail, rows).await?.len() as u64)
            })
        })
        .await
    }

    /// Adds units that this service metered itself. All or none, so that a failed flush can be tried again.
    pub async fn add_metered(&self, mut lines: Vec<(ProjectId, String, Day, u64)>) -> Result<(), StoreError> {
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
        .await
    }

    /// What a project used of every service on the days from one to another, both included.
    pub async fn usage_between(
        &self,
        scope: ProjectScope,
        first: Day,
        last: Day,
    ) -> Result<Vec<DayUsage>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT day, service, CAST(SUM(units) AS BIGINT) FROM usage
                    WHERE project_id = $1 AND day >= $2 AND day <= $3 GROUP BY day, service";
                let rows = session.all(sql, args![scope.project(), first, last]).await?;
                let line = |row: &Row| {
                    Ok(DayUsage {
                        day: row.parse(0, "day")?,
                        service: row.text(1)?,
                        units: row.u64(2, "usage")?,
                    })
                };
                rows.iter().map(line).collect()
            })
        })
        .await
    }

    /// What every project used of every service from one day on.
    pub async fn usage_since(&self, day: Day) -> Result<Vec<UsageTotal>, StoreError> {
        self.read(move |mut session| Box::pin(async move { sums(&mut session, day, "%").await })).await
    }

    /// The same, of what this service metered itself. Reported lines may tell of what was used elsewhere.
    pub async fn metered_since(&self, day: Day) -> Result<Vec<UsageTotal>, StoreError> {
        let names = format!("{METERED_PREFIX}%");
        self.read(move |mut session| Box::pin(async move { sums(&mut session, day, &names).await })).await
    }

    /// The same of one project: the units of each service, by its name.
    pub async fn metered_of(&self, scope: ProjectScope, day: Day) -> Result<Vec<(String, u64)>, StoreError> {
        let names = format!("{METERED_PREFIX}%");
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT service, CAST(SUM(units) AS BIGINT) FROM usage
                    WHERE project_id = $1 AND day >= $2 AND record_id LIKE $3 GROUP BY service ORDER BY service";
                let rows = session.all(sql, args![scope.project(), day, names]).await?;
                rows.iter().map(|row| Ok((row.text(0)?, row.u64(1, "usage")?))).collect()
            })
        })
        .await
    }
}

/// Sums of the lines from one day on whose names are like this, of all projects.
async fn sums(session: &mut Session<'_>, day: Day, names: &str) -> Result<Vec<UsageTotal>, StoreError> {
    let sql = "SELECT project_id, service, CAST(SUM(units) AS BIGINT) FROM usage
        WHERE day >= $1 AND record_id LIKE $2 GROUP BY project_id, service";
    let rows = session.all(sql, args![day, names]).await?;
    let total = |row: &Row| {
        let project = row.u64(0, "project id")?.try_into();
        Ok(UsageTotal {
            project: project.map_err(|error| StoreError::corrupt("project id", error))?,
            service: row.text(1)?,
            units: row.u64(2, "usage")?,
        })
    };
    rows.iter().map(total).collect()
}

/// How the names of metered lines begin; reported lines must not.
pub const METERED_PREFIX: &str = "metered:";

const INSERT_USAGE: &str = "INSERT INTO usage (project_id, record_id, service, day, units)";

async fn add_metered(
    session: &mut Session<'_>,
    project: ProjectId,
    service: &str,
    day: Day,
    units: u64,
) -> Result<(), StoreError> {
    let record = format!("{METERED_PREFIX}{service}:{day}");
    let tail = "ON CONFLICT (project_id, record_id) DO UPDATE SET units = usage.units + excluded.units";
    session.insert(INSERT_USAGE, tail, vec![args![project, record, service, day, units]]).await.map(drop)
}
