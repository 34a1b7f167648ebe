//! Against orders, calls and logs that others made, and against hostile orders.

mod cosigned;
mod family;

use std::sync::Arc;

use alloy_primitives::U256;
use alloy_sol_types::{SolCall as _, SolValue as _};
use bourse_market::facts::{Fact, OrderFilled, OrderRef};
use bourse_market::{Numbers, Revoked, Series, Standing};
use bourse_wire::{Address, Marketplace, OrderSide, TokenId};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::abi::{Cosignature, FeeOnTop, Order, SignatureECDSA, TokenSetProof, acceptOfferCall};
use crate::native::Proof;
use crate::testing::{
    self, MAKER, admit, admitted, changed, check_calls, check_orders, decoded, fill, newest, person, stored,
    text, trade, vectors,
};
use crate::{Act, Fill, NewOrder, OrderSeed, Permission, Protocol, Scope, Statement};

type Offer = (bool, Order, SignatureECDSA, TokenSetProof, Cosignature, FeeOnTop);

const FAMILY: &str = "payment_processor";
const ONE: &str = "a token for the chain's own currency, version 2.1";
const TEN: &str = "some units for a currency, version 2.1";
const ITEM: &str = "an offer is taken, version 2.1";

fn case(name: &str) -> Value {
    testing::case(FAMILY, name)
}

/// Version 2.1.
fn processor() -> Arc<dyn Protocol> {
    let marketplace = Marketplace::PaymentProcessor;
    newest(marketplace)
}

#[test]
fn orders_have_the_names_and_signers_that_others_find() {
    check_orders(FAMILY);
}

#[test]
fn calls_are_those_that_others_make() {
    check_calls(FAMILY);
}

#[test]
fn shares_are_what_was_signed() {
    let order = admitted(&case(ONE)).remove(0).facts;
    let shares = order.fee_breakdown.iter().map(|fee| (fee.kind.as_str(), fee.bps, fee.recipient_address));
    let signed = [("marketplace", 250, person(0xf0)), ("royalty", 500, person(0xa0))];
    assert_eq!(shares.collect::<Vec<_>>(), signed);
    assert_eq!(order.fee_bps, 750);
}

#[test]
fn what_is_not_taken_is_told() {
    let refused = |name: &str, path: &str, value: Value| {
        admit(&*processor(), &changed(&case(name), path, value)).unwrap_err().to_string()
    };
    for (name, path, value, reason) in [
        (
            ONE,
            "/protocol",
            json!(3),
            "native.protocol: 3 is not one of 0 (ERC721), 1 (ERC1155), 2 (ERC1155 in parts)",
        ),
        (ONE, "/amount", json!("2"), "native.amount: 2 units where there must be 1 of an ERC721 token"),
        (TEN, "/amount", json!("0"), "native.amount: 0 units where there must be at least 1"),
        (ONE, "/itemPrice", json!("0"), "native.itemPrice: the price must not be zero"),
        (
            ONE,
            "/itemPrice",
            json!("-3"),
            "native.itemPrice: `-3` is not a whole number between 0 and 2^256-1",
        ),
        (
            ONE,
            "/marketplaceFeeNumerator",
            json!("9501"),
            "native.marketplaceFeeNumerator: the fees of 10001 are more than the price of 10000",
        ),
        (
            ONE,
            "/marketplaceFeeNumerator",
            json!(U256::MAX.to_string()),
            "native.marketplaceFeeNumerator: the amounts add up to more than 2^256-1",
        ),
        (ONE, "/seller", json!(null), "native.seller: orders of nobody are not supported"),
        (ONE, "/tokenId", json!(null), "native.tokenId: 0 tokens where there must be one"),
        (
            ITEM,
            "/paymentMethod",
            json!(Address::ZERO),
            "native.paymentMethod: an offer cannot be in the chain's own currency",
        ),
        (
            ITEM,
            "/beneficiary",
            json!(person(1)),
            "native.beneficiary: the token must go to the maker 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a, not to 0x0000000000000000000000000000000000000001",
        ),
    ] {
        assert_eq!(refused(name, path, value), reason, "{path}");
    }
    let large = (U256::ONE << 248_usize).to_string();
    assert_eq!(
        refused(TEN, "/amount", json!(large)),
        format!("native.amount: {large} takes more than 248 bits")
    );
    let with = |member: &str| {
        let mut order = case(ITEM)["orders"][0].clone();
        order["native"][member] = json!({ "any": "thing" });
        admit(&*processor(), &order).unwrap_err().to_string()
    };
    assert_eq!(
        with("bulkOrderProof"),
        "native.bulkOrderProof: orders that are signed together are not supported"
    );
    let set =
        "native.tokenSetMerkleRoot: offers for a set of tokens are not taken, only for one token or any";
    assert_eq!(with("tokenSetMerkleRoot"), set);
    // The two versions are two contracts: what is signed for one is not signed for the other.
    let older = &case("a token for the chain's own currency, version 2")["orders"][0];
    assert!(matches!(admit(&*processor(), older).unwrap().proof, Proof::Ask(_)));
}

