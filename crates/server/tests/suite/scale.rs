//! More than one machine usually has: many collections known, resident and followed, many that are first asked for at once, and
//! one with very many holders. `BOURSE_SCALE=all` tries it in full; without, the numbers are those of a test.

use std::time::Instant;

use bourse_store::CollectionKey;
use bourse_store::testing::{batch, make_collections, make_holders, numbered_address};
use bourse_wire::ChainId;
use futures_util::stream::{self, StreamExt as _};
use serde_json::json;

use crate::support::actor::{Actor, Answer};
use crate::support::seed::token_of;
use crate::support::{TestApp, wait_until};

const CHAIN: ChainId = ChainId(137);

fn is_whole() -> bool {
    std::env::var("BOURSE_SCALE").is_ok_and(|asked| asked == "all")
}

fn key(number: u64) -> CollectionKey {
    CollectionKey { chain: CHAIN, address: numbered_address(number) }
}

/// A service that takes many requests at once, with so much memory.
async fn app(bytes_max: usize, connections: &str) -> TestApp {
    let bytes_max = bytes_max.to_string();
    TestApp::with(&[
        ("storage.resident_bytes_max", &bytes_max),
        ("storage.connections_max", connections),
        ("storage.self_check_interval_ms", "86400000"),
        ("limits.concurrent_requests_max", "4096"),
        ("limits.project_requests_max", "4096"),
    ])
    .await
}

/// What whoever is told so comes back after, however busy the machine is.
const UNDER_WAY: &str = "is being brought into memory";

/// Asks for the token of a collection until it is loaded, or refused for another reason.
async fn ask_patiently(actor: &Actor, number: u64) -> Answer {
    loop {
        let answer = ask(actor, number).await;
        if !answer.json["msg"].as_str().is_some_and(|message| message.contains(UNDER_WAY)) {
            return answer;
        }
    }
}

/// Asks for the token of a collection.
async fn ask(actor: &Actor, number: u64) -> Answer {
    let contract = numbered_address(number).to_string();
    let body = json!({ "chainID": 137, "contractAddress": contract });
    actor.call("Metadata/SearchTokenMetadata", body).await
}

fn name(answer: &Answer) -> &str {
    answer.json["tokenMetadata"][0]["name"].as_str().unwrap_or("")
}

/// A series as the service reports it.
async fn metric(app: &TestApp, series: &str) -> u64 {
    let text = app.anonymous.get("/metrics").await.text();
    let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {series}")).parse().unwrap()
}

/// Memory of this process, and the most that it had since this was last asked, in MiB.
fn process_mebibytes() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kibibytes.unwrap_or_default() / 1024
    };
    // Where it cannot be set back it is the most there ever was.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    (of("VmRSS:"), of("VmHWM:"))
}

/// Statements take only so many arguments: following more collections than that is several statements.
#[tokio::test(flavor = "multi_thread")]
async fn many_collections_are_known_resident_and_followed() {
    let (known, resident) = if is_whole() { (100_000, 33_000) } else { (2_500, 1_100) };
    let app = app(1 << 30, "16").await;
    make_collections(&app.store, CHAIN, known).await.unwrap();
    let (started, before) = (Instant::now(), process_mebibytes().0);
    let asking = |number| {
        let actor = app.project_a.key.clone();
        async move { (number, ask_patiently(&actor, number).await) }
    };
    let mut answers = stream::iter(1..=resident).map(asking).buffer_unordered(64);
    while let Some((number, answer)) = answers.next().await {
        assert_eq!(name(&answer), format!("token of {number}"), "{}", answer.json);
    }
    assert_eq!(metric(&app, "bourse_resident_collections").await, resident);
    let accounted = app.app.budget().taken();
    let loaded = started.elapsed();
    let background = app.background();
    // The first and the last of them, as another process changes them.
    for number in [1, resident] {
        let token = token_of(json!({ "tokenId": "1", "name": "changed" }));
        app.store.commit(batch(key(number), vec![token])).await.unwrap();
        let started = Instant::now();
        wait_until("a followed collection", async || {
            name(&ask(&app.project_a.key, number).await) == "changed"
        })
        .await;
        println!("followed one of {resident} within {:?}", started.elapsed());
    }
    assert_eq!(metric(&app, "bourse_resident_load_seconds_count").await, resident, "each was loaded once");
    println!(
        "{resident} of {known} collections loaded in {loaded:?}: {} MiB accounted, {} MiB of the process",
        accounted >> 20,
        process_mebibytes().0.saturating_sub(before)
    );
    background.stop().await;
}

