//! Against orders, calls and logs that others made, and against hostile orders.

mod family;

use std::sync::Arc;

use alloy_primitives::{U256, b256};
use bourse_market::facts::{Fact, OrderFilled, OrderRef};
use bourse_market::{Numbers, Revoked, Series, Standing};
use bourse_wire::{Address, Marketplace, OrderSide, TokenId};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::order::tree_type;
use crate::native::Proof;
use crate::testing::{
    self, MAKER, admit, admitted, changed, check_calls, check_orders, decoded, fill, newest, person, stored,
    text, vectors,
};
use crate::{Act, NewOrder, OrderSeed, Permission, Protocol, Scope, Statement};

const LISTING: &str = "a token for the chain's own currency";
const OFFER: &str = "an offer is taken";
const TREE: &str = "several orders with one signature";

fn case(name: &str) -> Value {
    testing::case("looks_rare", name)
}

fn looks_rare() -> Arc<dyn Protocol> {
    newest(Marketplace::LooksRare)
}

fn manager() -> Address {
    "0x000000000060c4ca14cfc4325359062ace33fe3d".parse().unwrap()
}

#[test]
fn orders_have_the_names_and_signers_that_others_find() {
    check_orders("looks_rare");
}

#[test]
fn calls_are_those_that_others_make() {
    check_calls("looks_rare");
}

#[test]
fn trees_have_the_types_of_the_contract() {
    for (height, published) in [
        (1, b256!("9661287f7a4aa4867db46a2453ee15bebac4e8fc25667a58718da658f15de643")),
        (2, b256!("a54ab330ea9e1dfccee2b86f3666989e7fbd479704416c757c8de8e820142a08")),
        (10, b256!("f8b1f864164d8d6e0b45f1399bd711223117a4ab0b057a9c2d7779e86a7c88db")),
    ] {
        assert_eq!(tree_type(height), published, "{height}");
    }
}

#[test]
fn what_is_not_taken_is_told() {
    let proof = case(TREE)["orders"][0]["native"]["merkleProof"][0].clone();
    let refused = |name: &str, path: &str, value: Value| {
        admit(&*looks_rare(), &changed(&case(name), path, value)).unwrap_err().to_string()
    };
    for (name, path, value, reason) in [
        (LISTING, "/quoteType", json!(2), "native.quoteType: 2 is not one of 0 (bid), 1 (ask)"),
        (
            LISTING,
            "/collectionType",
            json!(2),
            "native.collectionType: 2 is not one of 0 (ERC721), 1 (ERC1155)",
        ),
        (LISTING, "/itemIds", json!(["1", "2"]), "native.itemIds: 2 tokens where there must be one"),
        (LISTING, "/itemIds", json!([]), "native.itemIds: 0 tokens where there must be one"),
        (LISTING, "/amounts", json!(["1", "1"]), "native.amounts: 2 tokens where there must be one"),
        (
            LISTING,
            "/amounts",
            json!(["2"]),
            "native.amounts: 2 units where there must be 1 of an ERC721 token",
        ),
        (
            LISTING,
            "/amounts",
            json!(vec!["1"; 17]),
            "native.amounts: 17 entries where at most 16 are allowed",
        ),
        (LISTING, "/price", json!("0"), "native.price: the price must not be zero"),
        (LISTING, "/price", json!("-1"), "native.price: `-1` is not a whole number between 0 and 2^256-1"),
        (
            LISTING,
            "/strategyId",
            json!("1"),
            "native.strategyId: 1 is not one of 0 (standard), 1 (any token of the collection, for bids)",
        ),
        (
            LISTING,
            "/endTime",
            json!("1"),
            "native: the order begins at 2023-11-14T22:13:20Z, which is not before its end 1970-01-01T00:00:01Z",
        ),
        (
            OFFER,
            "/currency",
            json!(Address::ZERO),
            "native.currency: an offer cannot be in the chain's own currency",
        ),
        (
            TREE,
            "/merkleProof/0/position",
            json!(2),
            "native.merkleProof.position: 2 is not one of 0 (left), 1 (right)",
        ),
        (
            TREE,
            "/merkleProof",
            json!(vec![proof; 11]),
            "native.merkleProof: 11 entries where at most 10 are allowed",
        ),
    ] {
        assert_eq!(refused(name, path, value), reason, "{path}");
    }
    let other = refused(TREE, "/orderNonce", json!("99"));
    assert!(other.starts_with("native.merkleProof: the proof leads to 0x"), "{other}");
    let unsigned = admit(&*looks_rare(), &json!({ "native": case(LISTING)["orders"][0]["native"] }));
    assert_eq!(unsigned.unwrap_err().to_string(), "signature: is required");
    let changed = admit(&*looks_rare(), &changed(&case(LISTING), "/price", json!("1"))).unwrap();
    assert!(matches!(changed.proof, Proof::Ask(_)), "a contract may have signed it");
}

