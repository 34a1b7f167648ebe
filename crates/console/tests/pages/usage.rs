//! The page about compute, limits and errors.

use bourse_store::UsageLine;
use bourse_wire::Day;
use serde_json::json;

use super::browser::{Browser, Page};
use crate::support::TestApp;
use crate::support::project::{Project, create_key};

const READ: &str = "Builder/ListAudiences";

async fn usage_of(app: &TestApp, project: &Project) -> Page {
    let browser = Browser::of_viewer(app, project.id).await;
    let page = browser.get(&format!("/console/projects/{}/usage", project.id)).await;
    assert!(
        page.status == 200 && page.html.len() < 100_000 && !page.html.contains(" style="),
        "{}",
        page.html
    );
    page
}

/// The cells of the row of a service.
fn row(page: &Page, service: &str) -> Vec<String> {
    let row = page.html.split(&format!("\">{service}</th>")).nth(1).unwrap().split("</tr>").next().unwrap();
    let cells = row.split("</td>").map(|cell| cell.rsplit('>').next().unwrap().trim().to_owned());
    cells.filter(|cell| !cell.is_empty()).collect()
}

#[tokio::test]
async fn compute_is_shown_against_the_quota() {
    let app = TestApp::with(&[("quotas.builder", "10"), ("limits.metering_flush_ms", "3600000")]).await;
    let a = &app.project_a;
    for _ in 0..3 {
        a.call(READ, json!({})).await.ok();
    }
    a.call("Collections/ListCollections", json!({})).await.ok();
    let reported = UsageLine {
        id: "elsewhere".to_owned(),
        service: "builder".to_owned(),
        day: Day::of(app.now()),
        units: 1_000,
    };
    app.store.put_usage(a.scope, vec![reported]).await.unwrap();
    let page = usage_of(&app, a).await;
    // What was counted a moment ago is there; what was reported of other places does not count against the quota.
    assert_eq!(row(&page, "Builder"), ["1\u{202f}003", "3", "10", "7", "30%"]);
    assert!(
        page.html.contains("<meter min=\"0\" max=\"10\" high=\"8\" optimum=\"0\" value=\"3\""),
        "{}",
        page.html
    );
    assert_eq!(row(&page, "Collections"), ["1", "1", "no limit", "–", "–"]);
    assert_eq!(row(&page, "Marketplace"), ["0", "0", "no limit", "–", "–"]);
    assert!(page.says("14 Mar so far: builder 1\u{202f}003, collections 1, together 1\u{202f}004"));
    let other = usage_of(&app, &app.project_b).await;
    assert_eq!(row(&other, "Builder"), ["0", "0", "10", "10", "0%"]);
    app.clock.set("2025-04-01T00:00:00Z");
    assert_eq!(row(&usage_of(&app, a).await, "Builder"), ["0", "0", "10", "10", "0%"], "another month");
}

#[tokio::test]
async fn the_rate_limit_is_shown_and_looking_takes_nothing() {
    let app = TestApp::with(&[("limits.rate_per_minute", "5")]).await;
    app.clock.set("2025-03-14T12:00:45Z");
    app.project_a.call(READ, json!({})).await.ok();
    for _ in 0..2 {
        let page = usage_of(&app, &app.project_a).await;
        assert!(page.html.contains("<dt>Requests a minute</dt><dd>5</dd>"), "{}", page.html);
        assert!(page.says("4 (the next minute begins in 15 s)"));
    }
    let app = TestApp::start().await;
    assert!(usage_of(&app, &app.project_a).await.says("does not limit how many requests"));
}

#[tokio::test]
async fn errors_are_counted_and_the_latest_have_their_ids() {
    let app = TestApp::start().await;
    let (a, b) = (&app.project_a, &app.project_b);
    a.call(READ, json!({})).await.ok();
    app.clock.advance(3600);
    let missing = a.call("Builder/GetAudience", json!({ "audienceId": 404 })).await;
    let hostile = a
        .call("Marketplace/ListCollectibles", json!({ "contractAddress": "<script>alert(1)</script>" }))
        .await;
    let secret = a.key.call("Analytics/WalletsDaily", json!({})).await;
    let id = |answer: &crate::support::actor::Answer| answer.header("x-request-id").to_owned();
    let page = usage_of(&app, a).await;
    for (answer, status) in [(&missing, 404), (&hostile, 400), (&secret, 403)] {
        assert_eq!(answer.status, status);
        assert!(page.says(&id(answer)) && page.says(answer.json["msg"].as_str().unwrap()), "{}", answer.json);
    }
    assert!(!page.html.contains("<script>alert"));
    assert!(page.says("<script>alert(1)</script>"));
    for (name, value) in
        [("Requests", "4"), ("Errors", "3"), ("Error rate", "75.0%"), ("Error rate of this hour", "100.0%")]
    {
        let tile = page.html.split(&format!("<dt>{name}</dt>")).nth(1).unwrap();
        assert_eq!(tile.split('>').nth(1).unwrap().split('<').next(), Some(value), "{name}");
    }
    assert!(page.says("14 Mar, 13:00 UTC so far: 3") && page.says("14 Mar, 12:00 UTC: 0"));
    assert!(page.says("since its start") && page.says("2025-03-14 12:00 UTC"));
    let order = [&secret, &hostile, &missing].map(|answer| page.html.find(&id(answer)).unwrap());
    assert!(order.is_sorted(), "the newest come first");
    let other = usage_of(&app, b).await;
    assert!(other.says("No request of this project came here yet.") && !other.says(&id(&missing)));
    app.clock.advance(24 * 3600);
    let later = usage_of(&app, a).await;
    assert!(later.says(&id(&missing)) && later.html.contains("<dt>Errors</dt><dd>0</dd>"));
}

#[tokio::test]
async fn a_key_that_is_refused_is_an_error_of_its_project() {
    let (app, bound) = TestApp::prepared(&[], async |store, a, _| {
        create_key(store, a.scope, |terms| terms.allowed_origins = vec!["https://shop.example".to_owned()])
            .await
            .1
    })
    .await;
    let elsewhere = app.anonymous.with("x-access-key", &bound).with("origin", "https://evil.example");
    assert_eq!(elsewhere.call(READ, json!({})).await.refusal(), (403, 1001));
    let page = usage_of(&app, &app.project_a).await;
    assert!(
        page.says("the access key is not for the origin https://evil.example")
            && page.says("PermissionDenied")
    );
    // Whoever only makes up a key of a project is nobody's.
    let forged = format!("{}x", &app.project_b.key_text[..app.project_b.key_text.len() - 1]);
    let forged = app.anonymous.with("x-access-key", &forged).call(READ, json!({})).await;
    assert_eq!(forged.status, 401);
    assert!(usage_of(&app, &app.project_b).await.says("No request of this project came here yet."));
}

#[tokio::test]
async fn another_projects_member_sees_nothing() {
    let app = TestApp::start().await;
    let stranger = Browser::of_owner(&app, app.project_b.id).await;
    let path = format!("/console/projects/{}/usage", app.project_a.id);
    assert_eq!(stranger.get(&path).await.status, 404);
    assert_eq!(app.anonymous.get(&path).await.status, 303);
}
