//! Orders that are not taken, or not filled, and why.

use alloy_primitives::U256;
use alloy_sol_types::SolCall as _;
use bourse_wire::Amount;
use serde_json::{Value, json};

use super::case;
use crate::native::{OrderFault, Proof};
use crate::seaport::abi::{fulfillAdvancedOrderCall, fulfillBasicOrderCall};
use crate::testing::{self, admit, admitted, fill, protocol};

fn changed(name: &str, path: &str, value: Value) -> Value {
    testing::changed(&case(name), path, value)
}

fn refused(order: &Value) -> String {
    admit(&*protocol(&case("an offer is taken")), order).unwrap_err().to_string()
}

const LISTING: &str = "a token for the chain's own currency";
const OFFER: &str = "an offer is taken";
const PARTIAL: &str = "four of ten units, with a fee that is scaled";

#[test]
fn members_that_cannot_be_are_named() {
    for (path, value, reason) in [
        (
            "/offerer",
            json!("0x12"),
            "native.offerer: `0x12` is not an address: expected 0x and 40 hexadecimal digits",
        ),
        ("/salt", json!("-1"), "native.salt: `-1` is not a whole number between 0 and 2^256-1"),
        ("/zoneHash", json!("0x00"), "native.zoneHash: 1 bytes where there must be 32"),
        ("/orderType", json!(300), "native.orderType: invalid value: integer `300`, expected u8"),
        ("/offer", json!({}), "native.offer: expected a sequence, found an object"),
        ("/counter", json!(null), "native.counter: is required"),
        (
            "/consideration/1/startAmount",
            json!(-5),
            "native.consideration[1].startAmount: `-5` is not a whole number between 0 and 2^256-1",
        ),
        (
            "/offer/0/itemType",
            json!(6),
            "native.offer.itemType: 6 is not one of 0 (native), 1 (ERC20), 2 (ERC721), 3 (ERC1155), 4 or 5 (any of those)",
        ),
        (
            "/orderType",
            json!(4),
            "native.orderType: 4 is not one of 0 (whole, open), 1 (in parts, open), 2 (whole, restricted), 3 (in parts, restricted)",
        ),
        (
            "/offer/0/startAmount",
            json!(2),
            "native.offer.startAmount: the amount changes with time, from 2 to 1",
        ),
        (
            "/consideration/0/endAmount",
            json!(2),
            "native.consideration.startAmount: the amount changes with time, from 925 to 2",
        ),
        (
            "/offer/0/itemType",
            json!(4),
            "native.offer.itemType: offers for a set of tokens are not taken, only for one token or any",
        ),
        ("/consideration", json!([]), "native.consideration: the price must not be zero"),
        (
            "/startTime",
            json!("1900000000"),
            "native: the order begins at 2030-03-17T17:46:40Z, which is not before its end 2030-03-17T17:46:40Z",
        ),
        (
            "/conduitKey",
            json!(format!("0x{}", "07".repeat(32))),
            "native.conduitKey: 0x0707070707070707070707070707070707070707070707070707070707070707 is not known as a conduit of this marketplace",
        ),
        (
            "/orderType",
            json!(2),
            "native.zone: 0x0000000000000000000000000000000000000000 must agree to each fill, and is not known how to be asked",
        ),
    ] {
        assert_eq!(refused(&changed(LISTING, path, value)), reason, "{path}");
    }
}

#[test]
fn what_cannot_be_a_sale_of_one_token_is_refused() {
    let listing = case(LISTING)["orders"][0]["native"].clone();
    let (token, money) = (listing["offer"][0].clone(), listing["consideration"][0].clone());
    let two = json!([token, token]);
    assert_eq!(refused(&changed(LISTING, "/offer", two)), "native.offer: 2 tokens where there must be one");
    assert_eq!(
        refused(&changed(LISTING, "/offer", json!([]))),
        "native.offer: 0 tokens where there must be one"
    );
    let mut wanted = token.clone();
    wanted["recipient"] = json!("0x00000000000000000000000000000000000000b0");
    let private = "native.consideration: the order is for 0x00000000000000000000000000000000000000b0 alone";
    assert_eq!(refused(&changed(LISTING, "/consideration/1", wanted)), private);
    let mut other = money.clone();
    other["itemType"] = json!(1);
    other["token"] = json!("0x00000000000000000000000000000000000000d0");
    let mixed = "native.consideration: the order is in several currencies, 0x0000000000000000000000000000000000000000 and 0x00000000000000000000000000000000000000d0";
    assert_eq!(refused(&changed(LISTING, "/consideration/2", other)), mixed);
    let many = json!(vec![money.clone(); 18]);
    let long = "native.consideration: 18 entries where at most 17 are allowed";
    assert_eq!(refused(&changed(LISTING, "/consideration", many)), long);
    let mut free = money.clone();
    (free["startAmount"], free["endAmount"]) = (json!(0), json!(0));
    assert_eq!(
        refused(&changed(LISTING, "/consideration", json!([free]))),
        "native.consideration: the price must not be zero"
    );
    let mut most = money;
    (most["startAmount"], most["endAmount"]) =
        (json!(Amount::MAX.to_string()), json!(Amount::MAX.to_string()));
    let over = "native.consideration: the amounts add up to more than 2^256-1";
    assert_eq!(refused(&changed(LISTING, "/consideration/0", most)), over);
}

