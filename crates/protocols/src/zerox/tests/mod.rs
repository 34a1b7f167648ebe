//! Against orders, calls and logs that others made, and against hostile orders.

mod family;

use std::sync::Arc;

use alloy_primitives::{U256, hex};
use alloy_sol_types::SolCall as _;
use bourse_market::facts::{Fact, OrderFilled, OrderPublished, OrderRef};
use bourse_market::{Numbers, Revoked, Series, Standing};
use bourse_wire::{Address, Marketplace, OrderSide, TokenId};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::abi::{buyERC1155Call, sellERC1155Call};
use crate::testing::{
    self, MAKER, admit, admitted, changed, check_calls, check_orders, decoded, fill, newest, person, stored,
};
use crate::{Act, NewOrder, OrderSeed, Protocol, Scope, Statement};

const ONE: &str = "a token for the chain's own currency, fees on top";
const UNITS: &str = "some units, rounded as the contract does";
const OFFER: &str = "an offer is taken";
const ANY: &str = "an offer for any token is taken in part";

fn case(name: &str) -> Value {
    testing::case("zerox", name)
}

fn zerox() -> Arc<dyn Protocol> {
    newest(Marketplace::Zerox)
}

#[test]
fn orders_have_the_names_and_signers_that_others_find() {
    check_orders("zerox");
}

#[test]
fn calls_are_those_that_others_make() {
    check_calls("zerox");
}

#[test]
fn shares_come_on_top_of_the_price() {
    let order = admitted(&case(ONE)).remove(0).facts;
    assert_eq!(order.price_amount.to_string(), "1076", "all that a buyer pays");
    let shares: Vec<(i64, Address)> =
        order.fee_breakdown.iter().map(|fee| (fee.bps, fee.recipient_address)).collect();
    assert_eq!(shares, [(232, person(0xf0)), (473, person(0xa0))]);
    assert_eq!(order.currency, Address::ZERO);
}

#[test]
fn what_is_not_taken_is_told() {
    let refused = |name: &str, path: &str, value: Value| {
        admit(&*zerox(), &changed(&case(name), path, value)).unwrap_err().to_string()
    };
    let fee = case(ONE)["orders"][0]["native"]["fees"][0].clone();
    let huge = U256::MAX.to_string();
    for (name, path, value, reason) in [
        (ONE, "/direction", json!(2), "native.direction: 2 is not one of 0 (sell), 1 (buy)"),
        (
            ONE,
            "/taker",
            json!(person(0xb0)),
            "native.taker: the order is for 0x00000000000000000000000000000000000000b0 alone",
        ),
        (ONE, "/erc20TokenAmount", json!("0"), "native.erc20TokenAmount: the price must not be zero"),
        (ONE, "/erc20TokenAmount", json!(huge), "native.fees: the amounts add up to more than 2^256-1"),
        (ONE, "/fees", json!(vec![fee; 17]), "native.fees: 17 entries where at most 16 are allowed"),
        (
            ONE,
            "/fees/0/amount",
            json!(-1),
            "native.fees[0].amount: `-1` is not a whole number between 0 and 2^256-1",
        ),
        (ONE, "/erc721Token", json!(null), "native.erc721Token: 0 tokens where there must be one"),
        (
            ONE,
            "/expiry",
            json!("0"),
            "native: the order begins at 1970-01-01T00:00:00Z, which is not before its end 1970-01-01T00:00:00Z",
        ),
        (
            UNITS,
            "/erc1155TokenAmount",
            json!("0"),
            "native.erc1155TokenAmount: 0 units where there must be at least 1",
        ),
        (
            UNITS,
            "/erc1155TokenAmount",
            json!("340282366920938463463374607431768211456"),
            "native.erc1155TokenAmount: 340282366920938463463374607431768211456 takes more than 128 bits",
        ),
        (
            OFFER,
            "/erc20Token",
            json!("0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"),
            "native.erc20Token: an offer cannot be in the chain's own currency",
        ),
        (
            ANY,
            "/erc1155TokenProperties/0/propertyValidator",
            json!(person(1)),
            "native.erc1155TokenProperties: offers for a set of tokens are not taken, only for one token or any",
        ),
        (
            ANY,
            "/erc1155TokenId",
            json!("1"),
            "native.erc1155TokenProperties: properties of an order for one token are not supported",
        ),
    ] {
        assert_eq!(refused(name, path, value), reason, "{path}");
    }
    // Contracts cannot sign here, so that a signature of somebody else is final.
    let stranger = refused(ONE, "/nonce", json!("99"));
    assert!(stranger.starts_with("signature: was made by 0x"), "{stranger}");
    assert!(stranger.ends_with(&format!("not by the maker {MAKER}")), "{stranger}");
}

