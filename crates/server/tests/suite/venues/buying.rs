//! Filling and taking back: the steps are those that others make of the same orders.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    COLLECTION, DOLLAR, MAKER, SEAPORT, TAKER, ask, buy, case, check_step, data, families, first_of, put,
    refusal, signed, taken, text, vectors, venues, venues_with,
};
use crate::marketplace::with;
use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::chain::FakeChain;

/// The contract that moves tokens for LooksRare.
const MANAGER: &str = "0x000000000060c4ca14cfc4325359062ace33fe3d";
const CONDUIT: &str = "0x1e0049783f008a0085193e00003d00cd54003c71";

/// A service that has the orders of a case, all of which it takes.
async fn holding(case: &Value, chain: &Arc<FakeChain>) -> TestApp {
    let app = venues_with(&[], Some(Arc::clone(chain))).await;
    hold(&app, case).await;
    app
}

async fn hold(app: &TestApp, case: &Value) {
    let (marketplace, chain) = (text(&case["marketplace"]), json!({ "chainId": case["chainId"] }));
    let orders = case["orders"].as_array().unwrap().iter();
    taken(&put(app, orders.map(|order| with(signed(marketplace, order), chain.clone()))).await);
}

/// The shares of a case, which has small ones in basis points.
fn fees_of(fill: &Value) -> Value {
    let fee = |fee: &Value| {
        let is_share = text(&fee["amount"]).parse::<u64>().is_ok_and(|amount| amount <= 10_000);
        let member = if is_share { "amount" } else { "amountInBaseUnits" };
        json!({ member: fee["amount"], "receiver": fee["receiver"] })
    };
    fill["fees"].as_array().into_iter().flatten().map(fee).collect()
}

/// Fills the orders of a case as it says.
async fn fill(app: &TestApp, case: &Value) -> (Answer, &'static str) {
    let fill = &case["fill"];
    let ids = case["orders"].as_array().unwrap().iter().map(|order| text(&order["id"]));
    let mut orders = Vec::new();
    for (place, id) in ids.enumerate() {
        let quantity = &fill["quantities"][place];
        orders.push(json!({ "orderId": id, "quantity": quantity, "tokenId": fill["tokens"][place] }));
    }
    let body =
        json!({ "marketplace": case["marketplace"], "ordersData": orders, "additionalFees": fees_of(fill) });
    if text(&case["name"]).starts_with("an offer") {
        let body = with(body, json!({ "seller": TAKER }));
        return (ask(app, "GenerateSellTransaction", body).await, "sell");
    }
    (ask(app, "GenerateBuyTransaction", with(body, json!({ "buyer": TAKER }))).await, "buy")
}

#[tokio::test]
async fn steps_are_the_calls_that_others_make() {
    let allowed = FakeChain { allowance: Some(u64::MAX), is_operator: Some(true), ..FakeChain::default() };
    let chain = Arc::new(allowed);
    chain.says(MANAGER, "hasUserApprovedOperator(address,address)", &[1]);
    let mut app = venues_with(&[], Some(Arc::clone(&chain))).await;
    for family in families() {
        let cases = vectors(family)["cases"].as_array().unwrap().clone();
        for case in cases.iter().filter(|case| case.get("fill").is_some()) {
            if let Some(question) = case["question"].as_str() {
                // Anything but a failure is a yes. The order is one of the others, signed in another way.
                chain.says_data(text(&case["fill"]["to"]), &question[2..10], "");
                app = venues_with(&[], Some(Arc::clone(&chain))).await;
            }
            hold(&app, case).await;
            let (answer, id) = fill(&app, case).await;
            let answer = answer.ok();
            let steps = answer["steps"].as_array().unwrap();
            assert_eq!(steps.len(), 1, "{family}, {}: {answer}", case["name"]);
            check_step(&steps[0], id, &case["fill"]);
        }
    }
}

/// Another service would keep what a short form pays whoever sends it.
#[tokio::test]
async fn steps_for_another_service_name_who_gets_the_token() {
    let case = case("seaport", "a token for the chain's own currency");
    let app = holding(&case, &Arc::new(FakeChain::default())).await;
    let id = text(&case["orders"][0]["id"]);
    let body =
        json!({ "buyer": TAKER, "marketplace": case["marketplace"], "ordersData": data(&[(id, "1")]) });
    for (members, selector, can_be) in
        [(json!({}), "0xfb0f3ee1", false), (json!({ "useWithTrails": true }), "0xe7acab24", true)]
    {
        let answer = ask(&app, "GenerateBuyTransaction", with(body.clone(), members)).await.ok();
        assert!(text(&answer["steps"][0]["data"]).starts_with(selector), "{answer}");
        assert_eq!(answer["resp"]["canBeUsedWithTrails"], can_be);
    }
}

