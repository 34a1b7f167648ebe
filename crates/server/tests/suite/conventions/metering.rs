//! Compute units and last use, as they reach the store.

use std::time::Duration;

use bourse_store::testing::{Cut, usage_since};
use bourse_wire::{Day, ProjectId};
use serde_json::json;

use crate::support::{TestApp, wait_until};

/// Ends a test that would wait forever.
const BOUND: Duration = Duration::from_mins(1);

/// Project, service and units, sorted.
async fn usage(app: &TestApp, since: &str) -> Vec<(ProjectId, String, u64)> {
    let store = app.database.open().await.unwrap();
    let since: Day = since.parse().unwrap();
    let totals = usage_since(&store, since).await.unwrap();
    let mut lines: Vec<_> =
        totals.into_iter().map(|total| (total.project, total.service, total.units)).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn what_was_metered_is_stored_when_the_service_stops() {
    let app = TestApp::with(&[("limits.metering_flush_ms", "3600000")]).await;
    let background = app.background();
    let (a, b) = (&app.project_a, &app.project_b);
    for _ in 0..3 {
        a.call("Builder/ListAudiences", json!({})).await.ok();
    }
    a.call("Collections/ListCollections", json!({})).await.ok();
    b.call("Builder/ListAudiences", json!({})).await.ok();
    // A request that is refused after its credential is known is charged as well; these three are free.
    assert_eq!(b.call("Collections/GetCollection", json!({ "collectionId": 404 })).await.status, 404);
    app.anonymous.call("Builder/ListAudiences", json!({})).await;
    a.key.call("Collections/ListCollections", json!({})).await;
    a.call("Builder/Ping", json!({})).await.ok();
    app.clock.set("2025-03-15T00:00:00Z");
    a.call("Builder/ListAudiences", json!({})).await.ok();
    assert_eq!(usage(&app, "2025-03-01").await, []);
    background.stop().await;
    let line = |project: &crate::support::project::Project, service: &str, units| {
        (project.id, service.to_owned(), units)
    };
    let expected =
        [line(a, "builder", 4), line(a, "collections", 1), line(b, "builder", 1), line(b, "collections", 1)];
    assert_eq!(usage(&app, "2025-03-14").await, expected);
    assert_eq!(usage(&app, "2025-03-15").await, [line(a, "builder", 1)]);
}

#[tokio::test]
async fn what_was_metered_is_stored_from_time_to_time() {
    let app = TestApp::with(&[("limits.metering_flush_ms", "20")]).await;
    let background = app.background();
    app.project_a.call("Builder/ListAudiences", json!({})).await.ok();
    wait_until("what was metered", async || !usage(&app, "2025-03-14").await.is_empty()).await;
    app.project_a.call("Builder/ListAudiences", json!({})).await.ok();
    background.stop().await;
    assert_eq!(usage(&app, "2025-03-14").await, [(app.project_a.id, "builder".to_owned(), 2)]);
}

/// What was stored although nobody was told so is told again, and counts once.
#[tokio::test]
async fn usage_is_billed_once_wherever_its_connection_is_cut() {
    let Some((app, relay)) = TestApp::relayed(&[("quotas.builder", "1000")]).await else { return };
    let (project, backstage) = (&app.project_a, app.backstage());
    let mut calls = 0;
    for cut in [Cut::Before as fn(u32) -> Cut, Cut::After] {
        for message in 1.. {
            let answer = project.call("Builder/ListAudiences", json!({})).await;
            calls += 1;
            assert_eq!(answer.header("quota-remaining"), (1000 - calls).to_string(), "{:?}", cut(message));
            answer.ok();
            relay.cut(cut(message));
            let stored = backstage.store_usage().await;
            let was_cut = relay.spare();
            if stored.is_err() {
                backstage.store_usage().await.unwrap();
            }
            let expected = [(project.id, "builder".to_owned(), calls)];
            assert_eq!(usage(&app, "2025-03-14").await, expected, "{:?}", cut(message));
            if !was_cut {
                assert!(message > 2, "nothing is stored by so few messages as {message}");
                break;
            }
        }
    }
}

/// A connection of which nothing is heard any more, while the database answers by every other.
#[tokio::test]
async fn usage_does_not_wait_for_a_connection_that_is_silent() {
    let settings = [("storage.database_timeout_ms", "300"), ("quotas.builder", "1000")];
    let Some((app, relay)) = TestApp::relayed(&settings).await else { return };
    let (project, backstage) = (&app.project_a, app.backstage());
    let stored = async { while backstage.store_usage().await.is_err() {} };
    project.call("Builder/ListAudiences", json!({})).await.ok();
    tokio::time::timeout(BOUND, stored).await.unwrap();
    relay.fall_silent();
    relay.speak();
    for left in ["998", "997"] {
        // It is refused before the database is asked.
        let charged = project.call("Builder/GetAudience", json!({})).await;
        assert_eq!(charged.header("quota-remaining"), left, "quotas go on: {}", charged.json);
    }
    let stored = async { while backstage.store_usage().await.is_err() {} };
    tokio::time::timeout(BOUND, stored).await.unwrap();
    assert_eq!(usage(&app, "2025-03-14").await, [(project.id, "builder".to_owned(), 3)]);
}

#[tokio::test]
async fn when_a_credential_was_last_used_is_stored() {
    let app = TestApp::start().await;
    let background = app.background();
    app.project_a.key.call("Builder/ListAudiences", json!({})).await.ok();
    app.clock.advance(5);
    app.project_b.token.call("Builder/ListAudiences", json!({})).await.ok();
    background.stop().await;
    let store = app.database.open().await.unwrap();
    let used = async |project: &crate::support::project::Project| {
        let keys = store.access_keys(project.scope).await.unwrap();
        let tokens = store.secret_tokens(project.scope).await.unwrap();
        (keys[0].last_used_at, tokens[0].last_used_at)
    };
    let at = |text: &str| Some(text.parse().unwrap());
    assert_eq!(used(&app.project_a).await, (at("2025-03-14T12:00:00Z"), None));
    assert_eq!(used(&app.project_b).await, (None, at("2025-03-14T12:00:05Z")));
}
