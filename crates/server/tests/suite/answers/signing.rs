//! Orders that are signed, and what is signed.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::transcript::Transcript;
use crate::venues::making::{counting, make, signing, trading};
use crate::venues::stand_in::StandIn;
use crate::venues::wallet::Wallet;
use crate::venues::{COLLECTION, TAKER, changed, first_of, put, signed, vectors, venues_asking};

/// A text in which a number that is drawn anew each time is named.
fn named(text: &str, drawn: &Value) -> String {
    text.replace(drawn.as_str().unwrap(), "DRAWN")
}

#[tokio::test]
async fn steps_to_sign() {
    let app = trading(Arc::new(counting())).await;
    let maker = Wallet::of(9);
    let mut said = String::new();
    for (marketplace, side, member) in [
        ("opensea", "listing", "salt"),
        ("looks_rare", "listing", "orderNonce"),
        ("payment_processor", "offer", "nonce"),
    ] {
        let answer = make(&app, &maker, side, marketplace, json!({})).await.ok();
        let drawn = signing(&answer)["post"]["body"]["native"][member].clone();
        let text = serde_json::to_string_pretty(&answer).unwrap();
        writeln!(said, "{marketplace} {side}\n{}\n", named(&text, &drawn)).unwrap();
    }
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn execute() {
    let app = trading(Arc::default()).await;
    let mut said = Transcript::default();
    let order = first_of("payment_processor", "a token for the chain's own currency");
    let params = |order: &Value| {
        json!({ "params": { "chainId": "1", "signature": order["signature"], "method": "POST",
            "endpoint": "/rpc/Marketplace/Execute", "executeType": "order", "body": order } })
    };
    let other = changed(first_of("zerox", "a token for the chain's own currency"), "/nonce", json!("77"));
    let elsewhere = changed(order.clone(), "/tokenAddress", json!(TAKER));
    let a = &app.project_a;
    for body in [
        params(&order),
        params(&other),
        params(&elsewhere),
        json!({ "params": { "signature": "0x12" } }),
        json!({}),
    ] {
        said.call(a, "Marketplace/Execute", body).await;
    }
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn purchases_that_a_marketplace_agrees_to() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held");
    let hosted = &held["seaport"]["opensea"];
    put(&app, [signed("opensea", hosted), signed("blur", &held["blur"]["orders"][0])]).await;
    let mut said = Transcript::default();
    let buy = |marketplace: &str, id: &Value| {
        json!({ "chainId": "1", "collectionAddress": COLLECTION, "buyer": TAKER, "marketplace": marketplace,
            "ordersData": [{ "orderId": id, "quantity": "1" }] })
    };
    let operation = "Marketplace/GenerateBuyTransaction";
    said.call(&app.project_a, operation, buy("opensea", &hosted["id"])).await;
    source.knows(hosted["id"].as_str().unwrap(), &hosted["answer"]);
    said.call(&app.project_a, operation, buy("opensea", &hosted["id"])).await;
    said.call(&app.project_a, operation, buy("blur", &held["blur"]["orders"][0]["id"])).await;
    insta::assert_snapshot!(said.text());
}
