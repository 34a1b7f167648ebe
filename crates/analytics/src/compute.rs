//! Charts of compute units. They are counted elsewhere; here they are put in the same periods as everything else.

use std::collections::BTreeMap;

use bourse_wire::Day;

use crate::answer::{ChartQuery, MultiPoint, Number, Point, finish};
use crate::calendar::Interval;

/// Units of a service on a day. Several of the same service and day add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage<'a> {
    /// The day.
    pub day: Day,
    /// The service.
    pub service: &'a str,
    /// The units.
    pub units: u64,
}

/// `ComputeByService`: units of each service in each period, which is a day unless asked otherwise.
pub fn compute_by_service(usage: &[Usage<'_>], query: &ChartQuery) -> Vec<MultiPoint> {
    points(usage, query, query.interval.unwrap_or(Interval::Day))
}

/// `TotalCompute`: units of all services in the whole range, labelled with its first day.
pub fn total_compute(usage: &[Usage<'_>], query: &ChartQuery) -> Vec<Point> {
    let window = query.range.window();
    let within = usage.iter().filter(|usage| (window.first..=window.last).contains(&usage.day.number()));
    let units = within.map(|usage| usage.units).sum();
    vec![Point { label: query.range.whole().label, value: Number::Count(units) }]
}

/// `DailyComputeByService`: for each service its units on each day.
pub fn daily_compute_by_service(usage: &[Usage<'_>], query: &ChartQuery) -> BTreeMap<String, Vec<Point>> {
    let mut series: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for point in points(usage, query, Interval::Day) {
        for (service, units) in point.values {
            let value = Number::Count(units);
            series.entry(service).or_default().push(Point { label: point.label.clone(), value });
        }
    }
    series
}

fn points(usage: &[Usage<'_>], query: &ChartQuery, interval: Interval) -> Vec<MultiPoint> {
    let periods = query.range.periods(interval);
    let mut values = vec![BTreeMap::<String, u64>::new(); periods.len()];
    for Usage { day, service, units } in usage.iter().filter(|usage| usage.units > 0) {
        let day = day.number();
        let index = periods.partition_point(|period| period.window.last < day);
        if periods.get(index).is_some_and(|period| period.window.first <= day) {
            *values[index].entry((*service).to_owned()).or_default() += units;
        }
    }
    let points = periods.into_iter().zip(values);
    finish(points.map(|(period, values)| MultiPoint { label: period.label, values }).collect(), query.fill)
}
