//! How much there is to load, whatever others wrote.

use bourse_store::Change;
use bourse_store::testing::{batch, operator};
use serde_json::{Value, json};

use crate::shops::{collection, get, on, open};
use crate::support::TestApp;
use crate::support::market;
use crate::support::orders::{self, ANA, balance, listing, offer, with};
use crate::support::seed::{self, RELICS, key};

/// What a page may be at most, without its pictures.
pub(crate) const PAGE_BYTES_MAX: usize = 100_000;

/// A text that takes more in a page than it is long.
pub(crate) fn worst(bytes: usize) -> String {
    "\"<&>'é".chars().cycle().take(bytes).collect()
}

pub(crate) fn token(number: u64) -> Change {
    let property = |place: u64| json!({ "trait_type": format!("{place}{}", worst(120)), "value": format!("{place}{number}{}", worst(480)) });
    let properties: Vec<Value> = (0..60).map(property).collect();
    seed::token_of(json!({ "tokenId": number.to_string(), "name": worst(1_000),
        "description": worst(9_000), "attributes": properties }))
}

/// Very many currencies, called as they may be.
pub(crate) async fn put_currencies(app: &TestApp) {
    let currency = |number: u64| {
        json!({ "contractAddress": format!("0x{number:040x}"), "name": worst(200),
        "symbol": worst(50), "decimals": 18, "exchangeRate": "2" })
    };
    let all: Vec<Value> = (0..1_000).map(currency).collect();
    market::put(app, "PutCurrencies", json!({ "chainId": 137, "currencies": all })).await;
}

/// A shop in which everything is as long as it can be.
async fn app() -> TestApp {
    let id = |number: u64| format!("0x{number:064x}");
    let mut told = Vec::new();
    for number in 1..=60_u64 {
        let times = json!({ "priceAmount": "9".repeat(60), "quantityInitial": "1" });
        told.push(with(listing(&id(number), number, 1), times.clone()));
        told.push(with(offer(&id(1_000 + number), number, 1), times));
    }
    told.extend((0..50).map(|number| listing(&id(2_000 + number), 1, 100 + number)));
    told.extend((0..50).map(|number| offer(&id(3_000 + number), 1, 1 + number)));
    let mut changes = orders::orders(told);
    changes.extend((1..=60).map(token));
    changes.extend((1..=60).map(|number| balance(number, ANA, 1)));
    let mut info = seed::contract_info(RELICS, &worst(1_000));
    info["extensions"]["description"] = json!(worst(5_000));
    changes.push(Change::Contract(info.to_string()));
    let app = orders::market(Vec::new()).await;
    app.store.commit(batch(key(RELICS), changes)).await.unwrap();
    app.store.join_market(app.project_a.scope, key(RELICS), operator()).await.unwrap();
    put_currencies(&app).await;
    open(&app, on()).await;
    app
}

#[tokio::test]
async fn every_page_is_small_whatever_others_wrote() {
    let app = app().await;
    for path in [
        "/shop/1".to_owned(),
        collection(""),
        collection("?side=offer"),
        collection("?more=1"),
        collection("/1"),
        collection("/60"),
        format!("/shop/1/a/{ANA}"),
        "/shop/1/basket".to_owned(),
        "/shop/1/sitemap.xml".to_owned(),
        "/shop/1/sitemap/pages.xml".to_owned(),
        collection("/sitemap/1.xml"),
    ] {
        let page = get(&app, &path).await;
        assert_eq!(page.status, 200, "{path}");
        println!("{path}: {} bytes", page.body.len());
        assert!(page.body.len() < PAGE_BYTES_MAX, "{path} has {} bytes", page.body.len());
    }
    let page = get(&app, &format!("/shop/1/a/{ANA}")).await.text();
    assert!(page.matches("data-token=").count() >= 8, "{page}");
    let more = format!("{}?owner={ANA}", collection(""));
    assert!(page.contains(&more), "there is a way to the others");
    let all = get(&app, &more).await.text();
    assert!(all.contains("Found: 60"), "{all}");
}
