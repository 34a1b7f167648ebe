//! Whatever a hostile steward of another collection sends: none of it is ever offered or sold.

use std::sync::Arc;

use bourse_server::Chains;
use bourse_store::testing::operator;
use bourse_store::{CollectionKey, Grant, Reach, Subject};
use bourse_wire::{ChainId, Marketplace, ServiceName};
use serde_json::{Value, json};

use super::{COLLECTION, DOLLAR, MAKER, TAKER, ZERO, ask, data, families, signed, text, vectors};
use crate::marketplace::with;
use crate::support::TestApp;
use crate::support::chain::{FakeChain, KeptOrder};
use crate::support::project::{Project, everything};

/// The collection that the attacker is a steward of.
const OTHER: &str = "0x00000000000000000000000000000000000000ee";
/// Who sells in [`COLLECTION`].
const SELLER: &str = "0x0000000000000000000000000000000000005e11";
const ATTACKER: &str = "0x00000000000000000000000000000000000bad00";
const OWN: &str = "service_marketplace_v2";
/// The contract of [`OWN`].
const CONTRACT: &str = "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712";

fn listing(collection: &str, marketplace: &str, id: &str, price: &str) -> Value {
    json!({ "orderId": id, "marketplace": marketplace, "side": "listing", "tokenId": "5", "createdBy": SELLER,
        "collectionContractAddress": collection, "priceAmount": price, "priceCurrencyAddress": DOLLAR,
        "quantityInitial": "1", "validUntil": "2030-01-01T00:00:00Z" })
}

/// A market with one honest listing, number 77 of the service's own marketplace, which its contract knows; and an attacker,
/// project B. Where balances are known, it is known who has the token.
async fn market(are_balances_known: bool) -> TestApp {
    let chain = FakeChain::default();
    let kept = KeptOrder {
        is_valid: true,
        creator: SELLER,
        is_listing: true,
        collection: COLLECTION,
        token: 5,
        quantity: 1,
        expiry: 1_893_456_000,
        currency: DOLLAR,
        price: 1000,
    };
    kept.said_by(&chain, CONTRACT);
    let (app, ()) =
        TestApp::asking(&[], Some(Arc::new(chain) as Arc<dyn Chains>), async |store, _, attacker| {
            for grant in everything() {
                store.remove_grant(attacker.scope, grant, operator()).await.unwrap();
            }
            let contract = CollectionKey { chain: ChainId(1), address: OTHER.parse().unwrap() };
            let grant = |subject: &Subject| Grant { subject: *subject, reach: Reach::Contract(contract) };
            let grants = Subject::ALL.iter().map(grant).collect();
            store.add_grants(attacker.scope, grants, operator()).await.unwrap();
        })
        .await;
    let money = |address: &str| json!({ "contractAddress": address, "name": "Money", "symbol": "M", "decimals": 18, "exchangeRate": "1" });
    let honest = &app.project_a;
    let body = json!({ "chainId": 1, "currencies": [money(ZERO), money(DOLLAR)] });
    assert_eq!(honest.call("Ingest/PutCurrencies", body).await.ok()["rejected"], json!([]));
    let balance = json!({ "contractAddress": COLLECTION, "tokenId": "5", "account": SELLER, "balance": "1" });
    if are_balances_known {
        honest.call("Ingest/PutBalances", json!({ "chainId": 1, "balances": [balance] })).await.ok();
    }
    let orders = json!([listing(COLLECTION, OWN, "77", "1000")]);
    honest.call("Ingest/PutOrders", json!({ "chainId": 1, "orders": orders })).await.ok();
    app
}

/// Everything that buyers see of the collection.
async fn seen(app: &TestApp) -> Vec<Value> {
    let mut seen = Vec::new();
    for (operation, members) in [
        ("GetFloorOrder", json!({})),
        ("ListListingsForCollectible", json!({ "tokenId": "5" })),
        ("ListOffersForCollectible", json!({ "tokenId": "5" })),
        ("ListCollectibles", json!({ "side": "listing" })),
        ("ListCollectibles", json!({ "side": "offer" })),
        ("GetCollectible", json!({ "tokenId": "5" })),
    ] {
        let body = with(json!({ "chainId": "1", "contractAddress": COLLECTION }), members);
        seen.push(app.project_a.key.call(&format!("Marketplace/{operation}"), body).await.json);
    }
    let currencies = json!({ "chainId": "1", "contractAddress": COLLECTION });
    seen.push(app.project_a.key.call("Marketplace/ListCurrencies", currencies).await.json);
    let body = json!({ "chainID": "1", "contractAddress": COLLECTION });
    seen.push(app.project_a.key.call("Metadata/GetContractInfo", body).await.json);
    let bought = buy(app, COLLECTION, OWN, "77").await;
    assert_eq!(bought.0, 200, "{}", bought.1);
    seen.push(bought.1);
    seen
}

async fn buy(app: &TestApp, collection: &str, marketplace: &str, id: &str) -> (u16, Value) {
    let body = json!({ "buyer": TAKER, "marketplace": marketplace, "collectionAddress": collection,
        "ordersData": data(&[(id, "1")]) });
    let answer = ask(app, "GenerateBuyTransaction", body).await;
    (answer.status, answer.json)
}