#[test]
fn published_forms_are_read() {
    for name in [ONE, ITEM] {
        let mut order = case(name)["orders"][0].clone();
        let native = order["native"].as_object_mut().unwrap();
        let maker = native.remove("seller").or_else(|| native.remove("buyer")).unwrap();
        native.insert("sellerOrBuyer".to_owned(), maker);
        assert_eq!(admit(&*processor(), &order).unwrap(), admitted(&case(name))[0]);
    }
}

#[test]
fn each_order_carries_one_fee_of_its_price_at_most() {
    let refused = |fees: Value| {
        let filling = json!({ "quantities": ["1"], "taker": person(0xb0), "fees": fees });
        fill(&*processor(), &admitted(&case(ONE)), &filling).map(drop).map_err(|refusal| refusal.to_string())
    };
    let fee = |amount: &str, receiver: u8| json!({ "amount": amount, "receiver": person(receiver) });
    assert_eq!(refused(json!([fee("10000", 1)])), Ok(()), "all of the price");
    assert_eq!(refused(json!([fee("100", 1), fee("200", 1)])), Ok(()), "both for one");
    let two = "2 fees where the orders can carry 1, one each";
    assert_eq!(refused(json!([fee("100", 1), fee("200", 2)])), Err(two.to_owned()));
    let high =
        "the fees add up to 20000, which is more than the 1000 that the price leaves without royalties";
    assert_eq!(refused(json!([fee("20000", 1)])), Err(high.to_owned()));
}

#[test]
fn sellers_pay_fees_out_of_what_they_get() {
    let offer = admitted(&case(ITEM));
    let filling = json!({ "quantities": ["1"], "taker": person(0xb0), "fees": [{ "amount": "100", "receiver": person(1) }] });
    let plan = fill(&*processor(), &offer, &filling).unwrap();
    let (operator, collection) = (processor().contract(), person(0xc0));
    let spending = Permission::Spend { currency: person(0xd0), spender: operator, amount: 10.into() };
    assert_eq!(plan.permissions, [Permission::Move { collection, operator }, spending]);
    assert_eq!(plan.calls[0].price, 1000.into());
}

#[test]
fn sellers_pay_royalties_as_the_token_says() {
    let offer = admitted(&case(ITEM));
    let filling = json!({ "quantities": ["1"], "taker": person(0xb0) });
    let royalty = |told: u64| {
        let mut trade = trade(&*processor(), &offer, &filling).unwrap();
        trade.fills[0].chain_royalty = Some(crate::Royalty { receiver: person(0xa0), amount: told.into() });
        let call = processor().fill(&trade, &[]).unwrap().calls.remove(0);
        let data = acceptOfferCall::abi_decode(&call.data).unwrap().data;
        Offer::abi_decode_params(&data).unwrap().1.maxRoyaltyFeeNumerator
    };
    // In basis points of a price of 1000, rounded up so that it suffices.
    assert_eq!([0, 1, 50, 1000, 5000].map(royalty), [0, 10, 500, 10_000, 10_000].map(U256::from));
    let trade = trade(&*processor(), &offer, &filling).unwrap();
    let asked = processor().royalty_inquiry(person(0xc0), &trade.fills[0]).unwrap();
    assert_eq!((asked.to, asked.data[..4].to_vec()), (person(0xc0), vec![0x2a, 0x55, 0x20, 0x5a]));
    let listing = admitted(&case(ONE));
    let fill = Fill::new(&*processor(), stored(&listing[0]), 1.into()).unwrap();
    assert_eq!(processor().royalty_inquiry(person(0xc0), &fill), None, "its maker has signed it");
}

