//! What is counted of events: in which order, how often, and for how long what belongs to it is kept.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod projects;
}

use std::sync::Arc;

use bourse_store::{
    BatchMark, Chunk, ChunkKey, Counts, CountsCommit, CountsCommitted, CountsCursor, Event, EventKind,
    ProjectScope, RetentionDays, Store, StoreError,
};
use bourse_wire::{Address, Code, Day};
use support::database::open;
use support::projects::project;

/// Kinds of pieces.
const ONE: u8 = 0;
const OTHER: u8 = 1;

fn chunk(key: ChunkKey, body: &str) -> Chunk {
    Chunk { key, body: body.as_bytes().to_vec() }
}

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

/// A day of which as many days are kept as the numbers say, itself included: of batches, ids and events.
fn kept(today: &str, batches: i32, seen: i32, raw: i32) -> RetentionDays {
    let today = day(today);
    let first = |days: i32| Day::from_number(today.number() - days + 1);
    RetentionDays { today, batches_from: first(batches), seen_from: first(seen), raw_from: first(raw) }
}

fn marks(names: &[&str], for_good: bool) -> Vec<BatchMark> {
    names.iter().map(|name| BatchMark { id: (*name).to_owned(), for_good }).collect()
}

async fn commit(store: &Store, scope: ProjectScope, commit: CountsCommit) -> CountsCommitted {
    store.commit_counts(scope, commit).await.unwrap()
}

/// Commits pieces as the next version.
async fn put(store: &Store, scope: ProjectScope, chunks: Vec<Chunk>) -> u64 {
    let expected = version(store, scope).await;
    let committed = commit(store, scope, CountsCommit { expected, chunks, ..CountsCommit::default() }).await;
    assert_eq!(committed, CountsCommitted::As(expected + 1));
    expected + 1
}

async fn version(store: &Store, scope: ProjectScope) -> u64 {
    store.counts(scope, CountsCursor::default()).await.unwrap().version
}

async fn counts(store: &Store, scope: ProjectScope, kinds: &[(u8, u64)]) -> Counts {
    let known = CountsCursor { kinds: kinds.to_vec(), ..CountsCursor::default() };
    let mut counts = store.counts(scope, known).await.unwrap();
    counts.chunks.sort_by_key(|chunk| chunk.key);
    counts
}

/// All ids that are remembered, with the day of each.
async fn seen(store: &Store, scope: ProjectScope, since: u64) -> Vec<(Day, Vec<u8>)> {
    let known = CountsCursor { seen: Some(since), ..CountsCursor::default() };
    let mut seen = store.counts(scope, known).await.unwrap().seen;
    seen.sort();
    seen
}

#[tokio::test]
async fn every_commit_is_a_version_and_one_that_is_behind_stores_nothing() {
    let (_database, store) = open().await;
    let (a, b) = (project(&store).await, project(&store).await);
    assert_eq!(counts(&store, a, &[(ONE, 0)]).await, Counts::default());
    assert_eq!(put(&store, a, vec![chunk((ONE, 0, 0), "first")]).await, 1);
    assert_eq!(put(&store, a, vec![chunk((ONE, 0, 0), "second")]).await, 2);
    for expected in [0, 1, 3] {
        let late = CountsCommit {
            expected,
            batches: marks(&["late"], false),
            chunks: vec![chunk((ONE, 0, 0), "late"), chunk((OTHER, 9, 9), "late")],
            seen: vec![1; 8],
            raw: vec![event("late", "2024-01-01T00:00:00Z")],
            ..CountsCommit::default()
        };
        assert_eq!(commit(&store, a, late).await, CountsCommitted::Behind, "expected {expected}");
    }
    let found = counts(&store, a, &[(ONE, 0), (OTHER, 0)]).await;
    assert_eq!((found.version, found.chunks), (2, vec![chunk((ONE, 0, 0), "second")]));
    assert_eq!(seen(&store, a, 0).await, []);
    assert_eq!(store.events(a).await.unwrap(), []);
    // The mark of the batch that was late is free.
    let batches = marks(&["late"], false);
    let again = CountsCommit { expected: 2, batches, ..CountsCommit::default() };
    assert_eq!(commit(&store, a, again).await, CountsCommitted::As(3));
    // Another project counts from its own beginning.
    assert_eq!(put(&store, b, Vec::new()).await, 1);
    let mut versions = store.counts_versions().await.unwrap();
    versions.sort();
    let versions: Vec<_> = versions.iter().map(|(project, mark)| (*project, mark.version)).collect();
    assert_eq!(versions, [(a.project(), 3), (b.project(), 1)]);
}

