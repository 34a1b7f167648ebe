//! Against listings, approvals, calls and logs that others made, and against hostile ones.

mod family;

use std::sync::Arc;

use alloy_primitives::{Bytes, U256};
use bourse_market::facts::{Fact, OrderFilled, OrderRef};
use bourse_market::{Numbers, Revoked, Series, Standing};
use bourse_wire::{Address, Amount, Marketplace, OrderSide, TokenId};
use serde_json::{Value, json};

use super::order::number;
use crate::native::{NativeOrder, Proof};
use crate::testing::{
    self, MAKER, admit, admitted, changed, check_calls, check_orders, decoded, fill, person, stored, text,
    trade,
};
use crate::{
    ConsentAnswers, ConsentFault, ConsentOutcome, ConsentRequest, ConsentSignature, Permission, Protocol,
    Refusal, Scope, SigningPayload, Statement,
};

const FAMILY: &str = "payment_processor_v1";
const ONE: &str = "a token for the chain's own currency";
const TEN: &str = "all units for a currency";
const TWO: &str = "two listings at once";

fn case(name: &str) -> Value {
    testing::case(FAMILY, name)
}

fn processor() -> Arc<dyn Protocol> {
    testing::protocol(&case(ONE))
}

fn buyer() -> Address {
    text(&case(ONE)["fill"]["taker"]).parse().unwrap()
}

/// The number that the chain answers with.
fn answer(number: &str) -> [Option<Bytes>; 1] {
    [Some(number.parse::<U256>().unwrap().to_be_bytes::<32>().to_vec().into())]
}

/// What is still to be signed for a trade, where the buyer's master nonce is this.
fn wanted(orders: &[NativeOrder], filling: &Value, master_nonce: &str) -> Vec<ConsentRequest> {
    let trade = trade(&*processor(), orders, filling).unwrap();
    assert_eq!(processor().consent_questions(&trade).unwrap().inquiries.len(), 1);
    let now = case(ONE)["fill"]["now"].as_u64().unwrap();
    processor()
        .missing_consents(&trade, ConsentAnswers { chain: &answer(master_nonce), service: &[], now })
        .unwrap()
}

/// The same trade before anything was signed.
fn unsigned(filling: &Value) -> Value {
    let mut filling = filling.clone();
    filling["consents"] = json!([]);
    filling
}

#[test]
fn listings_have_the_names_and_signers_that_others_find() {
    check_orders(FAMILY);
}

#[test]
fn calls_with_both_signatures_are_those_that_others_make() {
    check_calls(FAMILY);
}

#[test]
fn buyers_are_asked_for_what_others_would_have_them_sign() {
    for name in [ONE, TEN, TWO] {
        let (case, orders) = (case(name), admitted(&case(name)));
        let filling = &case["fill"];
        let asked = wanted(&orders, &unsigned(filling), text(&filling["masterNonce"]));
        assert_eq!(asked.len(), orders.len());
        for (place, ConsentRequest { payload, terms, .. }) in asked.iter().enumerate() {
            let SigningPayload::Typed(typed) = payload else { panic!("typed data") };
            let expected = &filling["typed"][place];
            let lower = |value: &Value| value.to_string().to_lowercase();
            assert_eq!(Value::Object(typed.types.clone()), expected["types"]);
            assert_eq!(typed.primary_type, text(&expected["primaryType"]));
            assert_eq!(lower(&Value::Object(typed.value.clone())), lower(&sorted(&expected["value"])));
            assert_eq!(
                (&typed.domain.name, &typed.domain.version),
                (&"PaymentProcessor".into(), &"1".into())
            );
            // What comes back is read as what was signed.
            let signature = text(&filling["consents"][place]["signature"]);
            let given =
                ConsentSignature { taker: buyer(), terms, signature, now: filling["now"].as_u64().unwrap() };
            let ConsentOutcome::Given(consent, proof) = processor().accept_consent(given).unwrap() else {
                panic!("signed")
            };
            assert_eq!(
                (consent.subject.as_str(), proof),
                (orders[place].facts.order_id.as_str(), Proof::Signed)
            );
        }
    }
}

