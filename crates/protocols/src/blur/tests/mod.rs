//! Against an order of the main chain, and calls, answers and logs that others made.

mod family;

use std::sync::Arc;

use alloy_primitives::U256;
use bourse_market::facts::{Fact, OrderFilled, OrderRef};
use bourse_market::{Numbers, Revoked, Series, Standing};
use bourse_wire::{Address, Marketplace, TokenId};
use serde_json::{Value, json};

use crate::native::{NativeOrder, Proof};
use crate::testing::{MAKER, admit, fill, fill_with, log, newest, person, stored, text, trade, vectors};
use crate::{
    Consent, ConsentAnswers, ConsentFault, ConsentOutcome, ConsentQuestions, ConsentSignature, Protocol,
    Scope, SigningPayload,
};

fn blur() -> Arc<dyn Protocol> {
    newest(Marketplace::Blur)
}

fn held() -> Value {
    vectors("held")["blur"].clone()
}

fn listings() -> Vec<NativeOrder> {
    held()["orders"].as_array().unwrap().iter().map(|order| admit(&*blur(), order).unwrap()).collect()
}

fn filling(count: usize) -> Value {
    json!({ "quantities": vec!["1"; count], "taker": person(0xb0) })
}

#[test]
fn an_order_of_the_main_chain_is_read() {
    let real = &held()["real"];
    let order = admit(&*blur(), real).unwrap();
    assert_eq!(order.proof, Proof::Signed);
    assert_eq!(order.facts.order_id, text(&real["id"]));
    assert_eq!(order.facts.price_amount.to_string(), "9999000000000000");
    assert_eq!(order.facts.token_id, Some(TokenId::from(1752)));
}

#[test]
fn listings_are_leaves_of_what_was_signed() {
    let orders = listings();
    for (order, vector) in orders.iter().zip(held()["orders"].as_array().unwrap()) {
        assert_eq!(order.facts.order_id, text(&vector["id"]));
        assert_eq!(order.proof, Proof::Held);
        let again: Value = serde_json::from_str(&order.text).unwrap();
        assert_eq!(admit(&*blur(), &json!({ "native": again })).unwrap(), *order);
    }
    let order = &orders[1].facts;
    assert_eq!((order.fee_bps, order.maker.to_string()), (50, MAKER.to_owned()));
    assert_eq!(order.operator.unwrap().to_string(), "0x2f18f339620a63e43f0839eeb18d7de1e1be4dfb");
}

#[test]
fn what_is_not_taken_is_told() {
    let refused = |path: &str, value: Value| {
        let mut order = held()["orders"][0].clone();
        *order["native"].pointer_mut(path).unwrap() = value;
        admit(&*blur(), &order).unwrap_err().to_string()
    };
    assert_eq!(refused("/orderType", json!(1)), "native.orderType: 1 is not one of 0 (ask)");
    assert_eq!(refused("/assetType", json!(2)), "native.assetType: 2 is not one of 0 (ERC721), 1 (ERC1155)");
    let high = "native.makerFee.rate: the fees of 10001 are more than the price of 10000";
    assert_eq!(refused("/makerFee/rate", json!(10_001)), high);
    assert!(refused("/listing/price", json!("1")).starts_with("native.proof: the proof leads to 0x"));
    let word = format!("0x{}", "00".repeat(32));
    assert_eq!(
        refused("/proof", json!(vec![word; 21])),
        "native.proof: 21 entries where at most 20 are allowed"
    );
}

fn logged_in() -> Vec<Consent> {
    vec![blur().consent_from_source(&json!({ "accessToken": "token" }), 1000).unwrap()]
}