fn stated(logs: &[&str]) -> Vec<(usize, Scope, Fact)> {
    let protocol = processor();
    let logs: Vec<(&str, Address)> = logs.iter().map(|name| (*name, protocol.contract())).collect();
    let decoded = decoded(&*protocol, FAMILY, &logs);
    decoded
        .into_iter()
        .map(|Statement { log: place, scope: concerns, fact }| (place, concerns, fact))
        .collect()
}

fn revoked(series: Series, number: u64) -> Fact {
    let revoked =
        Revoked { contract: processor().contract(), series, numbers: Numbers::Exactly(U256::from(number)) };
    Fact::OrdersRevoked { marketplace: Marketplace::PaymentProcessor, maker: MAKER.parse().unwrap(), revoked }
}

fn filled(
    order_ref: OrderRef,
    recipient: Address,
    token: u64,
    quantity: u64,
    remaining: Option<u64>,
) -> Fact {
    Fact::OrderFilled(Box::new(OrderFilled {
        marketplace: Marketplace::PaymentProcessor,
        order_ref,
        taker: person(0xb0),
        recipient,
        token_id: Some(TokenId::from(token)),
        quantity: quantity.into(),
        remaining: remaining.map(Into::into),
    }))
}

fn numbered(side: OrderSide, number: u64) -> OrderRef {
    one_of(side, number, &[])
}

fn one_of(side: OrderSide, number: u64, others: &[u64]) -> OrderRef {
    let (contract, maker, series) = (processor().contract(), MAKER.parse().unwrap(), Series::Nonce);
    let others = others.iter().map(|number| U256::from(*number)).collect();
    OrderRef::Numbered { contract, maker, side, series, number: U256::from(number), others }
}

#[test]
fn sales_are_known_by_what_was_used_before() {
    let (here, everywhere) = (Scope::Collection(person(0xc0)), Scope::EveryCollection);
    let bought = |number| filled(numbered(OrderSide::Listing, number), person(0xb0), 5, 1, Some(0));
    let one = (1, everywhere, revoked(Series::Nonce, 1));
    assert_eq!(stated(&["used", "bought"]), [(1, here, bought(1)), one]);
    let sold = filled(numbered(OrderSide::Offer, 1), person(0xb0), 77, 1, Some(0));
    assert_eq!(stated(&["used", "sold"])[0], (1, here, sold));
    // Several at once come in their order.
    let two = stated(&["used", "usedOther", "bought", "bought"]);
    let either =
        |number, other| filled(one_of(OrderSide::Listing, number, &[other]), person(0xb0), 5, 1, Some(0));
    assert_eq!((&two[0], &two[2]), (&(2, here, either(1, 2)), &(3, here, bought(2))));
    // The first of two could not be had, and is used up all the same.
    let second = stated(&["usedOther", "used", "bought"]);
    assert_eq!(
        second,
        [
            (2, here, either(1, 2)),
            (2, everywhere, revoked(Series::Nonce, 1)),
            (0, everywhere, revoked(Series::Nonce, 2))
        ]
    );
    // One after another, each has its own.
    let each = stated(&["used", "bought", "usedOther", "bought"]);
    assert_eq!((&each[0], &each[2]), (&(1, here, bought(1)), &(3, here, bought(2))));
    // A number is used up even when nothing was sold, unless the contract gives it back.
    assert_eq!(stated(&["usedOther"]), [(0, everywhere, revoked(Series::Nonce, 2))]);
    assert_eq!(stated(&["usedOther", "restored"]), []);
}

#[test]
fn parts_are_known_by_their_order_or_by_their_price() {
    let here = Scope::Collection(person(0xc0));
    let id = || OrderRef::Id(text(&vectors(FAMILY)["logs"]["digest"]).to_owned());
    let part = |order_ref, remaining| filled(order_ref, person(0xb0), 7, 4, remaining);
    assert_eq!(stated(&["part", "boughtUnits"]), [(1, here, part(id(), None))]);
    assert_eq!(stated(&["part", "lastPart", "boughtUnits"]), [(2, here, part(id(), Some(0)))]);
    assert_eq!(stated(&["lastPart", "boughtUnits"]), [(1, here, part(id(), Some(0)))]);
    let (maker, side, currency) = (MAKER.parse().unwrap(), OrderSide::Listing, Address::ZERO);
    let priced =
        OrderRef::Priced { contract: processor().contract(), maker, side, currency, price: 400.into() };
    assert_eq!(stated(&["boughtUnits"]), [(0, here, part(priced, None))]);
}

