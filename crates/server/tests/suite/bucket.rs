//! Uploaded files in a bucket: what callers see is the same as with a directory, and while the store is away only files are.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use bourse_server::files::testing::{KEY, PLACE, SECRET, TestBucket, Weather};
use bourse_server::{Files, entropy};
use bourse_store::AssetFile;
use serde_json::json;

use crate::support::actor::{Actor, Answer};
use crate::support::body::{PNG, SVG, upload};
use crate::support::seed;
use crate::support::{TestApp, wait_until};

const ASSET: &str = "/projects/1/collections/1/assets/1";
const TOKEN_ASSET: &str = "/projects/1/collections/1/tokens/1/asset/image";

/// The settings of a service whose files are there, with some of its own.
fn settings<'s>(
    given: &'s [(&'static str, String)],
    own: &[(&'static str, &'s str)],
) -> Vec<(&'static str, &'s str)> {
    given.iter().map(|(key, value)| (*key, value.as_str())).chain(own.iter().copied()).collect()
}

/// However busy the machine is, nobody takes a bucket for silent that is not.
const PATIENT: (&str, &str) = ("s3.timeout_ms", "30000");

/// A service with its files in a bucket.
async fn start(bucket: &TestBucket) -> TestApp {
    TestApp::with(&settings(&bucket.settings(), &[PATIENT])).await
}

/// The files in a bucket, as another process has them.
async fn another(app: &TestApp, bucket: &TestBucket) -> Files {
    let given = bucket.settings();
    let of = app.settings(&settings(&given, &[PATIENT]));
    Files::open(&of.storage, &of.s3, entropy::word).await.unwrap()
}

fn contents(bucket: &TestBucket) -> Vec<String> {
    bucket.keys().into_iter().filter(|key| key.ends_with(".content")).collect()
}

/// A picture that is told apart from others by its width.
fn picture(width: u32) -> Vec<u8> {
    format!("<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='1'></svg>").into_bytes()
}

async fn put(actor: &Actor, path: &str, content: &[u8]) -> Answer {
    actor.send(upload(&format!("{path}/upload"), "file", "x", content)).await
}

/// An answer as callers see it, without what is another in each.
fn seen(answer: &Answer) -> (u16, BTreeMap<String, String>, Vec<u8>) {
    let headers = answer.headers.iter().filter(|(name, _)| !matches!(name.as_str(), "x-request-id" | "date"));
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (answer.status, headers.collect(), answer.body.to_vec())
}

#[tokio::test]
async fn files_in_a_bucket_and_in_a_directory_are_the_same_to_callers() {
    let bucket = TestBucket::start().unwrap();
    let (near, far) = (TestApp::start().await, start(&bucket).await);
    for app in [&near, &far] {
        seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    }
    let tag = near.anonymous.get(ASSET).await.header("etag").to_owned();
    let request = |method: Method, path: &str, headers: &[(&str, &str)]| {
        let begin = Request::builder().method(method).uri(path);
        let begin = headers.iter().fold(begin, |begin, (name, value)| begin.header(*name, *value));
        begin.body(Body::empty()).unwrap()
    };
    let mut compared = 0;
    for content in [None, Some(PNG)] {
        if let Some(content) = content {
            for app in [&near, &far] {
                put(&app.project_a.token, ASSET, content).await.ok();
            }
        }
        for path in [ASSET, TOKEN_ASSET, "/projects/1/collections/1/assets/9"] {
            for method in [Method::GET, Method::HEAD, Method::DELETE] {
                for headers in [
                    &[][..],
                    &[("if-none-match", tag.as_str())],
                    &[("if-none-match", "*")],
                    &[("range", "bytes=0-3")],
                    &[("range", "bytes=9999999-")],
                    &[("accept-encoding", "gzip"), ("origin", "https://a.example")],
                ] {
                    for [here, there] in
                        [[&near.anonymous, &far.anonymous], [&near.project_a.token, &far.project_a.token]]
                    {
                        let expected = here.send(request(method.clone(), path, headers)).await;
                        let answer = there.send(request(method.clone(), path, headers)).await;
                        assert_eq!(seen(&answer), seen(&expected), "{method} {path} {headers:?}");
                        compared += 1;
                    }
                }
            }
        }
    }
    assert_eq!(compared, 2 * 3 * 3 * 6 * 2);
}