#[tokio::test]
async fn whoever_sells_is_told_what_others_get() {
    let case = case("seaport", "an offer is taken");
    let app = holding(&case, &Arc::new(FakeChain::default())).await;
    let (answer, _) = fill(&app, &case).await;
    let step = answer.ok()["steps"].as_array().unwrap().last().unwrap().clone();
    let note = text(&step["note"]);
    assert!(note.contains(" go to others, so that about ") && note.contains(" are for the seller"), "{note}");
}

#[tokio::test]
async fn orders_are_taken_back_as_others_do() {
    let app = venues().await;
    for family in families() {
        let cases = vectors(family)["cases"].as_array().unwrap().clone();
        let mut count = 0;
        for case in cases.iter().filter(|case| case.get("cancel").is_some()) {
            hold(&app, case).await;
            let id = text(&case["orders"][0]["id"]);
            let body = json!({ "maker": MAKER, "marketplace": case["marketplace"], "orderId": id });
            let answer = ask(&app, "GenerateCancelTransaction", body.clone()).await.ok();
            let mut expected = case["cancel"].clone();
            (expected["value"], expected["price"]) = (json!("0"), json!("0"));
            check_step(&answer["steps"][0], "cancel", &expected);
            let other = ask(&app, "GenerateCancelTransaction", with(body, json!({ "maker": TAKER }))).await;
            let reason = format!("maker: order {id} was made by {MAKER}, who alone can cancel it");
            assert_eq!(refusal(&other), (400, reason.as_str()));
            count += 1;
        }
        assert!(count > 0, "{family}");
    }
}

#[tokio::test]
async fn orders_of_services_are_taken_back_where_that_can_be() {
    let app = venues().await;
    let (blur, x2y2) = (vectors("held")["blur"].clone(), vectors("held")["x2y2"].clone());
    let orders = [signed("blur", &blur["orders"][1]), signed("x2y2", &json!({ "native": x2y2["order"] }))];
    taken(&put(&app, orders).await);
    let cancel = async |marketplace: &str, id: &Value| {
        let body = json!({ "maker": MAKER, "marketplace": marketplace, "orderId": id });
        ask(&app, "GenerateCancelTransaction", body).await
    };
    let answer = cancel("blur", &blur["orders"][1]["id"]).await.ok();
    assert_eq!(answer["steps"][0]["data"], blur["cancel"]);
    let answer = cancel("x2y2", &x2y2["hash"]).await;
    let reason = "orderId: X2Y2 takes orders back only through its own service";
    assert_eq!(refusal(&answer), (400, reason));
}

/// The approvals of an answer: what each lets whom do.
fn approvals(answer: &Value) -> Vec<(String, String, String)> {
    let steps = answer["steps"].as_array().unwrap().iter();
    let steps = steps.filter(|step| step["id"] == "tokenApproval");
    let read = |step: &Value| {
        let data = text(&step["data"]);
        (text(&step["to"]).to_owned(), data[2..10].to_owned(), format!("0x{}", &data[34..74]))
    };
    steps.map(read).collect()
}

#[tokio::test]
async fn whoever_pays_lets_the_right_contract_take_it() {
    let approve = |spender: &str| vec![(DOLLAR.to_owned(), "095ea7b3".to_owned(), spender.to_owned())];
    for (family, name, spender) in [
        ("seaport", "a token for a currency, through the conduit", CONDUIT),
        ("looks_rare", "units for a currency", "0x0000000000e655fae4d56241588680f86e3b2377"),
        ("zerox", "all units for a currency", "0xdef1c0ded9bec7f1a1670819833240f027b25eff"),
        (
            "payment_processor",
            "some units for a currency, version 2",
            "0x9a1d00bed7cd04bcda516d721a596eb22aac6834",
        ),
        (
            "payment_processor",
            "some units for a currency, version 2.1",
            "0x9a1d00828912f81f3fa34ca47c0bdb9c016856bf",
        ),
    ] {
        let exact = vectors(family)["cases"].as_array().unwrap().clone();
        let case =
            exact.iter().find(|case| case["name"] == name).cloned().unwrap_or_else(|| case(family, name));
        let price: u64 = text(&case["fill"]["price"]).parse().unwrap();
        for (allowance, expected) in
            [(None, approve(spender)), (Some(price - 1), approve(spender)), (Some(price), Vec::new())]
        {
            let chain = Arc::new(FakeChain { allowance, ..FakeChain::default() });
            let app = holding(&case, &chain).await;
            let answer = fill(&app, &case).await.0.ok();
            assert_eq!(approvals(&answer), expected, "{family}");
            let asked = format!("1 allowance {DOLLAR} {TAKER} {spender}");
            assert!(chain.asked.lock().unwrap().contains(&asked), "{family}");
            let last = answer["steps"].as_array().unwrap().last().unwrap();
            check_step(last, "buy", &case["fill"]);
        }
    }
}

