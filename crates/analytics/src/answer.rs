//! What a chart shows.

use std::collections::{BTreeMap, BTreeSet};

use bourse_wire::Day;

use crate::calendar::{Interval, Period, Range, month};
use crate::chart::{Chart, Cut, Measure};
use crate::column::Window;
use crate::counters::Counters;
use crate::presence::DaySet;
use crate::project::Project;

/// Days that the wallets of a day are compared with for stickiness, itself included.
const ROLLING_DAYS: i32 = 30;
/// Most days after the first that a grid of retention shows.
pub const GRID_DAYS_MAX: u16 = 90;
/// Names of the segments of wallets by when they came.
pub const SEGMENTS: [&str; 3] = ["new", "previousMonth", "older"];

/// What is asked of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChartQuery {
    /// The days it is about. Retention and stickiness look at days outside too.
    pub range: Range,
    /// Another length of the periods; charts that always have the same leave it alone.
    pub interval: Option<Interval>,
    /// Whether periods without data are there, with zeros.
    pub fill: bool,
    /// The current day, which has begun and not passed.
    pub today: Day,
}

/// A value of a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// How many.
    Count(u64),
    /// One count divided by another, rounded once.
    Fraction(f64),
}

/// A value and the period it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Name of the period: the date of a day, of a week's Monday or of a range's first day, or a month.
    pub label: String,
    /// The value.
    pub value: Number,
}

/// Counts by name, and the period they are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiPoint {
    /// Name of the period.
    pub label: String,
    /// The counts.
    pub values: BTreeMap<String, u64>,
}

/// What a chart shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A value for each period.
    Series(Vec<Point>),
    /// Some counts for each period.
    Multi(Vec<MultiPoint>),
    /// Some series, each with its name; all have the same labels.
    Map(Vec<(&'static str, Vec<Point>)>),
}

/// The wallets whose first-ever active day is the same, and how many of them came back when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cohort {
    /// Their first day.
    pub label: String,
    /// How many they are.
    pub size: u64,
    /// How many of them were active so many days after it, from 0 on, as far as the days have fully passed.
    pub returned: Vec<u64>,
}

/// A value before it is known whether it is shown.
#[derive(Clone, Copy)]
enum Value {
    Count(u64),
    Ratio {
        part: u64,
        whole: u64,
    },
    /// It is not known yet, and not zero either.
    Open,
}

impl Value {
    #[expect(clippy::cast_precision_loss, reason = "no project has 2^53 events")]
    fn number(self) -> Option<Number> {
        match self {
            Self::Count(count) => Some(Number::Count(count)),
            Self::Ratio { whole: 0, .. } => Some(Number::Fraction(0.0)),
            Self::Ratio { part, whole } => Some(Number::Fraction(part as f64 / whole as f64)),
            Self::Open => None,
        }
    }
}

impl Project {
    /// What a chart shows.
    pub fn chart(&self, chart: Chart, query: &ChartQuery) -> Answer {
        let (cut, measure) = chart.meaning();
        let periods = match cut {
            Cut::Whole => vec![query.range.whole()],
            Cut::Each(interval) => query.range.periods(interval),
            Cut::EachOr(interval) => query.range.periods(query.interval.unwrap_or(interval)),
        };
        match measure {
            Measure::TradesByAction => Answer::Multi(self.trades_by_action(periods, query.fill)),
            Measure::Segments(set) => Answer::Map(self.by_segment(set, &periods, query.fill)),
            measure => {
                let values = self.values(measure, &periods, query.today.number());
                let shown = periods.into_iter().zip(values).filter(|(_, value)| {
                    query.fill
                        || has_data(measure, *value)
                        || (cut == Cut::Whole && matches!(value, Value::Count(_)))
                });
                let point = |(period, value): (Period, Value)| {
                    Some(Point { label: period.label, value: value.number()? })
                };
                Answer::Series(shown.filter_map(point).collect())
            }
        }
    }

    /// The wallets that were new on each day of a range, and how many of them came back on each of so many days after it.
    /// The interval of the question is left alone.
    pub fn retention_grid(&self, query: &ChartQuery, days: u16) -> Vec<Cohort> {
        let today = query.today.number();
        let last = i32::from(days.min(GRID_DAYS_MAX));
        let periods = query.range.periods(Interval::Day);
        let sizes = self.values(Measure::New, &periods, today);
        let cohorts = periods.into_iter().zip(sizes).filter_map(|(period, size)| match size {
            Value::Count(size) if size > 0 || query.fill => Some((period, size)),
            _ => None,
        });
        let cohorts: Vec<(Period, u64)> = cohorts.collect();
        let passed = |first: i32| (first..=first + last).take_while(move |day| *day < today);
        let pairs: Vec<(i32, i32)> = cohorts
            .iter()
            .flat_map(|(period, _)| passed(period.window.first).map(|day| (period.window.first, day)))
            .collect();
        let mut returned = self.returned(&pairs).into_iter();
        let cohort = |(period, size): (Period, u64)| {
            let len = passed(period.window.first).count();
            Cohort { label: period.label, size, returned: returned.by_ref().take(len).collect() }
        };
        cohorts.into_iter().map(cohort).collect()
    }

