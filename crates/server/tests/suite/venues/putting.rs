//! Signed orders are put in the shape of their marketplace, and everything else is derived from it.

use serde_json::{Value, json};

use super::{
    COLLECTION, DOLLAR, MAKER, case, changed, families, first_of, listed, put, signed, taken, text, vectors,
    venues,
};
use crate::marketplace::with;
use crate::support::transcript::pretty;

/// A listing and an offer of each family.
fn one_of_each() -> Vec<Value> {
    let held = vectors("held");
    let mut orders = Vec::new();
    for family in families() {
        // Of several versions, the one that the others followed.
        let version = if family == "payment_processor" { ", version 2.1" } else { "" };
        for name in ["a token for the chain's own currency", "an offer is taken"] {
            let all = vectors(family)["cases"].as_array().unwrap().clone();
            let exact = |case: &&Value| {
                let found = text(&case["name"]);
                found.starts_with(name) && found.ends_with(version)
            };
            let case = all.iter().find(exact).unwrap();
            orders.push(signed(text(&case["marketplace"]), &case["orders"][0]));
        }
    }
    orders.push(signed("opensea", &held["seaport"]["opensea"]));
    orders.push(signed("magic_eden", &held["seaport"]["magic_eden"]));
    orders.push(signed("blur", &held["blur"]["orders"][0]));
    orders.push(signed("x2y2", &json!({ "native": held["x2y2"]["order"] })));
    orders
}

#[tokio::test]
async fn every_member_of_an_order_is_derived() {
    let app = venues().await;
    taken(&put(&app, one_of_each()).await);
    let mut shown = listed(&app, "listing", "5").await;
    shown.extend(listed(&app, "offer", "5").await);
    assert_eq!(shown.len(), one_of_each().len());
    shown.sort_by_key(|order| (text(&order["marketplace"]).to_owned(), text(&order["orderId"]).to_owned()));
    insta::assert_snapshot!(pretty(shown.into()));
}

#[tokio::test]
async fn orders_have_the_names_that_others_call_them_by() {
    for family in families() {
        let app = venues().await;
        for case in vectors(family)["cases"].as_array().unwrap() {
            // What is signed on the chain is asked of it.
            if case.get("question").is_some() {
                continue;
            }
            let marketplace = text(&case["marketplace"]);
            let orders = case["orders"].as_array().unwrap();
            let chain = json!({ "chainId": case["chainId"] });
            let given = orders.iter().map(|order| with(signed(marketplace, order), chain.clone()));
            taken(&put(&app, given).await);
            let input: Vec<Value> = orders
                .iter()
                .map(|order| json!({ "contractAddress": COLLECTION, "orderId": order["id"], "marketplace": marketplace }))
                .collect();
            let body = with(chain, json!({ "input": input }));
            let found = app.project_a.key.call("Marketplace/GetOrders", body).await.ok();
            let found = found["orders"].as_array().unwrap();
            assert_eq!(found.len(), orders.len(), "{family}, {}", case["name"]);
            assert!(found.iter().all(|order| order["createdBy"] == MAKER && order["priceAmount"] != "0"));
        }
    }
}

#[tokio::test]
async fn the_same_again_changes_nothing() {
    let app = venues().await;
    let orders = one_of_each();
    let first = put(&app, orders.clone()).await;
    assert_eq!((&first["accepted"], &first["changed"]), (&json!(orders.len()), &json!(orders.len())));
    let before = listed(&app, "listing", "5").await;
    app.clock.advance(3600);
    let second = put(&app, orders.clone()).await;
    assert_eq!((&second["accepted"], &second["changed"]), (&json!(orders.len()), &json!(0)));
    assert_eq!(listed(&app, "listing", "5").await, before);
    // What somebody ended stays so, however often it is put.
    let id = &case("seaport", "a token for the chain's own currency")["orders"][0]["id"];
    let key = json!({ "chainId": 1, "collectionContractAddress": COLLECTION, "marketplace": "opensea", "orderId": id });
    app.project_a.call("Ingest/CancelOrders", json!({ "orders": [key] })).await.ok();
    assert_eq!(put(&app, orders).await["changed"], 0);
    assert_eq!(listed(&app, "listing", "5").await.len(), before.len() - 1);
}

fn plain(id: &str) -> Value {
    json!({ "chainId": 1, "collectionContractAddress": COLLECTION, "orderId": id, "marketplace": "opensea",
        "side": "listing", "tokenId": "5", "createdBy": MAKER, "priceAmount": "5", "priceCurrencyAddress": DOLLAR,
        "validUntil": "2030-01-01T00:00:00Z" })
}

#[tokio::test]
async fn plain_and_signed_orders_come_together() {
    let app = venues().await;
    let native = first_of("seaport", "a token for the chain's own currency");
    let bad = changed(native.clone(), "/salt", json!("77"));
    let answer = put(&app, [plain("1"), native, bad, plain("2"), json!({ "native": 5 })]).await;
    assert_eq!((&answer["accepted"], &answer["changed"]), (&json!(3), &json!(3)));
    let rejected: Vec<&Value> =
        answer["rejected"].as_array().unwrap().iter().map(|one| &one["index"]).collect();
    assert_eq!(rejected, [2, 4]);
    assert_eq!(listed(&app, "listing", "5").await.len(), 3);
}

/// Facts beside a native form are not what counts, whoever its neighbours are, and no native form is none.
#[tokio::test]
async fn what_was_signed_goes_before_what_is_said() {
    let id = case("seaport", "a token for the chain's own currency")["orders"][0]["id"].clone();
    for others in [Vec::new(), vec![json!(7)]] {
        for name in ["native", "Native"] {
            let app = venues().await;
            let mut order = first_of("seaport", "a token for the chain's own currency");
            let native = order["native"].take();
            order.as_object_mut().unwrap().remove("native");
            let both = with(with(plain("said"), order), json!({ name: native }));
            put(&app, [both].into_iter().chain(others.clone())).await;
            let found = listed(&app, "listing", "5").await;
            assert_eq!(found.len(), 1, "{name}");
            assert_eq!((&found[0]["orderId"], &found[0]["priceAmount"]), (&id, &json!("1000")), "{name}");
            super::buy(&app, "opensea", text(&id)).await.ok();
        }
        let app = venues().await;
        put(&app, [with(plain("said"), json!({ "native": null }))].into_iter().chain(others)).await;
        assert_eq!(listed(&app, "listing", "5").await[0]["orderId"], "said");
    }
}

#[tokio::test]
async fn published_forms_are_read_too() {
    let app = venues().await;
    let case = case("seaport", "a token for the chain's own currency");
    let order = &case["orders"][0];
    // As OpenSea publishes it: members under `parameters`, the signature beside them, the contract under its own name.
    let published = json!({ "marketplace": "OpenSea", "chainId": "mainnet",
        "native": { "parameters": order["native"], "signature": order["signature"], "protocol_address": super::SEAPORT } });
    let answer = put(&app, [published]).await;
    assert_eq!(answer["rejected"][0]["reason"], "unknown-marketplace", "{answer}");
    let published = json!({ "marketplace": "opensea", "chainID": "mainnet",
        "native": { "parameters": order["native"], "signature": order["signature"], "protocol_address": super::SEAPORT } });
    taken(&put(&app, [published]).await);
    assert_eq!(listed(&app, "listing", "5").await[0]["orderId"], order["id"]);
}