#[test]
fn people_log_in_with_a_message() {
    let (orders, wallet) = (listings(), person(0xb0));
    let trade = trade(&*blur(), &orders, &filling(2)).unwrap();
    let asked = blur().consent_questions(&trade).unwrap();
    let [request] = asked.requests.as_slice() else { panic!("one") };
    assert_eq!(
        (request.path.as_str(), &request.body),
        ("/auth/challenge", &json!({ "walletAddress": wallet }))
    );
    let answer =
        json!({ "message": "Sign in to Blur", "walletAddress": wallet, "expiresOn": "soon", "hmac": "ab" });
    let heard = |answer: &Value| {
        let service = std::slice::from_ref(answer);
        blur().missing_consents(&trade, ConsentAnswers { chain: &[], service, now: 1000 })
    };
    let [wanted] = &heard(&answer).unwrap()[..] else { panic!("one message") };
    assert_eq!(wanted.payload, SigningPayload::Message("Sign in to Blur".to_owned()));
    let given = |taker| ConsentSignature { taker, terms: &wanted.terms, signature: "0x1234", now: 1000 };
    let ConsentOutcome::AskSource(request) = blur().accept_consent(given(wallet)).unwrap() else {
        panic!("Blur must see it")
    };
    assert_eq!(request.path, "/auth/login");
    assert_eq!(request.body["signature"], "0x1234");
    assert_eq!(request.body["hmac"], "ab");
    let fault = blur().accept_consent(given(person(1))).unwrap_err();
    assert_eq!(fault, ConsentFault::Taker { named: wallet, taker: person(1) });
    let [consent] = &logged_in()[..] else { panic!("one") };
    assert_eq!((consent.proof.as_str(), consent.until), ("token", 4600));
    assert!(blur().consent_from_source(&json!({ "accessToken": "" }), 1000).is_err());
    let other = json!({ "message": "Sign in to Blur", "walletAddress": person(1) });
    let refusal = heard(&other).unwrap_err().to_string();
    assert!(refusal.starts_with("Blur: the answer is for another wallet"), "{refusal}");
    assert!(heard(&Value::Null).is_err());
}

#[test]
fn who_is_logged_in_signs_nothing() {
    let orders = listings();
    let trade = trade(&*blur(), &orders, &filling(2)).unwrap().with_consents(logged_in());
    assert_eq!(blur().consent_questions(&trade).unwrap(), ConsentQuestions::default());
    let heard = ConsentAnswers { chain: &[], service: &[], now: 1000 };
    assert_eq!(blur().missing_consents(&trade, heard).unwrap(), []);
}

#[test]
fn calls_of_blur_are_taken_once_they_are_understood() {
    let orders = listings();
    for (name, count) in [("one", 1), ("two", 2)] {
        let vector = &held()[name];
        let answers = [vector["answer"].clone()];
        let plan = fill_with(&*blur(), &orders[..count], &filling(count), &answers).unwrap();
        let [call] = plan.calls.as_slice() else { panic!("{name}") };
        assert_eq!(call.data.to_string(), text(&vector["data"]));
        assert_eq!(call.value.to_string(), text(&vector["value"]));
        assert_eq!(call.price, call.value);
        assert_eq!(call.to, blur().contract());
        assert_eq!(plan.permissions, [], "all is in the chain's own currency");
    }
}

#[test]
fn what_blur_is_asked() {
    let orders = listings();
    let trade = trade(&*blur(), &orders, &filling(2)).unwrap();
    let refusal = blur().source_requests(&trade).unwrap_err().to_string();
    assert_eq!(refusal, "Blur wants whoever fills its orders to sign something first");
    let requests = blur().source_requests(&trade.with_consents(logged_in())).unwrap();
    let [request] = requests.as_slice() else { panic!("one") };
    assert_eq!(request.path, format!("/v1/buy/{}", person(0xc0)));
    let prices = json!([{ "tokenId": "5", "price": { "amount": "0.000000000000001", "unit": "ETH" } },
        { "tokenId": "6", "price": { "amount": "2.5", "unit": "ETH" } }]);
    assert_eq!(request.body, json!({ "userAddress": person(0xb0), "tokenPrices": prices }));
    let taker = person(0xb0).to_string();
    assert_eq!(request.headers, [("authToken", "token".to_owned()), ("walletAddress", taker)]);
}

