//! How many requests a minute, and how many compute units a month.

use bourse_store::testing::metered;
use serde_json::json;

use crate::support::actor::Answer;
use crate::support::project::create_key;
use crate::support::seed;
use crate::support::{TestApp, wait_until};

const READ: &str = "Builder/ListAudiences";

/// Limit, what is left, seconds until there is more.
fn rate(answer: &Answer) -> [&str; 3] {
    ["credits-rate-limit", "credits-rate-remaining", "credits-rate-reset"].map(|name| answer.header(name))
}

#[tokio::test]
async fn a_project_has_so_many_requests_a_minute() {
    let (app, second_key) = TestApp::prepared(&[("limits.rate_per_minute", "3")], async |store, a, _| {
        create_key(store, a.scope, |_| {}).await.1
    })
    .await;
    app.clock.set("2025-03-14T12:00:45Z");
    let a = &app.project_a;
    for left in ["2", "1"] {
        let answer = a.key.call(READ, json!({})).await;
        assert_eq!((answer.status, rate(&answer)), (200, ["3", left, "15"]));
        assert_eq!((answer.header("credits-rate-cost"), answer.header("retry-after")), ("1", ""));
    }
    // Every credential of a project, and every address, draws on the same allowance.
    let other_key = app.anonymous.with("x-access-key", &second_key).from([10, 0, 0, 1]);
    assert_eq!(other_key.call(READ, json!({})).await.status, 200);
    for actor in [&a.key, &a.token, &other_key] {
        let answer = actor.call(READ, json!({})).await;
        assert_eq!((answer.refusal(), rate(&answer)), ((429, 1201), ["3", "0", "15"]));
        assert_eq!(answer.header("retry-after"), "15");
    }
    assert_eq!(app.project_b.call(READ, json!({})).await.status, 200, "another project has its own");
    app.clock.advance(14);
    assert_eq!(a.call(READ, json!({})).await.refusal(), (429, 1201));
    app.clock.advance(1);
    let answer = a.call(READ, json!({})).await;
    assert_eq!((answer.status, rate(&answer)), (200, ["3", "2", "60"]));
}

/// On PostgreSQL only, where there can be several servers.
#[tokio::test]
async fn a_limit_is_one_for_all_servers() {
    let app = TestApp::with(&[("limits.rate_per_minute", "20")]).await;
    if !app.store.is_for_several() {
        return;
    }
    let other = app.another_asking(&[("limits.rate_per_minute", "20")], None).await;
    let tasks = [app.background(), other.background()];
    for _ in 0..15 {
        assert_eq!(app.project_a.key.call(READ, json!({})).await.status, 200);
    }
    assert_eq!(other.key.call(READ, json!({})).await.status, 200);
    let (backstage, project) = (other.backstage(), app.project_a.id);
    let left = async |left: u64| backstage.allowance(project).unwrap().remaining == left;
    wait_until("what was used through another server counts", async || left(4).await).await;
    for remaining in ["3", "2", "1", "0"] {
        let answer = other.key.call(READ, json!({})).await;
        assert_eq!((answer.status, answer.header("credits-rate-remaining")), (200, remaining));
    }
    let refused = other.key.call(READ, json!({})).await;
    assert_eq!((refused.refusal(), rate(&refused)[..2].to_vec()), ((429, 1201), vec!["20", "0"]));
    assert_eq!(app.project_b.call(READ, json!({})).await.status, 200, "another project has its own");
    // The next minute has its own.
    app.clock.advance(60);
    assert_eq!(other.key.call(READ, json!({})).await.status, 200);
    for background in tasks {
        background.stop().await;
    }
}

#[tokio::test]
async fn an_address_without_a_project_has_its_own_allowance() {
    let app = TestApp::with(&[("limits.rate_per_minute", "2")]).await;
    let (here, there) = (app.anonymous.from([10, 0, 0, 1]), app.anonymous.from([10, 0, 0, 2]));
    assert_eq!(here.call("Metadata/Ping", json!({})).await.status, 200);
    // A wrong credential counts against its address: guessing is limited too.
    let guess = here.with("x-access-key", "guess").call(READ, json!({})).await;
    assert_eq!(guess.refusal(), (401, 1000));
    let guess = here.with("x-access-key", "guess").call(READ, json!({})).await;
    assert_eq!((guess.refusal(), guess.header("retry-after")), ((429, 1007), "60"));
    assert_eq!(here.call("Metadata/Ping", json!({})).await.refusal(), (429, 2005));
    assert_eq!(there.call("Metadata/Ping", json!({})).await.status, 200);
    app.clock.advance(60);
    assert_eq!(here.call("Metadata/Ping", json!({})).await.status, 200);
}

