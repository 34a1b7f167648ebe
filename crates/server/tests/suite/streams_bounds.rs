//! What streams may take: of nodes, of the database, of memory, and of what keys and addresses have.

use axum::body::{Body, Bytes};
use axum::http::{Request, Response, StatusCode};
use bourse_server::{Entrance, Peer, service};
use bourse_store::testing::Outage;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::support::orders::{commit, listing, market, orders};
use crate::support::project::create_key;
use crate::support::seed::RELICS;
use crate::support::{TestApp, wait_until};

/// Opens a page's address from an address, and perhaps with what a browser says of where it comes from.
async fn open(entrance: &Entrance, path: &str, address: [u8; 4], site: Option<&str>) -> Response<Body> {
    let mut request = Request::get(path);
    if let Some(site) = site {
        request = request.header("sec-fetch-site", site);
    }
    let mut request = request.body(Body::empty()).unwrap();
    request.extensions_mut().insert(Peer(address.into()));
    entrance.clone().oneshot(request).await.unwrap()
}

async fn frame(body: &mut Body) -> Option<Bytes> {
    Some(body.frame().await?.unwrap().into_data().unwrap())
}

async fn refusal(response: Response<Body>) -> (u16, i64) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let error: Value = serde_json::from_slice(&body).unwrap();
    (status, error["code"].as_i64().unwrap())
}

/// Everything that a stream says until it ends.
async fn rest(mut body: Body) -> String {
    let mut text = String::new();
    while let Some(part) = frame(&mut body).await {
        text.push_str(std::str::from_utf8(&part).unwrap());
    }
    text
}

/// What is written for one reader alone waits for that reader only up to a share of the memory.
#[tokio::test]
async fn readers_who_take_nothing_are_let_go_and_take_no_memory() {
    let app = TestApp::with(&[("limits.streams_bytes_max", "20000")]).await;
    commit(&app.store, orders([listing("a", 1, 5)])).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let path = format!("/live/137/{RELICS}/1?key={}", app.project_a.key_text);
    let mut bodies = Vec::new();
    for _ in 0..20 {
        let mut body = open(&entrance, &path, [192, 0, 2, 1], None).await.into_body();
        frame(&mut body).await.unwrap();
        bodies.push(body);
    }
    commit(&app.store, orders([listing("b", 1, 4)])).await;
    // Each part is kept, as a connection does that nobody reads from.
    let mut kept = Vec::new();
    for body in &mut bodies {
        kept.push(frame(body).await.unwrap());
    }
    let is_let_go = |part: &Bytes| part.starts_with(b"event: trouble\n");
    let (let_go, told): (Vec<Bytes>, Vec<Bytes>) = kept.into_iter().partition(is_let_go);
    assert!(!let_go.is_empty() && !told.is_empty(), "{} {}", let_go.len(), told.len());
    assert!(told.iter().map(Bytes::len).sum::<usize>() <= 5_000);
    let message = String::from_utf8_lossy(&let_go[0]);
    assert!(message.contains("subscribe again with cursor 0.1"), "{message}");
    // Once it was taken there is room again.
    drop(told);
    let mut last = open(&entrance, &path, [192, 0, 2, 1], None).await.into_body();
    frame(&mut last).await.unwrap();
    commit(&app.store, orders([listing("c", 1, 3)])).await;
    assert!(frame(&mut last).await.unwrap().starts_with(b"event: activity\n"));
    drop((bodies, last));
    background.stop().await;
}

/// A unit for each part of what was missed: the fourth part is one too many.
#[tokio::test]
async fn what_was_missed_is_paid_for() {
    let app = market((1..=900).flat_map(|id| orders([listing(&id.to_string(), id, 5)])).collect()).await;
    let key = app.project_a.key_text.as_str();
    let beside = app.another_asking(&[("trial.access_key", key), ("trial.units_per_day", "4")], None).await;
    let entrance = beside.entrance();
    let path = format!("/live/137/{RELICS}?key={key}&cursor=0.0");
    let text = rest(open(&entrance, &path, [192, 0, 2, 1], None).await.into_body()).await;
    assert_eq!(text.matches("\"type\":\"added\"").count(), 750);
    assert!(text.contains("units a day of the trial key are used up"), "{}", &text[text.len() - 300..]);
}

#[tokio::test]
async fn pages_have_the_limits_of_the_trial_key_and_of_projects() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let key = app.project_a.key_text.as_str();
    let path = format!("/live/137/{RELICS}?key={key}");
    let trial = [("trial.access_key", key), ("trial.rate_per_minute", "2")];
    let project = [("limits.rate_per_minute", "2")];
    for (settings, is_of_address) in [(&trial[..], true), (&project[..], false)] {
        let entrance = app.another_asking(settings, None).await.entrance();
        let from = |number: u8| [192, 0, 2, if is_of_address { 1 } else { number }];
        for number in 1..=2 {
            assert_eq!(open(&entrance, &path, from(number), None).await.status(), StatusCode::OK);
        }
        let refused = open(&entrance, &path, from(3), None).await;
        assert!(refused.headers().contains_key("retry-after"));
        assert_eq!(refusal(refused).await, (429, 1201));
        let elsewhere = open(&entrance, &path, [192, 0, 2, 4], None).await.status();
        assert_eq!(elsewhere == StatusCode::OK, is_of_address);
    }
}

/// Browsers name no origin where a page reads from its own.
#[tokio::test]
async fn a_key_for_an_origin_works_for_pages_of_the_service_itself() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let entrance = service(app.app.clone());
    for (origin, is_own) in [("https://bourse.example", true), ("https://elsewhere.example", false)] {
        let (_, key) = create_key(&app.store, app.project_a.scope, |terms| {
            terms.require_origin = true;
            terms.allowed_origins = vec![origin.to_owned()];
        })
        .await;
        let path = format!("/live/137/{RELICS}?key={key}");
        let status = async |site| open(&entrance, &path, [192, 0, 2, 1], site).await.status();
        assert_eq!(status(Some("same-origin")).await == StatusCode::OK, is_own, "{origin}");
        for site in [None, Some("cross-site"), Some("same-site"), Some("none")] {
            assert_eq!(status(site).await, StatusCode::FORBIDDEN, "{origin} {site:?}");
        }
        // A shop may have a host of its own.
        let at_host = async |host: &str| {
            let request = Request::get(&path).header("sec-fetch-site", "same-origin").header("host", host);
            entrance.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status()
        };
        assert_eq!(at_host("Elsewhere.example:443").await, StatusCode::OK, "{origin}");
        assert_eq!(at_host("another.example").await == StatusCode::OK, is_own, "{origin}");
    }
}

/// On PostgreSQL only, to which there is a way to stand in.
#[tokio::test]
async fn a_key_that_nobody_can_look_up_is_not_said_to_be_unknown() {
    let relayed = TestApp::relayed(&[("storage.database_timeout_ms", "300")]).await;
    let Some((app, relay)) = relayed else { return };
    let entrance = service(app.app.clone());
    let (_, key) = create_key(&app.store, app.project_a.scope, |_| {}).await;
    Outage::ALL[0].begin(&relay);
    let path = format!("/live/137/{RELICS}?key={key}");
    wait_until("it is said that the database is away", async || {
        refusal(open(&entrance, &path, [192, 0, 2, 1], None).await).await == (503, 1903)
    })
    .await;
}
