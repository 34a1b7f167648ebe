//! Compute units: those that were reported and those that the service counted itself.

use bourse_store::{Store, UsageLine};
use serde_json::{Value, json};

use super::{ask, expected, points};
use crate::support::TestApp;
use crate::support::project::Project;

async fn put(store: &Store, project: &Project, lines: &[(&str, &str, u64)]) {
    let line = |(index, (day, service, units)): (usize, &(&str, &str, u64))| UsageLine {
        id: index.to_string(),
        service: (*service).to_owned(),
        day: day.parse().unwrap(),
        units: *units,
    };
    store.put_usage(project.scope, lines.iter().enumerate().map(line).collect()).await.unwrap();
}

const RANGE: [&str; 2] = ["2025-02-27", "2025-03-03"];

/// A service with reported units. The 3rd of March is a Monday.
async fn reported() -> TestApp {
    let app = TestApp::start().await;
    let lines = [
        ("2025-02-26", "indexer", 100),
        ("2025-02-27", "indexer", 5),
        ("2025-02-27", "indexer", 6),
        ("2025-02-28", "metadata", 7),
        ("2025-03-02", "indexer", 8),
        ("2025-03-03", "metadata", 9),
        ("2025-03-03", "nothing", 0),
        ("2025-03-04", "indexer", 100),
    ];
    put(&app.store, &app.project_a, &lines).await;
    put(&app.store, &app.project_b, &[("2025-02-28", "indexer", 1000)]).await;
    app
}

fn at(label: &str, value: &Value) -> Value {
    json!({ "value": value, "label": label })
}

#[tokio::test]
async fn units_are_told_by_service_and_period() {
    let app = reported().await;
    let by = async |filter: Value| ask(&app.project_a.token, "ComputeByService", RANGE, filter).await;
    let days = json!({ "computeStats": [
        at("2025-02-27", &json!({ "indexer": 11 })),
        at("2025-02-28", &json!({ "metadata": 7 })),
        at("2025-03-02", &json!({ "indexer": 8 })),
        at("2025-03-03", &json!({ "metadata": 9 })),
    ] });
    assert_eq!(by(json!({})).await, days);
    assert_eq!(by(json!({ "dateInterval": "DAY" })).await, days);
    let weeks = json!({ "computeStats": [
        at("2025-02-24", &json!({ "indexer": 19, "metadata": 7 })),
        at("2025-03-03", &json!({ "metadata": 9 })),
    ] });
    assert_eq!(by(json!({ "dateInterval": "WEEK" })).await, weeks);
    let months = json!({ "computeStats": [
        at("2025-02", &json!({ "indexer": 11, "metadata": 7 })),
        at("2025-03", &json!({ "indexer": 8, "metadata": 9 })),
    ] });
    assert_eq!(by(json!({ "dateInterval": "MONTH" })).await, months);
    let filled = by(json!({ "fill": true })).await;
    assert_eq!(filled["computeStats"].as_array().unwrap().len(), 5);
    assert_eq!(filled["computeStats"][2], at("2025-03-01", &json!({ "indexer": 0, "metadata": 0 })));
}

#[tokio::test]
async fn units_add_up_and_are_series_by_service() {
    let app = reported().await;
    let a = &app.project_a.token;
    let total = points(a, "TotalCompute", RANGE, json!({})).await;
    assert_eq!(total, expected(&[("2025-02-27", 35.0)]));
    let daily = ask(a, "DailyComputeByService", RANGE, json!({})).await;
    let series = json!({ "computeStats": {
        "indexer": [at("2025-02-27", &json!(11)), at("2025-03-02", &json!(8))],
        "metadata": [at("2025-02-28", &json!(7)), at("2025-03-03", &json!(9))],
    } });
    assert_eq!(daily, series);
    let filter = json!({ "filter": { "startDate": RANGE[0], "endDate": RANGE[1] } });
    let table = a.with("accept", "text/csv");
    let text = table.call("Analytics/ComputeByService", filter.clone()).await.text();
    assert_eq!(
        text,
        "label,indexer,metadata\n2025-02-27,11,0\n2025-02-28,0,7\n2025-03-02,8,0\n2025-03-03,0,9\n"
    );
    let same = table.call("Analytics/DailyComputeByService", filter.clone()).await.text();
    assert_eq!(same, text);
    let total = table.call("Analytics/TotalCompute", filter).await.text();
    assert_eq!(total, "label,value\n2025-02-27,35\n");
}

/// What the service meters of its own calls is there once it is flushed, beside what was reported.
#[tokio::test]
async fn metered_calls_are_compute_of_their_service() {
    let app = TestApp::with(&[("limits.metering_flush_ms", "3600000")]).await;
    let background = app.background();
    for _ in 0..3 {
        app.project_a.call("Builder/ListAudiences", json!({})).await.ok();
    }
    let events = json!({ "batchId": "x", "events": [{ "wallet": super::wallet(1), "kind": "session" }] });
    app.project_a.call("Ingest/TrackEvents", events).await.ok();
    app.project_b.call("Builder/ListAudiences", json!({})).await.ok();
    put(&app.store, &app.project_a, &[("2025-03-14", "builder", 10), ("2025-03-14", "indexer", 1)]).await;
    background.stop().await;
    let today = ["2025-03-14", "2025-03-14"];
    let answer = ask(&app.another().await.token, "ComputeByService", today, json!({})).await;
    let expected = at("2025-03-14", &json!({ "builder": 13, "indexer": 1, "ingest": 1 }));
    assert_eq!(answer, json!({ "computeStats": [expected] }));
}