#[test]
fn calls_that_do_something_else_are_refused() {
    let orders = listings();
    let refused = |count: usize, filling: &Value, answer: Value| {
        fill_with(&*blur(), &orders[..count], filling, &[answer]).unwrap_err().to_string()
    };
    let answer = |name: &str| held()[name]["answer"].clone();
    let ends = |text: String, end: &str| assert!(text.ends_with(end), "{text}");
    ends(refused(2, &filling(2), answer("one")), "the answer has no token that can be used");
    ends(refused(1, &filling(1), answer("two")), "where 0 of token 0 for 0 was asked for");
    let other = json!({ "quantities": ["1"], "taker": person(0xbb) });
    ends(refused(1, &other, answer("one")), "where 0x00000000000000000000000000000000000000bb was asked for");
    let mut dear = answer("one");
    dear["buys"][0]["txnData"]["value"]["hex"] = json!("0x03e9");
    ends(refused(1, &filling(1), dear), "for another value: 1001, where 1000 was asked for");
    let mut elsewhere = answer("one");
    elsewhere["buys"][0]["txnData"]["to"] = json!(person(1));
    assert!(refused(1, &filling(1), elsewhere).contains("the answer is for another contract"));
    let mut nonsense = answer("one");
    nonsense["buys"][0]["txnData"]["data"] = json!("0x12345678");
    ends(refused(1, &filling(1), nonsense), "the answer has no /buys/txnData/data that can be used");
    let gone = json!({ "success": true, "buys": [], "cancelReasons": [{ "tokenId": "5", "reason": "ListingNotFound" }] });
    ends(refused(1, &filling(1), gone), "the marketplace does not agree: ListingNotFound");
    let held = fill(&*blur(), &orders[..1], &filling(1)).unwrap_err().to_string();
    ends(held, "needs the signature of its marketplace for each fill, which only a source can give");
    let fees = json!({ "quantities": ["1"], "taker": person(0xb0), "fees": [{ "amount": "100", "receiver": person(1) }] });
    let trade = trade(&*blur(), &orders[..1], &fees).unwrap();
    let fees = blur().source_requests(&trade).unwrap_err().to_string();
    assert_eq!(fees, "Blur cannot pay fees to others on top of its orders: leave them out");
}

#[test]
fn makers_take_listings_back() {
    let order = listings().remove(1);
    assert_eq!(blur().cancel(stored(&order)).unwrap().data.to_string(), text(&held()["cancel"]));
    let word = |number: u64| Some(U256::from(number).to_be_bytes::<32>().to_vec().into());
    let standing = |taken, nonce| blur().standing(stored(&order), &[word(taken), word(nonce)]);
    assert_eq!(standing(0, 3), Some(Standing::Open { remaining: 1.into() }));
    assert_eq!(standing(1, 3), Some(Standing::Cancelled));
    assert_eq!(standing(0, 4), Some(Standing::Cancelled));
    assert_eq!(standing(0, 2), Some(Standing::NotYet));
}

#[test]
fn logs_state_fills_and_numbers() {
    let logs = &held()["logs"];
    let stated = |name: &str| {
        let log = log(&logs[name], blur().contract());
        let mut decoded = blur().decode_logs(&[&log]).into_iter().map(Result::unwrap);
        decoded.next().map(|decoded| (decoded.scope, decoded.fact))
    };
    let order_id = format!("{}:1", text(&logs["hash"]));
    let filled = |quantity: u64| {
        let order = OrderFilled {
            marketplace: Marketplace::Blur,
            order_ref: OrderRef::Id(order_id.clone()),
            taker: Address::ZERO,
            recipient: Address::ZERO,
            token_id: Some(TokenId::from(6)),
            quantity: quantity.into(),
            remaining: None,
        };
        Some((Scope::Collection(person(0xc0)), Fact::OrderFilled(Box::new(order))))
    };
    assert_eq!(stated("filled"), filled(1));
    assert_eq!(stated("filledWithFee"), filled(1));
    assert_eq!(stated("unitsFilled"), filled(2));
    assert_eq!(stated("bidFilled"), None);
    let (marketplace, maker) = (Marketplace::Blur, MAKER.parse().unwrap());
    let cancelled = Fact::OrderCancelled { marketplace, order_id };
    assert_eq!(stated("cancelled"), Some((Scope::EveryCollection, cancelled)));
    let revoked = Revoked {
        contract: blur().contract(),
        series: Series::Counter,
        numbers: Numbers::Below(U256::from(4)),
    };
    let counter = Fact::OrdersRevoked { marketplace, maker, revoked };
    assert_eq!(stated("counter"), Some((Scope::EveryCollection, counter)));
}