#[tokio::test]
async fn a_project_that_is_not_there_counts_nothing() {
    let (_database, store) = open().await;
    let nobody = ProjectScope::of_operator(404.try_into().unwrap());
    let refused = store.commit_counts(nobody, CountsCommit::default()).await;
    assert!(
        matches!(&refused, Err(StoreError::Refused(error)) if error.code == Code::ProjectNotFound),
        "{refused:?}"
    );
    assert_eq!(store.counts_versions().await.unwrap(), []);
}

#[tokio::test]
async fn a_batch_that_was_counted_stores_nothing_and_takes_the_others_along() {
    let (_database, store) = open().await;
    let (a, b) = (project(&store).await, project(&store).await);
    let of = |expected, names: &[&str], body: &str| CountsCommit {
        expected,
        batches: marks(names, false),
        chunks: vec![chunk((ONE, 0, 0), body)],
        seen: vec![7; 8],
        raw: vec![event(body, "2024-01-01T00:00:00Z")],
        ..CountsCommit::default()
    };
    assert_eq!(commit(&store, a, of(0, &["1", "2", "3"], "first")).await, CountsCommitted::As(1));
    let CountsCommitted::Repeated(mut names) = commit(&store, a, of(1, &["2", "4", "3"], "second")).await
    else {
        panic!("two batches were counted before")
    };
    names.sort();
    assert_eq!(names, ["2", "3"]);
    // A repetition is told also to who is behind: there is no need to catch up for it.
    let behind = commit(&store, a, of(0, &["1"], "third")).await;
    assert_eq!(behind, CountsCommitted::Repeated(vec!["1".to_owned()]));
    let found = counts(&store, a, &[(ONE, 0)]).await;
    assert_eq!((found.version, found.chunks), (1, vec![chunk((ONE, 0, 0), "first")]));
    assert_eq!(seen(&store, a, 0).await.len(), 1);
    assert_eq!(store.events(a).await.unwrap().len(), 1);
    assert_eq!(commit(&store, a, of(1, &["4"], "fourth")).await, CountsCommitted::As(2));
    // Names are each project's own.
    assert_eq!(commit(&store, b, of(0, &["1"], "b")).await, CountsCommitted::As(1));
}

#[tokio::test]
async fn what_is_newer_is_told_by_kind() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let extreme = (OTHER, i32::MIN, u32::MAX);
    put(&store, scope, vec![chunk((ONE, 1, 0), "a"), chunk((OTHER, 1, 0), "b")]).await;
    put(&store, scope, vec![chunk((ONE, 2, 0), "c"), chunk(extreme, "d")]).await;
    put(&store, scope, vec![chunk((ONE, 1, 0), "e"), chunk((255, 0, 0), "f")]).await;
    let bodies = async |kinds: &[(u8, u64)]| {
        let found = counts(&store, scope, kinds).await;
        assert_eq!(found.version, 3);
        let texts = found.chunks.iter().map(|chunk| String::from_utf8(chunk.body.clone()).unwrap());
        texts.collect::<String>()
    };
    assert_eq!(bodies(&[(ONE, 0), (OTHER, 0), (255, 0)]).await, "ecdbf");
    assert_eq!(bodies(&[(ONE, 1), (OTHER, 1)]).await, "ecd");
    assert_eq!(bodies(&[(ONE, 2), (OTHER, 2)]).await, "e");
    assert_eq!(bodies(&[(ONE, 2), (OTHER, 0)]).await, "edb");
    assert_eq!(bodies(&[(ONE, 3), (OTHER, 3), (255, 3)]).await, "");
    assert_eq!(bodies(&[]).await, "");
    assert_eq!(counts(&store, scope, &[(OTHER, 1)]).await.chunks, [chunk(extreme, "d")]);
}

