//! Listings that their buyers must sign for, as the first version of Payment Processor has it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::wallet::Wallet;
use super::{COLLECTION, case, check_step, data, put, refusal, signed, taken, text, venues_with};
use crate::support::TestApp;
use crate::support::actor::{Actor, Answer};
use crate::support::chain::FakeChain;

/// The one family whose buyers sign as well.
pub(super) const FAMILY: &str = "payment_processor_v1";
const CONTRACT: &str = "0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507";
const ONE: &str = "a token for the chain's own currency";

/// Who buys in the vectors.
fn buyer() -> Wallet {
    Wallet::of(0x33)
}

/// A chain on which everybody's master nonce is that of the vectors, and all may be moved.
fn chain() -> Arc<FakeChain> {
    let chain = Arc::new(FakeChain { allowance: Some(10_000), ..FakeChain::default() });
    chain.says(CONTRACT, "masterNonces(address)", &[2]);
    chain
}

/// A service that has the listings of a case.
async fn holding(case: &Value, chain: &Arc<FakeChain>) -> TestApp {
    let app = venues_with(&[], Some(Arc::clone(chain))).await;
    let orders = case["orders"].as_array().unwrap().iter();
    taken(&put(&app, orders.map(|order| signed("payment_processor", order))).await);
    app
}

/// Asks for what it takes to buy the listings of a case.
async fn buy(actor: &Actor, case: &Value, members: Value) -> Answer {
    let ids = case["orders"].as_array().unwrap().iter().map(|order| text(&order["id"]));
    let quantities = case["fill"]["quantities"].as_array().unwrap().iter().map(text);
    let orders: Vec<(&str, &str)> = ids.zip(quantities).collect();
    let body = json!({ "chainId": "1", "collectionAddress": COLLECTION, "buyer": buyer().address(),
        "marketplace": "payment_processor", "ordersData": data(&orders) });
    actor.call("Marketplace/GenerateBuyTransaction", crate::marketplace::with(body, members)).await
}

async fn steps(app: &TestApp, case: &Value) -> Vec<Value> {
    steps_through(&app.project_a.key, case).await
}

