//! Signed orders that nobody vouches for: their makers must be known to have what they would give.

use std::sync::Arc;

use bourse_market::Nonces;
use bourse_store::testing::{batch, operator};
use bourse_store::{Change, CollectionKey, SignedOrder};
use bourse_wire::{Amount, ChainId, Marketplace, OrderFacts, OrderKey, Timestamp, TokenId};
use serde_json::{Value, json};

use super::making::{able, counting, execute, execution, make, signing, trading};
use super::wallet::Wallet;
use super::{
    COLLECTION, SEAPORT, ZERO, buy, first_of, listed, put, signed, taken, text, vectors, venues_with,
};
use crate::support::TestApp;
use crate::support::chain::FakeChain;
use crate::support::project::{Project, everything};

/// The status of an order by its name.
async fn status(app: &TestApp, marketplace: &str, id: &str) -> String {
    let input = json!([{ "contractAddress": COLLECTION, "orderId": id, "marketplace": marketplace }]);
    let answer =
        app.project_a.key.call("Marketplace/GetOrders", json!({ "chainId": "1", "input": input })).await.ok();
    text(&answer["orders"][0]["status"]).to_owned()
}

/// The price of the cheapest listing.
async fn listing_floor(app: &TestApp) -> Value {
    let body = json!({ "chainId": "1", "contractAddress": COLLECTION });
    let answer = app.project_b.key.call("Marketplace/GetFloorOrder", body).await;
    answer.json["collectible"]["order"]["priceAmount"].clone()
}

/// Makes a listing or an offer with the public key alone.
async fn made(app: &TestApp, maker: &Wallet, side: &str, price: &str) -> String {
    let step = signing(&make(app, maker, side, "opensea", json!({ "pricePerToken": price })).await.ok());
    let answer = execute(app, execution(&step, &maker.sign_typed(&step["signature"]))).await.ok();
    text(&answer["orderId"]).to_owned()
}

/// A node that knows nothing of what makers have.
fn silent() -> FakeChain {
    let chain = FakeChain::default();
    chain.says(SEAPORT, "getCounter(address)", &[4]);
    chain
}

#[tokio::test]
async fn an_order_of_a_random_wallet_is_not_the_floor_where_ownership_is_unknown() {
    let app = trading(Arc::new(silent())).await;
    for side in ["listing", "offer"] {
        let id = made(&app, &Wallet::of(9), side, "1").await;
        assert_eq!(status(&app, "opensea", &id).await, "inactive", "{side}");
        if side == "listing" {
            assert_eq!(buy(&app, "opensea", &id).await.status, 409);
        }
        assert!(listed(&app, side, "5").await.is_empty(), "{side}");
    }
    assert_eq!(listing_floor(&app).await, Value::Null);
}

#[tokio::test]
async fn whoever_has_it_and_lets_it_be_moved_sells_it() {
    let chain = Arc::new(silent());
    let app = trading(Arc::clone(&chain)).await;
    let id = made(&app, &Wallet::of(9), "listing", "6").await;
    let says = |approved: u64, held: u64| {
        chain.says(COLLECTION, "isApprovedForAll(address,address)", &[approved]);
        chain.says(COLLECTION, "balanceOf(address,uint256)", &[held]);
    };
    for (approved, held, expected) in [(0, 1, "inactive"), (1, 0, "inactive"), (1, 1, "active")] {
        says(approved, held);
        // The same signature again makes the same order, and what is known by now counts.
        assert_eq!(made_again(&app, &id).await, expected, "{approved} {held}");
    }
    assert_eq!(listing_floor(&app).await, "6");
    // What is known does not become unknown because somebody sends it again.
    says(1, 0);
    assert_eq!(made_again(&app, &id).await, "active");
}

async fn made_again(app: &TestApp, id: &str) -> String {
    let native = app.store.natives_by_key(
        app.store.collection(collection()).await.unwrap().unwrap(),
        vec![OrderKey { marketplace: Marketplace::Opensea, order_id: id.to_owned() }],
    );
    let native: Value = serde_json::from_str(native.await.unwrap().values().next().unwrap()).unwrap();
    let body = json!({ "chainId": 1, "marketplace": "opensea", "native": native });
    let again = json!({ "params": { "chainId": "1", "signature": native["signature"], "body": body } });
    assert_eq!(execute(app, again).await.ok()["orderId"], id);
    status(app, "opensea", id).await
}

