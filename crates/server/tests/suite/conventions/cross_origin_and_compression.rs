//! Calls from web pages, and compression.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::actor::{Actor, Answer};
use crate::support::seed::{self, RELICS};

async fn preflight(actor: &Actor, path: &str, origin: &str, method: &str) -> Answer {
    let request = Request::builder()
        .method(Method::OPTIONS)
        .uri(path)
        .header("origin", origin)
        .header("access-control-request-method", method)
        .header("access-control-request-headers", "authorization,content-type,webrpc,x-access-key")
        .body(Body::empty());
    actor.send(request.unwrap()).await
}

#[tokio::test]
async fn a_preflight_needs_no_credential() {
    let app = TestApp::start().await;
    for (path, method) in [
        ("/rpc/Collections/GetToken", "POST"),
        ("/polygon/rpc/Marketplace/ListCollectibles", "POST"),
        ("/projects/1/collections/1/assets/1/upload", "PUT"),
        ("/projects/1/collections/1", "GET"),
    ] {
        let answer = preflight(&app.anonymous, path, "https://shop.example", method).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, "*"), "{path}");
        assert!(answer.header("access-control-allow-methods").contains(method), "{path}");
        let allowed = answer.header("access-control-allow-headers");
        for name in ["content-type", "x-access-key", "authorization", "webrpc"] {
            assert!(allowed.contains(name), "{path}: {allowed}");
        }
    }
}

#[tokio::test]
async fn errors_can_be_read_by_web_pages_too() {
    let app = TestApp::start().await;
    let page = app.anonymous.with("origin", "https://shop.example");
    for answer in [
        page.call("Metadata/GetContractInfo", json!({})).await,
        page.call("Metadata/Ping", json!({})).await,
        page.get("/rpc/Metadata/Ping").await,
        page.get("/nowhere").await,
        page.get("/projects/1/collections/404").await,
    ] {
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{}", answer.json);
        let exposed = answer.header("access-control-expose-headers");
        for name in ["webrpc", "retry-after", "x-request-id", "credits-rate-remaining", "quota-remaining"] {
            assert!(exposed.contains(name), "{exposed}");
        }
    }
}

#[tokio::test]
async fn only_named_origins_are_allowed_when_some_are_named() {
    let app = TestApp::with(&[("cors.origins", "https://shop.example,https://other.example")]).await;
    let origin = "access-control-allow-origin";
    let path = "/rpc/Metadata/Ping";
    let answer = preflight(&app.anonymous, path, "https://other.example", "POST").await;
    assert_eq!(answer.header(origin), "https://other.example");
    let answer = preflight(&app.anonymous, path, "https://evil.example", "POST").await;
    assert_eq!(answer.header(origin), "");
    let answer = app.anonymous.with("origin", "https://shop.example").get("/nowhere").await;
    assert_eq!(answer.header(origin), "https://shop.example");
    assert!(answer.header("vary").contains("origin"), "{:?}", answer.headers);
}

#[tokio::test]
async fn answers_are_compressed_when_asked_for_and_worth_it() {
    let app = TestApp::start().await;
    seed::tokens(&app.store, RELICS, 1..51, "Relic").await;
    let ids = |count: u64| (1..=count).collect::<Vec<_>>();
    let body = |count| json!({ "chainID": 137, "contractAddress": RELICS, "tokenIDs": ids(count) });
    let ask = async |encoding: &str, count: u64| {
        let actor = app.project_a.key.with("accept-encoding", encoding);
        actor.call("Metadata/GetTokenMetadata", body(count)).await
    };
    let plain = app.project_a.key.call("Metadata/GetTokenMetadata", body(50)).await;
    assert_eq!(plain.header("content-encoding"), "");
    assert!(plain.body.len() > 1024);
    for encoding in ["gzip", "br"] {
        let answer = ask(encoding, 50).await;
        assert_eq!((answer.status, answer.header("content-encoding")), (200, encoding));
        assert!(answer.body.len() < plain.body.len() / 4, "{encoding}: {}", answer.body.len());
        assert_eq!(answer.json, Value::Null);
        assert!(answer.header("vary").contains("accept-encoding"), "{:?}", answer.headers);
        let answer = ask(encoding, 2).await;
        assert_eq!((answer.status, answer.header("content-encoding")), (200, ""), "{encoding} below 1 KB");
    }
    assert_eq!(ask("gzip", 50).await.body[..2], [0x1f, 0x8b]);
    assert_eq!(ask("zstd, identity", 50).await.header("content-encoding"), "");
}

/// What never changes is compressed once and kept; who has it hears that it is as before.
#[tokio::test]
async fn what_never_changes_is_the_same_at_every_request() {
    let app = TestApp::start().await;
    for path in ["/openapi.json", "/docs", "/docs/style.css"] {
        let plain = app.anonymous.get(path).await;
        assert_eq!((plain.status, plain.header("content-encoding")), (200, ""), "{path}");
        assert_eq!(app.anonymous.with("accept-encoding", "zstd, identity").get(path).await.body, plain.body);
        let mut tags = vec![plain.header("etag").to_owned()];
        for encoding in ["gzip", "br"] {
            let actor = app.anonymous.with("accept-encoding", encoding);
            let (first, again) = (actor.get(path).await, actor.get(path).await);
            assert_eq!((first.status, first.header("content-encoding")), (200, encoding), "{path}");
            assert_eq!((&first.body, first.header("etag")), (&again.body, again.header("etag")), "{path}");
            assert!(first.body.len() < plain.body.len() / 2, "{path} {encoding}: {}", first.body.len());
            assert_eq!(
                (first.header("vary"), first.header("cache-control")),
                ("accept-encoding", "no-cache")
            );
            let known = actor.with("if-none-match", first.header("etag")).get(path).await;
            assert_eq!((known.status, known.body.len()), (304, 0), "{path} {encoding}");
            tags.push(first.header("etag").to_owned());
        }
        // A tag names one form: another one is another answer.
        let other = app.anonymous.with("if-none-match", &tags[1]).get(path).await;
        assert_eq!((other.status, &other.body), (200, &plain.body), "{path}");
        tags.sort();
        tags.dedup();
        assert_eq!(tags.len(), 3, "{tags:?}");
    }
}
