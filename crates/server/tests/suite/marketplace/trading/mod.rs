//! Steps to trade. What they say is read here word by word, by nothing that the service writes them with.

pub(super) mod kept_by_contract;
mod purchase_totals;
mod refused_trades;
mod tried_steps;

use std::sync::Arc;

use bourse_server::Chains;
use bourse_store::{Change, Store};
use serde_json::{Value, json};

use crate::marketplace::{ANA, DOLLAR, balance, listing, offer, order, put, with};
use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::chain::FakeChain;
use crate::support::seed::{RELICS, contract_info};

/// The contracts of the marketplaces, and the one beside the second.
pub(super) const V1: &str = "0x00000000000000000000000000000000000000f1";
pub(super) const V2: &str = "0x00000000000000000000000000000000000000f2";
pub(super) const HELPER: &str = "0x00000000000000000000000000000000000000f3";
/// Somebody who gets fees.
pub(super) const SHOP: &str = "0x00000000000000000000000000000000000005a0";
/// Somebody who buys from [`ANA`] and sells to [`BEN`].
pub(super) const CLEO: &str = "0x00000000000000000000000000000000000000c3";

const SETTINGS: [(&str, &str); 3] =
    [("networks.polygon.id", "137"), ("networks.polygon.own_v1", V1), ("networks.polygon.own_v2", V2)];

/// A market on which Ana sells and Ben buys, for [`DOLLAR`] on the second marketplace unless changed. Ana holds a hundred
/// of token 1 and of token 2, Cleo ten of each.
pub(super) async fn market(changed: impl IntoIterator<Item = Value>) -> TestApp {
    market_with(&[], None, changed).await
}

pub(super) async fn market_with(
    settings: &[(&'static str, &str)],
    chain: Option<Arc<FakeChain>>,
    changed: impl IntoIterator<Item = Value>,
) -> TestApp {
    let settings: Vec<_> = SETTINGS.iter().chain(settings).copied().collect();
    let mut changes: Vec<Change> = changed.into_iter().map(order).collect();
    changes.push(Change::Contract(contract_info(RELICS, "Relics").to_string()));
    for token in [1, 2] {
        changes.extend([balance(token, ANA, 100), balance(token, CLEO, 10)]);
    }
    let prepare = async move |store: &Store, _: &_, _: &_| put(store, changes).await;
    TestApp::asking(&settings, chain.map(|chain| chain as Arc<dyn Chains>), prepare).await.0
}

/// A listing by Ana of ten units of token 1.
pub(super) fn sold(id: &str, price: u64) -> Value {
    with(
        listing(id, 1, price),
        json!({ "marketplace": "service_marketplace_v2", "quantityInitial": "10",
        "priceCurrencyAddress": DOLLAR }),
    )
}

/// An offer by Ben for ten units of token 1.
pub(super) fn wanted(id: &str, price: u64) -> Value {
    with(
        offer(id, 1, price),
        json!({ "marketplace": "service_marketplace_v2", "quantityInitial": "10",
        "priceCurrencyAddress": DOLLAR }),
    )
}

pub(super) fn data(orders: &[(&str, u64)]) -> Value {
    orders.iter().map(|(id, quantity)| json!({ "orderId": id, "quantity": quantity.to_string() })).collect()
}

/// Asks for an operation on [`RELICS`], with some members changed.
pub(super) async fn ask(app: &TestApp, operation: &str, members: Value) -> Answer {
    let body =
        json!({ "chainId": "polygon", "collectionAddress": RELICS, "marketplace": "service_marketplace_v2" });
    app.project_a.call(&format!("Marketplace/{operation}"), with(body, members)).await
}

/// The steps for Cleo to buy.
pub(super) async fn buy(app: &TestApp, orders: &[(&str, u64)], members: Value) -> Answer {
    let body = with(json!({ "buyer": CLEO, "ordersData": data(orders) }), members);
    ask(app, "GenerateBuyTransaction", body).await
}

/// The steps for Cleo to sell.
pub(super) async fn sell(app: &TestApp, orders: &[(&str, u64)], members: Value) -> Answer {
    let body = with(json!({ "seller": CLEO, "ordersData": data(orders) }), members);
    ask(app, "GenerateSellTransaction", body).await
}

/// A step as a wallet reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) id: String,
    pub(super) to: String,
    pub(super) value: u128,
    pub(super) price: u128,
    pub(super) selector: String,
    /// What follows the selector, 32 bytes each.
    pub(super) words: Vec<String>,
}

/// The steps of an answer. Every member has its form, and there are no others.
#[track_caller]
pub(super) fn steps(answer: Answer) -> Vec<Sent> {
    let answer = answer.ok();
    let members: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    // Clients of purchases and sales look for the same steps in another place too.
    match answer.get("resp") {
        None => assert_eq!(members, ["steps", "simulation"], "{answer}"),
        Some(resp) => {
            assert_eq!(members, ["steps", "simulation", "resp"], "{answer}");
            let is_sent = |step: &Value| step.get("signature").is_none();
            let all_are = answer["steps"].as_array().unwrap().iter().all(is_sent);
            // What is sold is the sender's.
            let is_sale = answer["steps"].as_array().unwrap().iter().any(|step| step["id"] == "sell");
            assert_eq!(
                *resp,
                json!({ "steps": answer["steps"], "canBeUsedWithTrails": all_are && !is_sale }),
                "{answer}"
            );
        }
    }
    assert!(answer["simulation"]["steps"].is_u64(), "{answer}");
    let read = |step: &Value| {
        let mut members: Vec<&str> = step.as_object().unwrap().keys().map(String::as_str).collect();
        // Whoever sells is told what others get of it.
        members.retain(|member| step["id"] != "sell" || *member != "note");
        assert_eq!(members, ["id", "data", "to", "value", "price"], "{step}");
        let text = |name: &str| step[name].as_str().unwrap().to_owned();
        let data = text("data");
        let hex = data.strip_prefix("0x").unwrap();
        assert!(hex.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')), "{data}");
        let (selector, rest) = hex.split_at(8);
        assert_eq!(rest.len() % 64, 0, "{data}");
        let words = rest.as_bytes().chunks(64).map(|word| String::from_utf8(word.to_vec()).unwrap());
        Sent {
            id: text("id"),
            to: text("to"),
            value: text("value").parse().unwrap(),
            price: text("price").parse().unwrap(),
            selector: selector.to_owned(),
            words: words.collect(),
        }
    };
    answer["steps"].as_array().unwrap().iter().map(read).collect()
}

pub(super) fn number(word: &str) -> u128 {
    u128::from_str_radix(word, 16).unwrap()
}

pub(super) fn address(word: &str) -> String {
    assert!(word.starts_with(&"0".repeat(24)), "{word}");
    format!("0x{}", &word[24..])
}

/// What `approve(spender, amount)` says.
#[track_caller]
pub(super) fn check_approval(step: &Sent, currency: &str, spender: &str, amount: u128) {
    assert_eq!((step.id.as_str(), step.to.as_str()), ("tokenApproval", currency));
    assert_eq!((step.value, step.price), (0, 0));
    assert_eq!(step.selector, "095ea7b3");
    assert_eq!(step.words.len(), 2);
    assert_eq!((address(&step.words[0]), number(&step.words[1])), (spender.to_owned(), amount));
}

/// What `setApprovalForAll(operator, true)` says.
#[track_caller]
pub(super) fn check_token_approval(step: &Sent, operator: &str) {
    assert_eq!((step.id.as_str(), step.to.as_str()), ("tokenApproval", RELICS));
    assert_eq!((step.value, step.price), (0, 0));
    assert_eq!(step.selector, "a22cb465");
    assert_eq!((address(&step.words[0]), number(&step.words[1])), (operator.to_owned(), 1));
}

/// One order filled, and the fees that go with it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) order: u128,
    pub(super) quantity: u128,
    pub(super) recipient: String,
    pub(super) fees: Vec<(u128, String)>,
}

pub(super) fn accepted(order: u128, quantity: u128, fees: &[(u128, &str)]) -> Accepted {
    let fees = fees.iter().map(|(amount, receiver)| (*amount, (*receiver).to_owned())).collect();
    Accepted { order, quantity, recipient: CLEO.to_owned(), fees }
}

/// The list that begins where a word says.
pub(super) fn list<'a>(words: &'a [String], start: &str) -> &'a [String] {
    let start = usize::try_from(number(start)).unwrap() / 32;
    let count = usize::try_from(number(&words[start])).unwrap();
    &words[start + 1..start + 1 + count]
}