#[tokio::test]
async fn plain_addresses_are_limited_by_address() {
    let app = TestApp::with(&[("limits.rate_per_minute", "2")]).await;
    let here = app.anonymous.from([10, 0, 0, 1]);
    for _ in 0..2 {
        assert_eq!(here.get("/projects/1/collections/404").await.status, 404);
    }
    let answer = here.get("/projects/1/collections/404").await;
    assert_eq!((answer.refusal(), answer.header("retry-after")), ((429, 1007), "60"));
    assert_eq!(here.get("/health").await.status, 200);
}

#[tokio::test]
async fn without_a_limit_there_are_no_headers_about_it() {
    let app = TestApp::start().await;
    let answer = app.project_a.call(READ, json!({})).await;
    assert_eq!(rate(&answer), ["", "", ""]);
    assert_eq!((answer.header("quota-limit"), answer.header("quota-remaining")), ("", ""));
    assert_eq!((answer.header("quota-cost"), answer.header("credits-rate-cost")), ("1", "1"));
}

#[tokio::test]
async fn a_project_has_so_many_compute_units_a_month_of_each_service() {
    let app = TestApp::with(&[("quotas.builder", "2")]).await;
    app.clock.set("2025-01-31T23:59:59Z");
    let a = &app.project_a;
    for left in ["1", "0"] {
        let answer = a.call(READ, json!({})).await;
        assert_eq!(
            (answer.status, answer.header("quota-limit"), answer.header("quota-remaining")),
            (200, "2", left)
        );
    }
    let answer = a.call(READ, json!({})).await;
    assert_eq!((answer.refusal(), answer.header("quota-remaining")), ((429, 1200), "0"));
    assert_eq!(answer.json["msg"], "the month's 2 compute units of the service builder are used up");
    a.call("Builder/Ping", json!({})).await.ok();
    assert_eq!(a.call("Collections/ListCollections", json!({})).await.status, 200, "another service");
    assert_eq!(app.project_b.call(READ, json!({})).await.status, 200, "another project");
    app.clock.advance(1);
    let answer = a.call(READ, json!({})).await;
    assert_eq!((answer.status, answer.header("quota-remaining")), (200, "1"), "another month");
}

#[tokio::test]
async fn a_quota_counts_what_was_used_before_the_start_and_elsewhere() {
    let used = async |units: u64| {
        let (app, ()) = TestApp::prepared(&[("quotas.builder", "10")], async |store, a, _| {
            let (this, last) = ("2025-03-01".parse().unwrap(), "2025-02-28".parse().unwrap());
            let lines = vec![metered(a.id, "builder", this, units), metered(a.id, "builder", last, 100)];
            store.put_metered(lines).await.unwrap();
        })
        .await;
        app
    };
    let app = used(9).await;
    assert_eq!(app.project_a.call(READ, json!({})).await.status, 200);
    assert_eq!(app.project_a.call(READ, json!({})).await.refusal(), (429, 1200));
    let app = used(10).await;
    assert_eq!(app.project_a.call(READ, json!({})).await.refusal(), (429, 1200));
}

#[tokio::test]
async fn a_refused_request_changes_nothing() {
    let app = TestApp::with(&[("quotas.collections", "7")]).await;
    seed::belongings(&app.store, &app.project_a, "Relics", true).await;
    let mut refused = 0;
    for _ in 0..5 {
        let body = json!({ "collection": { "metadata": { "name": "x" } } });
        refused += u32::from(app.project_a.call("Collections/CreateCollection", body).await.status == 429);
    }
    // Four of the seven went into what there was before.
    assert_eq!(refused, 2);
    let page = bourse_wire::PageInput::default().resolve(100, 100).unwrap();
    let kept = app.store.hosted_collections(app.project_a.scope, &page).await.unwrap();
    assert_eq!(kept.len(), 4);
}
