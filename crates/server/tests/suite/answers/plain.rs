//! The plain addresses, and uploads.

use axum::http::Method;
use serde_json::json;

use crate::support::TestApp;
use crate::support::body::{PNG, SVG, upload};
use crate::support::seed;
use crate::support::transcript::Transcript;

#[tokio::test]
async fn published() {
    let app = TestApp::start().await;
    let belongings = seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let base = format!("/projects/{}/collections/{}", app.project_a.id, belongings.collection);
    let mut said = Transcript::default();
    let padded = format!("{base}/tokens/{:064x}.json", 1);
    for path in [base.clone(), format!("{base}.json"), format!("{base}/tokens/1"), padded] {
        said.get(&app.anonymous, &path).await;
    }
    said.get(&app.anonymous, &format!("{base}/tokens/1/asset/image")).await;
    said.get(&app.anonymous, &format!("{base}/assets/1")).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn nothing_there() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let asset = json!({ "asset": { "collectionId": 1, "tokenId": "1", "metadataField": "video" } });
    app.project_a.call("Collections/CreateAsset", asset).await.ok();
    let mut said = Transcript::default();
    for path in [
        "/projects/404/collections/1",
        "/projects/0/collections/1",
        "/projects/one/collections/1",
        "/projects/1/collections/404",
        "/projects/1/collections/1/tokens/404",
        "/projects/1/collections/1/tokens/one",
        "/projects/1/collections/1/tokens/1/asset/audio",
        "/projects/1/collections/1/tokens/1/asset/video",
        "/projects/1/collections/1/assets/404",
        "/projects/1/collections/1/assets/2",
        "/projects/1/collections/404/assets/1",
        "/projects/1/collections/%FF",
        "/projects/1",
    ] {
        said.get(&app.anonymous, path).await;
    }
    let answer = app.anonymous.request(Method::POST, "/projects/1/collections/1").await;
    said.note(&format!("POST /projects/1/collections/1 (Allow: {})", answer.header("allow")), &answer);
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn uploads() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let mut said = Transcript::default();
    let a = &app.project_a.token;
    let base = "/projects/1/collections/1";
    for (path, name, content) in [
        (format!("{base}/assets/1/upload"), "relic.png", PNG),
        (format!("{base}/tokens/1/upload/1"), "other.svg", SVG),
        (format!("{base}/tokens/1/upload/animation_url"), "C:\\folder\\scene.svg", SVG),
        (format!("{base}/tokens/1/upload/404"), "a.svg", SVG),
        (format!("{base}/tokens/404/upload/image"), "a.svg", SVG),
        (format!("{base}/assets/404/upload"), "a.svg", SVG),
        ("/projects/1/collections/404/assets/1/upload".to_owned(), "a.svg", SVG),
    ] {
        let answer = a.send(upload(&path, "file", name, content)).await;
        said.note(&format!("PUT {path} {name}"), &answer);
    }
    said.call(&app.project_a, "Collections/GetToken", json!({ "collectionId": 1, "tokenId": "1" })).await;
    insta::assert_snapshot!(said.text());
}
