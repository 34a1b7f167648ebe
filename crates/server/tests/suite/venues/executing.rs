//! `Execute` takes what was signed and nothing else.

use std::sync::Arc;

use bourse_store::{AttributionPage, Author, CollectionKey, CredentialId, Sender};
use bourse_wire::ChainId;
use serde_json::{Value, json};

use super::making::{able, counting, execute, execution, make, signing, trading};
use super::wallet::Wallet;
use super::{COLLECTION, DOLLAR, TAKER, changed, first_of, listed, signed, text, vectors, venues};
use crate::marketplace::with;
use crate::support::TestApp;
use crate::support::chain::FakeChain;

/// A service, and a step of it that asks somebody for a signature.
async fn asked() -> (TestApp, Wallet, Value) {
    let app = trading(Arc::new(counting())).await;
    let maker = Wallet::of(9);
    let step = signing(&make(&app, &maker, "listing", "opensea", json!({})).await.ok());
    (app, maker, step)
}

#[tokio::test]
async fn all_that_clients_send_is_understood() {
    let (app, maker, step) = asked().await;
    let signature = maker.sign_typed(&step["signature"]);
    let whole = execution(&step, &signature);
    let mut bare = whole["params"].clone();
    let ids = [
        execute(&app, whole.clone()).await.ok()["orderId"].clone(),
        // As clients of 2024 send it.
        execute(&app, bare.clone()).await.ok()["orderId"].clone(),
        execute(
            &app,
            json!({ "params": { "Signature": signature, "BODY": step["post"]["body"], "chainID": 1,
            "executeType": "createListing", "additional": null } }),
        )
        .await
        .ok()["orderId"]
            .clone(),
        app.project_a.key.post("/mainnet/rpc/Marketplace/Execute", whole.to_string()).await.ok()["orderId"]
            .clone(),
    ];
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(listed(&app, "listing", "5").await.len(), 1);
    // The body names its chain itself.
    bare.as_object_mut().unwrap().remove("chainId");
    execute(&app, bare).await.ok();
}

#[tokio::test]
async fn the_wallet_and_the_key_it_came_through_are_kept() {
    let (app, maker, step) = asked().await;
    execute(&app, execution(&step, &maker.sign_typed(&step["signature"]))).await.ok();
    let collection = CollectionKey { chain: ChainId(1), address: COLLECTION.parse().unwrap() };
    let found = app.store.attributions(collection, AttributionPage::newest(1)).await.unwrap();
    let credential = CredentialId::AccessKey(app.project_a.key_record.id);
    let sender = Sender { project: app.project_a.id, credential };
    let wallet = Some(maker.address().parse().unwrap());
    assert_eq!(found[0].author, Author::Wallet { wallet, sender });
}

#[tokio::test]
async fn whoever_did_not_sign_it_makes_nothing() {
    let (app, maker, step) = asked().await;
    let token = json!({ "chainId": 137, "contractAddress": COLLECTION, "tokenId": "5" });
    app.project_a.call("Ingest/PutTokens", json!({ "tokens": [token] })).await.ok();
    let refused = async |body: Value, reason: &str| {
        let answer = execute(&app, body).await;
        assert_eq!(answer.refusal(), (400, 2001), "{}", answer.json);
        assert!(text(&answer.json["msg"]).starts_with(reason), "{reason}: {}", answer.json);
    };
    let other = Wallet::of(8).sign_typed(&step["signature"]);
    refused(execution(&step, &other), "signature: was not made").await;
    refused(execution(&step, "0x"), "signature: is required").await;
    refused(execution(&step, "hello"), "signature: must be 0x").await;
    refused(execution(&step, &format!("0x{}", "00".repeat(3000))), "").await;
    let own = maker.sign_typed(&step["signature"]);
    // A price that was not signed.
    let mut dearer = execution(&step, &own);
    for member in ["startAmount", "endAmount"] {
        dearer["params"]["body"]["native"]["consideration"][0][member] = json!("7");
    }
    refused(dearer, "signature: was not made").await;
    let mut elsewhere = execution(&step, &own);
    elsewhere["params"]["body"]["marketplace"] = json!("mintify");
    refused(elsewhere, "native.protocolAddress: ").await;
    let mut elsewhere = execution(&step, &own);
    elsewhere["params"]["body"]["chainId"] = json!("137");
    refused(elsewhere, "signature: was not made").await;
    assert!(listed(&app, "listing", "5").await.is_empty());
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let (app, maker, step) = asked().await;
    let whole = execution(&step, &maker.sign_typed(&step["signature"]));
    let without = |path: &str, name: &str| {
        let mut body = whole.clone();
        body.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(name);
        body
    };
    for (body, status, reason) in [
        (json!({}), 400, "signature: is required"),
        (json!({ "params": {} }), 400, "signature: is required"),
        (without("/params", "signature"), 400, "signature: is required"),
        (without("/params", "body"), 400, "body: is required"),
        (without("/params/body", "marketplace"), 400, "marketplace: is required"),
        (without("/params/body", "native"), 400, "native: is required"),
        (without("/params/body/native", "salt"), 400, "native.salt: is required"),
        (changed_body(&whole, "marketplace", json!("nowhere")), 400, ""),
        (
            changed_body(&whole, "marketplace", json!("bourse_marketplace_v2")),
            400,
            "native.protocolAddress: ",
        ),
        (changed_body(&whole, "chainId", json!("nowhere")), 400, "chainId: `nowhere`"),
        (changed_body(&whole, "kind", json!("consent")), 400, "contract: is required"),
        (changed_body(&whole, "kind", json!("login")), 400, "body.kind: `login` is not known"),
    ] {
        let answer = execute(&app, body).await;
        assert_eq!(answer.status, status, "{}", answer.json);
        assert!(text(&answer.json["msg"]).starts_with(reason), "{reason}: {}", answer.json);
    }
    let answer = app.anonymous.call("Marketplace/Execute", whole).await;
    assert_eq!(answer.refusal(), (401, 1000));
    assert!(listed(&app, "listing", "5").await.is_empty());
}

