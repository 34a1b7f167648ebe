//! What happens in a project's market is counted for it, once.

use bourse_server::Background;
use bourse_store::testing::{batch, happened, operator, take_back};
use bourse_store::{Change, CollectionId};
use bourse_wire::{ActivityAction, ActivityFacts, Address, Amount, Timestamp};
use serde_json::{Value, json};

use super::{ask, points};
use crate::support::actor::Actor;
use crate::support::market::{put, put_order};
use crate::support::seed::{ACCOUNT, RELICS, key};
use crate::support::{Beside, TestApp, wait_until};

const RANGE: [&str; 2] = ["2021-01-01", "2025-12-31"];
const OTHER: &str = "0x00000000000000000000000000000000000000bb";
/// Before every test begins.
const EARLIER: &str = "2025-03-10T08:00:00Z";

/// The market events of each day, by action.
async fn trades(actor: &Actor) -> Value {
    let days = ask(actor, "MarketTxnEventDaily", RANGE, json!({})).await;
    let day = |day: &Value| (day["label"].as_str().unwrap().to_owned(), day["value"].clone());
    Value::Object(days["marketStats"].as_array().unwrap().iter().map(day).collect())
}

/// Waits until the market events are these.
async fn counted(actor: &Actor, expected: Value) {
    wait_until(&format!("{expected} are counted"), async || trades(actor).await == expected).await;
}

async fn market_wallets(actor: &Actor) -> f64 {
    points(actor, "MarketWalletsTotal", RANGE, json!({})).await[0].1
}

/// Has one more listing counted, of this moment. What happened before it was looked at before it, so nothing that must
/// not be counted, or not again, is still to come.
async fn count_one_more(app: &TestApp, actor: &Actor, all: &mut Value) {
    let now = app.now().to_string();
    let (day, _) = now.split_once('T').unwrap();
    let listings = all[day]["list"].as_u64().unwrap_or(0);
    state(app, vec![stated(ActivityAction::Listing, &format!("0xee{day}{listings}"), &now)]).await;
    all[day]["list"] = json!(listings + 1);
    counted(actor, all.clone()).await;
}

async fn relics(app: &TestApp) -> CollectionId {
    app.store.collection(key(RELICS)).await.unwrap().unwrap()
}

/// Something that a chain states, in a transaction of its own.
fn stated(action: ActivityAction, tx: &str, at: &str) -> Change {
    let at: Timestamp = at.parse().unwrap();
    Change::Activity(Box::new(ActivityFacts {
        from: Address::from_bytes([1; 20]),
        to: Some(Address::from_bytes([2; 20])),
        price_amount: Some(Amount::from(5_u64)),
        at,
        log_index: 3,
        unique_hash: format!("{tx}:3:0:{action:?}"),
        created_at: at,
        ..happened(action, 1, tx)
    }))
}

async fn state(app: &TestApp, changes: Vec<Change>) {
    app.store.commit(batch(key(RELICS), changes)).await.unwrap();
}

#[tokio::test]
async fn orders_that_a_project_puts_are_its_market_events() {
    let app = TestApp::start().await;
    let background = app.background();
    let (a, b) = (&app.project_a.token, &app.project_b.token);
    put_order(&app, "1", json!({ "orderCreatedAt": EARLIER })).await;
    counted(a, json!({ "2025-03-10": { "list": 1 } })).await;
    put_order(&app, "2", json!({ "side": "offer", "createdBy": OTHER })).await;
    // A new price is no new order. Two of five are sold, and then the rest is taken back.
    put_order(&app, "1", json!({ "priceAmount": "7" })).await;
    put_order(&app, "1", json!({ "quantityRemaining": "3" })).await;
    let ended = json!({ "chainId": 137, "orders": [
        { "collectionContractAddress": RELICS, "marketplace": "opensea", "orderId": "1" } ] });
    put(&app, "CancelOrders", ended).await;
    let mut all =
        json!({ "2025-03-10": { "list": 1 }, "2025-03-14": { "offer": 1, "sell": 1, "cancel": 1 } });
    counted(a, all.clone()).await;
    assert!((market_wallets(a).await - 2.0).abs() < 1e-9);
    assert_eq!(trades(b).await, json!({}));
    // Whoever puts something into the collection has it in its market, with all that happened.
    let token = json!({ "chainId": 137, "tokens": [{ "contractAddress": RELICS, "tokenId": "1", "name": "Compass" }] });
    b.call("Ingest/PutTokens", token).await.ok();
    counted(b, all.clone()).await;
    background.stop().await;
    // Another process finds nothing more to count.
    let other = app.another().await;
    let background = other.background();
    count_one_more(&app, &other.token, &mut all).await;
    background.stop().await;
}

#[tokio::test]
async fn a_linked_contract_is_in_the_market_whichever_came_first() {
    let app = TestApp::start().await;
    let (a, b) = (&app.project_a.token, &app.project_b.token);
    let link = async |actor: &Actor| {
        let hosted = actor
            .call("Collections/CreateCollection", json!({ "collection": { "metadata": { "name": "Mine" } } }))
            .await
            .ok();
        let collection = &hosted["collection"]["id"];
        let link = json!({ "contractCollection": { "chainId": 137, "contractAddress": RELICS, "collectionId": collection } });
        actor.call("Collections/CreateContractCollection", link).await.ok();
    };
    link(a).await;
    assert_eq!(app.store.markets().await.unwrap(), []);
    let sale = stated(ActivityAction::Sale, "0xaa", EARLIER);
    state(&app, vec![sale]).await;
    link(b).await;
    let background = app.background();
    for actor in [a, b] {
        counted(actor, json!({ "2025-03-10": { "sell": 1, "buy": 1 } })).await;
        assert!((market_wallets(actor).await - 2.0).abs() < 1e-9);
    }
    background.stop().await;
}

