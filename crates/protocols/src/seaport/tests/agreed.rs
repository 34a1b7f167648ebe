//! Orders that their marketplace must agree to.

use std::sync::Arc;

use bourse_wire::Marketplace;
use serde_json::{Value, json};

use crate::Protocol;
use crate::native::{NativeOrder, Proof};
use crate::testing::{admit, case, fill_with, newest, person, text, trade, vectors};

fn held(venue: &str) -> Value {
    vectors("held")["seaport"][venue].clone()
}

fn protocol(venue: &str) -> Arc<dyn Protocol> {
    let marketplace = if venue == "opensea" { Marketplace::Opensea } else { Marketplace::MagicEden };
    newest(marketplace)
}

fn order(venue: &str) -> NativeOrder {
    admit(&*protocol(venue), &json!({ "native": held(venue)["native"] })).unwrap()
}

fn filling() -> Value {
    json!({ "quantities": ["1"], "taker": person(0xb0) })
}

#[test]
fn what_the_marketplace_gives_goes_into_our_own_call() {
    for venue in ["opensea", "magic_eden"] {
        let (held, order) = (held(venue), order(venue));
        assert_eq!((order.facts.order_id.as_str(), &order.proof), (text(&held["id"]), &Proof::Held));
        let answers = [held["answer"].clone()];
        let plan = fill_with(&*protocol(venue), &[order], &filling(), &answers).unwrap();
        assert_eq!(plan.calls[0].data.to_string(), text(&held["data"]), "{venue}");
        assert_eq!(plan.calls[0].value.to_string(), text(&held["value"]), "{venue}");
    }
}

/// Marketplaces that show nobody their signatures do so for orders that anybody could fill, too.
#[test]
fn an_open_order_is_filled_with_the_signature_that_the_marketplace_gives() {
    let case = case("seaport", "a token for the chain's own currency");
    let protocol = protocol("opensea");
    let order = admit(&*protocol, &json!({ "native": case["orders"][0]["native"] })).unwrap();
    assert_eq!(order.proof, Proof::Held);
    let given =
        json!({ "parameters": case["orders"][0]["native"], "signature": case["orders"][0]["signature"] });
    let answer = json!({ "fulfillment_data": { "orders": [given] } });
    let plan = fill_with(&*protocol, std::slice::from_ref(&order), &case["fill"], &[answer]).unwrap();
    assert_eq!(plan.calls[0].data.to_string(), text(&case["fill"]["data"]));
    let without =
        json!({ "fulfillment_data": { "orders": [{ "parameters": case["orders"][0]["native"] }] } });
    let refusal = fill_with(&*protocol, &[order], &case["fill"], &[without]).unwrap_err().to_string();
    assert!(refusal.ends_with("the answer has no /signature that can be used"), "{refusal}");
}

#[test]
fn what_the_marketplaces_are_asked() {
    let asked = |venue: &str, filling: &Value| {
        let (protocol, orders) = (protocol(venue), [order(venue)]);
        let trade = trade(&*protocol, &orders, filling).unwrap();
        protocol.source_requests(&trade)
    };
    let id = text(&held("opensea")["id"]).to_owned();
    let request = asked("opensea", &filling()).unwrap().remove(0);
    assert_eq!(request.path, "/api/v2/listings/fulfillment_data");
    let listing = json!({ "hash": id, "chain": "ethereum",
        "protocol_address": "0x0000000000000068f116a894984e2db1123eb395" });
    let body = json!({ "listing": listing, "fulfiller": { "address": person(0xb0) }, "units_to_fill": "1",
        "include_optional_creator_fees": false });
    assert_eq!(request.body, body);
    let request = asked("magic_eden", &filling()).unwrap().remove(0);
    assert_eq!(request.path, "/execute/buy/v7");
    let id = text(&held("magic_eden")["id"]).to_owned();
    let item = json!({ "orderId": id, "quantity": "1" });
    assert_eq!(request.body, json!({ "items": [item], "taker": person(0xb0), "skipBalanceCheck": true }));
    let fees = json!({ "quantities": ["1"], "taker": person(0xb0), "fees": [{ "amount": "100", "receiver": person(1) }] });
    let refusal = asked("opensea", &fees).unwrap_err().to_string();
    assert_eq!(refusal, "OpenSea cannot pay fees to others on top of its orders: leave them out");
}

#[test]
fn answers_for_something_else_are_refused() {
    let refused = |venue: &str, answer: Value| {
        fill_with(&*protocol(venue), &[order(venue)], &filling(), &[answer]).unwrap_err().to_string()
    };
    let changed = |venue: &str, path: &str, value: Value| {
        let mut answer = held(venue)["answer"].clone();
        *answer.pointer_mut(path).unwrap() = value;
        refused(venue, answer)
    };
    let other = changed("opensea", "/fulfillment_data/orders/0/parameters/salt", json!("51"));
    assert!(other.ends_with("the answer is for another order: 51, where 50 was asked for"), "{other}");
    let data = "/fulfillment_data/transaction/input_data/advancedOrder/extraData";
    let bare = changed("opensea", data, json!("0x"));
    assert!(bare.ends_with("the answer has no extraData that can be used"), "{bare}");
    let no = refused("opensea", json!({ "errors": ["Order not fulfillable"] }));
    assert!(no.ends_with("the marketplace does not agree: Order not fulfillable"), "{no}");
    let to = changed("magic_eden", "/steps/1/items/0/data/to", json!(person(1)));
    assert!(to.contains("the answer is for another contract"), "{to}");
    let mut mixed = held("opensea")["data"].clone();
    mixed = json!({ "steps": [{ "id": "sale", "kind": "transaction", "items": [{ "data": {
        "to": protocol("opensea").contract(), "data": mixed } }] }] });
    let other = refused("magic_eden", mixed);
    assert!(other.ends_with("the answer has no steps that can be used"), "{other}");
    let no = refused("magic_eden", json!({ "message": "No fillable orders" }));
    assert!(no.ends_with("the marketplace does not agree: No fillable orders"), "{no}");
    for empty in [json!({}), json!(null), json!([]), json!({ "steps": [] }), json!({ "fulfillment_data": 1 })]
    {
        for venue in ["opensea", "magic_eden"] {
            assert!(refused(venue, empty.clone()).contains("the answer has no"), "{venue} {empty}");
        }
    }
}
