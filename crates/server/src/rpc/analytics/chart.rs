//! How charts are written down: as JSON, or as a table for spreadsheets.

use std::collections::{BTreeMap, BTreeSet};

use bourse_analytics::{Answer, Cohort, MultiPoint, Number, Point};
use schemars::JsonSchema;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::call::Media;
use crate::failure::Failure;

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
            Media::Csv => self.to_csv(),
        }
    }

    fn to_csv(&self) -> Result<Vec<u8>, Failure> {
        let mut table = csv::Writer::from_writer(Vec::new());
        for row in self.rows() {
            table.write_record(row).map_err(|error| Failure::Internal(Box::new(error)))?;
        }
        table.into_inner().map_err(|error| Failure::Internal(error.to_string().into()))
    }

    /// The rows of the table, its head first.
    fn rows(&self) -> Vec<Vec<String>> {
        match self {
            Self::Series(points) => {
                let row = |point: &Point| vec![point.label.clone(), text(point.value)];
                with_head(vec!["label".into(), "value".into()], points.iter().map(row))
            }
            Self::Multi(points) => {
                let names: BTreeSet<&String> = points.iter().flat_map(|point| point.values.keys()).collect();
                let value = |point: &MultiPoint, name| point.values.get(name).copied().unwrap_or_default();
                let row = |point: &MultiPoint| {
                    let values = names.iter().map(|name| value(point, *name).to_string());
                    std::iter::once(point.label.clone()).chain(values).collect()
                };
                let head = std::iter::once("label".to_owned()).chain(names.iter().map(|name| heading(name)));
                with_head(head.collect(), points.iter().map(row))
            }
            Self::Map(series) => series_rows(series),
            Self::Grid(cohorts) => grid_rows(cohorts),
        }
    }
}

fn with_head(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Vec<Vec<String>> {
    std::iter::once(head).chain(rows).collect()
}

/// A name as the head of a column. Names come from callers, and a spreadsheet must not take one for a formula.
fn heading(name: &str) -> String {
    let is_formula = name.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula { format!("'{name}") } else { name.to_owned() }
}

/// A column for each series; a series need not have a point at every label.
fn series_rows(series: &[(String, Vec<Point>)]) -> Vec<Vec<String>> {
    let mut rows: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (column, (_, points)) in series.iter().enumerate() {
        for point in points {
            let row = rows.entry(&point.label).or_insert_with(|| vec!["0".to_owned(); series.len()]);
            row[column] = text(point.value);
        }
    }
    let head = std::iter::once("label".to_owned()).chain(series.iter().map(|(name, _)| heading(name)));
    let row =
        |(label, values): (&str, Vec<String>)| std::iter::once(label.to_owned()).chain(values).collect();
    with_head(head.collect(), rows.into_iter().map(row))
}

/// A column for each day after the first. Days that have not passed are empty.
fn grid_rows(cohorts: &[Cohort]) -> Vec<Vec<String>> {
    let days = cohorts.iter().map(|cohort| cohort.returned.len()).max().unwrap_or_default();
    let head = ["label".to_owned(), "size".to_owned()].into_iter();
    let row = |cohort: &Cohort| {
        let returned = (0..days).map(|day| cohort.returned.get(day).map(u64::to_string).unwrap_or_default());
        [cohort.label.clone(), cohort.size.to_string()].into_iter().chain(returned).collect()
    };
    with_head(head.chain((0..days).map(|day| format!("d{day}"))).collect(), cohorts.iter().map(row))
}

fn text(number: Number) -> String {
    match number {
        Number::Count(count) => count.to_string(),
        Number::Fraction(fraction) => fraction.to_string(),
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