#[tokio::test]
async fn a_piece_that_is_no_more_is_told_to_who_knew_it() {
    let (database, store) = open().await;
    let follower = database.open().await.unwrap();
    let scope = project(&store).await;
    put(&store, scope, vec![chunk((ONE, 1, 0), "a"), chunk((ONE, 2, 0), "b")]).await;
    put(&store, scope, vec![chunk((ONE, 1, 0), "")]).await;
    assert_eq!(counts(&follower, scope, &[(ONE, 1)]).await.chunks, [chunk((ONE, 1, 0), "")]);
    // Who comes later may be told as well; nothing is what it says.
    let all = counts(&follower, scope, &[(ONE, 0)]).await.chunks;
    let filled: Vec<&Chunk> = all.iter().filter(|chunk| !chunk.body.is_empty()).collect();
    assert_eq!(filled, [&chunk((ONE, 2, 0), "b")]);
    put(&store, scope, vec![chunk((ONE, 1, 0), "again")]).await;
    assert_eq!(counts(&follower, scope, &[(ONE, 2)]).await.chunks, [chunk((ONE, 1, 0), "again")]);
}

#[tokio::test]
async fn ids_are_told_by_version_and_day_and_go_when_their_days_are_over() {
    let (_database, store) = open().await;
    let (a, b) = (project(&store).await, project(&store).await);
    let of = |expected, today: &str, id: u8| CountsCommit {
        expected,
        seen: vec![id; 8],
        days: kept(today, 30, 3, 1),
        ..CountsCommit::default()
    };
    let id = |text: &str, id: u8| (day(text), vec![id; 8]);
    commit(&store, b, of(0, "2024-01-01", 9)).await;
    commit(&store, a, of(0, "2024-01-01", 1)).await;
    commit(&store, a, of(1, "2024-01-01", 2)).await;
    commit(&store, a, of(2, "2024-01-02", 3)).await;
    // Nothing to remember takes no room.
    commit(&store, a, CountsCommit { seen: Vec::new(), ..of(3, "2024-01-02", 0) }).await;
    let all = [id("2024-01-01", 1), id("2024-01-01", 2), id("2024-01-02", 3)];
    assert_eq!(seen(&store, a, 0).await, all);
    assert_eq!(seen(&store, a, 1).await, all[1..]);
    assert_eq!(seen(&store, a, 4).await, []);
    // The third day still has all three; with the fourth the first is over.
    commit(&store, a, of(4, "2024-01-03", 4)).await;
    assert_eq!(seen(&store, a, 0).await.len(), 4);
    commit(&store, a, of(5, "2024-01-04", 5)).await;
    let left = [id("2024-01-02", 3), id("2024-01-03", 4), id("2024-01-04", 5)];
    assert_eq!(seen(&store, a, 0).await, left);
    assert_eq!(seen(&store, b, 0).await, [id("2024-01-01", 9)], "of another project");
    let latest = async |since| {
        let known = CountsCursor { seen: Some(since), ..CountsCursor::default() };
        store.counts(a, known).await.unwrap().latest_day
    };
    assert_eq!((latest(0).await, latest(6).await), (Some(day("2024-01-04")), None));
    // One that is remembered for good says nothing of the day.
    let marked = CountsCommit { seen: Vec::new(), batches: marks(&["x"], false), ..of(6, "2024-01-05", 0) };
    commit(&store, a, marked).await;
    let good = CountsCommit { seen: Vec::new(), batches: marks(&["y"], true), ..of(7, "2024-01-09", 0) };
    commit(&store, a, good).await;
    assert_eq!(latest(0).await, Some(day("2024-01-05")));
}

