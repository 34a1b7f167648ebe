//! What one request may take: size, depth, time, and a place among the others.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use bourse_server::Chains;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::body::{SVG, endless, upload};
use crate::support::chain::StuckChain;
use crate::support::project::Project;
use crate::venues::first_of;

const PATH: &str = "/rpc/Builder/ListAudiences";

#[tokio::test]
async fn a_body_may_be_as_large_as_the_limit_and_no_larger() {
    let app = TestApp::with(&[("limits.body_bytes_max", "100")]).await;
    let a = &app.project_a.key;
    let padded = |length: usize| format!("{:length$}", "{}");
    assert_eq!(a.post(PATH, padded(100)).await.status, 200);
    assert_eq!(a.post(PATH, padded(101)).await.refusal(), (413, -4));
    // Refused by what it announces, before any of it is read.
    let (body, _) = endless();
    let request =
        Request::post(PATH).header("content-type", "application/json").header("content-length", "101");
    assert_eq!(a.send(request.body(body).unwrap()).await.refusal(), (413, -4));
    let chunks = futures_util::stream::iter((0..101).map(|_| Ok::<_, std::io::Error>(" ")));
    assert_eq!(a.post(PATH, Body::from_stream(chunks)).await.refusal(), (413, -4));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_the_callers_trouble() {
    let app = TestApp::start().await;
    let chunks = [Ok("{"), Err(std::io::Error::other("gone"))];
    let answer = app.project_a.key.post(PATH, Body::from_stream(futures_util::stream::iter(chunks))).await;
    assert_eq!(answer.refusal(), (400, -4));
}

#[tokio::test]
async fn json_may_be_as_deep_as_the_limit_and_no_deeper() {
    let app = TestApp::with(&[("limits.json_depth_max", "4")]).await;
    let a = &app.project_a.key;
    assert_eq!(a.post(PATH, r#"{"x":[[[1]]],"y":"[[[[["}"#).await.status, 200);
    let answer = a.post(PATH, r#"{"x":[[[[1]]]]}"#).await;
    assert_eq!(answer.refusal(), (400, -4));
    assert_eq!(answer.json["msg"], "the body is nested deeper than 4 levels");
    assert_eq!(a.post(PATH, "[".repeat(1_000_000)).await.refusal(), (400, -4));
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_given_up() {
    let app = TestApp::with(&[("limits.request_timeout_ms", "50")]).await;
    let (body, _) = endless();
    let answer = app.project_a.key.post(PATH, body).await;
    assert_eq!(answer.refusal(), (408, 2000));
    assert_eq!(answer.json["msg"], "the request took longer than 50 ms");
    // The next one is answered, from memory, lest a slow disk fails the test.
    assert_eq!(app.anonymous.post("/rpc/Builder/Ping", "{}").await.status, 200);
}

/// A service with a chain that never answers, and a request that waits for it.
async fn stuck(settings: &[(&'static str, &str)]) -> (TestApp, Arc<StuckChain>) {
    let chain = Arc::new(StuckChain::default());
    let app =
        TestApp::asking(settings, Some(Arc::clone(&chain) as Arc<dyn Chains>), async |_, _, _| ()).await.0;
    (app, chain)
}

/// A request that is at work for as long as the chain does not answer.
fn waiting_for_chain(project: &Project) -> JoinHandle<Answer> {
    let orders = json!({ "orders": [first_of("seaport", "a token for the chain's own currency")] });
    let token = project.token.clone();
    tokio::spawn(async move { token.call("Ingest/PutOrders", orders).await })
}

#[tokio::test]
async fn more_requests_at_once_than_there_is_room_for_are_refused() {
    let (app, chain) = stuck(&[("limits.concurrent_requests_max", "1")]).await;
    let held = waiting_for_chain(&app.project_a);
    chain.asked.notified().await;
    let answer = app.project_a.key.post(PATH, "{}").await;
    assert_eq!((answer.refusal(), answer.header("retry-after")), ((503, 1901), "1"));
    let answer = app.anonymous.get("/projects/1/collections/1").await;
    assert_eq!((answer.refusal(), answer.header("retry-after")), ((503, 1901), "1"));
    // What keeps an eye on the service still gets an answer.
    assert_eq!(app.anonymous.get("/health").await.status, 200);
    assert_eq!(app.anonymous.get("/ready").await.status, 200);
    let metrics = String::from_utf8(app.anonymous.get("/metrics").await.body.to_vec()).unwrap();
    assert!(metrics.contains("bourse_refusals_total{kind=\"Requests\"} 2"), "{metrics}");
    held.abort();
    assert!(held.await.unwrap_err().is_cancelled());
    assert_eq!(app.project_a.key.post(PATH, "{}").await.status, 200);
}

#[tokio::test]
async fn a_project_leaves_places_for_others() {
    let (app, chain) = stuck(&[("limits.project_requests_max", "1")]).await;
    let held = waiting_for_chain(&app.project_a);
    chain.asked.notified().await;
    assert_eq!(app.project_a.key.post(PATH, "{}").await.refusal(), (503, 1901));
    assert_eq!(app.project_b.key.post(PATH, "{}").await.status, 200);
    held.abort();
    assert!(held.await.unwrap_err().is_cancelled());
    assert_eq!(app.project_a.key.post(PATH, "{}").await.status, 200);
}

#[tokio::test]
async fn whoever_has_not_said_what_they_want_holds_no_place() {
    let app = TestApp::with(&[("limits.concurrent_requests_max", "1")]).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let (body, waiting) = endless();
        let a = app.project_a.key.clone();
        held.push(tokio::spawn(async move { a.post(PATH, body).await }));
        waiting.notified().await;
    }
    assert_eq!(app.project_b.key.post(PATH, "{}").await.status, 200);
    held.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn bodies_take_so_much_memory_together() {
    let settings = [("limits.bodies_bytes_max", "400000")];
    let app = TestApp::with(&settings).await;
    let padded = |length: usize| {
        let piece = move |place| {
            if place < 9 { " ".repeat(length / 10) } else { format!("{:1$}", "{}", length / 10) }
        };
        Body::from_stream(futures_util::stream::iter((0..10).map(piece).map(Ok::<_, std::io::Error>)))
    };
    let a = &app.project_a.key;
    assert_eq!(a.post(PATH, padded(190_000)).await.status, 200);
    // A project has half of it.
    let answer = a.post(PATH, padded(210_000)).await;
    assert_eq!((answer.refusal(), answer.header("retry-after")), ((503, 1901), "1"));
    assert_eq!(a.post(PATH, padded(190_000)).await.status, 200);
}

#[tokio::test]
async fn a_caller_who_gives_up_leaves_no_trace() {
    let (app, chain) = stuck(&[("limits.concurrent_requests_max", "1")]).await;
    for _ in 0..3 {
        let held = waiting_for_chain(&app.project_a);
        chain.asked.notified().await;
        held.abort();
        assert!(held.await.unwrap_err().is_cancelled());
    }
    assert_eq!(app.project_a.key.post(PATH, "{}").await.status, 200);
}

#[tokio::test]
async fn many_writes_at_once_are_all_done() {
    let app = TestApp::start().await;
    let calls = (0..40).map(|number| {
        let a = app.project_a.token.clone();
        tokio::spawn(async move {
            a.call("Builder/CreateAudience", json!({ "name": format!("n{number}") })).await
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().ok();
    }
    let listed = app.project_a.call("Builder/ListAudiences", json!({})).await.ok();
    assert_eq!(listed["audiences"].as_array().unwrap().len(), 40);
}

#[tokio::test]
async fn an_upload_may_be_as_large_as_the_limit_and_no_larger() {
    let limit = SVG.len().to_string();
    let app = TestApp::with(&[("limits.upload_bytes_max", &limit), ("limits.body_bytes_max", "1000")]).await;
    let a = &app.project_a;
    a.call("Collections/CreateCollection", json!({ "collection": { "metadata": { "name": "x" } } }))
        .await
        .ok();
    a.call("Collections/CreateAsset", json!({ "asset": { "collectionId": 1 } })).await.ok();
    let path = "/projects/1/collections/1/assets/1/upload";
    assert_eq!(a.token.send(upload(path, "file", "x", SVG)).await.status, 200);
    let larger = [SVG, b" "].concat();
    assert_eq!(a.token.send(upload(path, "file", "x", &larger)).await.refusal(), (413, -4));
    let far_larger = [SVG, &vec![b' '; 200_000]].concat();
    assert_eq!(a.token.send(upload(path, "file", "x", &far_larger)).await.refusal(), (413, -4));
}