/// What a step fills: `acceptRequest`, `acceptRequestBatch` of the marketplace, or that of the contract beside it.
#[track_caller]
pub(super) fn fills(step: &Sent) -> Vec<Accepted> {
    let words = step.words.as_slice();
    let fees = |amounts: &str, receivers: &str| -> Vec<(u128, String)> {
        let (amounts, receivers) = (list(words, amounts), list(words, receivers));
        assert_eq!(amounts.len(), receivers.len());
        amounts.iter().zip(receivers).map(|(amount, receiver)| (number(amount), address(receiver))).collect()
    };
    let batch = |first: usize| {
        let lists = [0, 1, 2].map(|index| list(words, &words[first + index]));
        assert!(lists.iter().all(|list| list.len() == lists[0].len()), "{words:?}");
        assert_eq!(fees(&words[first + 3], &words[first + 4]), [], "it would be paid for each order");
        let each = (0..lists[0].len()).map(|index| Accepted {
            order: number(&lists[0][index]),
            quantity: number(&lists[1][index]),
            recipient: address(&lists[2][index]),
            fees: Vec::new(),
        });
        each.collect()
    };
    match step.selector.as_str() {
        "e6bd720e" => vec![Accepted {
            order: number(&words[0]),
            quantity: number(&words[1]),
            recipient: address(&words[2]),
            fees: fees(&words[3], &words[4]),
        }],
        "a93c5317" => batch(0),
        "8c7080c9" => {
            assert_eq!((step.to.as_str(), address(&words[0]).as_str()), (HELPER, V2));
            batch(1)
        }
        other => panic!("nothing is filled by {other}"),
    }
}

/// Status and text of a refusal, which has no steps.
#[track_caller]
pub(super) fn refusal(answer: &Answer) -> (u16, String) {
    assert_eq!(answer.json.get("steps"), None, "{}", answer.json);
    (answer.status, answer.json["msg"].as_str().unwrap_or_else(|| panic!("{}", answer.json)).to_owned())
}