#[tokio::test]
async fn batches_are_remembered_for_their_days_or_for_good() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let of = |expected, today: &str, names: &[&str], for_good| CountsCommit {
        expected,
        batches: marks(names, for_good),
        days: kept(today, 2, 3, 1),
        ..CountsCommit::default()
    };
    let repeated = |name: &str| CountsCommitted::Repeated(vec![name.to_owned()]);
    commit(&store, scope, of(0, "2024-01-01", &["given"], false)).await;
    commit(&store, scope, of(1, "2024-01-01", &["content"], true)).await;
    assert_eq!(commit(&store, scope, of(2, "2024-01-02", &["given"], false)).await, repeated("given"));
    // What is repeated stores nothing, so also nothing is forgotten before the next commit.
    assert_eq!(commit(&store, scope, of(2, "2024-01-03", &["given"], false)).await, repeated("given"));
    assert_eq!(commit(&store, scope, of(2, "2024-01-03", &["new"], false)).await, CountsCommitted::As(3));
    assert_eq!(commit(&store, scope, of(3, "2024-01-03", &["given"], false)).await, CountsCommitted::As(4));
    assert_eq!(commit(&store, scope, of(4, "2099-01-01", &["other"], false)).await, CountsCommitted::As(5));
    assert_eq!(commit(&store, scope, of(5, "2099-01-01", &["content"], true)).await, repeated("content"));
}

fn event(id: &str, at: &str) -> Event {
    Event {
        id: id.to_owned(),
        wallet: Address::from_bytes([1; 20]),
        kind: EventKind::Session,
        at: at.parse().unwrap(),
    }
}

#[tokio::test]
async fn events_are_kept_for_their_days_and_forgotten_by_wallet() {
    let (_database, store) = open().await;
    let (a, b) = (project(&store).await, project(&store).await);
    let other =
        Event { wallet: Address::from_bytes([2; 20]), ..event("of another wallet", "2024-01-03T12:00:00Z") };
    let of = |expected, today: &str, raw: Vec<Event>| CountsCommit {
        expected,
        raw,
        days: kept(today, 1, 1, 3),
        ..CountsCommit::default()
    };
    let ids = async |scope| {
        let mut ids: Vec<String> =
            store.events(scope).await.unwrap().into_iter().map(|event| event.id).collect();
        ids.sort();
        ids
    };
    let first = [
        event("evening", "2024-01-01T23:59:59.999999999Z"),
        event("midnight", "2024-01-02T00:00:00Z"),
        other,
    ];
    commit(&store, a, of(0, "2024-01-03", first.to_vec())).await;
    commit(&store, b, of(0, "2024-01-03", first.to_vec())).await;
    assert_eq!(ids(a).await, ["evening", "midnight", "of another wallet"]);
    // An id that is known stays what it was.
    commit(&store, a, of(1, "2024-01-03", vec![event("midnight", "2024-01-03T00:00:00Z")])).await;
    commit(&store, a, of(2, "2024-01-04", Vec::new())).await;
    assert_eq!(ids(a).await, ["midnight", "of another wallet"]);
    // What says nothing of days keeps everything.
    commit(&store, a, CountsCommit { expected: 3, ..CountsCommit::default() }).await;
    assert_eq!(ids(a).await, ["midnight", "of another wallet"]);
    assert_eq!(store.forget_events(a, Address::from_bytes([1; 20])).await.unwrap(), 1);
    assert_eq!(store.forget_events(a, Address::from_bytes([1; 20])).await.unwrap(), 0);
    assert_eq!(ids(a).await, ["of another wallet"]);
    assert_eq!(ids(b).await.len(), 3, "of another project");
}

