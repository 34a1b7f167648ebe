//! Uploaded files as they are served.

use axum::http::Method;
use serde_json::json;

use crate::support::TestApp;
use crate::support::body::{PNG, SVG, upload};
use crate::support::seed;

const ASSET: &str = "/projects/1/collections/1/assets/1";
const TOKEN_ASSET: &str = "/projects/1/collections/1/tokens/1/asset/image";

#[tokio::test]
async fn an_svg_is_served_without_the_right_to_do_anything() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    for path in [ASSET, TOKEN_ASSET] {
        let answer = app.anonymous.get(path).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "image/svg+xml"));
        assert_eq!(answer.body, SVG);
        let policy = answer.header("content-security-policy");
        let rules: Vec<&str> = policy.split(';').map(str::trim).collect();
        assert!(rules.contains(&"sandbox") && rules.contains(&"default-src 'none'"), "{policy}");
        assert!(!policy.contains("script-src") && !policy.contains("allow-scripts"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
}

#[tokio::test]
async fn the_type_is_found_in_the_content_whatever_the_name_says() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let put = async |name: &str, content: &[u8]| {
        app.project_a.token.send(upload(&format!("{ASSET}/upload"), "file", name, content)).await
    };
    assert_eq!(put("page.html", PNG).await.ok()["asset"]["mimeType"], "image/png");
    assert_eq!(app.anonymous.get(ASSET).await.header("content-type"), "image/png");
    for content in [
        &b"<html><script>alert(1)</script></html>"[..],
        b"plain text",
        b"MZ\x90\0",
        b"%PDF-1.7",
        b"PK\x03\x04",
    ] {
        assert_eq!(put("picture.png", content).await.refusal(), (400, 2001), "{content:?}");
    }
    assert_eq!(app.anonymous.get(ASSET).await.body, PNG, "a refused file leaves the old one alone");
}

/// Of several files for one member, every address shows the same one: the newest that was uploaded.
#[tokio::test]
async fn of_several_files_for_a_member_the_newest_counts() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let a = &app.project_a;
    for expected in [SVG, PNG] {
        let shown = a.call("Collections/GetToken", json!({ "collectionId": 1, "tokenId": 1 })).await.ok();
        let image = shown["token"]["image"].as_str().unwrap().replace("https://bourse.example", "");
        assert_eq!(app.anonymous.get(&image).await.body, expected, "{image}");
        assert_eq!(app.anonymous.get(TOKEN_ASSET).await.body, expected);
        let asset = json!({ "collectionId": 1, "tokenId": 1, "metadataField": "image" });
        let made = a.call("Collections/CreateAsset", json!({ "asset": asset })).await.ok();
        // An asset that has no file yet hides none.
        assert_eq!(app.anonymous.get(TOKEN_ASSET).await.body, expected);
        let path = format!("/projects/1/collections/1/assets/{}/upload", made["asset"]["id"]);
        a.token.send(upload(&path, "file", "x", PNG)).await.ok();
    }
}

#[tokio::test]
async fn a_refused_file_leaves_no_asset_behind() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let path = "/projects/1/collections/1/tokens/1/upload/video";
    let answer = app.project_a.token.send(upload(path, "file", "x", b"%PDF-1.7")).await;
    assert_eq!(answer.refusal(), (400, 2001));
    let shown =
        app.project_a.call("Collections/GetToken", json!({ "collectionId": 1, "tokenId": 1 })).await.ok();
    assert_eq!(shown["assets"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn caches_hear_that_nothing_changed() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let first = app.anonymous.get(ASSET).await;
    let tag = first.header("etag").to_owned();
    assert!(tag.len() == 66 && tag.starts_with('"'), "{tag}");
    assert_eq!(first.header("cache-control"), "public, no-cache");
    let again = app.anonymous.with("if-none-match", &tag).get(ASSET).await;
    assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, tag.as_str()));
    app.project_a.token.send(upload(&format!("{ASSET}/upload"), "file", "x", PNG)).await.ok();
    let changed = app.anonymous.with("if-none-match", &tag).get(ASSET).await;
    assert_eq!((changed.status, &changed.body[..]), (200, PNG));
    assert_ne!(changed.header("etag"), tag);
}