#[test]
fn orders_are_taken_back() {
    let everywhere = Scope::EveryCollection;
    assert_eq!(stated(&["revoked"]), [(0, everywhere, revoked(Series::Nonce, 1))]);
    assert_eq!(stated(&["master"]), [(0, everywhere, revoked(Series::Counter, 2))]);
    let order_id = text(&vectors(FAMILY)["logs"]["digest"]).to_owned();
    let cancelled = Fact::OrderCancelled { marketplace: Marketplace::PaymentProcessor, order_id };
    assert_eq!(stated(&["cancelledParts"]), [(0, everywhere, cancelled)]);
}

#[test]
fn the_chain_tells_what_became_of_an_order() {
    let words = |words: &[u64]| {
        let words = words.iter().map(|word| U256::from(*word).to_be_bytes::<32>());
        Some(words.collect::<Vec<_>>().concat().into())
    };
    let standing = |name: &str, master: u64, own: &[u64]| {
        let order = admitted(&case(name)).remove(0);
        processor().standing(stored(&order), &[words(&[master]), words(own)]).unwrap()
    };
    let open = |remaining: u64| Standing::Open { remaining: remaining.into() };
    assert_eq!(standing(ONE, 2, &[0]), open(1));
    assert_eq!(standing(ONE, 2, &[1]), Standing::Cancelled);
    assert_eq!(standing(ONE, 3, &[0]), Standing::Cancelled);
    assert_eq!(standing(ONE, 1, &[0]), Standing::NotYet, "its maker raised the number in a later block");
    assert_eq!(standing(TEN, 2, &[0, 0]), open(10));
    assert_eq!(standing(TEN, 2, &[0, 3]), open(3));
    assert_eq!(standing(TEN, 2, &[1, 0]), Standing::Filled);
    assert_eq!(standing(TEN, 2, &[2, 0]), Standing::Cancelled);
}

proptest! {
    /// What is offered for signing is taken once it is signed.
    #[test]
    fn new_orders_are_taken(is_offer: bool, units in 1..50_u64, price in 1..1_000_000_u64, royalty in 0..1000_u64) {
        let whole = price * units;
        let order = NewOrder {
            side: if is_offer { OrderSide::Offer } else { OrderSide::Listing },
            maker: person(0xaa),
            collection: person(0xc0),
            is_multiple: true,
            token_id: 5.into(),
            quantity: units.into(),
            expiry: 2000.into(),
            currency: person(0xd0),
            unit_price: price.into(),
        };
        let inquiries = processor().order_inquiries(&order);
        prop_assert_eq!(inquiries.len(), if is_offer { 1 } else { 2 });
        let words = |words: &[u64]| {
            let words = words.iter().flat_map(|word| U256::from(*word).to_be_bytes::<32>());
            Some(words.collect::<Vec<u8>>().into())
        };
        let answers = [words(&[3]), words(&[1, whole * royalty / 10_000])];
        let seed = OrderSeed { salt: U256::from(77), now: 1000, answers: &answers };
        let Act::Sign(signing) = processor().make_order(&order, seed).unwrap().act else { panic!("signed") };
        let signature = format!("0x{}{}1b", "01".repeat(32), "02".repeat(32));
        let put = json!({ "native": Value::Object(signing.native.clone()), "signature": signature });
        let admitted = admit(&*processor(), &put).unwrap();
        prop_assert_eq!(admitted.facts.price_amount, price.into());
        prop_assert_eq!(admitted.nonces.get(Series::Counter), Some(U256::from(3)));
        prop_assert_eq!(signing.typed.value.len(), 15);
        prop_assert!(admitted.facts.fee_bps <= royalty.try_into().unwrap());
        let asked = (whole * royalty / 10_000 * 10_000).div_ceil(whole).to_string();
        let allowed = signing.native.get("maxRoyaltyFeeNumerator").cloned();
        prop_assert_eq!(allowed, (!is_offer).then(|| json!(asked)));
    }
}