#[tokio::test]
async fn mints_and_transfers_are_no_trades_and_a_time_that_cannot_be_is_not_believed() {
    let app = TestApp::start().await;
    app.store.join_market(app.project_a.scope, key(RELICS), operator()).await.unwrap();
    let listing = |tx: &str, at: &str, created_at: &str| {
        let Change::Activity(mut facts) = stated(ActivityAction::Listing, tx, at) else { unreachable!() };
        facts.created_at = created_at.parse().unwrap();
        Change::Activity(facts)
    };
    let changes = vec![
        stated(ActivityAction::Mint, "0xa1", EARLIER),
        stated(ActivityAction::Transfer, "0xa2", EARLIER),
        listing("0xa3", "2031-01-01T00:00:00Z", EARLIER),
        listing("0xa4", &Timestamp::ZERO.to_string(), "2025-03-11T00:00:00Z"),
        listing("0xa5", &Timestamp::ZERO.to_string(), &Timestamp::ZERO.to_string()),
        stated(ActivityAction::OfferCancel, "0xa6", EARLIER),
    ];
    state(&app, changes).await;
    let background = app.background();
    let expected = json!({ "2025-03-10": { "list": 1, "cancel": 1 }, "2025-03-11": { "list": 1 } });
    counted(&app.project_a.token, expected).await;
    background.stop().await;
}

#[tokio::test]
async fn what_a_chain_takes_back_and_states_again_counts_once() {
    let app = TestApp::start().await;
    let a = &app.project_a.token;
    app.store.join_market(app.project_a.scope, key(RELICS), operator()).await.unwrap();
    let background = app.background();
    let first = || stated(ActivityAction::Sale, "0xaa", EARLIER);
    let second = || stated(ActivityAction::Listing, "0xbb", "2025-03-11T00:00:00Z");
    state(&app, vec![first(), second()]).await;
    put_order(&app, "1", json!({ "orderCreatedAt": EARLIER, "createdBy": ACCOUNT })).await;
    let mut all = json!({ "2025-03-10": { "list": 1, "buy": 1, "sell": 1 }, "2025-03-11": { "list": 1 } });
    counted(a, all.clone()).await;
    // The last block is taken back; it comes again with something else beside it.
    take_back(&app.store, relics(&app).await, "0xbb", false).await.unwrap();
    state(&app, vec![stated(ActivityAction::Offer, "0xcc", "2025-03-11T00:00:00Z"), second()]).await;
    all["2025-03-11"]["offer"] = json!(1);
    counted(a, all.clone()).await;
    count_one_more(&app, a, &mut all).await;
    // Long after ids are forgotten everything is read anew, and something that nobody told of before.
    app.clock.set("2025-06-01T00:00:00Z");
    take_back(&app.store, relics(&app).await, "0x", true).await.unwrap();
    let third = stated(ActivityAction::Sale, "0xdd", "2025-03-09T00:00:00Z");
    state(&app, vec![first(), second(), third]).await;
    all["2025-03-09"] = json!({ "buy": 1, "sell": 1 });
    counted(a, all.clone()).await;
    count_one_more(&app, a, &mut all).await;
    background.stop().await;
}

/// Nobody else knows when it happened, and it surely did.
#[tokio::test]
async fn what_was_seen_while_the_clock_was_ahead_is_counted_once_it_is_set_back() {
    let app = TestApp::start().await;
    app.clock.set("2025-03-16T00:00:00Z");
    put_order(&app, "1", json!({ "orderCreatedAt": null, "createdBy": ACCOUNT })).await;
    app.clock.set("2025-03-14T12:00:00Z");
    let background = app.background();
    put_order(&app, "2", json!({ "orderCreatedAt": EARLIER })).await;
    counted(&app.project_a.token, json!({ "2025-03-10": { "list": 1 }, "2025-03-14": { "list": 1 } })).await;
    background.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_services_count_one_market_once() {
    const ORDERS: u64 = 400;
    let app = TestApp::start().await;
    let others = [app.another().await, app.another().await];
    let mut backgrounds: Vec<Background> = others.iter().map(Beside::background).collect();
    backgrounds.push(app.background());
    for number in 0..ORDERS {
        put_order(&app, &number.to_string(), json!({ "orderCreatedAt": EARLIER })).await;
        if number % 100 == 50 {
            // In between everybody counts.
            counted(&others[0].token, json!({ "2025-03-10": { "list": number + 1 } })).await;
        }
    }
    for actor in [&app.project_a.token, &others[0].token, &others[1].token] {
        counted(actor, json!({ "2025-03-10": { "list": ORDERS } })).await;
    }
    count_one_more(&app, &app.project_a.token, &mut json!({ "2025-03-10": { "list": ORDERS } })).await;
    for background in backgrounds {
        background.stop().await;
    }
}