#[tokio::test]
async fn what_is_private_is_there_for_its_owner_only() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", true).await;
    let (a, b) = (&app.project_a, &app.project_b);
    let base = "/projects/1/collections/1";
    let paths = [base, "/projects/1/collections/1/tokens/1", ASSET, TOKEN_ASSET];
    let check = async |visible: bool| {
        for path in paths {
            // The access key is public, so it shows no more than no credential does.
            for actor in [&app.anonymous, &a.key, &b.key, &b.token] {
                let answer = actor.get(path).await;
                assert_eq!(answer.status, if visible { 200 } else { 404 }, "{path}");
            }
            assert_eq!(a.token.get(path).await.status, 200, "{path}");
        }
    };
    check(false).await;
    a.call("Collections/PublishCollection", json!({ "collectionId": 1 })).await.ok();
    check(true).await;
    a.call("Collections/UnpublishCollection", json!({ "collectionId": 1 })).await.ok();
    check(false).await;
}

#[tokio::test]
async fn a_private_token_of_a_public_collection_stays_private() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let a = &app.project_a;
    let change = json!({ "collectionId": 1, "tokenId": "1", "token": {}, "private": true });
    a.call("Collections/UpdateToken", change).await.ok();
    assert_eq!(app.anonymous.get("/projects/1/collections/1").await.status, 200);
    for path in ["/projects/1/collections/1/tokens/1", ASSET, TOKEN_ASSET] {
        assert_eq!(app.anonymous.get(path).await.refusal(), (404, 3000), "{path}");
        assert_eq!(a.token.get(path).await.status, 200, "{path}");
    }
    a.call("Collections/PublishCollection", json!({ "collectionId": 1, "recursive": true })).await.ok();
    assert_eq!(app.anonymous.get(ASSET).await.status, 200);
}

/// What is private reads like what does not exist, to the letter.
#[tokio::test]
async fn what_is_private_looks_like_what_is_not_there() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", true).await;
    for (private, missing) in [
        ("/projects/1/collections/1", "/projects/1/collections/9"),
        ("/projects/1/collections/1/tokens/1", "/projects/1/collections/9/tokens/1"),
        (ASSET, "/projects/1/collections/9/assets/1"),
        ("/projects/1/collections/1/assets/9", "/projects/1/collections/9/assets/9"),
        (TOKEN_ASSET, "/projects/1/collections/9/tokens/1/asset/image"),
    ] {
        check_alike(&app, private, missing).await;
    }
    let a = &app.project_a;
    a.call("Collections/PublishCollection", json!({ "collectionId": 1 })).await.ok();
    let change = json!({ "collectionId": 1, "tokenId": "1", "token": {}, "private": true });
    a.call("Collections/UpdateToken", change).await.ok();
    for (private, missing) in [
        ("/projects/1/collections/1/tokens/1", "/projects/1/collections/1/tokens/9"),
        (ASSET, "/projects/1/collections/1/assets/9"),
        (TOKEN_ASSET, "/projects/1/collections/1/tokens/9/asset/image"),
    ] {
        check_alike(&app, private, missing).await;
    }
}

/// Both are missing, in the same words but for the number.
async fn check_alike(app: &TestApp, private: &str, missing: &str) {
    let [shown, expected] = [app.anonymous.get(private).await, app.anonymous.get(missing).await];
    assert_eq!((shown.status, expected.status), (404, 404), "{private} and {missing}");
    let [shown, expected] = [shown, expected].map(|answer| answer.text().replace('9', "1"));
    assert_eq!(shown, expected, "{private} and {missing}");
}

#[tokio::test]
async fn a_head_request_has_no_body_and_other_methods_are_told_apart() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let head = app.anonymous.request(Method::HEAD, ASSET).await;
    assert_eq!((head.status, head.header("content-type"), head.body.len()), (200, "image/svg+xml", 0));
    let answer = app.anonymous.request(Method::DELETE, ASSET).await;
    assert_eq!((answer.refusal(), answer.header("allow")), ((405, -3), "GET,HEAD"));
    let answer = app.anonymous.get(&format!("{ASSET}/upload")).await;
    assert_eq!((answer.refusal(), answer.header("allow")), ((405, -3), "PUT"));
}
