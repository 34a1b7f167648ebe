//! Uploaded files in a bucket, with whole processes: two servers share them, one is killed in the middle of an upload, and every
//! command knows where they are.

use std::fmt::Write as _;
use std::path::Path;

use bourse_server::files::testing::{KEY, PLACE, SECRET, TestBucket, Weather};
use serde_json::json;

use crate::backup::{House, names};
use crate::http::{Answer, Credential, Exchange, get, head};
use crate::instance::{Instance, Project, Server, within};
use crate::process::WAIT_MAX;

/// A picture that is told apart from others by its width.
fn picture(width: u32) -> String {
    format!("<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='1'/>")
}

/// Has all processes that run in a directory keep their files in a bucket.
fn configure(directory: &Path, bucket: &TestBucket) {
    let mut text = String::new();
    for (key, value) in bucket.settings() {
        writeln!(text, "{key} = '{value}'").unwrap();
    }
    // However busy the machine is, nobody takes it for silent.
    text.push_str("s3.timeout_ms = 30000\nlimits.request_timeout_ms = 60000\n");
    std::fs::write(directory.join("bourse.toml"), text).unwrap();
}

/// Makes a published collection with an asset; where to upload its file and to read it.
fn make_asset(server: &Server, project: &Project) -> String {
    let token = Credential::Token(&project.token);
    let named = json!({ "collection": { "metadata": { "name": "Relics" }, "private": false } });
    let made = server.call("Collections/CreateCollection", token, &named).ok();
    let collection = made["collection"]["id"].as_u64().unwrap();
    let asset = json!({ "asset": { "collectionId": collection } });
    let made = server.call("Collections/CreateAsset", token, &asset).ok();
    format!("/projects/{}/collections/{collection}/assets/{}", project.id, made["asset"]["id"])
}

/// Begins to upload a picture.
fn send(server: &Server, project: &Project, asset: &str, width: u32) -> Exchange {
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.svg\"\r\n\r\n{}\r\n--b--\r\n",
        picture(width)
    );
    let headers = [
        "Content-Type: multipart/form-data; boundary=b".to_owned(),
        format!("Authorization: Bearer {}", project.token),
    ];
    let mut exchange = Exchange::open(server.port).unwrap();
    let head = head("PUT", &format!("{asset}/upload"), &headers, body.len());
    exchange.send(&format!("{head}{body}")).unwrap();
    exchange
}

fn upload(server: &Server, project: &Project, asset: &str, width: u32) -> Answer {
    send(server, project, asset, width).answer().unwrap()
}

fn contents(bucket: &TestBucket) -> Vec<String> {
    bucket.keys().into_iter().filter(|key| key.ends_with(".content")).collect()
}

fn check_secrets(text: &str) {
    assert!(!text.contains(KEY) && !text.contains(SECRET), "{text}");
}

#[test]
fn servers_share_files_in_a_bucket_and_one_that_is_killed_leaves_nothing_half_done() {
    let (instance, bucket) = (Instance::new(), TestBucket::start().unwrap());
    configure(instance.directory(), &bucket);
    let project = instance.create_project("shared");
    let (mut first, second) = (instance.serve(), instance.serve());
    let asset = make_asset(&first, &project);
    upload(&first, &project, &asset, 1).ok();
    assert_eq!(get(second.port, &asset).unwrap().body, picture(1));
    upload(&second, &project, &asset, 2).ok();
    assert_eq!(get(first.port, &asset).unwrap().body, picture(2));
    within(WAIT_MAX, "what was replaced is gone", || contents(&bucket).len() == 1);
    let before = contents(&bucket);
    // It is killed while the store takes the content in.
    bucket.set(Weather::Silent(".content"));
    let interrupted = send(&first, &project, &asset, 3);
    within(WAIT_MAX, "the content is on its way", || bucket.unanswered() == 1);
    first.process.kill();
    check_secrets(&first.process.stderr());
    assert!(interrupted.answer().is_err(), "nothing was acknowledged");
    within(WAIT_MAX, "nobody waits", || bucket.unanswered() == 0);
    bucket.set(Weather::Fair);
    assert_eq!(contents(&bucket), before);
    assert_eq!(get(second.port, &asset).unwrap().body, picture(2));
    let first = instance.serve();
    upload(&first, &project, &asset, 3).ok();
    assert_eq!(get(second.port, &asset).unwrap().body, picture(3));
    // The log says which store it is that fails, and callers hear when to come back.
    bucket.set(Weather::Status(500, "<Error><Code>InternalError</Code></Error>"));
    let refused = get(second.port, &asset).unwrap();
    assert_eq!((refused.status, refused.header("Retry-After")), (503, Some("5")), "{refused:?}");
    let log = second.process.stderr();
    assert!(log.contains(PLACE) && log.contains("InternalError"), "{log}");
    check_secrets(&log);
}

