//! How charts are written down: as JSON, or as a table for spreadsheets.

use std::collections::{BTreeMap, BTreeSet};

use bourse_analytics::{Answer, Cohort, MultiPoint, Number, Point};
use schemars::JsonSchema;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::call::Media;
use crate::failure::Failure;
use crate::spreadsheet::{self, Cell};

/// What a chart shows.
pub(super) enum ChartBody {
    Series(Vec<Point>),
    Multi(Vec<MultiPoint>),
    Map(Vec<(String, Vec<Point>)>),
    Grid(Vec<Cohort>),
}

impl From<Answer> for ChartBody {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Series(points) => Self::Series(points),
            Answer::Multi(points) => Self::Multi(points),
            Answer::Map(series) => {
                Self::Map(series.into_iter().map(|(name, points)| (name.to_owned(), points)).collect())
            }
        }
    }
}

impl ChartBody {
    /// The answer, whose points are under this member.
    pub(super) fn write(&self, media: Media, member: &'static str) -> Result<Vec<u8>, Failure> {
        match media {
            Media::Json => Ok(serde_json::to_vec(&BTreeMap::from([(member, self)]))?),
            Media::Csv => spreadsheet::write(self.rows()),
        }
    }

    /// The rows of the table, its head first.
    fn rows(&self) -> Vec<Vec<Cell>> {
        match self {
            Self::Series(points) => {
                let row = |point: &Point| vec![point.label.as_str().into(), point.value.into()];
                with_head(vec!["label".into(), "value".into()], points.iter().map(row))
            }
            Self::Multi(points) => {
                let names: BTreeSet<&String> = points.iter().flat_map(|point| point.values.keys()).collect();
                let value = |point: &MultiPoint, name| point.values.get(name).copied().unwrap_or_default();
                let row = |point: &MultiPoint| {
                    let values = names.iter().map(|name| value(point, *name).into());
                    std::iter::once(point.label.as_str().into()).chain(values).collect()
                };
                let head =
                    std::iter::once("label".into()).chain(names.iter().map(|name| name.as_str().into()));
                with_head(head.collect(), points.iter().map(row))
            }
            Self::Map(series) => series_rows(series),
            Self::Grid(cohorts) => grid_rows(cohorts),
        }
    }
}

fn with_head(head: Vec<Cell>, rows: impl Iterator<Item = Vec<Cell>>) -> Vec<Vec<Cell>> {
    std::iter::once(head).chain(rows).collect()
}

/// A column for each series; a series need not have a point at every label.
fn series_rows(series: &[(String, Vec<Point>)]) -> Vec<Vec<Cell>> {
    let mut rows: BTreeMap<&str, Vec<Cell>> = BTreeMap::new();
    for (column, (_, points)) in series.iter().enumerate() {
        for point in points {
            let row = rows.entry(&point.label).or_insert_with(|| vec![0.into(); series.len()]);
            row[column] = point.value.into();
        }
    }
    let head = std::iter::once("label".into()).chain(series.iter().map(|(name, _)| name.as_str().into()));
    let row = |(label, values): (&str, Vec<Cell>)| std::iter::once(label.into()).chain(values).collect();
    with_head(head.collect(), rows.into_iter().map(row))
}

/// A column for each day after the first. Days that have not passed are empty.
fn grid_rows(cohorts: &[Cohort]) -> Vec<Vec<Cell>> {
    let days = cohorts.iter().map(|cohort| cohort.returned.len()).max().unwrap_or_default();
    let head = ["label".into(), "size".into()].into_iter();
    let row = |cohort: &Cohort| {
        let returned =
            |day: usize| cohort.returned.get(day).map_or_else(|| "".into(), |count| (*count).into());
        let start = [cohort.label.as_str().into(), cohort.size.into()].into_iter();
        start.chain((0..days).map(returned)).collect()
    };
    with_head(head.chain((0..days).map(|day| format!("d{day}").into())).collect(), cohorts.iter().map(row))
}

impl From<Number> for Cell {
    fn from(number: Number) -> Self {
        match number {
            Number::Count(count) => count.into(),
            Number::Fraction(fraction) => fraction.into(),
        }
    }
}

/// A value of a chart.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum NumberAnswer {
    /// How many.
    Count(u64),
    /// What part, from 0 to 1, or an average.
    Fraction(f64),
}

/// A point of a chart.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Chart")]
pub(crate) struct PointAnswer<'a> {
    /// The value.
    value: NumberAnswer,
    /// The day, as YYYY-MM-DD, the Monday of the week, or the month, as YYYY-MM.
    label: &'a str,
}

/// A point of a chart with several values.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MultiValueChart")]
pub(crate) struct MultiPointAnswer<'a> {
    /// The values by name.
    value: &'a BTreeMap<String, u64>,
    /// The day, as YYYY-MM-DD, the Monday of the week, or the month, as YYYY-MM.
    label: &'a str,
}

/// The wallets that were new on a day, and how many came back.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionCohort")]
pub(crate) struct CohortAnswer<'a> {
    /// The day on which they were new.
    label: &'a str,
    /// How many they are.
    size: u64,
    /// How many of them were active so many days later, from 0 on, as far as the days have fully passed.
    returned: &'a [u64],
}

impl<'a> From<&'a Point> for PointAnswer<'a> {
    fn from(point: &'a Point) -> Self {
        let value = match point.value {
            Number::Count(count) => NumberAnswer::Count(count),
            Number::Fraction(fraction) => NumberAnswer::Fraction(fraction),
        };
        Self { value, label: &point.label }
    }
}

impl Serialize for ChartBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Series(points) => serializer.collect_seq(points.iter().map(PointAnswer::from)),
            Self::Multi(points) => serializer.collect_seq(
                points.iter().map(|point| MultiPointAnswer { value: &point.values, label: &point.label }),
            ),
            Self::Map(series) => {
                let mut map = serializer.serialize_map(Some(series.len()))?;
                for (name, points) in series {
                    let points: Vec<PointAnswer<'_>> = points.iter().map(PointAnswer::from).collect();
                    map.serialize_entry(name, &points)?;
                }
                map.end()
            }
            Self::Grid(cohorts) => serializer.collect_seq(cohorts.iter().map(|cohort| CohortAnswer {
                label: &cohort.label,
                size: cohort.size,
                returned: &cohort.returned,
            })),
        }
    }
}