#[test]
fn what_cannot_be_filled_is_told() {
    let units = admitted(&case("units for a currency, as a whole"));
    let filling = |quantity: &str, fees: Value| json!({ "quantities": [quantity], "taker": person(0xb0), "fees": fees });
    let refused = |filling: Value| fill(&*looks_rare(), &units, &filling).unwrap_err().to_string();
    let part = refused(filling("3", json!([])));
    assert!(part.ends_with("can only be filled as a whole, with all its 10 units"), "{part}");
    let fee = json!([{ "amount": "100", "receiver": person(0xf0) }]);
    let reason = "LooksRare cannot pay fees to others on top of its orders: leave them out";
    assert_eq!(refused(filling("10", fee)), reason);
}

#[test]
fn sellers_let_two_contracts_in() {
    let offer = admitted(&case(OFFER));
    let plan = fill(&*looks_rare(), &offer, &case(OFFER)["fill"]).unwrap();
    let granting = Permission::Grant { manager: manager(), operator: looks_rare().contract() };
    let moving = Permission::Move { collection: person(0xc0), operator: manager() };
    assert_eq!(plan.permissions, [moving, granting]);
    assert_eq!(offer[0].facts.operator, Some(looks_rare().contract()));
    assert_eq!(admitted(&case(LISTING))[0].facts.operator, Some(manager()));
}

#[test]
fn logs_state_fills_and_numbers() {
    let protocol = looks_rare();
    let own = protocol.contract();
    let id = text(&vectors("looks_rare")["logs"]["id"]).to_owned();
    let maker: Address = MAKER.parse().unwrap();
    let filled = |token: u64| OrderFilled {
        marketplace: Marketplace::LooksRare,
        order_ref: OrderRef::Id(id.clone()),
        taker: person(0xb0),
        recipient: person(0xa0),
        token_id: Some(TokenId::from(token)),
        quantity: 1.into(),
        remaining: Some(0.into()),
    };
    let of_collection = |token| (Scope::Collection(person(0xc0)), Fact::OrderFilled(Box::new(filled(token))));
    let revoked = |series, numbers| {
        let revoked = Revoked { contract: own, series, numbers };
        (Scope::EveryCollection, Fact::OrdersRevoked { marketplace: Marketplace::LooksRare, maker, revoked })
    };
    let exactly = |number: u64| Numbers::Exactly(U256::from(number));
    let but = |number: u64| Numbers::Below(U256::from(number));
    let grant = |granted| (Scope::EveryCollection, Fact::Grant { owner: maker, manager: manager(), granted });
    for (name, writer, stated) in [
        ("bought", own, vec![of_collection(5), revoked(Series::Nonce, exactly(7))]),
        ("sold", own, vec![of_collection(77), revoked(Series::Nonce, exactly(7))]),
        ("bundle", own, vec![revoked(Series::Nonce, exactly(7))]),
        ("nonces", own, vec![revoked(Series::Nonce, exactly(7)), revoked(Series::Nonce, exactly(8))]),
        ("groups", own, vec![revoked(Series::Group, exactly(4))]),
        ("counters", own, vec![revoked(Series::BidCounter, but(12)), revoked(Series::AskCounter, but(34))]),
        ("granted", manager(), vec![grant(true)]),
        ("removed", manager(), vec![grant(false)]),
        ("elsewhere", manager(), vec![]),
        ("removed", own, vec![]),
        ("bought", manager(), vec![]),
    ] {
        let stated: Vec<Statement> =
            stated.into_iter().map(|(concerns, fact)| Statement { log: 0, scope: concerns, fact }).collect();
        assert_eq!(decoded(&*protocol, "looks_rare", &[(name, writer)]), stated, "{name}");
    }
}