/// Everybody is answered or refused by name; nobody waits forever, and nothing is loaded twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_first_touches_at_once_are_answered_or_refused_by_name() {
    const COUNT: u64 = 1_000;
    let roomy = app(1 << 30, "4").await;
    make_collections(&roomy.store, CHAIN, COUNT).await.unwrap();
    let touch = async |app: &TestApp| {
        // Two of each at once.
        let asked = (1..=COUNT).chain(1..=COUNT).map(|number| {
            let actor = app.project_a.key.clone();
            tokio::spawn(async move { (number, ask_patiently(&actor, number).await) })
        });
        let asked: Vec<_> = asked.collect();
        let mut answered = 0;
        for asking in asked {
            let (number, answer) = asking.await.unwrap();
            if answer.status == 200 {
                assert_eq!(name(&answer), format!("token of {number}"));
                answered += 1;
            } else {
                assert_eq!((answer.refusal(), answer.header("retry-after")), ((503, 1901), "1"));
                let message = answer.json["msg"].as_str().unwrap();
                assert!(message.contains(&numbered_address(number).to_string()), "{message}");
            }
        }
        answered
    };
    assert_eq!(touch(&roomy).await, 2 * COUNT);
    assert_eq!(metric(&roomy, "bourse_resident_load_seconds_count").await, COUNT);
    let one = roomy.app.budget().taken() / usize::try_from(COUNT).unwrap();

    // Memory for ten of them.
    let (tight, bytes_max) = (app(10 * one, "4").await, 10 * one);
    make_collections(&tight.store, CHAIN, COUNT).await.unwrap();
    assert!(touch(&tight).await > 0);
    assert!(tight.app.budget().taken() <= bytes_max, "{} of {bytes_max}", tight.app.budget().taken());
    assert_eq!(metric(&tight, "bourse_resident_loading_bytes").await, 0, "all of it is given back");
}

/// Holders beyond the memory there is are noticed while they are read, by several at once, and not when they are all there.
#[tokio::test(flavor = "multi_thread")]
async fn holders_beyond_the_budget_take_no_more_than_the_budget() {
    const BYTES_MAX: usize = 10 << 20;
    let holders = if is_whole() { 500_000 } else { 60_000 };
    let app = app(BYTES_MAX, "16").await;
    make_collections(&app.store, CHAIN, 6).await.unwrap();
    for number in 1..=6 {
        make_holders(&app.store, key(number), holders).await.unwrap();
    }
    let (before, _) = process_mebibytes();
    let asked = (1..=6).map(|number| {
        let actor = app.project_a.key.clone();
        tokio::spawn(async move { ask_patiently(&actor, number).await })
    });
    for asking in asked.collect::<Vec<_>>() {
        let answer = asking.await.unwrap();
        assert!(answer.status == 200 || answer.refusal() == (503, 1901), "{}", answer.json);
        assert!(app.app.budget().taken() <= BYTES_MAX);
    }
    let (after, most) = process_mebibytes();
    println!(
        "six loads of {holders} holders within 10 MiB: from {before} to {after} MiB, {most} MiB at most"
    );
    assert_eq!(metric(&app, "bourse_resident_loading_bytes").await, 0);
    // Whatever became of it, another one fits afterwards.
    let token = token_of(json!({ "tokenId": "1", "name": "small" }));
    app.store.commit(batch(key(99), vec![token])).await.unwrap();
    assert_eq!(name(&ask(&app.project_a.key, 99).await), "small");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_of_many_holders_is_loaded() {
    let holders = if is_whole() { 10_000_000 } else { 50_000 };
    let app = app(8 << 30, "4").await;
    make_collections(&app.store, CHAIN, 1).await.unwrap();
    make_holders(&app.store, key(1), holders).await.unwrap();
    let ((before, _), started) = (process_mebibytes(), Instant::now());
    let mut told = 0;
    loop {
        let answer = ask(&app.project_a.key, 1).await;
        if answer.status == 200 {
            assert_eq!(name(&answer), "token of 1");
            break;
        }
        // However long it takes, nobody is left without a word.
        assert_eq!((answer.refusal(), answer.header("retry-after")), ((503, 1901), "1"));
        let message = answer.json["msg"].as_str().unwrap();
        assert!(message.contains(UNDER_WAY), "{message}");
        println!("after {:?}: {message}", started.elapsed());
        told += 1;
    }
    let (loaded, (after, most)) = (started.elapsed(), process_mebibytes());
    let accounted = app.app.budget().taken() >> 20;
    println!(
        "{holders} holders loaded in {loaded:?}, told {told} times to wait: {accounted} MiB accounted, from {before} to {after} MiB, {most} MiB at most"
    );
}
