//! Compute units used, per project, service and day. What servers meter themselves is in [`crate::metered`].

use std::collections::BTreeMap;

use bourse_wire::{Day, ProjectId};

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