/// An object with its members in the order that this crate's maps have.
fn sorted(value: &Value) -> Value {
    value.as_object().unwrap().clone().into_iter().collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn what_was_signed_is_not_asked_for_again() {
    let (case, orders) = (case(TWO), admitted(&case(TWO)));
    let filling = &case["fill"];
    assert_eq!(wanted(&orders, filling, "2"), []);
    assert_eq!(wanted(&orders, filling, "3").len(), 2, "the buyer has taken back all that they signed");
    let mut one = filling.clone();
    one["consents"].as_array_mut().unwrap().pop();
    assert_eq!(wanted(&orders, &one, "2").len(), 1);
    let refusal = fill(&*processor(), &orders, &one).unwrap_err();
    assert_eq!(refusal, Refusal::Consent { protocol: "Payment Processor 1" });
    // What was signed for one listing does not buy another at another price.
    let dearer = changed(&case, "/minPrice", json!("2000"));
    let dearer = [admit(&*processor(), &dearer).unwrap()];
    let mut both = filling.clone();
    both["quantities"] = json!(["1"]);
    assert!(matches!(fill(&*processor(), &dearer, &both), Err(Refusal::Consent { .. })));
}

#[test]
fn nobody_signs_before_the_chain_has_told_the_number() {
    let orders = admitted(&case(ONE));
    let trade = trade(&*processor(), &orders, &unsigned(&case(ONE)["fill"])).unwrap();
    let heard = ConsentAnswers { chain: &[None], service: &[], now: 5 };
    let refusal = processor().missing_consents(&trade, heard).unwrap_err();
    assert_eq!(refusal, Refusal::Unknown { what: "the master nonce of the buyer" });
}

#[test]
fn signatures_that_are_of_no_use_are_refused() {
    let filling = case(ONE)["fill"].clone();
    let consent = &filling["consents"][0];
    let take = |path: &str, value: Value, signature: &str, now: u64| {
        let mut terms = consent["terms"].as_object().unwrap().clone();
        terms.insert(path.to_owned(), value);
        processor().accept_consent(ConsentSignature { taker: buyer(), terms: &terms, signature, now })
    };
    let (signature, now) = (text(&consent["signature"]), filling["now"].as_u64().unwrap());
    let refused = |path: &str, value: Value| take(path, value, signature, now).unwrap_err().to_string();
    assert_eq!(
        take("buyer", json!(person(1)), signature, now).unwrap_err(),
        ConsentFault::Taker { named: person(1), taker: buyer() }
    );
    assert_eq!(
        refused("price", json!("-1")),
        "body.terms.price: `-1` is not a whole number between 0 and 2^256-1"
    );
    assert_eq!(refused("coin", json!(null)), "body.terms.coin: is required");
    assert_eq!(
        take("protocol", json!(0), "0x12", now).unwrap_err().to_string(),
        "signature: 1 bytes, where signatures have 64 or 65 bytes"
    );
    assert_eq!(take("protocol", json!(0), signature, now + 3300).unwrap_err(), ConsentFault::Late);
    assert!(take("protocol", json!(0), signature, now + 3299).is_ok());
    let forever = take("expiration", json!(U256::MAX.to_string()), signature, now).unwrap();
    assert!(matches!(forever, ConsentOutcome::Given(consent, _) if consent.until == now + 3300));
    // Another price is not what was signed, unless the buyer is a contract that says so.
    let ConsentOutcome::Given(_, proof) = take("price", json!("1"), signature, now).unwrap() else {
        panic!("signed")
    };
    let Proof::Ask(question) = proof else { panic!("not with that key") };
    assert_eq!(question.to, buyer());
}

#[test]
fn fees_and_parts_are_refused_by_name() {
    let (orders, mut filling) = (admitted(&case(ONE)), case(ONE)["fill"].clone());
    filling["fees"] = json!([{ "amount": "100", "receiver": person(1) }]);
    let no_fees = Refusal::NoFees { protocol: "Payment Processor 1" };
    assert_eq!(fill(&*processor(), &orders, &filling).unwrap_err(), no_fees);
    let trade = trade(&*processor(), &orders, &filling).unwrap();
    assert_eq!(processor().consent_questions(&trade).unwrap_err(), no_fees, "before anything is signed");
    let (ten, mut some) = (admitted(&case(TEN)), case(TEN)["fill"].clone());
    some["quantities"] = json!(["4"]);
    assert!(matches!(fill(&*processor(), &ten, &some), Err(Refusal::Whole { .. })));
    let spending =
        Permission::Spend { currency: person(0xd0), spender: processor().contract(), amount: 5000.into() };
    assert_eq!(fill(&*processor(), &ten, &case(TEN)["fill"]).unwrap().permissions, [spending]);
}

#[test]
fn what_is_not_taken_is_told() {
    let refused = |path: &str, value: Value| {
        admit(&*processor(), &changed(&case(ONE), path, value)).unwrap_err().to_string()
    };
    for (path, value, reason) in [
        ("/protocol", json!(2), "native.protocol: 2 is not one of 0 (ERC721), 1 (ERC1155)"),
        ("/amount", json!("2"), "native.amount: 2 units where there must be 1 of an ERC721 token"),
        ("/minPrice", json!("0"), "native.minPrice: the price must not be zero"),
        ("/seller", json!(null), "native.buyer: offers of the first version are not supported"),
        ("/coin", json!(null), "native.coin: is required"),
        (
            "/sellerAcceptedOffer",
            json!(true),
            "native.sellerAcceptedOffer: listings that answer an offer are not supported",
        ),
        (
            "/privateBuyer",
            json!(person(1)),
            "native.privateBuyer: the order is for 0x0000000000000000000000000000000000000001 alone",
        ),
        (
            "/marketplaceFeeNumerator",
            json!("9501"),
            "native.marketplaceFeeNumerator: the fees of 10001 are more than the price of 10000",
        ),
    ] {
        assert_eq!(refused(path, value), reason, "{path}");
    }
}

#[test]
fn published_forms_are_read() {
    let mut order = case(ONE)["orders"][0].clone();
    let native = order["native"].as_object_mut().unwrap();
    for (own, published) in [
        ("seller", "sellerOrBuyer"),
        ("minPrice", "price"),
        ("privateBuyer", "privateBuyerOrDelegatedPurchaser"),
    ] {
        let value = native.remove(own).unwrap();
        native.insert(published.to_owned(), value);
    }
    native.insert("kind".to_owned(), json!("sale-approval"));
    assert_eq!(admit(&*processor(), &order).unwrap(), admitted(&case(ONE))[0]);
    order["native"]["kind"] = json!("offer-approval");
    let offer = admit(&*processor(), &order).unwrap_err().to_string();
    assert_eq!(offer, "native.buyer: offers of the first version are not supported");
}

#[test]
fn the_chain_tells_whether_all_were_taken_back() {
    let order = admitted(&case(ONE)).remove(0);
    assert_eq!(processor().standing(stored(&order), &answer("2")), None, "it does not tell of one");
    assert_eq!(processor().standing(stored(&order), &answer("3")), Some(Standing::Cancelled));
    assert_eq!(processor().standing(stored(&order), &answer("1")), Some(Standing::NotYet));
}

fn stated(logs: &[&str]) -> Vec<(usize, Scope, Fact)> {
    let protocol = processor();
    let logs: Vec<(&str, Address)> = logs.iter().map(|name| (*name, protocol.contract())).collect();
    let decoded = decoded(&*protocol, FAMILY, &logs);
    decoded.into_iter().map(|Statement { log, scope, fact }| (log, scope, fact)).collect()
}

fn shop() -> Address {
    person(0xf0)
}

fn maker() -> Address {
    MAKER.parse().unwrap()
}

fn burnt(maker: Address, shop: Address, nonce: u64) -> Fact {
    let numbers = Numbers::Exactly(number(shop, U256::from(nonce)));
    let revoked = Revoked { contract: processor().contract(), series: Series::Nonce, numbers };
    Fact::OrdersRevoked { marketplace: Marketplace::PaymentProcessor, maker, revoked }
}

fn sold(maker: Address, nonce: u64, token: u64, quantity: u64) -> Fact {
    Fact::OrderFilled(Box::new(OrderFilled {
        marketplace: Marketplace::PaymentProcessor,
        order_ref: OrderRef::Numbered {
            contract: processor().contract(),
            maker,
            side: OrderSide::Listing,
            series: Series::Nonce,
            number: number(shop(), U256::from(nonce)),
            others: Vec::new(),
        },
        taker: buyer(),
        recipient: buyer(),
        token_id: Some(TokenId::from(token)),
        quantity: quantity.into(),
        remaining: Some(Amount::ZERO),
    }))
}

#[test]
fn sales_are_known_by_the_number_that_was_used_last() {
    let (here, everywhere) = (Scope::Collection(person(0xc0)), Scope::EveryCollection);
    let listing = admitted(&case(ONE)).remove(0);
    assert_eq!(listing.nonces.get(Series::Nonce), Some(number(shop(), U256::ONE)));
    // The first listing could not be had, and only the second was paid for.
    assert_eq!(
        stated(&["usedOther", "usedByBuyer", "usedElsewhere", "used", "usedByBuyer", "bought"]),
        [
            (5, here, sold(maker(), 1, 5, 1)),
            (5, everywhere, burnt(maker(), shop(), 1)),
            (0, everywhere, burnt(maker(), shop(), 2)),
            (1, everywhere, burnt(buyer(), shop(), 9)),
            (2, everywhere, burnt(maker(), person(0xa0), 1)),
            (4, everywhere, burnt(buyer(), shop(), 9)),
        ]
    );
}

#[test]
fn several_sales_at_once_use_numbers_in_their_order() {
    let (here, everywhere) = (Scope::Collection(person(0xc0)), Scope::EveryCollection);
    let artist = person(0xa0);
    for (name, amounts) in [("sweptTokens", [1, 1]), ("sweptUnits", [4, 6])] {
        assert_eq!(
            stated(&["used", "usedOther", "usedByArtist", "usedByBuyer", name]),
            [
                (4, here, sold(maker(), 1, 5, amounts[0])),
                (4, everywhere, burnt(maker(), shop(), 1)),
                (4, everywhere, burnt(maker(), shop(), 2)),
                (4, here, sold(artist, 1, 8, amounts[1])),
                (4, everywhere, burnt(artist, shop(), 1)),
                (3, everywhere, burnt(buyer(), shop(), 9)),
            ]
        );
    }
}

#[test]
fn listings_are_taken_back() {
    let everywhere = Scope::EveryCollection;
    assert_eq!(stated(&["revoked"]), [(0, everywhere, burnt(maker(), shop(), 1))]);
    let numbers = Numbers::Exactly(U256::from(2));
    let revoked = Revoked { contract: processor().contract(), series: Series::Counter, numbers };
    let master = Fact::OrdersRevoked { marketplace: Marketplace::PaymentProcessor, maker: maker(), revoked };
    assert_eq!(stated(&["master"]), [(0, everywhere, master)]);
    // A number of one marketplace is not that of another.
    assert_ne!(number(shop(), U256::ONE), number(person(0xa0), U256::ONE));
}
