//! Events of a few wallets, and the charts that are made of them.

use bourse_server::{Service, router};
use serde_json::{Value, json};

use super::TestApp;
use super::actor::Actor;

/// A few wallets over two months, of which every number can be counted on one's fingers. The clock of every test stands
/// on the last of these days, a Friday; the 10th of February is a Monday.
///
/// A day, and who did what on it: the number of a wallet, and s, t or m for the kind, with the action after it.
const SCENARIO: &[(&str, &[&str])] = &[
    ("2025-01-20", &["5s"]),
    ("2025-02-10", &["1s", "2s", "2t"]),
    ("2025-02-11", &["1s", "1t", "1t"]),
    ("2025-02-13", &["2s"]),
    ("2025-02-17", &["1mbuy", "2msell", "2m"]),
    ("2025-02-24", &["1s"]),
    ("2025-03-03", &["3s", "5t"]),
    ("2025-03-10", &["1s", "3mbuy", "4t"]),
    ("2025-03-13", &["4s"]),
    ("2025-03-14", &["4s", "6s"]),
];

pub(crate) fn wallet(number: u64) -> String {
    format!("0x{number:040x}")
}

/// The events of a day of the scenario, all at the same minute past midnight.
pub(crate) fn events_of((day, marks): &(&str, &[&str])) -> Vec<Value> {
    let event = |mark: &&str| {
        let (number, rest) = mark.split_at(1);
        let (kind, action) = rest.split_at(1);
        let kind = match kind {
            "s" => "session",
            "t" => "transaction",
            _ => "market",
        };
        let mut event = json!({ "wallet": wallet(number.parse().unwrap()), "kind": kind, "at": format!("{day}T00:01:00Z") });
        if !action.is_empty() {
            event["properties"] = json!({ "action": action });
        }
        event
    };
    marks.iter().map(event).collect()
}

/// Tracks events with a credential; the answer must be a success.
pub(crate) async fn track(actor: &Actor, batch: &str, events: Vec<Value>) -> Value {
    actor.call("Ingest/TrackEvents", json!({ "batchId": batch, "events": events })).await.ok()
}

/// An answer in which every event was counted.
pub(crate) fn accepted(count: usize) -> Value {
    json!({ "accepted": count, "known": 0, "rejected": [], "replayed": false })
}

/// Project A after the scenario. The days come from the last to the first: all but one are late.
pub(crate) async fn scenario() -> TestApp {
    let app = TestApp::start().await;
    for day in SCENARIO.iter().rev() {
        let events = events_of(day);
        let count = events.len();
        assert_eq!(track(&app.project_a.token, day.0, events).await, accepted(count));
    }
    app
}

/// The names of all charts.
pub(crate) fn operations() -> Vec<&'static str> {
    let routes = router::operations();
    let charts = routes.iter().filter(|route| route.service == Service::Analytics && route.name != "Ping");
    charts.map(|route| route.name).collect()
}