    fn values(&self, measure: Measure, periods: &[Period], today: i32) -> Vec<Value> {
        let windows: Vec<Window> = periods.iter().map(|period| period.window).collect();
        let counted = |count: &dyn Fn(Window) -> u64| {
            windows.iter().map(|window| Value::Count(count(*window))).collect()
        };
        match measure {
            Measure::Distinct(set) | Measure::Segments(set) => {
                self.distinct(set, &windows).into_iter().map(Value::Count).collect()
            }
            Measure::Transactions => {
                counted(&|window| self.counters_in(window).map(|counters| counters.transactions).sum())
            }
            Measure::Trades | Measure::TradesByAction => {
                counted(&|window| self.counters_in(window).map(Counters::market).sum())
            }
            Measure::Conversion => {
                let (sent, active) =
                    (self.distinct(DaySet::Sent, &windows), self.distinct(DaySet::Active, &windows));
                sent.into_iter().zip(active).map(|(part, whole)| Value::Ratio { part, whole }).collect()
            }
            Measure::New => {
                let each = |days: &[i32]| self.new_on(days).into_iter().map(|new| (new, 0)).collect();
                let sums = sums(&windows, |_| true, each);
                sums.into_iter().map(|sum| Value::Count(sum.part)).collect()
            }
            Measure::Retention(after) => {
                let each = |days: &[i32]| {
                    let pairs: Vec<(i32, i32)> = days.iter().map(|day| (*day, day + after)).collect();
                    self.returned(&pairs).into_iter().zip(self.new_on(days)).collect()
                };
                ratios(sums(&windows, |day| day + after < today, each))
            }
            Measure::Stickiness => {
                let each = |days: &[i32]| {
                    let rolling = days.iter().map(|day| Window { first: day - ROLLING_DAYS + 1, last: *day });
                    let rolling = self.distinct(DaySet::Active, &rolling.collect::<Vec<_>>());
                    self.active_on(days).into_iter().zip(rolling).collect()
                };
                ratios(sums(&windows, |day| day <= today, each))
            }
            Measure::AverageActive => {
                let each =
                    |days: &[i32]| self.active_on(days).into_iter().map(|active| (active, 1)).collect();
                ratios(sums(&windows, |day| day <= today, each))
            }
        }
    }

    fn new_on(&self, days: &[i32]) -> Vec<u64> {
        self.returned(&days.iter().map(|day| (*day, *day)).collect::<Vec<_>>())
    }

    fn active_on(&self, days: &[i32]) -> Vec<u64> {
        let windows: Vec<Window> = days.iter().map(|day| Window { first: *day, last: *day }).collect();
        self.distinct(DaySet::Active, &windows)
    }

    fn trades_by_action(&self, periods: Vec<Period>, fill: bool) -> Vec<MultiPoint> {
        let point = |period: Period| {
            let mut values = BTreeMap::new();
            for (action, count) in self.counters_in(period.window).flat_map(Counters::actions) {
                *values.entry(action.to_owned()).or_default() += count;
            }
            MultiPoint { label: period.label, values }
        };
        finish(periods.into_iter().map(point).collect(), fill)
    }

    fn by_segment(&self, set: DaySet, periods: &[Period], fill: bool) -> Vec<(&'static str, Vec<Point>)> {
        let windows: Vec<(Window, i32, i32)> = periods
            .iter()
            .map(|period| {
                let begin = month(period.window.first);
                (period.window, month(begin - 1), begin)
            })
            .collect();
        let counts = self.segments(set, &windows);
        let shown: Vec<(&Period, &[u64; 3])> =
            periods.iter().zip(&counts).filter(|(_, counts)| fill || **counts != [0; 3]).collect();
        let series = |index: usize| {
            let point = |(period, counts): &(&Period, &[u64; 3])| Point {
                label: period.label.clone(),
                value: Number::Count(counts[index]),
            };
            shown.iter().map(point).collect()
        };
        SEGMENTS.into_iter().enumerate().map(|(index, name)| (name, series(index))).collect()
    }
}

/// Leaves periods without counts out, or gives every period all names.
pub(crate) fn finish(mut points: Vec<MultiPoint>, fill: bool) -> Vec<MultiPoint> {
    if !fill {
        points.retain(|point| !point.values.is_empty());
        return points;
    }
    let names: BTreeSet<String> = points.iter().flat_map(|point| point.values.keys().cloned()).collect();
    for point in &mut points {
        for name in &names {
            if !point.values.contains_key(name) {
                point.values.insert(name.clone(), 0);
            }
        }
    }
    points
}

/// Two numbers added up over the days of a period that count; of how many days.
#[derive(Clone, Copy, Default)]
struct Sum {
    part: u64,
    whole: u64,
    days: usize,
}

/// Adds up two numbers of each day, over the days of each window that count.
fn sums(
    windows: &[Window],
    counts: impl Fn(i32) -> bool,
    each: impl Fn(&[i32]) -> Vec<(u64, u64)>,
) -> Vec<Sum> {
    let days = |window: &Window| (window.first..=window.last).filter(|day| counts(*day));
    let all: Vec<i32> = windows.iter().flat_map(days).collect();
    let mut values = each(&all).into_iter();
    let sum = |window: &Window| {
        let days = days(window).count();
        values.by_ref().take(days).fold(Sum { days, ..Sum::default() }, |sum, (part, whole)| Sum {
            part: sum.part + part,
            whole: sum.whole + whole,
            ..sum
        })
    };
    windows.iter().map(sum).collect()
}

fn ratios(sums: Vec<Sum>) -> Vec<Value> {
    let ratio =
        |Sum { part, whole, days }| if days == 0 { Value::Open } else { Value::Ratio { part, whole } };
    sums.into_iter().map(ratio).collect()
}

/// Whether there was anything to count.
fn has_data(measure: Measure, value: Value) -> bool {
    match value {
        Value::Count(count) => count > 0,
        // On a day without anybody there is nothing to compare, whoever was there before.
        Value::Ratio { part, .. } if measure == Measure::Stickiness => part > 0,
        Value::Ratio { whole, .. } => whole > 0,
        Value::Open => false,
    }
}