fn collection() -> CollectionKey {
    CollectionKey { chain: ChainId(1), address: COLLECTION.parse().unwrap() }
}

/// Balances that a steward stated count where no node can be asked.
#[tokio::test]
async fn whom_a_steward_knows_to_have_it_sells_it() {
    let chain = Arc::new(silent());
    let app = trading(Arc::clone(&chain)).await;
    let (owner, other) = (Wallet::of(9), Wallet::of(8));
    let balance = json!({ "chainId": 1, "contractAddress": COLLECTION, "tokenId": "5", "account": owner.address(),
        "balance": "1" });
    app.project_a.call("Ingest/PutBalances", json!({ "balances": [balance] })).await.ok();
    let id = made(&app, &owner, "listing", "6").await;
    assert_eq!(status(&app, "opensea", &id).await, "active");
    let id = made_by_other(&app, &other).await;
    assert_eq!(status(&app, "opensea", &id).await, "inactive");
}

/// An order of somebody who is known not to hold the token: no step is made for them, so they sign by themselves.
async fn made_by_other(app: &TestApp, other: &Wallet) -> String {
    let step =
        signing(&make(app, &Wallet::of(9), "listing", "opensea", json!({ "pricePerToken": "1" })).await.ok());
    let mut forged = step.clone();
    for place in ["/signature/value/offerer", "/post/body/native/offerer"] {
        *forged.pointer_mut(place).unwrap() = json!(other.address());
    }
    for place in ["/signature/value/consideration/0/recipient", "/post/body/native/consideration/0/recipient"]
    {
        *forged.pointer_mut(place).unwrap() = json!(other.address());
    }
    let answer = execute(app, execution(&forged, &other.sign_typed(&forged["signature"]))).await.ok();
    text(&answer["orderId"]).to_owned()
}

#[tokio::test]
async fn so_many_are_kept_and_whoever_has_it_is_never_crowded_out() {
    let limits = [("limits.unbacked_orders_max", "2"), ("limits.maker_orders_max", "3")];
    let chain = Arc::new(silent());
    let app = venues_with(&limits, Some(Arc::clone(&chain))).await;
    let token = json!({ "chainId": 1, "contractAddress": COLLECTION, "tokenId": "5" });
    app.project_a.call("Ingest/PutTokens", json!({ "tokens": [token] })).await.ok();
    for wallet in [1, 2] {
        made(&app, &Wallet::of(wallet), "listing", "1").await;
    }
    let refused = async |wallet: &Wallet, price: &str, reason: &str| {
        let step =
            signing(&make(&app, wallet, "listing", "opensea", json!({ "pricePerToken": price })).await.ok());
        let answer = execute(&app, execution(&step, &wallet.sign_typed(&step["signature"]))).await;
        assert_eq!(answer.refusal(), (400, 2001), "{}", answer.json);
        assert!(text(&answer.json["msg"]).contains(reason), "{}", answer.json);
    };
    refused(&Wallet::of(3), "1", "the collection has 2 orders whose makers are not known").await;
    able(&chain);
    for price in ["7", "8", "9"] {
        let id = made(&app, &Wallet::of(3), "listing", price).await;
        assert_eq!(status(&app, "opensea", &id).await, "active");
    }
    refused(&Wallet::of(3), "10", "has 3 open orders in this collection").await;
    assert_eq!(listing_floor(&app).await, "7");
}

#[tokio::test]
async fn one_key_sends_so_many_a_minute() {
    let chain = Arc::new(counting());
    let app = venues_with(&[("limits.key_orders_per_minute", "2")], Some(chain)).await;
    let token = json!({ "chainId": 1, "contractAddress": COLLECTION, "tokenId": "5" });
    app.project_a.call("Ingest/PutTokens", json!({ "tokens": [token] })).await.ok();
    let maker = Wallet::of(9);
    for price in ["6", "7"] {
        made(&app, &maker, "listing", price).await;
    }
    let step = signing(&make(&app, &maker, "listing", "opensea", json!({ "pricePerToken": "8" })).await.ok());
    let body = execution(&step, &maker.sign_typed(&step["signature"]));
    assert_eq!(execute(&app, body.clone()).await.refusal(), (429, 1201));
    // Another key, and whoever is a steward, go on.
    app.project_b.key.call("Marketplace/Execute", body.clone()).await.ok();
    app.project_a.token.call("Marketplace/Execute", body).await.ok();
}

