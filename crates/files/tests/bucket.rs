//! Files in a bucket, over HTTP.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bourse_files::testing::{KEY, PLACE, SECRET, TestBucket, Weather};
use bourse_files::{FileError, Files};
use bourse_settings::{Layers, Settings, load};
use bourse_wire::Timestamp;
use bytes::BytesMut;
use futures_util::TryStreamExt as _;

const NOW: Timestamp = Timestamp::ZERO;

fn word() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The settings of a service whose files are there, with some of its own.
fn settings(bucket: &TestBucket, own: &[(&'static str, &str)]) -> Settings {
    let given = bucket.settings();
    let given = given.iter().map(|(key, value)| (*key, value.as_str()));
    let given = given.filter(|(key, _)| own.iter().all(|(other, _)| other != key)).chain(own.iter().copied());
    let flags = given.map(|(key, value)| ("--test", key.to_owned(), value.to_owned())).collect();
    load(Layers { flags, ..Layers::default() }).unwrap().settings
}

/// Files that wait for so long, in milliseconds, whether anybody is there or not.
fn connect(bucket: &TestBucket, timeout_ms: &str) -> Files {
    let Settings { storage, s3, .. } = settings(bucket, &[("s3.timeout_ms", timeout_ms)]);
    Files::connect(&storage, &s3, word).unwrap()
}

/// The same, tried out.
async fn open(bucket: &TestBucket, timeout_ms: &str) -> Files {
    let Settings { storage, s3, .. } = settings(bucket, &[("s3.timeout_ms", timeout_ms)]);
    Files::open(&storage, &s3, word).await.unwrap()
}

fn picture(width: u32) -> Vec<u8> {
    format!("<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='1'></svg>").into_bytes()
}

/// Puts a picture there; its hash.
async fn put(files: &Files, width: u32) -> String {
    let (file, claim) = files.put(picture(width), NOW).await.unwrap();
    claim.end().await;
    file.content_hash
}

async fn read(files: &Files, hash: &str) -> std::io::Result<BytesMut> {
    files.read(hash).await?.pieces.try_collect().await
}

#[tokio::test]
async fn what_is_put_comes_back_over_signed_requests() {
    let bucket = TestBucket::start().unwrap();
    let files = open(&bucket, "5000").await;
    assert_eq!(bucket.keys(), [""; 0], "nothing is left of the attempt at the start");
    let mut hashes = Vec::new();
    for width in 1..8 {
        let hash = put(&files, width).await;
        // Once more, which is not written again.
        assert_eq!(put(&files, width).await, hash);
        assert_eq!(files.read(&hash).await.unwrap().length, picture(width).len() as u64);
        assert_eq!(read(&files, &hash).await.unwrap(), picture(width));
        hashes.push(hash);
    }
    assert_eq!(bucket.keys().len(), 7);
    let mut listed = Vec::new();
    for part in 0..=u8::MAX {
        listed.extend(files.hashes(part).await.unwrap());
    }
    hashes.sort();
    assert_eq!(listed, hashes);
    assert_eq!(bucket.refused(), 0);
}

/// Somebody else reads what one has put there.
#[tokio::test]
async fn all_who_share_a_bucket_read_the_same() {
    let bucket = TestBucket::start().unwrap();
    let (here, there) = (open(&bucket, "5000").await, open(&bucket, "5000").await);
    let hash = put(&here, 1).await;
    assert_eq!(read(&there, &hash).await.unwrap(), picture(1));
    assert_eq!(put(&there, 1).await, hash);
    assert_eq!(bucket.keys().len(), 1, "content that is there is not written again");
}

#[tokio::test]
async fn a_wrong_secret_is_told_at_the_start_and_neither_half_of_a_key_is_shown() {
    let bucket = TestBucket::start().unwrap();
    let settings = settings(&bucket, &[("s3.secret_access_key", "another-secret")]);
    let refused = Files::open(&settings.storage, &settings.s3, word).await.err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
    let text = refused.to_string();
    assert!(text.starts_with(&format!("{PLACE}: ")) && text.contains("SignatureDoesNotMatch"), "{text}");
    let everything = format!("{text}{refused:?}{settings:?}");
    for secret in ["another-secret", SECRET, KEY] {
        assert!(!everything.contains(secret), "{everything}");
    }
    assert!(!text.contains('\n'), "{text}");
    assert!(bucket.refused() > 0);
}

#[tokio::test]
async fn a_store_that_fails_is_away_or_full_and_nothing_is_acknowledged() {
    let bucket = TestBucket::start().unwrap();
    let (patient, hasty) = (open(&bucket, "5000").await, connect(&bucket, "200"));
    for (weather, kind) in [
        (Weather::Status(500, "<Error/>"), ErrorKind::HostUnreachable),
        (Weather::Status(503, "<Error><Code>SlowDown</Code></Error>"), ErrorKind::HostUnreachable),
        (Weather::Status(403, "<Error><Code>AccessDenied</Code></Error>"), ErrorKind::PermissionDenied),
        (Weather::Status(507, "<Error><Code>XMinioStorageFull</Code></Error>"), ErrorKind::StorageFull),
        (Weather::Silent(""), ErrorKind::HostUnreachable),
    ] {
        bucket.set(weather);
        let files = if weather == Weather::Silent("") { &hasty } else { &patient };
        let Err(FileError::Io(error)) = files.put(picture(1), NOW).await else { panic!("acknowledged") };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().starts_with(PLACE), "{error}");
        assert_eq!(bucket.keys(), [""; 0]);
    }
    // Away is no reason not to start.
    open(&bucket, "200").await;
    bucket.set(Weather::Fair);
    put(&patient, 1).await;
    assert_eq!(bucket.keys().len(), 1);
}

/// Of many who want something of a silent store one waits.
#[tokio::test]
async fn not_everybody_waits_for_a_silent_store() {
    const READERS: u64 = 40;
    let bucket = TestBucket::start().unwrap();
    let files = connect(&bucket, "200");
    let hash = put(&open(&bucket, "5000").await, 1).await;
    bucket.set(Weather::Silent(""));
    assert_eq!(files.read(&hash).await.err().unwrap().kind(), ErrorKind::HostUnreachable);
    let before = bucket.requests();
    let readers = (0..READERS).map(|_| files.read(&hash));
    for read in futures_util::future::join_all(readers).await {
        assert_eq!(read.err().unwrap().kind(), ErrorKind::HostUnreachable);
    }
    let asked = bucket.requests() - before;
    assert!(asked < READERS, "{asked} of {READERS} asked a store that had just been silent");
    bucket.set(Weather::Fair);
    // It is asked again by itself, and then by all.
    while read(&files, &hash).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(read(&files, &hash).await.unwrap(), picture(1));
}

#[tokio::test]
async fn content_that_is_cut_off_is_not_taken_for_the_whole() {
    let bucket = TestBucket::start().unwrap();
    let files = open(&bucket, "5000").await;
    let hash = put(&files, 1).await;
    bucket.set(Weather::CutInBody);
    assert!(read(&files, &hash).await.is_err());
    bucket.set(Weather::Fair);
    assert_eq!(read(&files, &hash).await.unwrap(), picture(1));
}

/// Some stores keep the beginning of what was cut off, by a process that was killed for example.
#[tokio::test]
async fn what_a_store_kept_of_content_that_was_cut_off_is_not_served() {
    let bucket = TestBucket::start().unwrap();
    let files = open(&bucket, "5000").await;
    let hash = put(&files, 1).await;
    bucket.insert(&format!("files/{}/{}/-.content", &hash[..2], &hash[2..]), b"<svg");
    assert_eq!(read(&open(&bucket, "5000").await, &hash).await.unwrap(), picture(1));
    assert_eq!(put(&files, 1).await, hash);
    assert_eq!(bucket.keys().len(), 2, "what is whole is not written again");
}

/// Content takes its time on the way, beyond what an answer may take.
#[tokio::test]
async fn content_that_is_long_on_its_way_arrives() {
    const MIBS: usize = 4;
    let bucket = TestBucket::start().unwrap();
    let files = open(&bucket, "5000").await;
    bucket.set(Weather::Late(".content", Duration::from_secs(6)));
    let content = [picture(1), vec![b' '; MIBS << 20]].concat();
    let (file, claim) = files.put(content.clone(), NOW).await.unwrap();
    claim.end().await;
    bucket.set(Weather::Fair);
    assert_eq!(read(&files, &file.content_hash).await.unwrap(), content);
}

/// What lies below the prefix and is not ours is neither shown nor touched, whatever it is called.
#[tokio::test]
async fn what_is_not_ours_is_left_alone() {
    let bucket = TestBucket::start().unwrap();
    let files = open(&bucket, "5000").await;
    let foreign = ["files/ab/notes/1.content", "files/ab/cd.claim", "files/abc", "other/ab/x/1.content"];
    for key in foreign {
        bucket.insert(key, b"theirs");
    }
    assert_eq!(files.hashes(0xab).await.unwrap(), [""; 0]);
    let hash = put(&files, 1).await;
    let beyond = ["../../other/ab/x", "../other", "/etc/passwd", "", "a"];
    for name in beyond {
        assert!(files.read(name).await.is_err(), "{name}");
    }
    let own = format!("files/{}/{}/", &hash[..2], &hash[2..]);
    let keys = bucket.keys();
    assert!(keys.iter().all(|key| foreign.contains(&key.as_str()) || key.starts_with(&own)), "{keys:?}");
    assert_eq!(keys.len(), foreign.len() + 1);
}

#[tokio::test]
async fn files_are_copied_between_a_directory_and_a_bucket() {
    let store = TestBucket::start().unwrap();
    let bucket = open(&store, "5000").await;
    let place = tempfile::tempdir().unwrap();
    let directory = Files::in_directory(place.path().join("a"), word).unwrap();
    let back = Files::in_directory(place.path().join("b"), word).unwrap();
    let mut hashes = Vec::new();
    for width in 1..4 {
        hashes.push(put(&directory, width).await);
    }
    for (from, to) in [(&directory, &bucket), (&directory, &bucket), (&bucket, &back)] {
        assert_eq!(to.copy_from(from, NOW, &mut |_| ()).await.unwrap(), 3);
    }
    for (hash, width) in hashes.iter().zip(1..) {
        assert_eq!(read(&back, hash).await.unwrap(), picture(width));
    }
}
