//! A disk that is full, only reads, and works again, while writers and readers are at it: reading goes on, what cannot be
//! written is refused by name, nothing that was answered as written is missing, and nobody restarts anything. SQLite
//! only: a test of the store tells how PostgreSQL says the same.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bourse_disk::{Disk, Weather};
use bourse_store::testing::{HeldWrite, batch, load_all};
use bourse_store::{Change, DatabaseUrl};
use futures_util::future::join_all;
use serde_json::json;

use crate::support::actor::{Actor, Answer};
use crate::support::orders::{listing, market};
use crate::support::seed::{self, RELICS, key};
use crate::support::{TestApp, wait_until};

const WRITERS: u64 = 4;
const READERS: u64 = 8;

/// What writers and readers saw.
#[derive(Default)]
struct Seen {
    is_over: AtomicBool,
    acknowledged: Mutex<BTreeSet<String>>,
    full: AtomicU64,
    unavailable: AtomicU64,
    read: AtomicU64,
}

impl Seen {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn written(&self) -> u64 {
        self.acknowledged.lock().unwrap().len() as u64
    }

    fn note(&self, id: &str, answer: &Answer) {
        if answer.status == 200 {
            assert_eq!(answer.json["rejected"], json!([]));
            self.acknowledged.lock().unwrap().insert(id.to_owned());
            return;
        }
        match (answer.refusal(), answer.header("retry-after")) {
            ((507, 1902), "60") => self.full.fetch_add(1, Ordering::Relaxed),
            ((503, 1903), "5") => self.unavailable.fetch_add(1, Ordering::Relaxed),
            other => panic!("{other:?}: {}", answer.json),
        };
    }
}

async fn write(token: Actor, seen: Arc<Seen>, writer: u64) {
    for number in 0.. {
        if seen.is_over() {
            return;
        }
        let id = format!("{writer}-{number}");
        let answer = token.call("Ingest/PutOrders", json!({ "orders": [listing(&id, 1, 100)] })).await;
        seen.note(&id, &answer);
    }
}

/// Reads what is in memory and what is in the database alone.
async fn read(key: Actor, token: Actor, seen: Arc<Seen>) {
    while !seen.is_over() {
        let body = json!({ "chainId": "polygon", "contractAddress": RELICS, "tokenId": "1" });
        let listings = key.call("Marketplace/ListListingsForCollectible", body).await;
        assert!(!listings.ok()["listings"].as_array().unwrap().is_empty());
        token.call("Collections/ListCollections", json!({})).await.ok();
        seen.read.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits until all readers have been at it some more, and `count` says that enough happened since.
async fn wait_for_more(what: &str, seen: &Seen, count: impl Fn() -> u64) {
    let (read, counted) = (seen.read.load(Ordering::Relaxed), count());
    wait_until(what, async || {
        seen.read.load(Ordering::Relaxed) >= read + 2 * READERS && count() >= counted + 2 * WRITERS
    })
    .await;
}

/// Whoever reads does not notice, and what was refused is not written later.
#[tokio::test]
async fn whoever_waits_for_another_process_that_writes_is_told_so() {
    let app = TestApp::with(&[("limits.request_timeout_ms", "6000")]).await;
    if matches!(app.database.url, DatabaseUrl::Postgres(_)) {
        return;
    }
    seed::tokens(&app.store, RELICS, 1..2, "first").await;
    let token = |number: u64| Change::Token { token_id: number.into(), metadata: "{}".to_owned() };
    let held = HeldWrite::begin(&app.store, batch(key(RELICS), vec![token(1)])).await;
    let put = async |token: u64| {
        let token =
            json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": token.to_string(), "name": "n" });
        app.project_a.call("Ingest/PutTokens", json!({ "tokens": [token] })).await
    };
    for answer in join_all((2..5).map(put)).await {
        assert_eq!((answer.refusal(), answer.header("retry-after")), ((503, 1903), "5"), "{}", answer.json);
    }
    app.project_a.call("Collections/ListCollections", json!({})).await.ok();
    held.release().await.unwrap();
    wait_until("writing works again", async || put(9).await.status == 200).await;
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let tokens = load_all(&app.store, id).await.unwrap().tokens;
    assert_eq!(tokens.iter().map(|token| token.token_id).collect::<Vec<_>>(), [1.into(), 9.into()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_may_be_full_or_read_only_and_work_again_while_the_service_runs() {
    let app = market(vec![crate::support::orders::order(listing("first", 1, 100))]).await;
    if matches!(app.database.url, DatabaseUrl::Postgres(_)) {
        return;
    }
    let disk = Disk::under(app.database.directory.path()).unwrap();
    // Its files are opened from now on, so they are on that disk; the first one is another process beside it.
    let service = app.another().await;
    let seen = Arc::<Seen>::default();
    let tasks: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(service.token.clone(), Arc::clone(&seen), writer)))
        .chain(
            (0..READERS)
                .map(|_| tokio::spawn(read(service.key.clone(), service.token.clone(), Arc::clone(&seen)))),
        )
        .collect();
    wait_for_more("writing works", &seen, || seen.written()).await;
    disk.set_weather(Weather::Full);
    wait_for_more("writing finds no room", &seen, || seen.full.load(Ordering::Relaxed)).await;
    disk.set_weather(Weather::Fair);
    wait_for_more("there is room again", &seen, || seen.written()).await;
    disk.set_weather(Weather::ReadOnly);
    wait_for_more("nothing can be written", &seen, || seen.unavailable.load(Ordering::Relaxed)).await;
    disk.set_weather(Weather::Fair);
    wait_for_more("writing works once more", &seen, || seen.written()).await;
    seen.is_over.store(true, Ordering::Relaxed);
    join_all(tasks).await.into_iter().for_each(|ended| ended.unwrap());

    let collection = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let all = load_all(&app.store, collection).await.unwrap();
    let stored: BTreeSet<String> = all.orders.into_iter().map(|order| order.order_id).collect();
    let acknowledged = seen.acknowledged.lock().unwrap();
    let missing: Vec<_> = acknowledged.difference(&stored).collect();
    assert!(missing.is_empty(), "answered as written and missing: {missing:?}");
}
