//! Against calls, answers and logs that others made.

mod family;

use std::sync::Arc;

use alloy_primitives::{Bytes, U256, hex};
use alloy_sol_types::SolCall as _;
use bourse_market::facts::{Fact, OrderFilled, OrderRef};
use bourse_wire::{Address, Marketplace, OrderSide, TokenId};
use serde_json::{Value, json};

use super::abi::{RunInput, runCall};
use crate::native::{NativeOrder, Proof};
use crate::testing::{MAKER, admit, fill_with, log, newest, person, stored, text, trade, vectors};
use crate::{Permission, Protocol, Scope};

fn x2y2() -> Arc<dyn Protocol> {
    newest(Marketplace::X2y2)
}

fn held() -> Value {
    vectors("held")["x2y2"].clone()
}

fn order(name: &str) -> NativeOrder {
    admit(&*x2y2(), &json!({ "native": held()[name] })).unwrap()
}

fn filling() -> Value {
    json!({ "quantities": ["1"], "taker": person(0xb0), "tokens": ["77"] })
}

#[test]
fn orders_are_read_as_the_service_tells_of_them() {
    let listing = order("order");
    assert_eq!(listing.proof, Proof::Held);
    assert_eq!(listing.facts.order_id, text(&held()["hash"]));
    assert_eq!((listing.facts.side, listing.facts.maker.to_string()), (OrderSide::Listing, MAKER.to_owned()));
    let offer = order("offer");
    assert_eq!((offer.facts.side, offer.facts.token_id), (OrderSide::Offer, None));
    let refused = |member: &str, value: Value| {
        let mut native = held()["order"].clone();
        native[member] = value;
        admit(&*x2y2(), &json!({ "native": native })).unwrap_err().to_string()
    };
    assert_eq!(
        refused("type", json!("auction")),
        "native.type: orders other than `sell` and `buy` are not supported"
    );
    assert_eq!(
        refused("delegateType", json!(3)),
        "native.delegateType: 3 is not one of 1 (ERC721), 2 (ERC1155)"
    );
    assert_eq!(
        refused("amount", json!(2)),
        "native.amount: 2 units where there must be 1 of an ERC721 token"
    );
    assert_eq!(refused("price", json!("0")), "native.price: the price must not be zero");
    assert_eq!(refused("itemHash", json!("0x12")), "native.itemHash: 1 bytes where there must be 32");
    let private = "native.taker: the order is for 0x0000000000000000000000000000000000000001 alone";
    assert_eq!(refused("taker", json!(person(1))), private);
}

#[test]
fn calls_are_made_of_what_the_service_signs() {
    for (name, vector) in [("order", "listing"), ("offer", "taken")] {
        let (order, vector) = (order(name), held()[vector].clone());
        let plan = fill_with(&*x2y2(), &[order], &filling(), &[vector["answer"].clone()]).unwrap();
        assert_eq!(plan.calls[0].data.to_string(), text(&vector["data"]));
        assert_eq!(plan.calls[0].value.to_string(), text(&vector["value"]));
        assert_eq!(plan.calls[0].to.to_string(), text(&held()["contract"]));
    }
    let offer = order("offer");
    let plan = fill_with(&*x2y2(), &[offer], &filling(), &[held()["taken"]["answer"].clone()]).unwrap();
    let operator = "0xf849de01b080adc3a814fabe1e2087475cf2e354".parse().unwrap();
    assert_eq!(plan.permissions, [Permission::Move { collection: person(0xc0), operator }]);
}

#[test]
fn what_the_service_is_asked() {
    let asked = |name: &str| {
        let orders = [order(name)];
        let trade = trade(&*x2y2(), &orders, &filling()).unwrap();
        x2y2().source_requests(&trade).unwrap().remove(0)
    };
    let listing = asked("order");
    assert_eq!(listing.path, "/api/orders/sign");
    let item = json!({ "orderId": "12345", "currency": Address::ZERO, "price": "1000" });
    let body = json!({ "caller": person(0xb0), "op": 1, "amountToEth": "0", "amountToWeth": "0", "check": false,
        "items": [item] });
    assert_eq!(listing.body, body);
    assert_eq!(asked("offer").body["items"][0]["tokenId"], "77");
}

