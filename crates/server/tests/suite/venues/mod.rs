//! Signed orders of other marketplaces: put, made, bought, sold and taken back, some with the agreement of their
//! marketplace's own service. Orders, signatures and calls come from the vectors, which others made.

mod buying;
mod consents;
mod executing;
mod faults;
mod forged;
mod hostile;
pub(crate) mod making;
mod putting;
mod reasons;
mod royalties;

mod sources;
pub(crate) mod stand_in;
mod standing;
mod strangers;
mod table;

pub(crate) mod wallet;

use std::sync::{Arc, LazyLock};

use bourse_server::Chains;
use serde_json::{Value, json};

use crate::marketplace::with;
use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::chain::FakeChain;
use stand_in::{KEY, StandIn};

/// Of the vectors: who made all orders, who fills them, the collection, and a currency.
pub(crate) const MAKER: &str = "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a";
pub(crate) const TAKER: &str = "0x00000000000000000000000000000000000000b0";
pub(crate) const COLLECTION: &str = "0x00000000000000000000000000000000000000c0";
const DOLLAR: &str = "0x00000000000000000000000000000000000000d0";
const ZERO: &str = "0x0000000000000000000000000000000000000000";
const SEAPORT: &str = "0x0000000000000068f116a894984e2db1123eb395";

/// The vectors of all families, read once: that takes long without optimisation.
static VECTORS: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../protocols/vectors/vectors.json")).unwrap()
});

/// The vectors of a family.
pub(crate) fn vectors(family: &str) -> Value {
    VECTORS[family].clone()
}

/// The families whose orders are filled with the signature of their maker alone.
fn families() -> impl Iterator<Item = &'static str> {
    let families = VECTORS.as_object().unwrap().iter();
    let with_cases = families.filter(|(_, family)| family["cases"][0].is_object());
    with_cases.map(|(name, _)| name.as_str()).filter(|name| *name != consents::FAMILY)
}

/// A case of a family by the beginning of its name.
fn case(family: &str, name: &str) -> Value {
    let found = VECTORS[family]["cases"]
        .as_array()
        .unwrap()
        .iter()
        .find(|case| text(&case["name"]).starts_with(name));
    found.unwrap_or_else(|| panic!("{name}")).clone()
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// An order of a vector as it is put.
pub(crate) fn signed(marketplace: &str, order: &Value) -> Value {
    json!({ "marketplace": marketplace, "chainId": 1, "native": order["native"], "signature": order["signature"] })
}

/// The first order of a case as it is put.
pub(crate) fn first_of(family: &str, name: &str) -> Value {
    let case = case(family, name);
    signed(text(&case["marketplace"]), &case["orders"][0])
}

/// An order as it is put, with a member of its native form changed, by its path.
pub(crate) fn changed(mut order: Value, path: &str, value: Value) -> Value {
    *order["native"].pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
    order
}

/// A service that knows the currencies of the vectors.
async fn venues() -> TestApp {
    venues_with(&[], None).await
}

async fn venues_with(settings: &[(&'static str, &str)], chain: Option<Arc<FakeChain>>) -> TestApp {
    let chain = chain.map(|chain| chain as Arc<dyn Chains>);
    let app = TestApp::asking(settings, chain, async |_, _, _| ()).await.0;
    let money = |address: &str| json!({ "contractAddress": address, "name": "Money", "symbol": "M", "decimals": 18, "exchangeRate": "1" });
    let body = json!({ "chainId": 1, "currencies": [money(ZERO), money(DOLLAR)] });
    let answer = app.project_a.call("Ingest/PutCurrencies", body).await.ok();
    assert_eq!(answer["rejected"], json!([]));
    app
}

/// A service whose marketplaces all have the stand-in for their own. It waits for an answer for as long as a slow machine
/// may need, which is shorter than a stand-in takes that is told never to answer.
pub(crate) async fn venues_asking(source: &StandIn, chain: Option<Arc<FakeChain>>) -> TestApp {
    let urls = ["opensea", "magic_eden", "payment_processor", "blur", "x2y2"];
    let mut settings = vec![("sources.timeout_ms", "1500"), ("sources.attempts_max", "2")];
    for name in urls {
        settings.push((setting(name, "url"), source.url.as_str()));
        settings.push((setting(name, "key"), KEY));
    }
    venues_with(&settings, chain).await
}

fn setting(marketplace: &str, member: &str) -> &'static str {
    format!("sources.{marketplace}_{member}").leak()
}

pub(crate) async fn put(app: &TestApp, orders: impl IntoIterator<Item = Value>) -> Value {
    let orders: Vec<Value> = orders.into_iter().collect();
    app.project_a.call("Ingest/PutOrders", json!({ "orders": orders })).await.ok()
}

/// Puts an order that must be taken.
#[track_caller]
fn taken(answer: &Value) {
    assert_eq!(answer["rejected"], json!([]), "{answer}");
}

/// Calls an operation on [`COLLECTION`] with A's access key, as a page in a browser does.
async fn ask(app: &TestApp, operation: &str, members: Value) -> Answer {
    let body = with(json!({ "chainId": "1", "collectionAddress": COLLECTION }), members);
    app.project_a.key.call(&format!("Marketplace/{operation}"), body).await
}

fn data(orders: &[(&str, &str)]) -> Value {
    orders.iter().map(|(id, quantity)| json!({ "orderId": id, "quantity": quantity })).collect()
}

/// The steps for [`TAKER`] to buy one unit.
async fn buy(app: &TestApp, marketplace: &str, id: &str) -> Answer {
    let body = json!({ "buyer": TAKER, "marketplace": marketplace, "ordersData": data(&[(id, "1")]) });
    ask(app, "GenerateBuyTransaction", body).await
}

/// A transaction of one step, with what a vector says of it.
#[track_caller]
fn check_step(step: &Value, id: &str, expected: &Value) {
    assert_eq!(step["id"], id, "{step}");
    for member in ["to", "data", "value", "price"] {
        assert_eq!(step[member], expected[member], "{member} of {step}");
    }
    // Of what others get, or of fees that may be left out.
    let is_noted = step.get("note").is_some();
    assert_eq!(step.as_object().unwrap().len(), 5 + usize::from(is_noted), "{step}");
}

/// Status and text of a refusal, which has no steps.
#[track_caller]
fn refusal(answer: &Answer) -> (u16, &str) {
    assert_eq!(answer.json.get("steps"), None, "{}", answer.json);
    (answer.status, text(&answer.json["msg"]))
}

/// The orders of [`COLLECTION`] as `ListListings` or `ListOffers` has them.
async fn listed(app: &TestApp, side: &str, token: &str) -> Vec<Value> {
    let (operation, member) = match side {
        "listing" => ("ListListingsForCollectible", "listings"),
        _ => ("ListOffersForCollectible", "offers"),
    };
    let body = json!({ "chainId": "1", "contractAddress": COLLECTION, "tokenId": token });
    let answer = app.project_a.key.call(&format!("Marketplace/{operation}"), body).await.ok();
    answer[member].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}