/// A project that is a steward of nothing here: of its signed orders none is offered, and others are refused.
#[tokio::test]
async fn a_project_that_is_no_steward_is_a_stranger() {
    let (app, ()) = TestApp::prepared(&[], async |store, _, project_b| {
        for grant in everything() {
            store.remove_grant(project_b.scope, grant, operator()).await.unwrap();
        }
    })
    .await;
    let money =
        json!({ "contractAddress": ZERO, "name": "n", "symbol": "s", "decimals": 18, "exchangeRate": "1" });
    app.project_a.call("Ingest/PutCurrencies", json!({ "chainId": 1, "currencies": [money] })).await.ok();
    let put = async |project: &Project, orders: Value| {
        project.call("Ingest/PutOrders", json!({ "chainId": 1, "orders": orders })).await.ok()
    };
    let held = vectors("held");
    let unsigned = json!([
        signed("x2y2", &json!({ "native": held["x2y2"]["order"] })),
        signed("blur", &held["blur"]["orders"][0]),
        signed("opensea", &held["seaport"]["opensea"]),
    ]);
    let answer = put(&app.project_b, unsigned).await;
    assert_eq!((&answer["accepted"], &answer["changed"]), (&json!(0), &json!(0)), "{answer}");
    let rejected = answer["rejected"].as_array().unwrap();
    assert!(rejected.iter().all(|one| one["reason"] == "not-granted"), "{answer}");
    let order = json!([first_of("seaport", "a token for the chain's own currency")]);
    assert_eq!(put(&app.project_b, order.clone()).await["accepted"], 1);
    assert!(listed(&app, "listing", "5").await.is_empty());
    // A steward who sends the same vouches for it.
    assert_eq!(put(&app.project_a, order).await["changed"], 1);
    assert_eq!(listed(&app, "listing", "5").await.len(), 1);
}

/// What somebody changes of an order.
type Forgery = fn(&mut OrderFacts);

/// Whatever an order is said to be: what is sold is what was signed, and nothing where the two differ.
#[tokio::test]
async fn what_was_not_signed_is_not_sold() {
    let app = venues_with(&[], None).await;
    taken(&put(&app, [first_of("seaport", "a token for the chain's own currency")]).await);
    let id = app.store.collection(collection()).await.unwrap().unwrap();
    let order = listed(&app, "listing", "5").await.remove(0);
    let order_id = text(&order["orderId"]);
    assert_eq!(buy(&app, "opensea", order_id).await.status, 200);
    let key = OrderKey { marketplace: Marketplace::Opensea, order_id: order_id.to_owned() };
    let natives = app.store.natives_by_key(id, vec![key.clone()]).await.unwrap();
    let facts = app.store.orders_by_key(id, vec![key.clone()]).await.unwrap().remove(0);
    let changes: [(&str, Forgery); 3] = [
        ("priceAmount", |facts| facts.price_amount = Amount::from(1)),
        ("tokenId", |facts| facts.token_id = Some(TokenId::from(666))),
        ("validUntil", |facts| facts.valid_until = Timestamp::ZERO),
    ];
    for (member, change) in changes {
        // As if somebody had written into the database.
        let mut facts = facts.clone();
        change(&mut facts);
        let forged = SignedOrder { facts, native: natives[&key].clone(), nonces: Nonces::default() };
        let changes = vec![Change::SignedOrder(Box::new(forged))];
        let app = venues_with(&[], None).await;
        app.store.commit(batch(collection(), changes)).await.unwrap();
        let answer = buy(&app, "opensea", order_id).await;
        assert_eq!(answer.refusal(), (409, 1004), "{}", answer.json);
        assert!(text(&answer.json["msg"]).contains(&format!("{member} is not what its maker made it")));
    }
}