/// All shapes of an order of [`COLLECTION`], with the name that each would have.
fn shapes() -> Vec<(String, String, Value)> {
    let service = ServiceName::new("bourse");
    let mut shapes = Vec::new();
    for marketplace in Marketplace::ALL.iter().map(|marketplace| marketplace.word(&service)) {
        for (id, collection) in [
            ("666", COLLECTION.to_owned()),
            ("77", COLLECTION.to_owned()),
            ("667", COLLECTION.to_uppercase().replace('X', "x")),
        ] {
            let order = listing(&collection, &marketplace, id, "1");
            shapes.push((marketplace.clone(), id.to_owned(), order));
        }
        let mine = with(listing(COLLECTION, &marketplace, "668", "1"), json!({ "createdBy": ATTACKER }));
        shapes.push((marketplace.clone(), "668".to_owned(), mine));
    }
    // Signed by a wallet of which nobody knows what it has, and not signed at all.
    for family in families() {
        for case in vectors(family)["cases"].as_array().into_iter().flatten() {
            if case["chainId"] != 1 {
                continue;
            }
            let marketplace = text(&case["marketplace"]);
            for order in case["orders"].as_array().into_iter().flatten() {
                let id = order["id"].as_str().unwrap_or_default().to_owned();
                let order = signed(marketplace, order);
                let mut unsigned = order.clone();
                unsigned.as_object_mut().unwrap().remove("signature");
                shapes.push((marketplace.to_owned(), id.clone(), order));
                shapes.push((marketplace.to_owned(), id, unsigned));
            }
        }
    }
    shapes
}

#[tokio::test]
async fn nothing_that_a_steward_of_another_collection_sends_is_offered_or_sold() {
    check_attacks(market(true).await).await;
}

#[tokio::test]
async fn nor_where_nobody_knows_who_has_what() {
    check_attacks(market(false).await).await;
}

async fn check_attacks(app: TestApp) {
    let before = seen(&app).await;
    let attacker: &Project = &app.project_b;
    let shapes = shapes();
    assert!(shapes.len() > 100, "only {} shapes", shapes.len());
    for some in shapes.chunks(100) {
        let orders: Vec<&Value> = some.iter().map(|(_, _, order)| order).collect();
        attacker.call("Ingest/PutOrders", json!({ "chainId": 1, "orders": orders })).await.ok();
    }
    for (marketplace, _, order) in &shapes {
        if let Some(signature) = order["signature"].as_str() {
            let body = json!({ "params": { "chainId": "1", "signature": signature, "body": order } });
            let answer = attacker.key.call("Marketplace/Execute", body).await;
            assert!(answer.status < 500, "{marketplace}: {}", answer.json);
        }
    }
    for operation in ["CancelOrders", "InvalidateOrders"] {
        let honest = json!([listing(COLLECTION, OWN, "77", "1000")]);
        attacker.call(&format!("Ingest/{operation}"), json!({ "chainId": 1, "orders": honest })).await.ok();
    }
    let balance = |account: &str, balance: &str| json!({ "contractAddress": COLLECTION, "tokenId": "5", "account": account, "balance": balance });
    let balances = json!([balance(SELLER, "0"), balance(ATTACKER, "9"), balance(MAKER, "9")]);
    let money = json!([{ "contractAddress": DOLLAR, "name": "n", "symbol": "s", "decimals": 0, "exchangeRate": "9" }]);
    let contract = json!([{ "address": COLLECTION, "contractType": "ERC721", "name": "n", "extensions": { "verified": true } }]);
    for (operation, body) in [
        ("PutBalances", json!({ "chainId": 1, "balances": balances })),
        ("PutCurrencies", json!({ "chainId": 1, "currencies": money })),
        ("PutContracts", json!({ "chainId": 1, "contracts": contract })),
        (
            "PutTokens",
            json!({ "chainId": 1, "tokens": [{ "contractAddress": COLLECTION, "tokenId": "5", "name": "x" }] }),
        ),
    ] {
        attacker.call(&format!("Ingest/{operation}"), body).await.ok();
    }
    assert_eq!(seen(&app).await, before, "buyers see what they saw");
    for (marketplace, id, order) in &shapes {
        if (marketplace.as_str(), id.as_str()) == ("bourse_marketplace_v2", "77") {
            continue;
        }
        let (status, answer) = buy(&app, COLLECTION, marketplace, id).await;
        assert!(status >= 400, "{order} is sold: {answer}");
    }
}

/// A number of the contract that is an order of another collection there: what it stands for only the contract knows.
#[tokio::test]
async fn another_collections_number_sells_nothing() {
    let app = market(true).await;
    let orders = json!([listing(OTHER, OWN, "77", "1")]);
    let answer = app.project_b.call("Ingest/PutOrders", json!({ "chainId": 1, "orders": orders })).await.ok();
    assert_eq!(answer["accepted"], 1, "{answer}");
    let (status, answer) = buy(&app, OTHER, OWN, "77").await;
    assert_eq!(status, 409, "{answer}");
    assert!(
        text(&answer["msg"]).contains("collectionContractAddress is not what its maker made it"),
        "{answer}"
    );
}