#[test]
fn signatures_are_checked_byte_by_byte() {
    let order = case(ONE)["orders"][0].clone();
    let bytes = hex::decode(order["signature"].as_str().unwrap()).unwrap();
    let refused = |signature: Value| {
        let put = json!({ "native": order["native"], "signature": signature });
        admit(&*zerox(), &put).unwrap_err().to_string()
    };
    let written = |bytes: &[u8]| json!(format!("0x{}", hex::encode(bytes)));
    assert_eq!(refused(written(&bytes[..63])), "signature: 63 bytes, where signatures have 64 or 65 bytes");
    let mut other = bytes.clone();
    other[64] = 29;
    assert_eq!(refused(written(&other)), "signature: ends with 29, where it must be 27 or 28");
    // The other signature that the same key could make: contracts refuse it.
    let order_of_curve = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    let s = U256::from_str_radix(order_of_curve, 16).unwrap() - U256::from_be_slice(&bytes[32..64]);
    let mirrored = [&bytes[..32], &s.to_be_bytes::<32>(), &[bytes[64] ^ 7]].concat();
    assert_eq!(
        refused(written(&mirrored)),
        "signature: its second half is too large, which contracts refuse"
    );
    let mut nobody = bytes;
    nobody[..32].fill(0);
    assert!(
        refused(written(&nobody))
            .starts_with("signature: was made by 0x0000000000000000000000000000000000000000")
    );
}

#[test]
fn published_signatures_are_read() {
    let order = case(ONE)["orders"][0].clone();
    let bytes = order["signature"].as_str().unwrap();
    let parts = json!({ "signatureType": 2, "r": &bytes[..66], "s": format!("0x{}", &bytes[66..130]),
        "v": u8::from_str_radix(&bytes[130..], 16).unwrap() });
    let mut native = order["native"].clone();
    native["signature"] = parts;
    assert_eq!(admit(&*zerox(), &json!({ "native": native })).unwrap(), admitted(&case(ONE))[0]);
    native["signature"]["r"] = json!("0x12");
    assert!(admit(&*zerox(), &json!({ "native": native })).is_err());
}

#[test]
fn logs_state_fills_and_numbers() {
    let (protocol, maker) = (zerox(), MAKER.parse().unwrap());
    let own = protocol.contract();
    let filled = |side, series, number: u64, token: u64, quantity: u64, remaining: Option<u64>| {
        let order = OrderFilled {
            marketplace: Marketplace::Zerox,
            order_ref: OrderRef::Numbered {
                contract: own,
                maker,
                side,
                series,
                number: U256::from(number),
                others: Vec::new(),
            },
            taker: person(0xb0),
            recipient: Address::ZERO,
            token_id: Some(TokenId::from(token)),
            quantity: quantity.into(),
            remaining: remaining.map(Into::into),
        };
        (Scope::Collection(person(0xc0)), Fact::OrderFilled(Box::new(order)))
    };
    let revoked = |series, number: u64| {
        let revoked = Revoked { contract: own, series, numbers: Numbers::Exactly(U256::from(number)) };
        (Scope::EveryCollection, Fact::OrdersRevoked { marketplace: Marketplace::Zerox, maker, revoked })
    };
    let (one, units) = (Series::Nonce, Series::UnitsNonce);
    for (name, stated) in [
        ("listingFilled", vec![filled(OrderSide::Listing, one, 1, 5, 1, Some(0)), revoked(one, 1)]),
        ("offerFilled", vec![filled(OrderSide::Offer, units, 6, 77, 3, None)]),
        ("tokenCancelled", vec![revoked(one, 1)]),
        ("unitsCancelled", vec![revoked(units, 3)]),
    ] {
        let stated: Vec<Statement> =
            stated.into_iter().map(|(concerns, fact)| Statement { log: 0, scope: concerns, fact }).collect();
        assert_eq!(decoded(&*protocol, "zerox", &[(name, own)]), stated, "{name}");
    }
}

#[test]
fn orders_that_their_makers_sign_on_the_chain_are_told() {
    let protocol = zerox();
    for (name, log) in [(ONE, "tokenSigned"), (UNITS, "unitsSigned")] {
        let mut signed = case(name)["orders"][0].clone();
        signed["native"]["signatureType"] = json!(4);
        signed["signature"] = json!(null);
        let put = admit(&*protocol, &signed).unwrap();
        let order = OrderPublished { facts: put.facts, native: put.text, nonces: put.nonces };
        let (concerns, fact) = (Scope::Collection(put.collection), Fact::OrderPublished(Box::new(order)));
        let told = Statement { log: 0, scope: concerns, fact };
        assert_eq!(decoded(&*protocol, "zerox", &[(log, protocol.contract())]), [told], "{log}");
    }
}

