//! How long the pages of a shop of very many tokens take. `BOURSE_SCALE=all` tries a million; without, the number is that of a test.

use std::time::{Duration, Instant};

use bourse_store::testing::{batch, operator};
use bourse_store::{Change, Store};
use serde_json::{Value, json};

use crate::shops::{collection, on, open};
use crate::support::orders::{self, ANA, balance, listing, offer};
use crate::support::seed::{self, RELICS, key, token_of};
use crate::support::{TestApp, wait_until};

/// Tokens that are written at once.
const STEP: u64 = 5_000;
/// How often each page is asked for.
const TIMES: usize = 200;

fn is_whole() -> bool {
    std::env::var("BOURSE_SCALE").is_ok_and(|asked| asked == "all")
}

/// A token with its holder; of some, what they cost and what somebody would give.
fn changes(number: u64) -> Vec<Change> {
    let colour = ["red", "green", "blue", "grey"][usize::try_from(number % 4).unwrap()];
    let property = |name: &str, value: Value| json!({ "trait_type": name, "value": value });
    let token = json!({ "tokenId": number.to_string(), "name": format!("Relic of harbour {number}"),
        "description": "What the tide left.", "image": format!("ipfs://QmHarbour/{number}.png"),
        "attributes": [property("Colour", json!(colour)), property("Age", json!(number % 900)),
            property("Found", json!(format!("Pier {}", number % 60))), property("Mark", json!(number % 7))] });
    let mut changes = vec![token_of(token)];
    if number.is_multiple_of(100) {
        changes.push(balance(number, ANA, 1));
    }
    if number.is_multiple_of(10) {
        changes.push(orders::order(listing(&format!("l{number}"), number, 1_000 + number)));
    }
    if number.is_multiple_of(50) {
        changes.push(orders::order(offer(&format!("o{number}"), number, number)));
    }
    changes
}

async fn fill(store: &Store, tokens: u64) {
    store.put_currencies(orders::coins("2"), operator()).await.unwrap();
    let info = seed::contract_info(RELICS, "Relics").to_string();
    store.commit(batch(key(RELICS), vec![Change::Contract(info)])).await.unwrap();
    for first in (0..tokens).step_by(usize::try_from(STEP).unwrap()) {
        let all = (first + 1..=tokens.min(first + STEP)).flat_map(changes).collect();
        store.commit(batch(key(RELICS), all)).await.unwrap();
    }
}

async fn took(app: &TestApp, path: &str) -> Duration {
    let started = Instant::now();
    let page = app.anonymous.get(path).await;
    assert_eq!(page.status, 200, "{path}: {}", page.text());
    started.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_shop_of_very_many_tokens() {
    let (tokens, bytes_max) = if is_whole() { (1_000_000, 8_u64 << 30) } else { (3_000, 1 << 30) };
    let app = TestApp::with(&[
        ("storage.resident_bytes_max", &bytes_max.to_string()),
        ("storage.self_check_interval_ms", "86400000"),
    ])
    .await;
    fill(&app.store, tokens).await;
    app.store.join_market(app.project_a.scope, key(RELICS), operator()).await.unwrap();
    open(&app, on()).await;
    wait_until("the collection is in memory", async || {
        app.anonymous.get(&collection("")).await.status == 200
    })
    .await;
    for (name, path) in [
        ("home", "/shop/1".to_owned()),
        ("collection", collection("")),
        ("filtered", collection("?p.Colour=red&v.Mark=3&only=1")),
        ("sorted", collection("?sort=-price")),
        ("by name", collection("?sort=name")),
        ("searched", collection("?q=harbour+77")),
        ("offers", collection("?side=offer")),
        ("far behind", collection("?page=40")),
        ("token", collection("/1000")),
        ("account", format!("/shop/1/a/{ANA}")),
        ("list of lists", "/shop/1/sitemap.xml".to_owned()),
        ("first list of tokens", collection("/sitemap/1.xml")),
        ("last list of tokens", collection(&format!("/sitemap/{}.xml", tokens.div_ceil(10_000)))),
    ] {
        let mut all = Vec::with_capacity(TIMES);
        for _ in 0..if is_whole() { TIMES } else { 1 } {
            all.push(took(&app, &path).await);
        }
        all.sort_unstable();
        let (middle, most) = (all[all.len() / 2], all[all.len() * 99 / 100]);
        println!("{name}: median {middle:?}, 99 of 100 within {most:?}, of {tokens} tokens");
    }
}
