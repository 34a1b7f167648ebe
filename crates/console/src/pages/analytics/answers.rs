//! What operations answer, as charts.

use bourse_analytics::{Interval, Measure, SEGMENTS};
use serde_json::Value;

use super::figures::{Figure, Subject, step};
use super::range::RangeQuery;
use crate::access::Member;
use crate::chart::{Amount, Cohort, Plot, Series, Timeline, Unit};
use crate::refusal::Refusal;

/// Points of a series, each with its label.
type Points = Vec<(String, Amount)>;

impl Member {
    /// Asks for a chart.
    pub(super) async fn plot(
        &self,
        figure: &Figure,
        interval: Interval,
        asked: &RangeQuery,
    ) -> Result<Plot, Refusal> {
        self.plot_together(&[figure], interval, asked).await
    }

    /// Asks for charts of the same kind, to be drawn together.
    pub(super) async fn plot_together(
        &self,
        figures: &[&Figure],
        interval: Interval,
        asked: &RangeQuery,
    ) -> Result<Plot, Refusal> {
        let mut named: Vec<(String, Points)> = Vec::new();
        for figure in figures {
            // A share of nobody is no share: it is left out rather than zero.
            let body = asked.body(Some(interval), figure.unit() == Unit::Count);
            let answer = self.ask(&operation(figure), &body).await?;
            for (name, points) in series(figure, &answer) {
                let name = if figures.len() > 1 { figure.name() } else { name };
                named.push((name, points));
            }
        }
        let days = asked.days()?;
        let timeline = Timeline::new(step(interval), days.labels(interval));
        let first = figures.first().ok_or_else(|| Refusal::missing("chart"))?;
        let (unit, style) = (first.unit(), first.style(interval));
        let series = named.into_iter().map(|(name, points)| spread(&timeline, unit, name, &points)).collect();
        Ok(Plot::new(timeline, series, unit, style).with_open_end(days.last() == asked.today))
    }

    /// Asks for the one value that a chart has of a whole range; `None` when there is none yet.
    pub(super) async fn total(&self, figure: &Figure, asked: &RangeQuery) -> Result<Option<Amount>, Refusal> {
        let answer = self.ask(&operation(figure), &asked.body(None, false)).await?;
        let first = series(figure, &answer).into_iter().next();
        Ok(first.and_then(|(_, points)| points.first().map(|(_, amount)| *amount)))
    }

    /// Asks for the grid of retention.
    pub(super) async fn cohorts(&self, figure: &Figure, asked: &RangeQuery) -> Result<Vec<Cohort>, Refusal> {
        let answer = self.ask(&operation(figure), &asked.body(None, false)).await?;
        let cohort = |cohort: &Value| {
            let returned = cohort["returned"].as_array()?.iter().filter_map(Value::as_u64).collect();
            Some(Cohort { label: text(&cohort["label"]), size: cohort["size"].as_u64()?, returned })
        };
        Ok(points_of(&answer)
            .as_array()
            .map(|all| all.iter().filter_map(cohort).collect())
            .unwrap_or_default())
    }
}

/// The operation of a chart as it is asked.
pub(super) fn operation(figure: &Figure) -> String {
    format!("Analytics/{}", figure.operation)
}

/// The only member of an answer.
fn points_of(answer: &Value) -> &Value {
    answer.as_object().and_then(|members| members.values().next()).unwrap_or(&Value::Null)
}

/// The series of an answer: one without a name, or several with names, which come by series or by point.
fn series(figure: &Figure, answer: &Value) -> Vec<(String, Points)> {
    let is_mean = figure.subject == Subject::Counted(Measure::AverageActive);
    let amount = |value: &Value| match value.as_u64() {
        Some(count) if figure.unit() == Unit::Count => Some(Amount::Count(count.into())),
        _ if is_mean => value.as_f64().map(Amount::Mean),
        _ => value.as_f64().map(Amount::Share),
    };
    let point = |point: &Value| Some((text(&point["label"]), amount(&point["value"])?));
    let points = |all: &Value| -> Points { all.as_array().into_iter().flatten().filter_map(point).collect() };
    match points_of(answer) {
        Value::Object(by_name) => {
            let mut by_name: Vec<_> =
                by_name.iter().map(|(name, all)| (in_words(name), points(all))).collect();
            if figure.subject == Subject::Compute {
                by_name.sort_by_key(|(_, points)| std::cmp::Reverse(size(points)));
            }
            by_name
        }
        Value::Array(all) if all.iter().any(|point| point["value"].is_object()) => {
            let mut by_name: Vec<(String, Points)> = Vec::new();
            for point in all {
                let label = text(&point["label"]);
                for (name, value) in point["value"].as_object().into_iter().flatten() {
                    let Some(amount) = amount(value) else { continue };
                    match by_name.iter_mut().find(|(known, _)| known == name) {
                        Some((_, points)) => points.push((label.clone(), amount)),
                        None => by_name.push((name.clone(), vec![(label.clone(), amount)])),
                    }
                }
            }
            // The largest are at the bottom, where they compare best.
            by_name.sort_by_key(|(_, points)| std::cmp::Reverse(size(points)));
            by_name
        }
        all => vec![(String::new(), points(all))],
    }
}

fn size(points: &Points) -> u128 {
    let counts = points.iter().map(|(_, amount)| match amount {
        Amount::Count(count) => *count,
        Amount::Share(_) | Amount::Mean(_) => 0,
    });
    counts.fold(0, u128::saturating_add)
}

/// The name of a segment as people say it; any other as it is.
fn in_words(name: &str) -> String {
    let words = ["new this month", "active the month before", "back from earlier"];
    let known = SEGMENTS.iter().zip(words).find(|(segment, _)| **segment == name);
    known.map_or(name, |(_, words)| words).to_owned()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The points of a series in their places. A count that is not there is zero, and a share is not known.
fn spread(timeline: &Timeline, unit: Unit, name: String, points: &Points) -> Series {
    let otherwise = (unit == Unit::Count).then_some(Amount::Count(0));
    let mut points = points.iter().peekable();
    // Both are in the order of time.
    let value = |label: &str| match points.next_if(|(known, _)| known == label) {
        Some((_, amount)) => Some(*amount),
        None => otherwise,
    };
    Series { name, values: timeline.labels().map(value).collect() }
}