#[tokio::test]
async fn what_was_answered_is_in_the_bucket_and_another_server_has_it() {
    let bucket = TestBucket::start().unwrap();
    let app = start(&bucket).await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let given = bucket.settings();
    let beside = app.another_asking(&settings(&given, &[PATIENT]), None).await;
    assert_eq!(beside.token.get(ASSET).await.body, SVG);
    for width in 1..4 {
        let hostile = ["../../x", "..\\x", "/etc/passwd"][width as usize - 1];
        let sent = upload(&format!("{ASSET}/upload"), "file", hostile, &picture(width));
        app.project_a.token.send(sent).await.ok();
        assert_eq!(contents(&bucket).len(), 1, "{:?}", bucket.keys());
        assert_eq!(beside.token.get(ASSET).await.body, picture(width));
        put(&beside.token, ASSET, &picture(width + 100)).await.ok();
        assert_eq!(app.anonymous.get(ASSET).await.body, picture(width + 100));
    }
    let is_ours = |key: &String| {
        let parts: Vec<&str> = key.split('/').collect();
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        matches!(parts[..], ["files", start, rest, _] if start.len() == 2 && rest.len() == 62 && is_hex(start) && is_hex(rest))
    };
    assert!(bucket.keys().iter().all(is_ours), "{:?}", bucket.keys());
    assert!(!app.database.directory.path().join("assets").exists(), "nothing is kept beside the bucket");
}

#[tokio::test]
async fn while_a_bucket_is_away_requests_for_files_are_refused_and_others_are_not() {
    let bucket = TestBucket::start().unwrap();
    let app = start(&bucket).await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    // One that does not wait for long.
    let given = bucket.settings();
    let hasty = app.another_asking(&settings(&given, &[("s3.timeout_ms", "300")]), None).await;
    let tag = app.anonymous.get(ASSET).await.header("etag").to_owned();
    for weather in [
        Weather::Status(500, "<Error><Code>InternalError</Code></Error>"),
        Weather::Status(403, "<Error><Code>AccessDenied</Code></Error>"),
        Weather::Silent(""),
    ] {
        bucket.set(weather);
        let before = bucket.keys();
        for answer in [hasty.token.get(ASSET).await, put(&hasty.token, ASSET, PNG).await] {
            assert_eq!((answer.refusal(), answer.header("retry-after")), ((503, 1903), "5"), "{weather:?}");
            assert!(answer.text().contains("storage of files"), "{}", answer.text());
            for secret in [KEY, SECRET, PLACE] {
                assert!(!answer.text().contains(secret), "{}", answer.text());
            }
        }
        assert_eq!(bucket.keys(), before, "{weather:?}");
        // Who has the file already hears that it is the same, and everything else works.
        assert_eq!(hasty.token.with("if-none-match", &tag).get(ASSET).await.status, 304);
        let token = json!({ "collectionId": 1, "tokenId": 1 });
        hasty.token.call("Collections/GetToken", token).await.ok();
    }
    bucket.set(Weather::Fair);
    wait_until("files are there again", async || hasty.token.get(ASSET).await.status == 200).await;
    put(&app.project_a.token, ASSET, PNG).await.ok();
    assert_eq!(app.anonymous.get(ASSET).await.body, PNG);
}

/// What is deleted is deleted with the database's answer; the file may take longer.
#[tokio::test]
async fn whoever_deletes_an_asset_does_not_wait_for_a_silent_bucket() {
    let bucket = TestBucket::start().unwrap();
    let timeouts = [("limits.request_timeout_ms", "24000"), ("s3.timeout_ms", "12000")];
    let app = TestApp::with(&settings(&bucket.settings(), &timeouts)).await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    bucket.set(Weather::Silent(""));
    app.project_a.call("Collections/DeleteAsset", json!({ "assetId": 1 })).await.ok();
    assert_eq!(bucket.unanswered(), 1, "the bucket is still asked");
    assert_eq!(app.anonymous.get(ASSET).await.status, 404);
    assert_eq!(contents(&bucket).len(), 1, "the file is removed by whoever looks through all");
}

#[tokio::test]
async fn a_file_goes_from_a_bucket_with_the_last_asset_that_has_it() {
    let bucket = TestBucket::start().unwrap();
    let app = start(&bucket).await;
    let (a, b) = (&app.project_a, &app.project_b);
    seed::belongings(&app.store, a, "Relics", false).await;
    seed::belongings(&app.store, b, "Others", false).await;
    assert_eq!(contents(&bucket).len(), 1, "both have the same picture");
    put(&a.token, ASSET, &picture(1)).await.ok();
    assert_eq!(contents(&bucket).len(), 2, "the other project still has the one that was replaced");
    a.call("Collections/DeleteAsset", json!({ "assetId": 1 })).await.ok();
    wait_until("the picture is gone", async || contents(&bucket).len() == 1).await;
    b.call("Collections/DeleteCollection", json!({ "collectionId": 2 })).await.ok();
    wait_until("nothing is left", async || bucket.keys().is_empty()).await;
}

