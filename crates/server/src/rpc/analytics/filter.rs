//! What is asked of a chart.

use bourse_analytics::{ChartQuery, Interval, Range, RangeError};
use bourse_wire::{Day, Error, ProjectId, Text, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;

/// The question.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AnalyticsRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// Which days, and how they are put together.
    pub(super) filter: Filter,
}

impl crate::route::Request for Request {
    fn claimed_project(&self) -> Option<ProjectId> {
        self.filter.project_id
    }
}

/// Which days, and how they are put together.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AnalyticsFilter")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    /// The credential's own project, when given.
    pub(super) project_id: Option<ProjectId>,
    /// The first day, UTC.
    start_date: Day,
    /// The last day, UTC, which is included. At most five years.
    end_date: Day,
    /// DAY, WEEK or MONTH, where the chart lets itself be regrouped.
    date_interval: Option<Text<16>>,
    /// Which kinds of projects: `ALL`, as a credential is of one project.
    project_type: Option<Text<16>>,
    /// Whether days without data are there, with zeros. They are left out when nothing is said.
    #[serde(default)]
    fill: bool,
}

impl Filter {
    /// The question as of a time.
    pub(super) fn ask(&self, now: Timestamp) -> Result<ChartQuery, Error> {
        let range = Range::new(self.start_date, self.end_date).map_err(|error| match error {
            RangeError::Reversed => Error::invalid("filter.startDate", "is after endDate"),
            RangeError::TooLong => Error::invalid("filter.endDate", error),
        })?;
        let kind = self.project_type.as_ref().map_or("", Text::as_str);
        if !matches!(kind, "" | "ALL") {
            let reason = format!("`{kind}` is not ALL: what is answered is of the credential's own project");
            return Err(Error::invalid("filter.projectType", reason));
        }
        let interval = self.date_interval.as_ref().map(Text::as_str).filter(|text| !text.is_empty());
        let unknown =
            |text| Error::invalid("filter.dateInterval", format!("`{text}` is none of DAY, WEEK, MONTH"));
        let interval = interval.map(|text| Interval::parse(text).ok_or_else(|| unknown(text))).transpose()?;
        Ok(ChartQuery { range, interval, fill: self.fill, today: Day::of(now) })
    }
}