#[test]
fn offers_must_come_out() {
    let offer = case(OFFER)["orders"][0]["native"].clone();
    let mut fee = offer["consideration"][1].clone();
    (fee["startAmount"], fee["endAmount"]) = (json!(2001), json!(2001));
    let high = "native.offer: the fees of 2001 are more than the price of 2000";
    assert_eq!(refused(&changed(OFFER, "/consideration/1", fee)), high);
    let returned = case(OFFER)["orders"][0]["native"]["offerer"].clone();
    let own = "native.offer: a share of the price of the offer goes back to its maker 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a";
    assert_eq!(refused(&changed(OFFER, "/consideration/1/recipient", returned)), own);
    let mut most = offer["consideration"][1].clone();
    (most["startAmount"], most["endAmount"]) = (json!(1001), json!(1001));
    let kept = "native.offer: of the price of 2000 an offer may pay 1000 to others than who sells, not 1001";
    assert_eq!(refused(&changed(OFFER, "/consideration/1", most.clone())), kept);
    (most["startAmount"], most["endAmount"]) = (json!(1000), json!(1000));
    assert!(admit(&*protocol(&case(OFFER)), &changed(OFFER, "/consideration/1", most)).is_ok());
    let stranger = json!("0x00000000000000000000000000000000000000b0");
    let recipient = "native.consideration.recipient: the token must go to the maker 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a, not to 0x00000000000000000000000000000000000000b0";
    assert_eq!(refused(&changed(OFFER, "/consideration/0/recipient", stranger)), recipient);
    let native = "native.offer.itemType: an offer cannot be in the chain's own currency";
    assert_eq!(refused(&changed(OFFER, "/offer/0/itemType", json!(0))), native);
    let none = json!([offer["consideration"][1]]);
    let tokens = "native.consideration: 0 tokens where there must be one";
    assert_eq!(refused(&changed(OFFER, "/consideration", none)), tokens);
    let other = json!("0x00000000000000000000000000000000000000d1");
    let mixed = "native.consideration: the order is in several currencies, 0x00000000000000000000000000000000000000d0 and 0x00000000000000000000000000000000000000d1";
    assert_eq!(refused(&changed(OFFER, "/consideration/1/token", other)), mixed);
    let set = "native.consideration.identifierOrCriteria: offers for a set of tokens are not taken, only for one token or any";
    assert_eq!(refused(&changed(OFFER, "/consideration/0/itemType", json!(4))), set);
    let mut two = offer["consideration"][0].clone();
    (two["startAmount"], two["endAmount"]) = (json!(2), json!(2));
    let units = "native.consideration.startAmount: 2 units where there must be 1 of an ERC721 token";
    assert_eq!(refused(&changed(OFFER, "/consideration/0", two)), units);
}

#[test]
fn signatures_of_others_are_asked_about() {
    let opensea = protocol(&case(LISTING));
    let mut order = case(LISTING)["orders"][0].clone();
    order["native"]["salt"] = json!("2");
    let Proof::Ask(question) = admit(&*opensea, &order).unwrap().proof else { panic!("nobody signed that") };
    assert_eq!(question.to.to_string(), "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a");
    assert_eq!(question.data[..4], [0x16, 0x26, 0xba, 0x7e]);
    let mut magic = [0; 32];
    magic[..4].copy_from_slice(&question.data[..4]);
    assert!(question.is_yes(Some(&magic)));
    for no in [None, Some(&[][..]), Some(&magic[..4]), Some(&[0; 32][..]), Some(&[0x16; 32][..])] {
        assert!(!question.is_yes(no), "{no:?}");
    }
    // A signature for one contract is none for another of the same code.
    let fork = protocol(&case("signed for mintify"));
    assert!(matches!(admit(&*fork, &case(LISTING)["orders"][0]).unwrap().proof, Proof::Ask(_)));
    let mut order = case("signed for mintify")["orders"][0].clone();
    for (signature, reason) in [
        (json!(null), "signature: is required"),
        (json!(""), "signature: is required"),
        (json!("0x"), "signature: is required"),
        (json!("0xzz"), "signature: must be 0x and pairs of hexadecimal digits"),
        // As if for a tree of 2^25 orders.
        (
            json!(format!("0x{}", "00".repeat(65 + 3 + 25 * 32))),
            "signature: 868 bytes, where signatures have 64 or 65 bytes",
        ),
    ] {
        order["signature"] = signature;
        assert_eq!(admit(&*fork, &order).unwrap_err().to_string(), reason);
    }
}

