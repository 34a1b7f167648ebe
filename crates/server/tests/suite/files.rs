//! Uploaded files as they are served.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use axum::http::Method;
use bourse_server::{Files, entropy};
use serde_json::json;

use crate::support::body::{PNG, SVG, upload};
use crate::support::seed;
use crate::support::{TestApp, wait_until};

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

/// The names of all files in a directory and those below, each in its directory's.
fn names(directory: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { names(&path) } else { BTreeSet::from([path]) }).collect()
}

/// The directory of uploaded files.
fn directory(app: &TestApp) -> PathBuf {
    app.database.directory.path().join("assets")
}

/// A picture that is told apart from others by its width.
fn picture(width: u32) -> Vec<u8> {
    format!("<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='1'></svg>").into_bytes()
}

async fn put(app: &TestApp, path: &str, content: &[u8]) {
    app.project_a.token.send(upload(&format!("{path}/upload"), "file", "x", content)).await.ok();
}

#[tokio::test]
async fn a_file_goes_with_the_last_asset_that_has_it() {
    let app = TestApp::start().await;
    let (a, b) = (&app.project_a, &app.project_b);
    seed::belongings(&app.store, a, "Relics", false).await;
    seed::belongings(&app.store, b, "Others", false).await;
    let count = || names(&directory(&app)).len();
    assert_eq!(count(), 1, "both have the same picture");
    put(&app, ASSET, &picture(1)).await;
    assert_eq!(count(), 2, "the other project still has the one that was replaced");
    put(&app, ASSET, &picture(2)).await;
    assert_eq!(count(), 2);
    a.call("Collections/DeleteAsset", json!({ "assetId": 1 })).await.ok();
    assert_eq!(count(), 1);
    let asset = json!({ "asset": { "collectionId": 1, "tokenId": 1 } });
    let made = a.call("Collections/CreateAsset", asset).await.ok();
    put(&app, &format!("/projects/1/collections/1/assets/{}", made["asset"]["id"]), &picture(3)).await;
    assert_eq!(count(), 2);
    a.call("Collections/DeleteToken", json!({ "collectionId": 1, "tokenId": "1" })).await.ok();
    assert_eq!(count(), 1);
    b.call("Collections/DeleteCollection", json!({ "collectionId": 2 })).await.ok();
    assert_eq!(names(&directory(&app)), BTreeSet::new());
}

#[tokio::test]
async fn a_project_has_so_much_room_for_files() {
    let limit = (picture(1).len() + 10).to_string();
    let app = TestApp::with(&[("limits.project_files_bytes_max", &limit)]).await;
    let a = &app.project_a;
    a.call("Collections/CreateCollection", json!({ "collection": { "metadata": { "name": "x" } } }))
        .await
        .ok();
    for _ in 0..2 {
        a.call("Collections/CreateAsset", json!({ "asset": { "collectionId": 1 } })).await.ok();
    }
    let second = "/projects/1/collections/1/assets/2";
    put(&app, ASSET, &picture(1)).await;
    let refused = a.token.send(upload(&format!("{second}/upload"), "file", "x", &picture(2))).await;
    assert_eq!(refused.refusal(), (413, -4));
    assert!(refused.text().contains("limits.project_files_bytes_max"), "{}", refused.text());
    assert_eq!(names(&directory(&app)).len(), 1, "what was refused is not kept");
    put(&app, ASSET, &picture(2)).await;
    a.call("Collections/DeleteAsset", json!({ "assetId": 1 })).await.ok();
    put(&app, second, &picture(1)).await;
}

/// What a process leaves behind that is killed between the database and the disk is found by the next one.
#[tokio::test]
async fn what_a_killed_process_left_is_seen_to() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let kept = names(&directory(&app)).into_iter().next().unwrap();
    let files = Files::in_directory(directory(&app), entropy::word).unwrap();
    let now = app.now();
    // An upload that never came into the database, and one whose claim was not ended.
    let (_, ended) = files.put(picture(1), now).await.unwrap();
    ended.end().await;
    let (claimed, _left) = files.put(picture(2), now).await.unwrap();
    // Content that somebody has, set aside, and a part of a file.
    fs::rename(&kept, kept.with_extension("0.aside")).unwrap();
    let part = kept.with_extension("0.part");
    fs::write(&part, b"half").unwrap();
    fs::File::open(&part).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let background = app.background();
    wait_until("the files are looked through", async || {
        let names = names(&directory(&app));
        names.len() == 3 && names.contains(&kept) && !names.contains(&part)
    })
    .await;
    background.stop().await;
    let left: Vec<PathBuf> = names(&directory(&app)).into_iter().filter(|path| *path != kept).collect();
    let of_claimed = |path: &PathBuf| path.display().to_string().contains(&claimed.content_hash[2..]);
    assert!(left.iter().all(of_claimed), "{left:?}");
    assert_eq!(fs::read(&kept).unwrap(), SVG);
}

/// While a backup is written nothing is removed, as its copy of the database may speak of it.
#[tokio::test]
async fn what_is_held_stays() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let files = Files::in_directory(directory(&app), entropy::word).unwrap();
    let hold = files.hold().await.unwrap();
    app.project_a.call("Collections/DeleteAsset", json!({ "assetId": 1 })).await.ok();
    let contents = || names(&directory(&app)).into_iter().filter(|path| path.extension().is_none()).count();
    assert_eq!(contents(), 1);
    hold.release().await;
    let background = app.background();
    wait_until("the file is removed", async || contents() == 0).await;
    background.stop().await;
}

/// Somebody uploads what somebody else deletes, again and again: an asset that is there has its file.
#[tokio::test(flavor = "multi_thread")]
async fn content_that_is_deleted_and_uploaded_at_once_is_there() {
    let app = TestApp::start().await;
    let (a, b) = (&app.project_a, &app.project_b);
    for (project, number) in [(a, 1), (b, 2)] {
        let named = json!({ "collection": { "metadata": { "name": "x" } } });
        project.call("Collections/CreateCollection", named).await.ok();
        let asset = json!({ "asset": { "collectionId": number } });
        project.call("Collections/CreateAsset", asset).await.ok();
    }
    let other = "/projects/2/collections/2/assets/2/upload";
    for round in 0..60 {
        let content = picture(round % 3);
        let mine = a.token.send(upload(&format!("{ASSET}/upload"), "file", "x", &content));
        let theirs = b.token.send(upload(other, "file", "x", &picture((round + 1) % 3)));
        let (mine, theirs) = tokio::join!(mine, theirs);
        mine.ok();
        theirs.ok();
        assert_eq!(a.token.get(ASSET).await.body, content, "round {round}");
        let theirs = b.token.get("/projects/2/collections/2/assets/2").await;
        assert_eq!(theirs.body, picture((round + 1) % 3), "round {round}");
    }
    assert_eq!(names(&directory(&app)).len(), 2);
}
