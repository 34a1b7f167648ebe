//! Health, metrics and documentation.

use bourse_server::router;
use serde_json::json;

use crate::support::TestApp;
use crate::support::seed::{self, RELICS};

#[tokio::test]
async fn health_and_readiness() {
    let app = TestApp::start().await;
    assert_eq!(app.anonymous.get("/health").await.ok(), json!({ "status": "ok" }));
    assert_eq!(app.anonymous.get("/ready").await.ok(), json!({ "status": "ready" }));
    app.app.store().close().await;
    assert_eq!(app.anonymous.get("/health").await.ok(), json!({ "status": "ok" }));
    let answer = app.anonymous.get("/ready").await;
    let expected = json!({ "status": "unavailable", "reason": "the database does not answer" });
    assert_eq!((answer.status, answer.json), (503, expected));
}

/// Strangers hear neither which nodes there are nor what those said.
#[tokio::test]
async fn readiness_says_nothing_of_nodes() {
    let node = [("networks.polygon.id", "137"), ("networks.polygon.rpc_url", "https://node.example/key")];
    let app = TestApp::with(&node).await;
    for actor in
        [&app.anonymous, &app.project_a.key, &app.project_a.token, &app.anonymous.from([127, 0, 0, 1])]
    {
        assert_eq!(actor.get("/ready").await.ok(), json!({ "status": "ready" }));
    }
}

#[tokio::test]
async fn metrics_count_answers_and_errors() {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    let body = json!({ "chainID": "137", "contractAddress": RELICS });
    app.project_a.call("Metadata/GetContractInfo", body.clone()).await.ok();
    app.project_a.call("Metadata/GetContractInfo", body).await.ok();
    app.anonymous.call("Metadata/GetContractInfo", json!({})).await;
    app.anonymous.get("/rpc/Metadata/GetContractInfo").await;
    let answer = app.anonymous.get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").starts_with("application/openmetrics-text"));
    let text = answer.text();
    let value = |series: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {series} in\n{text}")).parse::<f64>().unwrap()
    };
    let labels = r#"service="metadata",operation="GetContractInfo""#;
    let count = |name: &str, more: &str| value(&format!("bourse_{name}{{{labels}{more}}}")).to_string();
    assert_eq!(count("requests_total", ""), "4");
    assert_eq!(count("errors_total", r#",code="1000""#), "1");
    assert_eq!(count("errors_total", r#",code="-3""#), "1");
    assert_eq!(count("latency_seconds_count", ""), "4");
    assert!(value("bourse_resident_bytes") > 0.0);
    assert!(text.ends_with("# EOF\n"));
    for route in router::operations() {
        let series = format!(r#"operation="{}""#, route.name);
        assert!(text.contains(&series), "{series}");
    }
}

#[tokio::test]
async fn the_document_lists_every_operation() {
    let app = TestApp::start().await;
    let document = app.anonymous.get("/openapi.json").await.ok();
    assert_eq!(document, *bourse_server::document());
    for route in router::operations() {
        assert!(document["paths"][route.path()]["post"].is_object(), "{}", route.path());
    }
}

#[tokio::test]
async fn the_reference_needs_no_other_host_and_no_script() {
    let app = TestApp::start().await;
    let answer = app.anonymous.get("/docs").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/html; charset=utf-8"));
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'self'"), "{policy}");
    let page = answer.text();
    assert!(!page.contains("<script") && !page.contains("javascript:"), "the page has a script");
    for attribute in ["src=\"", "href=\""] {
        for link in page.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let own =
                ["#", "/docs/style.css", "/openapi.json", "data:,"].iter().any(|own| link.starts_with(own));
            assert!(own, "the page refers to {link}");
        }
    }
    let style = app.anonymous.get("/docs/style.css").await;
    assert_eq!((style.status, style.header("content-type")), (200, "text/css; charset=utf-8"));
    assert!(!style.text().contains("url(") && !style.text().contains("@import"), "the style loads something");
}
