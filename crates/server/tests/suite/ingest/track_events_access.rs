//! Who may send events, and how many at once.

use serde_json::{Value, json};

use crate::analytics::{accepted, points, session, track, wallet};
use crate::support::TestApp;
use crate::support::project::create_key;

fn sessions(count: u64) -> Vec<Value> {
    (1..=count).map(|number| session(number, "2025-03-14T00:00:00Z")).collect()
}

fn body(count: u64) -> Value {
    json!({ "batchId": "x", "events": sessions(count) })
}

/// A service, and the text of an access key that is for getting data in, among others when said.
async fn with_key(settings: &[(&'static str, &str)], services: &[&str]) -> (TestApp, String) {
    let services: Vec<String> = services.iter().map(|service| (*service).to_owned()).collect();
    TestApp::prepared(settings, async |store, a, _| {
        create_key(store, a.scope, |key| key.allowed_services = services).await.1
    })
    .await
}

#[tokio::test]
async fn an_access_key_sends_events_only_when_it_was_made_for_it() {
    let (app, text) = with_key(&[], &["builder", "ingest"]).await;
    let refused = app.project_a.key.call("Ingest/TrackEvents", body(1)).await;
    assert_eq!(refused.refusal(), (403, 1001));
    let said = refused.json["msg"].as_str().unwrap();
    assert!(
        said.contains("secret token") && said.contains("bourse key create PROJECT --service ingest"),
        "{said}"
    );
    assert_eq!(app.anonymous.call("Ingest/TrackEvents", body(1)).await.refusal(), (401, 1000));
    let made_for_it = app.anonymous.with("x-access-key", &text);
    assert_eq!(track(&made_for_it, "x", sessions(1)).await, accepted(1));
    assert_eq!(track(&app.project_a.token, "y", sessions(2)).await, accepted(2));
    // It may do nothing else of that service.
    let put = made_for_it.call("Ingest/PutTokens", json!({ "tokens": [] })).await;
    assert_eq!(put.refusal(), (403, 1001));
    // And it reads no chart.
    let filter = json!({ "startDate": "2025-03-14", "endDate": "2025-03-14" });
    let chart = made_for_it.call("Analytics/WalletsDaily", json!({ "filter": filter })).await;
    assert_eq!(chart.refusal(), (403, 1104));
}

#[tokio::test]
async fn a_key_for_other_services_sends_no_events() {
    let (app, text) = with_key(&[], &["builder"]).await;
    let key = app.anonymous.with("x-access-key", &text);
    assert_eq!(key.call("Ingest/TrackEvents", body(1)).await.refusal(), (403, 1104));
}

#[tokio::test]
async fn one_call_has_room_for_so_many_events() {
    let settings = [("analytics.events_max", "3"), ("analytics.events_by_key_max", "2")];
    let (app, text) = with_key(&settings, &["ingest"]).await;
    let key = app.anonymous.with("x-access-key", &text);
    for (actor, count_max) in [(&key, 2), (&app.project_a.token, 3)] {
        let refused = actor.call("Ingest/TrackEvents", body(count_max + 1)).await;
        assert_eq!(refused.refusal(), (400, 2001));
        let expected =
            format!("events: {} events where at most {count_max} are allowed in one call", count_max + 1);
        assert_eq!(refused.json["msg"], expected);
        let name = format!("of {count_max}");
        assert_eq!(track(actor, &name, sessions(count_max)).await["accepted"], count_max);
    }
}

#[tokio::test]
async fn the_default_is_ten_thousand_events_and_a_hundred_by_key() {
    let (app, text) = with_key(&[], &["ingest"]).await;
    let key = app.anonymous.with("x-access-key", &text);
    assert_eq!(key.call("Ingest/TrackEvents", body(101)).await.refusal(), (400, 2001));
    assert_eq!(track(&key, "100", sessions(100)).await, accepted(100));
    let token = &app.project_a.token;
    assert_eq!(token.call("Ingest/TrackEvents", body(10_001)).await.refusal(), (400, 2001));
    assert_eq!(track(token, "10000", sessions(10_000)).await, accepted(10_000));
    let today = ["2025-03-14", "2025-03-14"];
    assert_eq!(points(token, "WalletsTotal", today, json!({})).await[0].1.to_bits(), 10_000.0_f64.to_bits());
}

#[tokio::test]
async fn what_is_wrong_with_the_request_itself_refuses_all_of_it() {
    let app = TestApp::start().await;
    let refused = async |body: Value| {
        let answer = app.project_a.call("Ingest/TrackEvents", body).await;
        (answer.refusal(), answer.json["msg"].as_str().unwrap().to_owned())
    };
    let event = json!({ "wallet": wallet(1), "kind": "session" });
    for (body, said) in [
        (json!({ "events": [event] }), "batchId: is required"),
        (json!({ "batchId": "", "events": [event] }), "batchId: must not be empty"),
        (json!({ "batchId": "x".repeat(129), "events": [event] }), "batchId: "),
        (json!({ "batchId": "a\u{0}b", "events": [event] }), "batchId: "),
        (json!({ "batchId": "x" }), "events: is required"),
    ] {
        let (refusal, message) = refused(body).await;
        assert_eq!(refusal, (400, 2001), "{message}");
        assert!(message.starts_with(said), "{message}");
    }
    assert_eq!(refused(json!({ "batchId": "x", "events": event })).await.0, (400, -4));
    let hard = "%00'; DROP TABLE analytics_batches; -- 👨‍👩‍👧";
    assert_eq!(track(&app.project_a.token, hard, vec![event.clone()]).await, accepted(1));
    assert_eq!(track(&app.project_a.token, hard, vec![event]).await["replayed"], true);
}