#[test]
fn contracts_that_signed_many_orders_are_asked_about_one() {
    let mut order = case("four orders with one signature")["orders"][0].clone();
    order["native"]["salt"] = json!("2");
    let signature = order["signature"].as_str().unwrap().to_owned();
    let taken = admit(&*protocol(&case(LISTING)), &order).unwrap();
    let Proof::Ask(question) = taken.proof else { panic!("nobody signed that") };
    let data = question.data.to_string();
    assert!(data.contains(&signature[2..]), "all of the signature is shown");
    // The digest of the order alone: the name of a single signed order leads to the same question.
    order["signature"] = json!(format!("0x{}", "01".repeat(65)));
    let alone = admit(&*protocol(&case(LISTING)), &order).unwrap();
    let Proof::Ask(other) = alone.proof else { panic!("nobody signed that") };
    assert_eq!(data[..10 + 64], other.data.to_string()[..10 + 64]);
}

#[test]
fn published_forms_are_read() {
    let opensea = protocol(&case(LISTING));
    let plain = admitted(&case(LISTING)).remove(0);
    let order = &case(LISTING)["orders"][0];
    let mut native = json!({ "parameters": order["native"], "signature": order["signature"] });
    native["parameters"]["totalOriginalConsiderationItems"] = json!(3);
    assert_eq!(admit(&*opensea, &json!({ "native": native })).unwrap(), plain);
    // What is kept is read like what is put.
    let stored: Value = serde_json::from_str(&plain.text).unwrap();
    assert_eq!(admit(&*opensea, &json!({ "native": stored })).unwrap(), plain);
}