#[tokio::test]
async fn events_are_read_in_parts_each_of_them_once() {
    let (_database, store) = open().await;
    let (a, b) = (project(&store).await, project(&store).await);
    let names = ["", "a", "b", "c", "d"];
    let raw: Vec<Event> = names.iter().map(|id| event(id, "2024-01-03T12:00:00Z")).collect();
    for scope in [a, b] {
        commit(&store, scope, CountsCommit { raw: raw.clone(), ..CountsCommit::default() }).await;
    }
    let (mut read, mut after) = (Vec::new(), None);
    loop {
        let part = store.events_after(a, after, 2).await.unwrap();
        assert!(part.len() <= 2);
        let Some(last) = part.last() else { break };
        after = Some(last.id.clone());
        read.extend(part);
    }
    assert_eq!(read, raw);
}

/// Many at once, from two processes: each version is somebody's, and nobody's work is lost or done twice.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_commit_at_once_one_is_behind() {
    let (database, first) = open().await;
    let stores = Arc::new([first, database.open().await.unwrap()]);
    let scope = project(&stores[0]).await;
    let tasks = (0..8_u32).map(|writer| {
        let stores = Arc::clone(&stores);
        tokio::spawn(async move { write(&stores[writer as usize % 2], scope, writer).await })
    });
    let mut versions = Vec::new();
    let mut behind = 0;
    for task in tasks.collect::<Vec<_>>() {
        let (written, lost) = task.await.unwrap();
        versions.extend(written);
        behind += lost;
    }
    versions.sort_unstable();
    assert!(versions.iter().copied().eq(1..=80), "{versions:?}");
    assert!(behind > 0, "nobody was ever behind: this proves nothing");
    let found = counts(&stores[0], scope, &[(ONE, 0)]).await;
    assert_eq!((found.version, found.chunks), (80, vec![chunk((ONE, 0, 0), "80")]));
    assert_eq!(seen(&stores[1], scope, 0).await.len(), 80);
}

/// Adds one to a number ten times. The versions that it became, and how often somebody was faster.
async fn write(store: &Store, scope: ProjectScope, writer: u32) -> (Vec<u64>, usize) {
    let (mut versions, mut behind) = (Vec::new(), 0);
    while versions.len() < 10 {
        let known = counts(store, scope, &[(ONE, 0)]).await;
        let number: u32 =
            known.chunks.first().map_or(0, |chunk| str::from_utf8(&chunk.body).unwrap().parse().unwrap());
        assert_eq!(u64::from(number), known.version, "pieces and version are of one moment");
        let next = CountsCommit {
            expected: known.version,
            batches: marks(&[&format!("{writer} {}", versions.len())], false),
            chunks: vec![chunk((ONE, 0, 0), &(number + 1).to_string())],
            seen: vec![0; 8],
            ..CountsCommit::default()
        };
        match commit(store, scope, next).await {
            CountsCommitted::As(version) => versions.push(version),
            CountsCommitted::Behind => behind += 1,
            CountsCommitted::Repeated(names) => panic!("{names:?} were never counted"),
        }
    }
    (versions, behind)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_one_batch_sent_to_two_one_counts() {
    let (database, first) = open().await;
    let second = database.open().await.unwrap();
    let scope = project(&first).await;
    for round in 0..20_u64 {
        let of = || CountsCommit {
            expected: round,
            batches: marks(&[&round.to_string()], false),
            chunks: vec![chunk((ONE, 0, 0), "x")],
            ..CountsCommit::default()
        };
        let (one, two) = tokio::join!(commit(&first, scope, of()), commit(&second, scope, of()));
        let counted =
            [&one, &two].into_iter().filter(|committed| **committed == CountsCommitted::As(round + 1));
        assert_eq!(counted.count(), 1, "{one:?} {two:?}");
    }
    assert_eq!(version(&second, scope).await, 20);
}
