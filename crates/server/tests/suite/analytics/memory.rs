//! What is counted of projects takes memory of the same budget as collections.

use serde_json::json;

use super::{accepted, points, session, track};
use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::project::Project;
use crate::support::seed::{RELICS, tokens};

/// Room for a few small things.
const BYTES_MAX: usize = 1_000_000;
const RANGE: [&str; 2] = ["2025-03-01", "2025-03-14"];

async fn app(bytes_max: usize) -> TestApp {
    let settings = [("storage.resident_bytes_max", bytes_max.to_string())];
    let [(name, value)] = &settings;
    TestApp::prepared(&[(name, value)], async |store, _, _| tokens(store, RELICS, 1..50, "relic").await)
        .await
        .0
}

/// Has wallets of a project counted.
async fn count(project: &Project, wallets: u64) {
    let events: Vec<_> = (1..=wallets).map(|wallet| session(wallet, "2025-03-14T00:00:00Z")).collect();
    assert_eq!(track(&project.token, "all", events).await, accepted(usize::try_from(wallets).unwrap()));
}

async fn active(project: &Project) -> Vec<(String, f64)> {
    points(&project.token, "WalletsDaily", RANGE, json!({})).await
}

async fn ask_chart(project: &Project) -> Answer {
    let body = json!({ "filter": { "startDate": RANGE[0], "endDate": RANGE[1] } });
    project.call("Analytics/WalletsDaily", body).await
}

async fn token_ids(app: &TestApp) -> Answer {
    let body = json!({ "chainID": "polygon", "contractAddress": RELICS });
    app.project_a.call("Metadata/SearchTokenIDs", body).await
}

async fn charts_bytes(app: &TestApp) -> usize {
    let text = app.anonymous.get("/metrics").await.text();
    let line = text.lines().find_map(|line| line.strip_prefix("bourse_charts_bytes "));
    line.unwrap_or_else(|| panic!("no bourse_charts_bytes in\n{text}")).parse().unwrap()
}

/// Takes all but so many bytes of the memory, as large loads do, and makes what is in the way go.
fn leave(app: &TestApp, bytes: usize) -> bourse_budget::Share {
    let load = app.app.budget().share();
    load.grow(BYTES_MAX - bytes).unwrap();
    load
}

#[tokio::test]
async fn charts_and_collections_are_dropped_in_the_order_in_which_they_were_used() {
    let app = app(BYTES_MAX).await;
    let (a, b) = (&app.project_a, &app.project_b);
    count(a, 40).await;
    count(b, 30).await;
    let both = charts_bytes(&app).await;
    assert!(both > 1_000, "{both} bytes");
    token_ids(&app).await.ok();
    let all = app.app.budget().taken();
    assert!(all > both, "{all} bytes, of which {both} for charts");
    // A was used longest ago.
    active(b).await;
    let load = leave(&app, all - 1);
    let one = charts_bytes(&app).await;
    assert!(one > 0 && one < both, "{one} of {both}");
    drop(load);
    // It is read again, and says the same; now the collection is the oldest.
    assert_eq!(active(a).await, [("2025-03-14".to_owned(), 40.0)]);
    active(b).await;
    let (charts, all) = (charts_bytes(&app).await, app.app.budget().taken());
    let load = leave(&app, all - 1);
    assert_eq!((charts_bytes(&app).await, app.app.budget().taken() - load.bytes()), (charts, charts));
    drop(load);
    token_ids(&app).await.ok();
    drop(leave(&app, 0));
    assert_eq!((charts_bytes(&app).await, app.app.budget().taken()), (0, 0));
    assert_eq!(active(b).await, [("2025-03-14".to_owned(), 30.0)]);
}

#[tokio::test]
async fn charts_without_room_are_refused_until_there_is_some() {
    let app = app(BYTES_MAX).await;
    count(&app.project_a, 40).await;
    let load = leave(&app, 0);
    for refused in [ask_chart(&app.project_a).await, sent(&app.project_a).await] {
        assert_eq!(refused.refusal(), (503, 1901));
        assert_eq!(refused.header("retry-after"), "1");
        let message = refused.json["msg"].as_str().unwrap();
        assert!(message.contains("storage.resident_bytes_max") && message.contains("try again"), "{message}");
    }
    // Whoever has nothing counted needs no memory to be told so.
    assert_eq!(active(&app.project_b).await, []);
    drop(load);
    assert_eq!(active(&app.project_a).await, [("2025-03-14".to_owned(), 40.0)]);
}

async fn sent(project: &Project) -> Answer {
    let events = [session(99, "2025-03-13T00:00:00Z")];
    project.call("Ingest/TrackEvents", json!({ "batchId": "late", "events": events })).await
}

/// It is found out by reading, which takes everybody else's memory: so once, and then again after a while.
#[tokio::test]
async fn charts_larger_than_all_memory_are_refused_and_looked_at_again_later() {
    let app = app(40_000).await;
    // By another server, which has more memory.
    let roomy = app.another().await;
    for day in 1..=28 {
        let at = format!("2025-02-{day:02}T00:00:00Z");
        track(&roomy.token, &at, (1..=1_000).map(|wallet| session(wallet, &at)).collect()).await;
    }
    assert_eq!(ask_chart(&app.project_a).await.refusal(), (503, 1901));
    token_ids(&app).await.ok();
    let resident = app.app.budget().taken();
    for refused in [ask_chart(&app.project_a).await, sent(&app.project_a).await] {
        assert_eq!(refused.refusal(), (503, 1901));
        let message = refused.json["msg"].as_str().unwrap();
        assert!(message.contains("storage.resident_bytes_max") && message.contains("raise"), "{message}");
    }
    assert_eq!(app.app.budget().taken(), resident, "nobody else had to go for it");
    // Those of others fit.
    count(&app.project_b, 3).await;
    assert_eq!(active(&app.project_b).await, [("2025-03-14".to_owned(), 3.0)]);
    // What is looked at again is found to be the same.
    app.clock.advance(10 * 60);
    assert_eq!(ask_chart(&app.project_a).await.refusal(), (503, 1901));
    app.clock.advance(19 * 60);
    let resident = app.app.budget().taken();
    assert_eq!(ask_chart(&app.project_a).await.refusal(), (503, 1901));
    assert_eq!(app.app.budget().taken(), resident, "it is not read again so soon");
}