/// What processes leave behind that are killed, with claims, marks, holds and all, is found by the next one. What somebody has
/// or is about to have stays, and what is not ours.
#[tokio::test]
async fn what_a_killed_process_left_in_a_bucket_is_seen_to() {
    const ABANDONED_AFTER: Duration = Duration::from_hours(7);
    let bucket = TestBucket::start().unwrap();
    let app = start(&bucket).await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let kept = contents(&bucket);
    let files = another(&app, &bucket).await;
    let now = app.now();
    // An upload that never came into the database, one whose claim was not ended, and one who was about to remove.
    let (unknown, ended) = files.put(picture(1), now).await.unwrap();
    ended.end().await;
    let (forgotten, _left) = files.put(picture(2), now).await.unwrap();
    let mark = kept[0].replace(".content", ".removal");
    for key in
        [&mark, "files/probes/1.probe", "files/holds/1.hold", "files/notes.txt", "files/ab/notes/1.content"]
    {
        bucket.insert(key, b"");
    }
    bucket.pass(ABANDONED_AFTER);
    // A young claim, and a forgotten hold that is not old enough: nothing is removed before that.
    let (claimed, _under_way) = files.put(picture(3), now).await.unwrap();
    assert_eq!(files.sweep(&app.store, now).await.unwrap(), 0, "a hold keeps everything");
    assert!(!bucket.keys().contains(&mark), "{:?}", bucket.keys());
    let has = |file: &AssetFile| contents(&bucket).iter().any(|key| key.contains(&file.content_hash[2..]));
    assert!(
        has(&unknown) && has(&forgotten) && has(&claimed),
        "a hold keeps everything: {:?}",
        bucket.keys()
    );
    bucket.pass(Duration::from_hours(42));
    let (_, _renewed) = files.put(picture(3), now).await.unwrap();
    assert_eq!(files.sweep(&app.store, now).await.unwrap(), 2);
    assert!(!has(&unknown) && !has(&forgotten), "{:?}", bucket.keys());
    assert!(has(&claimed) && bucket.keys().contains(&kept[0]), "{:?}", bucket.keys());
    assert!(bucket.keys().iter().any(|key| key == "files/ab/notes/1.content"), "{:?}", bucket.keys());
    assert_eq!(app.anonymous.get(ASSET).await.body, SVG);
}

/// While a backup is written nothing is removed from a bucket, whoever deletes.
#[tokio::test]
async fn what_is_held_in_a_bucket_stays() {
    let bucket = TestBucket::start().unwrap();
    let app = start(&bucket).await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let files = another(&app, &bucket).await;
    let hold = files.hold().await.unwrap();
    app.project_a.call("Collections/DeleteAsset", json!({ "assetId": 1 })).await.ok();
    assert_eq!(contents(&bucket).len(), 1);
    hold.release().await;
    let background = app.background();
    wait_until("the file is removed", async || contents(&bucket).is_empty()).await;
    background.stop().await;
}

/// Somebody uploads what somebody else deletes, again and again: an asset that is there has its file.
#[tokio::test(flavor = "multi_thread")]
async fn content_of_a_bucket_that_is_deleted_and_uploaded_at_once_is_there() {
    let bucket = TestBucket::start().unwrap();
    let app = start(&bucket).await;
    let (a, b) = (&app.project_a, &app.project_b);
    for (project, number) in [(a, 1), (b, 2)] {
        let named = json!({ "collection": { "metadata": { "name": "x" } } });
        project.call("Collections/CreateCollection", named).await.ok();
        let asset = json!({ "asset": { "collectionId": number } });
        project.call("Collections/CreateAsset", asset).await.ok();
    }
    let other = "/projects/2/collections/2/assets/2";
    for round in 0..40 {
        let (content, others) = (picture(round % 3), picture((round + 1) % 3));
        let (mine, theirs) = tokio::join!(put(&a.token, ASSET, &content), put(&b.token, other, &others));
        mine.ok();
        theirs.ok();
        assert_eq!(a.token.get(ASSET).await.body, content, "round {round}");
        assert_eq!(b.token.get(other).await.body, others, "round {round}");
    }
}