#[test]
fn answers_for_something_else_are_refused() {
    let refused = |filling: Value, answer: Value| {
        fill_with(&*x2y2(), &[order("order")], &filling, &[answer]).unwrap_err().to_string()
    };
    let answer = held()["listing"]["answer"].clone();
    let stranger = json!({ "quantities": ["1"], "taker": person(0xbb) });
    assert!(refused(stranger, answer.clone()).contains("the answer is for another taker"));
    let offer = held()["taken"]["answer"].clone();
    assert!(refused(filling(), offer).contains("the answer is for another operation: 2, where 1"));
    let mut cut = answer.clone();
    let input = text(&answer["data"][0]["input"]);
    cut["data"][0]["input"] = json!(&input[..input.len() - 64]);
    assert!(refused(filling(), cut).ends_with("the answer has no /data/0/input that can be used"));
    let no = json!({ "success": false, "message": "order is not valid" });
    assert!(refused(filling(), no).ends_with("the marketplace does not agree: order is not valid"));
    let cancel = x2y2().cancel(stored(&order("order"))).unwrap_err().to_string();
    assert_eq!(cancel, "X2Y2 takes orders back only through its own service");
}

/// What the service tells of an offer for any token is put in where the maker has left it open.
#[test]
fn offers_are_filled_with_the_token_that_was_asked_for() {
    let plan = |token: &str, input: RunInput| {
        let data = runCall { input }.abi_encode();
        let answer = json!({ "data": [{ "input": hex::encode_prefixed(&data[4..]) }] });
        let filling = json!({ "quantities": ["1"], "taker": person(0xb0), "tokens": [token] });
        let plan = fill_with(&*x2y2(), &[order("offer")], &filling, &[answer]);
        plan.map(drop).map_err(|refusal| refusal.to_string())
    };
    let honest = || {
        let data = hex::decode(text(&held()["taken"]["data"])).unwrap();
        runCall::abi_decode(&data).unwrap().input
    };
    let refused = |input: RunInput, reason: &str| {
        let refusal = plan("77", input).unwrap_err();
        assert!(refusal.contains(reason), "{refusal}");
    };
    assert_eq!(plan("77", honest()), Ok(()));
    let other = plan("78", honest()).unwrap_err();
    assert!(other.contains("another token: 1 of 77 of") && other.contains("1 of 78 of"), "{other}");
    // Where nothing is open, what is told changes nothing.
    let mut closed = honest();
    closed.orders[0].dataMask = Bytes::new();
    refused(closed, "another token: 1 of 0 of");
    let mut untold = honest();
    untold.details[0].dataReplacement = Bytes::new();
    refused(untold, "another token: 1 of 0 of");
    let mut short = honest();
    short.details[0].dataReplacement = Bytes::from(vec![1; 32]);
    refused(short, "no replacement");
    let mut wrapping = honest();
    wrapping.shared.amountToWeth = U256::ONE;
    refused(wrapping, "another amount to wrap: 1");
    let mut unwrapping = honest();
    unwrapping.shared.amountToEth = U256::ONE;
    refused(unwrapping, "another amount to unwrap: 1");
    // A listing with something left open is what it is settled with, too.
    let data = hex::decode(text(&held()["listing"]["data"])).unwrap();
    let mut listing = runCall::abi_decode(&data).unwrap().input;
    listing.orders[0].dataMask = honest().orders[0].dataMask.clone();
    listing.details[0].dataReplacement = honest().details[0].dataReplacement.clone();
    let data = runCall { input: listing }.abi_encode();
    let answer = json!({ "data": [{ "input": hex::encode_prefixed(&data[4..]) }] });
    let refusal = fill_with(&*x2y2(), &[order("order")], &filling(), &[answer]).unwrap_err().to_string();
    assert!(refusal.contains("another token: 1 of 77 of"), "{refusal}");
}

#[test]
fn logs_state_fills_and_cancellations() {
    let logs = &held()["logs"];
    let stated = |name: &str| {
        let log = log(&logs[name], x2y2().contract());
        let decoded = x2y2().decode_logs(&[&log]).remove(0).unwrap();
        (decoded.scope, decoded.fact)
    };
    let order_id = text(&held()["hash"]).to_owned();
    let filled = |token: u64| {
        let order = OrderFilled {
            marketplace: Marketplace::X2y2,
            order_ref: OrderRef::Id(order_id.clone()),
            taker: person(0xb0),
            recipient: Address::ZERO,
            token_id: Some(TokenId::from(token)),
            quantity: 1.into(),
            remaining: Some(0.into()),
        };
        (Scope::Collection(person(0xc0)), Fact::OrderFilled(Box::new(order)))
    };
    assert_eq!(stated("filled"), filled(5));
    assert_eq!(stated("offerFilled"), filled(77));
    let cancelled = Fact::OrderCancelled { marketplace: Marketplace::X2y2, order_id: order_id.clone() };
    for name in ["cancelled", "cancelledItem"] {
        assert_eq!(stated(name), (Scope::EveryCollection, cancelled.clone()), "{name}");
    }
}