#[tokio::test]
async fn whoever_sells_lets_the_right_contract_move_the_token() {
    let looks_rare = "0x0000000000e655fae4d56241588680f86e3b2377";
    for (family, expected) in [
        ("seaport", vec![(COLLECTION, "a22cb465", CONDUIT)]),
        ("looks_rare", vec![(COLLECTION, "a22cb465", MANAGER), (MANAGER, "e8f9f1dc", "")]),
        ("zerox", vec![(COLLECTION, "a22cb465", "0xdef1c0ded9bec7f1a1670819833240f027b25eff")]),
        ("payment_processor", vec![(COLLECTION, "a22cb465", "0x9a1d00bed7cd04bcda516d721a596eb22aac6834")]),
    ] {
        let case = case(family, "an offer is taken");
        let app = holding(&case, &Arc::default()).await;
        let answer = fill(&app, &case).await.0.ok();
        let found = approvals(&answer);
        assert_eq!(found.len(), expected.len(), "{family}: {answer}");
        for (found, (to, selector, whom)) in found.iter().zip(expected) {
            assert_eq!((found.0.as_str(), found.1.as_str()), (to, selector), "{family}");
            assert!(whom.is_empty() || found.2 == whom, "{family}: {found:?}");
        }
        if family == "looks_rare" {
            assert!(text(&answer["steps"][1]["data"]).ends_with(&looks_rare[2..]), "{answer}");
        }
    }
}

#[tokio::test]
async fn fees_that_a_protocol_cannot_pay_are_refused_by_its_name() {
    let app = venues().await;
    let held = vectors("held");
    let blur = signed("blur", &held["blur"]["orders"][0]);
    let x2y2 = signed("x2y2", &json!({ "native": held["x2y2"]["order"] }));
    let hosted = signed("opensea", &held["seaport"]["opensea"]);
    let own = ["looks_rare", "zerox"].map(|family| first_of(family, "a token for the chain's own currency"));
    taken(&put(&app, own.into_iter().chain([blur, x2y2, hosted])).await);
    let id = |family: &str| case(family, "a token for the chain's own currency")["orders"][0]["id"].clone();
    for (marketplace, id, name) in [
        ("looks_rare", id("looks_rare"), "LooksRare"),
        ("zerox", id("zerox"), "0x"),
        ("x2y2", held["x2y2"]["hash"].clone(), "X2Y2"),
        ("opensea", held["seaport"]["opensea"]["id"].clone(), "OpenSea"),
        ("blur", held["blur"]["orders"][0]["id"].clone(), "Blur"),
    ] {
        let body = json!({ "buyer": TAKER, "marketplace": marketplace, "ordersData": data(&[(text(&id), "1")]),
            "additionalFees": [{ "amount": "100", "receiver": MAKER }] });
        let answer = ask(&app, "GenerateBuyTransaction", body).await;
        let reason =
            format!("additionalFees: {name} cannot pay fees to others on top of its orders: leave them out");
        assert_eq!(refusal(&answer), (400, reason.as_str()));
    }
}

#[tokio::test]
async fn an_order_that_was_put_without_its_signature_is_not_filled() {
    let app = venues().await;
    let plain = json!({ "chainId": 1, "collectionContractAddress": COLLECTION, "orderId": "1", "marketplace": "opensea",
        "side": "listing", "tokenId": "5", "createdBy": MAKER, "priceAmount": "5", "priceCurrencyAddress": DOLLAR,
        "validUntil": "2030-01-01T00:00:00Z" });
    taken(&put(&app, [plain]).await);
    let reason =
        "ordersData: order 1 was put without what its maker signed, so that nothing can be made of it";
    assert_eq!(refusal(&buy(&app, "opensea", "1").await), (400, reason));
}

#[tokio::test]
async fn an_offer_for_any_token_is_taken_with_several() {
    let app = venues().await;
    let case = case("seaport", "an offer for any token");
    taken(&put(&app, [signed("opensea", &case["orders"][0])]).await);
    let id = text(&case["orders"][0]["id"]);
    let sell = async |orders: Value| {
        let body = json!({ "seller": TAKER, "marketplace": "opensea", "ordersData": orders });
        ask(&app, "GenerateSellTransaction", body).await
    };
    let of = |token: &str, quantity: &str| json!({ "orderId": id, "quantity": quantity, "tokenId": token });
    let answer = sell(json!([of("77", "1"), of("78", "1")])).await.ok();
    let last = answer["steps"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["id"], &last["to"]), (&json!("sell"), &json!(SEAPORT)));
    assert!(text(&last["data"]).starts_with("0x87201b41"), "{last}");
    let both = sell(json!([of("77", "2"), of("78", "2")])).await;
    let reason = format!("4 units of order {id} where 3 can be filled right now");
    assert_eq!(refusal(&both), (409, reason.as_str()));
}