#[test]
fn the_chain_tells_what_became_of_an_order() {
    let (protocol, order) = (looks_rare(), admitted(&case(LISTING)).remove(0));
    assert_eq!(protocol.standing_inquiries(stored(&order)).unwrap().len(), 4);
    let word = |number: u64| U256::from(number).to_be_bytes::<32>().to_vec();
    let standing = |ask: u64, group: u64, used: u64, granted: u64| {
        let counters = [word(99), word(ask)].concat();
        let answers = [counters, word(group), word(used), word(granted)].map(|answer| Some(answer.into()));
        protocol.standing(stored(&order), &answers).unwrap()
    };
    assert_eq!(standing(3, 0, 0, 1), Standing::Open { remaining: 1.into() });
    assert_eq!(standing(3, 0, 0, 0), Standing::Uncovered);
    for over in [standing(4, 0, 0, 1), standing(3, 1, 0, 1), standing(3, 0, 9, 1)] {
        assert_eq!(over, Standing::Cancelled);
    }
    assert_eq!(standing(2, 0, 0, 1), Standing::NotYet, "its maker raised the number in a later block");
    assert_eq!(protocol.standing(stored(&order), &[None, None, None, None]), None);
}

proptest! {
    /// What is offered for signing is taken once it is signed, and is what was asked for.
    #[test]
    fn new_orders_are_taken(is_offer: bool, units in 1..1000_u64, price in 1..1_000_000_u64, salt: u64) {
        let side = if is_offer { OrderSide::Offer } else { OrderSide::Listing };
        let order = NewOrder {
            side,
            maker: person(0xaa),
            collection: person(0xc0),
            is_multiple: true,
            token_id: 5.into(),
            quantity: units.into(),
            expiry: 2000.into(),
            currency: person(0xd0),
            unit_price: price.into(),
        };
        let answers = [Some([U256::from(1), U256::from(2)].map(|word| word.to_be_bytes::<32>()).concat().into())];
        let seed = OrderSeed { salt: U256::from(salt), now: 1000, answers: &answers };
        let Act::Sign(signing) = looks_rare().make_order(&order, seed).unwrap().act else { panic!("signed") };
        let native = Value::Object(signing.native.clone());
        let put = json!({ "native": native, "signature": format!("0x{}", "01".repeat(65)) });
        let admitted = admit(&*looks_rare(), &put).unwrap();
        prop_assert_eq!(admitted.facts.price_amount, price.into());
        prop_assert_eq!(admitted.facts.quantity_initial, units.into());
        prop_assert_eq!(admitted.facts.side, side);
        let counter = if is_offer { (Series::BidCounter, 1) } else { (Series::AskCounter, 2) };
        prop_assert_eq!(admitted.nonces.get(counter.0), Some(U256::from(counter.1)));
        prop_assert_eq!(signing.typed.value.len(), 15);
        prop_assert_eq!(&native["startTime"], "700", "a while before it was made");
        let unknown = looks_rare().make_order(&order, OrderSeed { answers: &[None], ..seed }).unwrap_err().to_string();
        prop_assert_eq!(unknown, "a node of the network must tell the nonces of the maker before an order can be signed");
    }
}