#[test]
fn the_doctor_tries_a_bucket_out_and_shows_no_key() {
    let (instance, bucket) = (Instance::new(), TestBucket::start().unwrap());
    configure(instance.directory(), &bucket);
    let done = instance.run(&["doctor"]);
    assert!(done.status.success(), "{done:?}");
    assert!(done.stdout.contains(&format!("ok    uploaded files  {PLACE} is writable")), "{}", done.stdout);
    assert_eq!(bucket.keys(), [""; 0], "nothing is left of the attempt");
    bucket.set(Weather::Status(403, "<Error><Code>AccessDenied</Code></Error>"));
    let refused = instance.run(&["doctor"]);
    assert!(!refused.status.success(), "{refused:?}");
    let line = refused.stdout.lines().find(|line| line.contains("uploaded files")).unwrap();
    assert!(line.starts_with("FAIL") && line.contains(PLACE) && line.contains("AccessDenied"), "{line}");
    assert!(line.contains("check storage.files and section s3"), "{line}");
    let config = instance.run(&["config"]);
    assert!(config.status.success() && config.stdout.contains(PLACE), "{config:?}");
    for done in [done, refused, config] {
        check_secrets(&done.stdout);
        check_secrets(&done.stderr);
    }
}

#[test]
fn files_of_a_bucket_are_in_a_backup_and_come_back_to_another() {
    let Some(house) = House::new() else { return };
    let bucket = TestBucket::start().unwrap();
    configure(house.instance.directory(), &bucket);
    let project = house.create_project(&house.data, "kept");
    let server = house.serve(&house.data);
    let asset = make_asset(&server, &project);
    upload(&server, &project, &asset, 1).ok();
    let file = house.path("backup.tar.gz");
    let shown = file.to_str().unwrap();
    let done = house.run(&house.data, &["backup", shown]);
    assert!(done.status.success() && done.stdout.contains(&format!("as they are in {PLACE}")), "{done:?}");
    within(WAIT_MAX, "nothing is held any more", || bucket.keys() == contents(&bucket));
    drop(server);
    // A store that is away does not make a backup without them.
    bucket.set(Weather::Status(500, ""));
    let second = house.path("second.tar.gz");
    let refused = house.failure(&house.data, &["backup", second.to_str().unwrap()]);
    assert!(refused.contains(PLACE) && !second.exists(), "{refused}");
    bucket.set(Weather::Fair);
    // Elsewhere, with a bucket in which there is nothing yet.
    let other = TestBucket::start().unwrap();
    configure(house.instance.directory(), &other);
    other.set(Weather::Status(500, ""));
    let elsewhere = house.path("elsewhere");
    let refused = house.failure(&elsewhere, &["restore", shown]);
    let assets = elsewhere.join("assets");
    let advice = format!("bourse copy-files --from {}", assets.display());
    assert!(refused.contains(PLACE) && refused.contains(&advice), "{refused}");
    other.set(Weather::Fair);
    let copied = house.json(&elsewhere, &["copy-files", "--from", assets.to_str().unwrap()]);
    assert_eq!(copied, json!({ "files": 1, "to": PLACE }));
    let server = house.serve(&elsewhere);
    assert_eq!(get(server.port, &asset).unwrap().body, picture(1));
    drop(server);
    let again = house.path("again");
    assert_eq!(house.json(&again, &["restore", shown])["copied"], 1);
    assert_eq!(contents(&other).len(), 1, "what is there is not copied again");
    // And back to a directory.
    std::fs::write(house.path("bourse.toml"), "storage.files = 'files'\n").unwrap();
    let plain = house.path("plain");
    house.json(&plain, &["restore", shown]);
    assert_eq!(names(&house.path("files")).iter().filter(|name| name.len() == 2).count(), 1);
    let server = house.serve(&plain);
    assert_eq!(get(server.port, &asset).unwrap().body, picture(1));
}