#[test]
fn held_orders_need_their_marketplace() {
    let zone = json!("0x000056f7000000ece9003ca63978907a00ffd100");
    let mut order = changed(LISTING, "/zone", zone);
    order["native"]["orderType"] = json!(2);
    order["signature"] = json!(null);
    let opensea = protocol(&case(LISTING));
    let held = admit(&*opensea, &order).unwrap();
    assert_eq!(held.proof, Proof::Held);
    let filling = json!({ "quantities": ["1"], "taker": "0x00000000000000000000000000000000000000b0" });
    let refusal = fill(&*opensea, &[held], &filling).unwrap_err().to_string();
    assert!(
        refusal
            .ends_with("needs the signature of its marketplace for each fill, which only a source can give"),
        "{refusal}"
    );
    // Whoever sends the order says nothing of what its zone wants to see: nobody signed that.
    order["native"]["extraData"] = json!("0x00112233");
    order["signature"] = case(LISTING)["orders"][0]["signature"].clone();
    let taken = admit(&*opensea, &order).unwrap();
    assert!(!taken.text.contains("extraData"), "{}", taken.text);
    // What was kept before is asked for as well.
    let mut kept = taken;
    kept.text = kept.text.replacen('{', r#"{"extraData":"0x00112233","#, 1);
    let orders = [kept];
    let trade = testing::trade(&*opensea, &orders, &filling).unwrap();
    assert_eq!(opensea.source_requests(&trade).unwrap().len(), 1);
}

#[test]
fn fills_that_would_not_come_out_are_refused() {
    let (opensea, partial) = (protocol(&case(PARTIAL)), admitted(&case(PARTIAL)));
    let filling = |quantity: u64, fee: u64| {
        json!({ "quantities": [quantity.to_string()], "taker": "0x00000000000000000000000000000000000000b0",
            "fees": [{ "amount": fee.to_string(), "receiver": "0x00000000000000000000000000000000000000f0" }] })
    };
    let refused = |quantity, fee| fill(&*opensea, &partial, &filling(quantity, fee)).unwrap_err().to_string();
    let fraction =
        "a fee of 20000 cannot be paid exactly with these parts of the orders: make it a multiple of 3";
    assert_eq!(refused(3, 20_000), fraction);
    assert!(fill(&*opensea, &partial, &filling(3, 20_001)).is_ok());
    let whole = admitted(&changed_case(PARTIAL, "/orderType", json!(0)));
    let refusal = fill(&*opensea, &whole, &filling(3, 0)).unwrap_err().to_string();
    assert!(refusal.ends_with("can only be filled as a whole, with all its 10 units"), "{refusal}");
    let odd = admitted(&changed_case(PARTIAL, "/consideration/1/startAmount", json!(1001)));
    let refusal = fill(&*opensea, &odd, &filling(4, 0)).unwrap_err().to_string();
    assert!(
        refusal.starts_with("4 units of order 0x") && refusal.ends_with("no whole amount of its currency")
    );
    let any = admitted(&case("an offer for any token is taken in part"));
    let refusal = fill(&*opensea, &any, &filling(1, 0)).unwrap_err().to_string();
    assert!(refusal.ends_with("is for any token: name the one to sell"), "{refusal}");
}

#[test]
fn fees_come_out_with_what_remains_of_an_order() {
    let (opensea, mut partial) = (protocol(&case(PARTIAL)), admitted(&case(PARTIAL)));
    // Four of ten units are gone: six are three fifths.
    partial[0].facts.quantity_remaining = 6.into();
    let filling = |quantity: u64, fee: u64| {
        json!({ "quantities": [quantity.to_string()], "taker": "0x00000000000000000000000000000000000000b0",
            "fees": [{ "amount": fee.to_string(), "receiver": "0x00000000000000000000000000000000000000f0" }] })
    };
    let refused = fill(&*opensea, &partial, &filling(6, 20_000)).unwrap_err().to_string();
    assert!(refused.ends_with("make it a multiple of 3"), "{refused}");
    let plan = fill(&*opensea, &partial, &filling(6, 30_003)).unwrap();
    let order = fulfillAdvancedOrderCall::abi_decode(&plan.calls[0].data).unwrap().advancedOrder;
    assert_eq!([order.numerator, order.denominator].map(U256::from), [3, 5].map(U256::from));
    let tip = order.parameters.consideration.last().unwrap();
    assert_eq!(
        (tip.startAmount, tip.endAmount),
        (U256::from(50_005), U256::from(50_005)),
        "of which 3/5 are the fee"
    );
    let signed = order.parameters.consideration.len() - 1;
    assert_eq!(order.parameters.totalOriginalConsiderationItems, U256::from(signed), "nobody signed the tip");
    // The short form is for orders that nobody has touched.
    let whole = fill(&*opensea, &partial, &filling(10, 0)).unwrap();
    assert!(fulfillAdvancedOrderCall::abi_decode(&whole.calls[0].data).is_ok());
    partial[0].facts.quantity_remaining = 10.into();
    let untouched = fill(&*opensea, &partial, &filling(10, 0)).unwrap();
    assert!(fulfillBasicOrderCall::abi_decode(&untouched.calls[0].data).is_ok());
}

#[test]
fn what_somebody_else_may_send_names_who_gets_the_token() {
    let (opensea, orders) = (protocol(&case(LISTING)), admitted(&case(LISTING)));
    let filling = json!({ "quantities": ["1"], "taker": "0x00000000000000000000000000000000000000b0" });
    let trade = || testing::trade(&*opensea, &orders, &filling).unwrap();
    let short = opensea.fill(&trade(), &[]).unwrap();
    assert!(fulfillBasicOrderCall::abi_decode(&short.calls[0].data).is_ok());
    assert!(!short.anybody_may_send, "it pays whoever sends it");
    let long = opensea.fill(&trade().sent_by_another(), &[]).unwrap();
    let call = fulfillAdvancedOrderCall::abi_decode(&long.calls[0].data).unwrap();
    assert_eq!(call.recipient, alloy_primitives::Address::with_last_byte(0xb0));
    assert!(long.anybody_may_send);
    let offers = admitted(&case(OFFER));
    let sale = testing::trade(&*opensea, &offers, &filling).unwrap().sent_by_another();
    assert!(!opensea.fill(&sale, &[]).unwrap().anybody_may_send, "what is sold is the sender's");
}

#[test]
fn fees_of_orders_that_may_be_left_out_are_told() {
    let (opensea, listing) = (protocol(&case(LISTING)), admitted(&case(LISTING)).remove(0));
    let orders = [listing.clone(), listing];
    let noted = |count: usize, fees: Value| {
        let filling = json!({ "quantities": vec!["1"; count], "fees": fees,
            "taker": "0x00000000000000000000000000000000000000b0" });
        fill(&*opensea, &orders[..count], &filling).unwrap().note.is_some()
    };
    let fee = || json!([{ "amount": "100", "receiver": "0x00000000000000000000000000000000000000f0" }]);
    assert!(noted(2, fee()) && !noted(2, json!([])) && !noted(1, fee()));
}

/// A case whose order has one amount or kind changed, so that nobody has signed it.
fn changed_case(name: &str, path: &str, value: Value) -> Value {
    let mut changed_case = case(name);
    let mut order = changed(name, path, value.clone());
    if let Some(amount) = path.strip_suffix("/startAmount") {
        *order["native"].pointer_mut(&format!("{amount}/endAmount")).unwrap() = value;
    }
    changed_case["orders"][0] = order;
    changed_case
}

#[test]
fn reasons_keep_their_kind() {
    let error = admit(&*protocol(&case(LISTING)), &changed(LISTING, "/salt", json!("x"))).unwrap_err();
    assert!(matches!(error, OrderFault::Format(_)));
}
