//! Every reason for which a signed order is not taken, and that it spoils no other.

use serde_json::{Value, json};

use super::{
    COLLECTION, DOLLAR, MAKER, TAKER, changed, first_of, listed, put, signed, text, vectors, venues,
};
use crate::marketplace::with;

const OTHER: &str = "0x0000000000000000000000000000000000000bad";

fn seaport() -> Value {
    first_of("seaport", "a token for the chain's own currency")
}

fn offer() -> Value {
    first_of("seaport", "an offer is taken")
}

/// A bare signature of somebody about something else.
fn strange() -> String {
    format!("0x{}1b", "11".repeat(64))
}

fn money(currency: &str, amount: &str, recipient: &str) -> Value {
    let kind = u8::from(currency != super::ZERO);
    json!({ "itemType": kind, "token": currency, "identifierOrCriteria": "0", "startAmount": amount,
        "endAmount": amount, "recipient": recipient })
}

fn thing(kind: u8, id: &str, amount: &str) -> Value {
    json!({ "itemType": kind, "token": COLLECTION, "identifierOrCriteria": id, "startAmount": amount,
        "endAmount": amount })
}

fn wanted(kind: u8, id: &str) -> Value {
    with(thing(kind, id, "1"), json!({ "recipient": MAKER }))
}

/// Reason and begin of the message, and the order.
type Case = (&'static str, &'static str, Value);

fn signatures_and_times() -> Vec<Case> {
    let signature = |given: Value| with(seaport(), json!({ "signature": given }));
    let conduit = json!(format!("0x{}", "07".repeat(32)));
    let restricted = changed(changed(seaport(), "/orderType", json!(2)), "/zone", json!(OTHER));
    let ended = changed(changed(seaport(), "/startTime", json!("5")), "/endTime", json!("1700000000"));
    let late = changed(seaport(), "/startTime", json!("1900000000"));
    // OpenSea keeps signatures and can be asked for them; nobody can for those of this marketplace.
    let mut unsigned = seaport();
    unsigned["marketplace"] = json!("alienswap");
    unsigned["signature"] = json!(null);
    let by_other = "signature: was not made with the maker's key";
    vec![
        ("invalid-signature", by_other, signature(json!(strange()))),
        ("invalid-signature", by_other, changed(seaport(), "/salt", json!("77"))),
        ("invalid-signature", "signature: is required", unsigned),
        ("invalid-signature", "signature: must be 0x", signature(json!("0xzz"))),
        ("unsupported-conduit", "native.conduitKey: 0x07", changed(seaport(), "/conduitKey", conduit)),
        ("unsupported-zone", "native.zone: ", restricted),
        ("expired", "validUntil: 2023-11-14T22:13:20Z is over", ended),
        ("invalid-start-time", "native: the order begins at ", late),
    ]
}

fn prices() -> Vec<Case> {
    let priced = |items: Value| changed(seaport(), "/consideration", items);
    let coins = |amount: &str| money(super::ZERO, amount, MAKER);
    let two = json!([coins("5"), money(DOLLAR, "5", MAKER)]);
    let fees = json!([wanted(2, "5"), money(DOLLAR, "2001", TAKER)]);
    let fees = changed(offer(), "/consideration", fees);
    let many: Value = (0..18).map(|_| coins("5")).collect();
    let over = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let native = changed(offer(), "/consideration", json!([wanted(2, "5")]));
    let native = changed(native, "/offer/0/itemType", json!(0));
    let changing = changed(seaport(), "/consideration/0/endAmount", json!("7"));
    let zero = "native.consideration: the price must not be zero";
    vec![
        ("fees-too-high", "native.offer: the fees of 2001", fees),
        ("zero-price", zero, priced(json!([coins("0")]))),
        ("zero-price", zero, priced(json!([]))),
        ("unsupported-order", "native.consideration.startAmount: the amount changes", changing),
        ("incompatible-currency", "native.consideration: the order is in several currencies", priced(two)),
        ("incompatible-currency", "native.offer.itemType: an offer cannot be in the chain's own", native),
        ("invalid-format", "native.consideration: 18 entries where at most 17", priced(many)),
        (
            "invalid-format",
            "native.consideration: the amounts add up to more",
            priced(json!([coins(over), coins("5")])),
        ),
    ]
}

fn tokens() -> Vec<Case> {
    let given = |items: Value| changed(seaport(), "/offer", items);
    let asked = |items: Value| changed(offer(), "/consideration", items);
    let for_taker = || with(wanted(2, "5"), json!({ "recipient": TAKER }));
    let private = json!([money(super::ZERO, "5", MAKER), for_taker()]);
    let private = changed(seaport(), "/consideration", private);
    let bundle = json!([thing(2, "5", "1"), thing(2, "6", "1")]);
    let to_maker = "native.consideration.recipient: the token must go to the maker";
    let (two, none) = (
        "native.offer.startAmount: 2 units where there must be 1",
        "native.offer.startAmount: 0 units where",
    );
    vec![
        ("unsupported-order", "native.offer: 2 tokens where there must be one", given(bundle)),
        ("unsupported-order", "native.offer: 0 tokens where there must be one", given(json!([]))),
        ("unsupported-order", "native.consideration: the order is for ", private),
        ("unsupported-order", to_maker, asked(json!([for_taker()]))),
        ("invalid-token-set", "native.consideration.identifierOrCriteria: ", asked(json!([wanted(4, "77")]))),
        ("invalid-token-set", "native.offer.itemType: ", given(json!([thing(4, "5", "1")]))),
        ("invalid-format", two, given(json!([thing(2, "5", "2")]))),
        ("invalid-format", none, given(json!([thing(3, "5", "0")]))),
        ("invalid-format", "native.orderType: 4 is not one of", changed(seaport(), "/orderType", json!(4))),
    ]
}