fn changed_body(whole: &Value, name: &str, value: Value) -> Value {
    let mut body = whole.clone();
    body["params"]["body"][name] = value;
    body
}

/// Whoever has an access key may call it, so it must not be a way to put what only a secret token may.
#[tokio::test]
async fn it_is_no_way_around_the_secret_token() {
    let app = venues().await;
    let order = first_of("seaport", "a token for the chain's own currency");
    let params = |order: &Value| json!({ "params": { "signature": order["signature"], "body": order } });
    let answer = execute(&app, params(&order)).await;
    assert_eq!(answer.refusal(), (400, 2000), "no collection is made: {}", answer.json);
    let chain = FakeChain::default();
    able(&chain);
    let app = trading(Arc::new(chain)).await;
    execute(&app, params(&order)).await.ok();
    let ended = changed(changed(order, "/startTime", json!("5")), "/endTime", json!("1700000000"));
    let answer = execute(&app, params(&ended)).await;
    assert!(text(&answer.json["msg"]).contains("is over"), "{}", answer.json);
    // What nobody signed.
    let held = vectors("held");
    for order in [
        signed("x2y2", &json!({ "native": held["x2y2"]["order"] })),
        signed("blur", &held["blur"]["orders"][0]),
        signed("opensea", &held["seaport"]["opensea"]),
    ] {
        let body = json!({ "params": { "signature": "", "body": order } });
        let answer = execute(&app, body).await;
        assert_eq!(answer.status, 400, "{}", answer.json);
        assert_eq!(answer.json["msg"], "signature: is required");
        let body = json!({ "params": { "signature": Wallet::of(3).sign_text("x"), "body": order } });
        let answer = execute(&app, body).await;
        assert_eq!(answer.status, 400, "{}", answer.json);
    }
    // An order by what it is, without what was signed.
    let plain = json!({ "chainId": 1, "collectionContractAddress": COLLECTION, "orderId": "1", "marketplace": "opensea",
        "side": "listing", "tokenId": "5", "createdBy": TAKER, "priceAmount": "5", "priceCurrencyAddress": DOLLAR });
    let answer = execute(&app, json!({ "params": { "signature": "0x12", "body": plain } })).await;
    assert_eq!((answer.status, &answer.json["msg"]), (400, &json!("native: is required")));
    assert_eq!(listed(&app, "listing", "5").await.len(), 1);
}

#[tokio::test]
async fn the_chain_has_its_say() {
    let chain = Arc::new(counting());
    let app = trading(Arc::clone(&chain)).await;
    let maker = Wallet::of(9);
    let step = signing(&make(&app, &maker, "listing", "opensea", json!({})).await.ok());
    // The maker took back everything before signing.
    chain.says(super::SEAPORT, "getCounter(address)", &[5]);
    chain.says(super::SEAPORT, "getOrderStatus(bytes32)", &[0, 0, 0, 0]);
    let answer = execute(&app, execution(&step, &maker.sign_typed(&step["signature"]))).await;
    let reason = "the maker took the order back, or filled another in its place";
    assert_eq!((answer.status, text(&answer.json["msg"])), (400, reason));
    // Two projects share what is on a chain: what one made, the other sees.
    chain.says(super::SEAPORT, "getCounter(address)", &[4]);
    execute(&app, execution(&step, &maker.sign_typed(&step["signature"]))).await.ok();
    let body = with(json!({ "chainId": "1", "contractAddress": COLLECTION }), json!({ "tokenId": "5" }));
    let seen = app.project_b.key.call("Marketplace/ListListingsForCollectible", body).await.ok();
    assert_eq!(seen["listings"].as_array().unwrap().len(), 1);
}