async fn steps_through(actor: &Actor, case: &Value) -> Vec<Value> {
    let answer = buy(actor, case, json!({})).await.ok();
    answer["steps"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

/// Says what a step's `post` says, with a signature.
async fn execute(app: &TestApp, step: &Value, signature: &str) -> Answer {
    execute_through(&app.project_a.key, step, signature).await
}

async fn execute_through(actor: &Actor, step: &Value, signature: &str) -> Answer {
    let params = json!({ "chainId": "1", "signature": signature, "method": "POST",
        "endpoint": step["post"]["endpoint"], "body": step["post"]["body"], "executeType": step["executeType"] });
    actor.call("Marketplace/Execute", json!({ "params": params })).await
}

/// Whichever server takes a signature, all of them know of it, also one that starts later.
#[tokio::test]
async fn what_was_signed_through_one_server_counts_at_all_of_them() {
    let (case, chain) = (case(FAMILY, "two listings at once"), chain());
    let app = holding(&case, &chain).await;
    let beside = async || app.another_asking(&[], Some(Arc::<FakeChain>::clone(&chain))).await;
    let other = beside().await;
    let asked = steps(&app, &case).await;
    let [first, second] = asked.as_slice() else { panic!("{asked:?}") };
    for (actor, step) in [(&app.project_a.key, first), (&other.key, second)] {
        execute_through(actor, step, &buyer().sign_typed(&step["signature"])).await.ok();
    }
    let later = beside().await;
    let all = [&app.project_a.key, &other.key, &later.key];
    for actor in all {
        let bought = steps_through(actor, &case).await;
        let [step] = bought.as_slice() else { panic!("{bought:?}") };
        check_step(step, "buy", &case["fill"]);
    }
    app.clock.advance(3301);
    for actor in all {
        assert_eq!(steps_through(actor, &case).await[0]["id"], "signEIP712");
    }
}

#[tokio::test]
async fn buyers_sign_and_then_buy() {
    for name in [ONE, "all units for a currency", "two listings at once"] {
        let case = case(FAMILY, name);
        let app = holding(&case, &chain()).await;
        let asked = steps(&app, &case).await;
        assert_eq!(asked.len(), case["orders"].as_array().unwrap().len(), "one signature for each");
        for (step, listing) in asked.iter().zip(case["orders"].as_array().unwrap()) {
            assert_eq!((&step["id"], &step["executeType"]), (&json!("signEIP712"), &json!("order")));
            assert_eq!(step["post"]["endpoint"], "/rpc/Marketplace/Execute");
            assert_eq!(step["signature"]["primaryType"], "OfferApproval");
            assert_eq!(step["price"], listing["native"]["minPrice"]);
            let signature = buyer().sign_typed(&step["signature"]);
            assert_eq!(execute(&app, step, &signature).await.ok(), json!({ "orderId": "" }));
        }
        let bought = steps(&app, &case).await;
        let [step] = bought.as_slice() else { panic!("{bought:?}") };
        check_step(step, "buy", &case["fill"]);
    }
}

#[tokio::test]
async fn what_was_signed_is_forgotten_before_it_ends() {
    let case = case(FAMILY, ONE);
    let app = holding(&case, &chain()).await;
    let step = steps(&app, &case).await.remove(0);
    let signature = buyer().sign_typed(&step["signature"]);
    execute(&app, &step, &signature).await.ok();
    app.clock.advance(3300);
    assert_eq!(steps(&app, &case).await[0]["id"], "buy");
    app.clock.advance(1);
    let again = steps(&app, &case).await.remove(0);
    assert_eq!(again["id"], "signEIP712");
    assert_ne!(again["signature"]["value"]["expiration"], step["signature"]["value"]["expiration"]);
    let late = execute(&app, &step, &signature).await;
    assert_eq!(refusal(&late), (400, "body.terms: ended, ask what to sign again"));
}

#[tokio::test]
async fn nobody_signs_for_somebody_else() {
    let (case, chain) = (case(FAMILY, ONE), chain());
    let app = holding(&case, &chain).await;
    let step = steps(&app, &case).await.remove(0);
    let (own, other) = (buyer().address(), Wallet::of(8));
    let theirs = other.sign_typed(&step["signature"]);
    let refused = execute(&app, &step, &theirs).await;
    assert_eq!(refusal(&refused), (400, format!("signature: was not made by {own}").as_str()));
    let changed = |member: &str, value: Value| {
        let mut step = step.clone();
        *step["post"]["body"].pointer_mut(member).unwrap() = value;
        step
    };
    let mine = buyer().sign_typed(&step["signature"]);
    for (member, value, reason) in [
        (
            "/wallet",
            json!(other.address()),
            format!("body.terms: are for {own}, not for {}", other.address()),
        ),
        ("/terms/price", json!("1"), format!("signature: was not made by {own}")),
        ("/terms/price", json!(null), "body.terms.price: is required".to_owned()),
        (
            "/contract",
            json!(other.address()),
            "body: names no marketplace where something is signed to fill orders".to_owned(),
        ),
        (
            "/marketplace",
            json!("zerox"),
            "body: names no marketplace where something is signed to fill orders".to_owned(),
        ),
    ] {
        let refused = execute(&app, &changed(member, value), &mine).await;
        assert_eq!(refusal(&refused), (400, reason.as_str()), "{member}");
    }
    assert_eq!(steps(&app, &case).await[0]["id"], "signEIP712", "nobody has signed");
    // A wallet that is a contract says itself that it agrees.
    chain.says_data(&own, "1626ba7e", &format!("1626ba7e{}", "00".repeat(28)));
    execute(&app, &step, &theirs).await.ok();
    assert_eq!(steps(&app, &case).await[0]["id"], "buy");
}

#[tokio::test]
async fn nobody_signs_in_vain() {
    let (case, chain) = (case(FAMILY, ONE), chain());
    let app = holding(&case, &chain).await;
    let fee = json!({ "additionalFees": [{ "amount": "100", "receiver": "0x00000000000000000000000000000000000005a0" }] });
    let reason =
        "additionalFees: Payment Processor 1 cannot pay fees to others on top of its orders: leave them out";
    assert_eq!(refusal(&buy(&app.project_a.key, &case, fee).await), (400, reason));
    // Without a node nobody knows which number the buyer has to sign.
    chain.asleep();
    let reason =
        "a node of the network must tell the master nonce of the buyer before an order can be signed";
    assert_eq!(refusal(&buy(&app.project_a.key, &case, json!({})).await), (409, reason));
    // The seller took everything back.
    chain.says(CONTRACT, "masterNonces(address)", &[3]);
    let refused = buy(&app.project_a.key, &case, json!({})).await;
    let (status, reason) = refusal(&refused);
    assert!(
        status == 409 && reason.ends_with("the maker took the order back, or filled another in its place")
    );
}
