//! How many of each day's new wallets came back, day by day, in one call.

use bourse_analytics::GRID_DAYS_MAX;
use bourse_wire::{Error, ProjectId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::chart::ChartBody;
use super::filter::Filter;
use super::open;
use crate::call::Call;
use crate::failure::Failure;

/// Days after the first that are shown when nothing is said.
const DAYS_DEFAULT: u16 = 28;

/// The question.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RetentionGridRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// Which days wallets were new on.
    filter: Filter,
    /// How many days after the first are shown: 28 when nothing is said, at most 90.
    days: Option<u16>,
}

impl crate::route::Request for Request {
    fn claimed_project(&self) -> Option<ProjectId> {
        self.filter.project_id
    }
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let ask = request.filter.ask(call.now)?;
    let days = request.days.unwrap_or(DAYS_DEFAULT);
    if days > GRID_DAYS_MAX {
        return Err(Error::invalid("days", format!("{days} where at most {GRID_DAYS_MAX} are shown")).into());
    }
    let desk = open(&call, true).await?;
    let cohorts = desk.read(|project| project.retention_grid(&ask, days));
    ChartBody::Grid(cohorts).write(call.media, "data")
}
