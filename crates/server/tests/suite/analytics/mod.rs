//! Analytics: events in, charts out.

mod charts;
mod compute;
mod filter;
mod market_events;
mod memory;
mod several_services;
mod spreadsheet_tables;

use serde_json::{Value, json};

use crate::support::actor::Actor;
pub(crate) use crate::support::events::{accepted, events_of, operations, scenario, track, wallet};

pub(crate) fn session(number: u64, at: &str) -> Value {
    json!({ "wallet": wallet(number), "kind": "session", "at": at })
}

/// The whole answer of a chart over a range, with more members of the filter.
pub(crate) async fn ask(actor: &Actor, operation: &str, range: [&str; 2], more: Value) -> Value {
    let mut filter = json!({ "startDate": range[0], "endDate": range[1] });
    let Value::Object(more) = more else { panic!("{more} is no object") };
    filter.as_object_mut().unwrap().extend(more);
    actor.call(&format!("Analytics/{operation}"), json!({ "filter": filter })).await.ok()
}

/// The points of a series.
pub(crate) async fn points(
    actor: &Actor,
    operation: &str,
    range: [&str; 2],
    more: Value,
) -> Vec<(String, f64)> {
    let answer = ask(actor, operation, range, more).await;
    let members = answer.as_object().unwrap();
    assert_eq!(members.len(), 1, "{answer}");
    series(&members.values().next().unwrap().clone())
}

/// Labels and values of a series.
fn series(points: &Value) -> Vec<(String, f64)> {
    let point = |point: &Value| {
        assert_eq!(point.as_object().unwrap().len(), 2, "{point}");
        (point["label"].as_str().unwrap().to_owned(), point["value"].as_f64().unwrap())
    };
    points.as_array().unwrap_or_else(|| panic!("{points} is no series")).iter().map(point).collect()
}

pub(crate) fn expected(points: &[(&str, f64)]) -> Vec<(String, f64)> {
    points.iter().map(|(label, value)| ((*label).to_owned(), *value)).collect()
}
