//! The headers of answers.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::{HeaderValue, Method, Request};
use serde_json::json;

use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::seed;

/// A header that differs from one run to the next shows as its shape.
fn lines(heading: &str, answer: &Answer) -> String {
    let mut headers: Vec<String> = answer
        .headers
        .iter()
        .map(|(name, value)| match name.as_str() {
            "x-request-id" => "x-request-id: (an id)".to_owned(),
            name => {
                format!("{name}: {}", value.to_str().unwrap().replace(env!("CARGO_PKG_VERSION"), "(version)"))
            }
        })
        .collect();
    headers.sort();
    let mut text = String::new();
    writeln!(text, "{heading}\n{}\n{}\n", answer.status, headers.join("\n")).unwrap();
    text
}

#[tokio::test]
async fn headers() {
    let app = TestApp::with(&[("limits.rate_per_minute", "100"), ("quotas.metadata", "50")]).await;
    seed::relics(&app.store).await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let page = app.anonymous.with("origin", "https://shop.example");
    let key = app.project_a.key.with("origin", "https://shop.example");
    let body = json!({ "chainID": "137", "contractAddress": seed::RELICS });
    let preflight = Request::builder()
        .method(Method::OPTIONS)
        .uri("/rpc/Metadata/GetContractInfo")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,x-access-key")
        .body(Body::empty())
        .unwrap();
    let mut text = String::new();
    text += &lines("an operation", &key.call("Metadata/GetContractInfo", body).await);
    text += &lines(
        "an operation by secret token",
        &app.project_a.call("Collections/ListCollections", json!({})).await,
    );
    text += &lines("an operation without a credential", &page.call("Metadata/Ping", json!({})).await);
    text += &lines(
        "a missing credential",
        &page.from([10, 0, 0, 1]).call("Metadata/GetContractInfo", json!({})).await,
    );
    text += &lines("a wrong method", &page.get("/rpc/Metadata/GetContractInfo").await);
    text += &lines("a wrong path", &page.get("/nowhere").await);
    text += &lines("a preflight", &page.send(preflight).await);
    for path in [
        "/projects/1/collections/1",
        "/projects/1/collections/1/assets/1",
        "/projects/1/collections/404",
        "/health",
        "/ready",
        "/docs",
        "/docs/style.css",
    ] {
        let mut answer = page.get(path).await;
        // The length of the page and its style is no part of the interface, and neither is the tag that follows from them.
        if path.starts_with("/docs") {
            answer.headers.remove("content-length");
            answer.headers.get_mut("etag").unwrap().clone_from(&HeaderValue::from_static("(a tag)"));
        }
        text += &lines(path, &answer);
    }
    insta::assert_snapshot!(text);
}