fn marketplaces() -> Vec<Case> {
    let on = |change: Value| with(seaport(), change);
    let nowhere = on(json!({ "marketplace": "looks_rare", "chainId": 137 }));
    let own = on(json!({ "marketplace": "bourse_marketplace_v2" }));
    let other = with_member(seaport(), "protocolAddress", json!(OTHER));
    vec![
        ("unknown-contract", "native.protocolAddress: ", other),
        ("unknown-chain", "chainId: `nowhere`", on(json!({ "chainId": "nowhere" }))),
        ("unknown-marketplace", "", on(json!({ "marketplace": "nowhere" }))),
        ("unknown-contract", "marketplace: looks_rare has no contract on chain 137", nowhere),
        ("unsupported-order", "orders of this marketplace are made on its chain", own),
    ]
}

fn with_member(mut order: Value, name: &str, value: Value) -> Value {
    order["native"][name] = value;
    order
}

fn other_families() -> Vec<Case> {
    let looks_rare = || first_of("looks_rare", "a token for the chain's own currency");
    let zerox = || first_of("zerox", "a token for the chain's own currency");
    let processor = || first_of("payment_processor", "a token for the chain's own currency, version 2");
    let held = vectors("held");
    let blur = || signed("blur", &held["blur"]["orders"][0]);
    let x2y2 = || signed("x2y2", &json!({ "native": held["x2y2"]["order"] }));
    vec![
        (
            "invalid-signature",
            "signature: was not made with the maker's key",
            changed(looks_rare(), "/price", json!("999")),
        ),
        ("zero-price", "native.price: ", changed(looks_rare(), "/price", json!("0"))),
        (
            "unsupported-order",
            "native.itemIds: 2 tokens where there must be one",
            changed(looks_rare(), "/itemIds", json!(["5", "6"])),
        ),
        ("invalid-format", "native.strategyId: ", changed(looks_rare(), "/strategyId", json!("9"))),
        ("invalid-format", "native.quoteType: ", changed(looks_rare(), "/quoteType", json!(2))),
        ("invalid-signature", "signature: was made by ", changed(zerox(), "/nonce", json!("999"))),
        ("unsupported-order", "native.taker: the order is for ", changed(zerox(), "/taker", json!(TAKER))),
        ("invalid-format", "native.direction: ", changed(zerox(), "/direction", json!(2))),
        (
            "unknown-contract",
            "native.protocolAddress: is required",
            changed(processor(), "/nonce", json!("999")),
        ),
        ("fees-too-high", "native.", changed(processor(), "/marketplaceFeeNumerator", json!("9999"))),
        (
            "invalid-signature",
            "signature: ends with 0, where it must be 27 or 28",
            with(processor(), json!({ "signature": format!("0x{}00", "11".repeat(64)) })),
        ),
        (
            "invalid-token-set",
            "native.tokenSetMerkleRoot",
            with_member(processor(), "tokenSetMerkleRoot", json!(format!("0x{}", "07".repeat(32)))),
        ),
        (
            "invalid-format",
            "native.proof: the proof leads to ",
            changed(blur(), "/listing/price", json!("1")),
        ),
        ("fees-too-high", "native.makerFee.rate: ", changed(blur(), "/makerFee/rate", json!(10_001))),
        ("invalid-format", "native.orderType: ", changed(blur(), "/orderType", json!(1))),
        ("unsupported-order", "native.taker: the order is for ", changed(x2y2(), "/taker", json!(TAKER))),
        ("unsupported-order", "native.type: ", changed(x2y2(), "/type", json!("auction"))),
        (
            "incompatible-currency",
            "native.currency: an offer cannot be",
            changed(x2y2(), "/type", json!("buy")),
        ),
        ("expired", "validUntil: ", changed(x2y2(), "/deadline", json!(1_700_000_000))),
    ]
}

#[tokio::test]
async fn every_reason_has_its_word() {
    let app = venues().await;
    let cases = [signatures_and_times(), prices(), tokens(), marketplaces(), other_families()].concat();
    let orders = cases.iter().map(|(.., order)| order.clone()).chain([seaport()]);
    let answer = put(&app, orders).await;
    let rejected = answer["rejected"].as_array().unwrap();
    for (place, (reason, message, order)) in cases.iter().enumerate() {
        let found = rejected.iter().find(|found| found["index"] == place);
        let found = found.unwrap_or_else(|| panic!("{reason}, {message}: {order} was taken"));
        assert_eq!(found["reason"], *reason, "{found}");
        assert!(text(&found["message"]).starts_with(message), "{message}: {found}");
    }
    assert_eq!(rejected.len(), cases.len(), "{answer}");
    // The one that is right was taken all the same.
    assert_eq!((&answer["accepted"], &answer["changed"]), (&json!(1), &json!(1)));
    assert_eq!(listed(&app, "listing", "5").await.len(), 1);
}

#[tokio::test]
async fn nothing_is_made_by_orders_that_are_all_refused() {
    let app = venues().await;
    let answer = put(&app, [with(seaport(), json!({ "signature": strange() }))]).await;
    assert_eq!((&answer["accepted"], &answer["changed"]), (&json!(0), &json!(0)));
    let collection =
        bourse_store::CollectionKey { chain: bourse_wire::ChainId(1), address: COLLECTION.parse().unwrap() };
    assert!(app.store.collection(collection).await.unwrap().is_none());
}