#[test]
fn the_chain_tells_what_became_of_an_order() {
    let (one, units) = (admitted(&case(ONE)).remove(0), admitted(&case(UNITS)).remove(0));
    let words = |words: &[u64]| {
        let words = words.iter().map(|word| U256::from(*word).to_be_bytes::<32>());
        [Some(words.collect::<Vec<_>>().concat().into())]
    };
    let standing = |order, answer: &[u64]| zerox().standing(stored(order), &words(answer));
    assert_eq!(standing(&one, &[1]), Some(Standing::Open { remaining: 1.into() }));
    assert_eq!(standing(&one, &[2]), Some(Standing::Cancelled));
    assert_eq!(standing(&one, &[3]), None, "only its time is over");
    assert_eq!(standing(&units, &[9, 1, 10, 4]), Some(Standing::Open { remaining: 4.into() }));
    assert_eq!(standing(&units, &[9, 2, 10, 0]), Some(Standing::Filled));
    assert_eq!(standing(&units, &[9, 2, 10, 4]), Some(Standing::Cancelled));
}

#[test]
fn fees_are_refused_by_name() {
    let filling = json!({ "quantities": ["1"], "taker": person(0xb0), "fees": [{ "amount": "100", "receiver": person(1) }] });
    let refusal = fill(&*zerox(), &admitted(&case(ONE)), &filling).unwrap_err();
    assert_eq!(refusal.to_string(), "0x cannot pay fees to others on top of its orders: leave them out");
}

proptest! {
    /// However many units are taken one after another, the maker of a listing gets at least the price, the maker of an
    /// offer pays at most the price, and nobody pays a share twice.
    #[test]
    fn parts_add_up(
        is_offer: bool,
        price in 1..1_000_000_u64,
        shares in prop::collection::vec(0..10_000_u64, 0..4),
        parts in prop::collection::vec(1..20_u64, 1..6),
    ) {
        let units: u64 = parts.iter().sum();
        // Who sells to an offer gets at least half of it.
        let price = if is_offer { price.max(shares.iter().sum()) } else { price };
        let fees: Vec<Value> = shares.iter().map(|share| json!({ "recipient": person(9), "amount": share.to_string() })).collect();
        let native = json!({ "direction": u8::from(is_offer), "maker": person(0xaa), "taker": Address::ZERO, "expiry": 9,
            "nonce": 1, "erc20Token": person(0xd0), "erc20TokenAmount": price.to_string(), "fees": fees,
            "erc1155Token": person(0xc0), "erc1155TokenId": 7, "erc1155TokenProperties": [],
            "erc1155TokenAmount": units, "signatureType": 4 });
        let order = admit(&*zerox(), &json!({ "native": native })).unwrap();
        let whole = price + shares.iter().sum::<u64>();
        let mut paid = U256::ZERO;
        for part in &parts {
            let filling = json!({ "quantities": [part.to_string()], "taker": person(0xb0) });
            let plan = fill(&*zerox(), std::slice::from_ref(&order), &filling).unwrap();
            let call = &plan.calls[0];
            let amount = match buyERC1155Call::abi_decode(&call.data) {
                Ok(buy) => buy.erc1155BuyAmount,
                Err(_) => sellERC1155Call::abi_decode(&call.data).unwrap().erc1155SellAmount,
            };
            prop_assert_eq!(amount, u128::from(*part));
            paid += call.price.value();
        }
        let most = U256::from(whole) + U256::from(parts.len());
        let least = U256::from(whole).saturating_sub(U256::from((shares.len() + 1) * parts.len()));
        prop_assert!(paid <= most && paid >= least, "{} of {}", paid, whole);
        if is_offer {
            prop_assert!(paid <= U256::from(whole));
        }
    }

    /// What is offered for signing is taken once it is signed.
    #[test]
    fn new_orders_are_taken(is_multiple: bool, is_native: bool, units in 1..1000_u64, price in 1..1_000_000_u64) {
        let units = if is_multiple { units } else { 1 };
        let order = NewOrder {
            side: OrderSide::Listing,
            maker: person(0xaa),
            collection: person(0xc0),
            is_multiple,
            token_id: 5.into(),
            quantity: units.into(),
            expiry: 2000.into(),
            currency: if is_native { Address::ZERO } else { person(0xd0) },
            unit_price: price.into(),
        };
        let seed = OrderSeed { salt: U256::from(77), now: 1000, answers: &[] };
        let Act::Sign(signing) = zerox().make_order(&order, seed).unwrap().act else { panic!("signed") };
        let mut native = signing.native.clone();
        native.insert("signatureType".to_owned(), json!(4));
        let admitted = admit(&*zerox(), &json!({ "native": native })).unwrap();
        prop_assert_eq!(admitted.facts.price_amount, price.into());
        prop_assert_eq!(admitted.facts.quantity_initial, units.into());
        prop_assert_eq!(admitted.facts.currency, order.currency);
        prop_assert_eq!(signing.typed.value.len(), if is_multiple { 12 } else { 11 });
    }
}
