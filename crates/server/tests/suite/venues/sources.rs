//! Orders whose marketplace must agree to each fill: its own service is asked, and what it answers becomes the step.

use serde_json::{Value, json};

use super::stand_in::{Asked, KEY, StandIn};
use super::wallet::Wallet;
use super::{
    COLLECTION, DOLLAR, SEAPORT, TAKER, ZERO, ask, buy, case, data, listed, put, refusal, signed, taken,
    text, vectors, venues, venues_asking,
};
use crate::marketplace::with;
use crate::support::TestApp;
use crate::support::actor::Answer;

/// The only thing that was asked.
#[track_caller]
fn only(asked: Vec<Asked>) -> Asked {
    let [one] = <[Asked; 1]>::try_from(asked).unwrap();
    assert_eq!(one.header("x-api-key"), KEY);
    one
}

/// The only step of an answer, which is the call that a vector has for it.
#[track_caller]
fn check_bought(answer: &Value, to: &Value, held: &Value) {
    let steps = answer["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 1, "{answer}");
    let expected = json!({ "to": to, "data": held["data"], "value": held["value"], "price": held["value"] });
    super::check_step(&steps[0], "buy", &expected);
}

#[tokio::test]
async fn opensea_agrees_to_orders_of_its_signed_zone() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["seaport"]["opensea"].clone();
    // OpenSea shows nobody the signature.
    let order = json!({ "marketplace": "opensea", "chainId": "mainnet", "native": held["native"] });
    taken(&put(&app, [order]).await);
    assert!(source.asked().is_empty(), "nobody has to agree to an order that is only kept");
    let id = text(&held["id"]);
    source.knows(id, &held["answer"]);
    check_bought(&buy(&app, "opensea", id).await.ok(), &json!(SEAPORT), &held);
    let asked = only(source.asked());
    assert_eq!(asked.path, "/api/v2/listings/fulfillment_data");
    let expected = json!({
        "listing": { "hash": id, "chain": "ethereum", "protocol_address": SEAPORT },
        "fulfiller": { "address": TAKER }, "units_to_fill": "1", "include_optional_creator_fees": false,
    });
    assert_eq!(asked.body, expected);
}

/// What is asked there is the operator's: whoever only wants to know how to pay takes nothing of it.
#[tokio::test]
async fn nobody_is_asked_how_orders_can_be_paid_for() {
    let (source, without) = (StandIn::start().await, venues().await);
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["seaport"]["opensea"].clone();
    let order = json!({ "marketplace": "opensea", "chainId": "mainnet", "native": held["native"] });
    let name =
        json!({ "contractAddress": COLLECTION, "orderId": text(&held["id"]), "marketplace": "opensea" });
    let body = json!({ "chainId": "1", "wallet": TAKER, "orders": vec![name; 50] });
    for (app, expected) in [(&app, "all"), (&without, "none")] {
        taken(&put(app, [order.clone()]).await);
        let answer = app.project_a.call("Marketplace/CheckoutOptionsMarketplace", body.clone()).await.ok();
        assert_eq!(answer["options"]["crypto"], expected);
    }
    assert!(source.asked().is_empty());
}

/// What OpenSea answers about an order that nobody has signed for the vectors.
fn opensea_answer(native: &Value, extra_data: &str) -> Value {
    let order = json!({ "parameters": native, "signature": format!("0x{}1b", "11".repeat(64)), "extraData": extra_data });
    json!({ "protocol": "seaport1.6", "fulfillment_data": {
        "transaction": { "function": "fulfillAvailableAdvancedOrders(...)", "chain": 1, "to": SEAPORT, "value": 0,
            "input_data": {} }, "orders": [order] } })
}

#[tokio::test]
async fn opensea_agrees_to_offers_too() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let mut native = case("seaport", "an offer is taken")["orders"][0]["native"].clone();
    native["orderType"] = json!(2);
    native["zone"] = vectors("held")["seaport"]["opensea"]["native"]["zone"].clone();
    taken(&put(&app, [json!({ "marketplace": "opensea", "chainId": 1, "native": native })]).await);
    let id = text(&listed(&app, "offer", "5").await[0]["orderId"]).to_owned();
    source.knows(&id, &opensea_answer(&native, "0x00abcdef01"));
    let body = json!({ "seller": TAKER, "marketplace": "opensea",
        "ordersData": [{ "orderId": id, "quantity": "1", "tokenId": "5" }] });
    let answer = ask(&app, "GenerateSellTransaction", body).await.ok();
    let last = answer["steps"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["id"], &last["to"]), (&json!("sell"), &json!(SEAPORT)));
    assert!(text(&last["data"]).contains("00abcdef01"), "{last}");
    let asked = only(source.asked());
    assert_eq!(asked.path, "/api/v2/offers/fulfillment_data");
    let expected = json!({
        "offer": { "hash": id, "chain": "ethereum", "protocol_address": SEAPORT },
        "fulfiller": { "address": TAKER }, "units_to_fill": "1", "include_optional_creator_fees": false,
        "consideration": { "asset_contract_address": COLLECTION, "token_id": "5" },
    });
    assert_eq!(asked.body, expected);
}

/// Each order gets what was agreed to for it, also beside one that needs no agreement.
#[tokio::test]
async fn several_orders_are_agreed_to_one_by_one() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let hosted = vectors("held")["seaport"]["opensea"]["native"].clone();
    let usual = case("seaport", "a token for the chain's own currency");
    let mut ids = Vec::new();
    for (salt, extra_data) in [("61", "0x00aaaaaaaa"), ("62", "0x00bbbbbbbb")] {
        let mut native = hosted.clone();
        native["salt"] = json!(salt);
        taken(&put(&app, [json!({ "marketplace": "opensea", "chainId": 1, "native": native })]).await);
        let found = listed(&app, "listing", "5").await;
        let id =
            found.iter().map(|order| text(&order["orderId"])).find(|id| !ids.iter().any(|known| known == id));
        ids.push(id.unwrap().to_owned());
        source.knows(ids.last().unwrap(), &opensea_answer(&native, extra_data));
    }
    taken(&put(&app, [signed("opensea", &usual["orders"][0])]).await);
    let orders = [(ids[0].as_str(), "1"), (text(&usual["orders"][0]["id"]), "1"), (ids[1].as_str(), "1")];
    let body = json!({ "buyer": TAKER, "marketplace": "opensea", "ordersData": data(&orders) });
    let answer = ask(&app, "GenerateBuyTransaction", body).await.ok();
    let steps = answer["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[0]["value"]), (1, &json!("3000")), "{answer}");
    assert_eq!(source.asked().len(), 2);
    // The salts of the orders, each before what was agreed to for it.
    let call = text(&steps[0]["data"]);
    let place = |part: &str| call.find(part).unwrap_or_else(|| panic!("no {part} in {call}"));
    let word = |number: u64| format!("{number:064x}");
    let places = [place(&word(61)), place("00aaaaaaaa"), place(&word(62)), place("00bbbbbbbb")];
    assert!(places.is_sorted(), "{places:?}");
}

#[tokio::test]
async fn magic_eden_agrees_to_orders_of_its_signed_zone() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["seaport"]["magic_eden"].clone();
    let order = json!({ "marketplace": "magic_eden", "chainId": 1, "native": held["native"] });
    taken(&put(&app, [order]).await);
    let id = text(&held["id"]);
    source.knows(id, &held["answer"]);
    check_bought(&buy(&app, "magic_eden", id).await.ok(), &json!(SEAPORT), &held);
    let asked = only(source.asked());
    assert_eq!(asked.path, "/execute/buy/v7");
    let expected =
        json!({ "items": [{ "orderId": id, "quantity": "1" }], "taker": TAKER, "skipBalanceCheck": true });
    assert_eq!(asked.body, expected);
}

#[tokio::test]
async fn a_cosigner_agrees_to_orders_that_name_it() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["payment_processor"].clone();
    // Either marketplace may have such orders.
    for marketplace in ["payment_processor", "magic_eden"] {
        taken(&put(&app, [signed(marketplace, &held)]).await);
        let id = text(&held["id"]);
        source.knows(id, &held["answer"]);
        check_bought(&buy(&app, marketplace, id).await.ok(), &held["contract"], &held);
        let asked = only(source.asked());
        assert_eq!(asked.path, "/execute/buy/v7");
        assert_eq!(asked.body["items"][0]["orderId"], held["id"]);
    }
}

/// What its service says of an offer becomes a call that is put together here, without anything else that it would do.
#[tokio::test]
async fn a_cosigner_agrees_to_offers_that_name_it() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    for held in vectors("held")["payment_processor"]["offers"].as_array().unwrap() {
        taken(&put(&app, [signed("payment_processor", held)]).await);
        let token = held["native"]["tokenId"].as_str().unwrap_or("77");
        let sell = async |members: Value| {
            let body = json!({ "seller": TAKER, "marketplace": "payment_processor",
                "ordersData": [{ "orderId": held["id"], "quantity": "1", "tokenId": token }] });
            ask(&app, "GenerateSellTransaction", with(body, members)).await
        };
        let refused = sell(json!({})).await;
        let (status, reason) = refusal(&refused);
        assert!(status == 409 && reason.contains("was not found"), "{reason}");
        source.asked();
        source.knows(text(&held["id"]), &held["answer"]);
        let steps = sell(json!({})).await.ok()["steps"].clone();
        let last = steps.as_array().unwrap().last().unwrap();
        assert_eq!(
            (&last["id"], &last["to"]),
            (&json!("sell"), &json!(text(&held["contract"]).to_lowercase()))
        );
        assert_eq!((&last["data"], &last["value"]), (&held["data"], &json!("0")));
        let asked = only(source.asked());
        assert_eq!(asked.path, "/execute/sell/v7");
        let item =
            json!({ "orderId": held["id"], "quantity": "1", "token": format!("{COLLECTION}:{token}") });
        assert_eq!(asked.body, json!({ "items": [item], "taker": TAKER }));
        // It says so to this taker alone.
        let stranger = sell(json!({ "seller": DOLLAR })).await;
        let (status, reason) = refusal(&stranger);
        assert!(status == 409 && reason.contains("the answer is for another taker"), "{reason}");
    }
}

/// What a service said is not used when it is over.
#[tokio::test]
async fn a_cosignature_that_has_expired_is_refused() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["payment_processor"].clone();
    taken(&put(&app, [signed("payment_processor", &held)]).await);
    let id = text(&held["id"]);
    source.knows(id, &held["answer"]);
    buy(&app, "payment_processor", id).await.ok();
    let now = app.clock.now().unix_seconds();
    app.clock.advance(1_800_000_000 - now);
    buy(&app, "payment_processor", id).await.ok();
    app.clock.advance(1);
    let answer = buy(&app, "payment_processor", id).await;
    let (status, reason) = refusal(&answer);
    assert!(status == 409 && reason.contains("good until 1800000000"), "{reason}");
}

#[tokio::test]
async fn x2y2_signs_the_call_for_each_order() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["x2y2"].clone();
    taken(&put(&app, [signed("x2y2", &json!({ "native": held["offer"] }))]).await);
    let id = text(&held["hash"]);
    source.knows("12346", &held["taken"]["answer"]);
    let body = json!({ "seller": TAKER, "marketplace": "x2y2",
        "ordersData": [{ "orderId": id, "quantity": "1", "tokenId": "77" }] });
    let answer = ask(&app, "GenerateSellTransaction", body).await.ok();
    let steps = answer["steps"].as_array().unwrap();
    assert_eq!((&steps[0]["id"], &steps[0]["to"]), (&json!("tokenApproval"), &json!(COLLECTION)));
    assert_eq!((&steps[1]["id"], &steps[1]["data"]), (&json!("sell"), &held["taken"]["data"]));
    source.asked();
    // Both have the same name in the vectors.
    let app = venues_asking(&source, None).await;
    taken(&put(&app, [signed("x2y2", &json!({ "native": held["order"] }))]).await);
    source.knows("12345", &held["listing"]["answer"]);
    check_bought(
        &buy(&app, "x2y2", id).await.ok(),
        &json!(text(&held["contract"]).to_lowercase()),
        &held["listing"],
    );
    let asked = only(source.asked());
    assert_eq!(asked.path, "/api/orders/sign");
    let item = json!({ "orderId": "12345", "currency": ZERO, "price": "1000" });
    let expected = json!({ "caller": TAKER, "op": 1, "amountToEth": "0", "amountToWeth": "0", "check": false,
        "items": [item] });
    assert_eq!(asked.body, expected);
}

/// The answer of Blur's service to a wallet instead of to the one of the vectors.
pub(super) fn blur_answer_for(wallet: &Wallet, mut answer: Value) -> (Value, String) {
    let data = text(&answer["buys"][0]["txnData"]["data"]).to_owned();
    let data = data.replace(&TAKER[2..], &wallet.address()[2..]);
    answer["buys"][0]["txnData"]["data"] = json!(data);
    (answer, data)
}

pub(super) async fn buy_from_blur(app: &TestApp, wallet: &Wallet, ids: &[&str]) -> Answer {
    let orders: Vec<_> = ids.iter().map(|id| (*id, "1")).collect();
    let body = json!({ "buyer": wallet.address(), "marketplace": "blur", "ordersData": data(&orders) });
    ask(app, "GenerateBuyTransaction", body).await
}

/// Logs somebody in at Blur, for an order.
pub(super) async fn log_in(app: &TestApp, wallet: &Wallet, id: &str) {
    let step = buy_from_blur(app, wallet, &[id]).await.ok()["steps"][0].clone();
    let signature = wallet.sign_text(text(&step["data"]));
    let params = json!({ "chainId": "1", "signature": signature, "body": step["post"]["body"] });
    app.project_a.key.call("Marketplace/Execute", json!({ "params": params })).await.ok();
}

#[tokio::test]
async fn blur_wants_buyers_to_log_in_first() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["blur"].clone();
    let (one, two) = (text(&held["orders"][0]["id"]), text(&held["orders"][1]["id"]));
    taken(&put(&app, held["orders"].as_array().unwrap().iter().map(|order| signed("blur", order))).await);
    let buyer = Wallet::of(7);
    // First only a message to sign.
    let answer = buy_from_blur(&app, &buyer, &[one]).await.ok();
    let steps = answer["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 1, "{answer}");
    let step = &steps[0];
    assert_eq!((&step["id"], &step["executeType"]), (&json!("signEIP191"), &json!("order")));
    assert_eq!(
        (&step["post"]["method"], &step["post"]["endpoint"]),
        (&json!("POST"), &json!("/rpc/Marketplace/Execute"))
    );
    assert_eq!(step.get("signature"), None);
    assert_eq!(only(source.asked()).path, "/auth/challenge");
    // The client signs it and says what `post` says.
    let signature = buyer.sign_text(text(&step["data"]));
    let params = json!({ "chainId": "1", "signature": signature, "method": "POST", "endpoint": step["post"]["endpoint"],
        "body": step["post"]["body"], "executeType": "order" });
    let answer = app.project_a.key.call("Marketplace/Execute", json!({ "params": params })).await.ok();
    assert_eq!(answer, json!({ "orderId": "" }));
    assert_eq!(only(source.asked()).path, "/auth/login");
    // Then the purchase.
    let (answer, expected) = blur_answer_for(&buyer, held["one"]["answer"].clone());
    source.knows("5", &answer);
    let answer = buy_from_blur(&app, &buyer, &[one]).await.ok();
    let contract = json!("0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5");
    check_bought(&answer, &contract, &json!({ "data": expected, "value": held["one"]["value"] }));
    let asked = only(source.asked());
    assert_eq!(asked.path, format!("/v1/buy/{COLLECTION}"));
    assert_eq!(
        asked.body["tokenPrices"],
        json!([{ "tokenId": "5",
        "price": { "amount": "0.000000000000001", "unit": "ETH" } }])
    );
    // Two at once are one call.
    let (answer, expected) = blur_answer_for(&buyer, held["two"]["answer"].clone());
    source.knows("5", &answer);
    let answer = buy_from_blur(&app, &buyer, &[one, two]).await.ok();
    check_bought(&answer, &contract, &json!({ "data": expected, "value": held["two"]["value"] }));
    // Somebody else has not logged in, and nobody stays for ever.
    let others = buy_from_blur(&app, &Wallet::of(8), &[one]).await.ok();
    assert_eq!(others["steps"][0]["id"], "signEIP191");
    app.clock.advance(3601);
    let again = buy_from_blur(&app, &buyer, &[one]).await.ok();
    assert_eq!(again["steps"][0]["id"], "signEIP191");
}

#[tokio::test]
async fn nobody_logs_in_as_somebody_else() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["blur"].clone();
    taken(&put(&app, [signed("blur", &held["orders"][0])]).await);
    let (buyer, other) = (Wallet::of(7), Wallet::of(8));
    let id = text(&held["orders"][0]["id"]);
    let step = buy_from_blur(&app, &buyer, &[id]).await.ok()["steps"][0].clone();
    let execute = async |signature: String, body: Value| {
        let body = json!({ "params": { "signature": signature, "body": body } });
        app.project_a.key.call("Marketplace/Execute", body).await
    };
    // With another's signature Blur itself says no.
    let refused = execute(other.sign_text(text(&step["data"])), step["post"]["body"].clone()).await;
    assert_eq!(refusal(&refused), (409, "the service of blur refuses: 401 Unauthorized"));
    // A message that is for another must not let in whom it is said to be for.
    let theirs = buy_from_blur(&app, &other, &[id]).await.ok()["steps"][0].clone();
    let mut body = theirs["post"]["body"].clone();
    body["wallet"] = json!(buyer.address());
    let signature = other.sign_text(text(&theirs["data"]));
    let refused = execute(signature.clone(), body).await;
    assert_eq!(refused.status, 400, "{}", refused.json);
    for challenge in [json!(null), json!(5), json!("text"), json!([]), json!({}), json!({ "message": 5 })] {
        let mut body = theirs["post"]["body"].clone();
        body["terms"] = challenge;
        let refused = execute(signature.clone(), body).await;
        assert_eq!(refused.status, 400, "{}", refused.json);
    }
    let again = buy_from_blur(&app, &buyer, &[id]).await.ok();
    assert_eq!(again["steps"][0]["id"], "signEIP191", "nobody is logged in");
}

#[tokio::test]
async fn without_a_service_the_setting_is_named() {
    let app = venues().await;
    let held = vectors("held");
    let orders = [
        ("opensea", held["seaport"]["opensea"].clone()),
        ("magic_eden", held["seaport"]["magic_eden"].clone()),
        ("payment_processor", held["payment_processor"].clone()),
        ("x2y2", json!({ "native": held["x2y2"]["order"], "id": held["x2y2"]["hash"] })),
        ("blur", held["blur"]["orders"][0].clone()),
    ];
    taken(&put(&app, orders.iter().map(|(marketplace, order)| signed(marketplace, order))).await);
    for (marketplace, order) in &orders {
        let answer = buy(&app, marketplace, text(&order["id"])).await;
        let reason = format!(
            "{marketplace} must agree to each fill of these orders, and no service of it is configured (sources.{marketplace}_url)"
        );
        assert_eq!(refusal(&answer), (409, reason.as_str()));
    }
    // A collection's other orders can be bought all the same.
    let plain = super::first_of("seaport", "a token for the chain's own currency");
    taken(&put(&app, [plain]).await);
    let id = case("seaport", "a token for the chain's own currency")["orders"][0]["id"].clone();
    buy(&app, "opensea", text(&id)).await.ok();
}

#[tokio::test]
async fn the_key_is_shown_to_nobody() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["seaport"]["opensea"].clone();
    taken(&put(&app, [signed("opensea", &held)]).await);
    // The service does not know the order.
    let answer = buy(&app, "opensea", text(&held["id"])).await;
    assert_eq!(answer.status, 409);
    assert!(!answer.text().contains(KEY) && !answer.text().contains(&source.url), "{}", answer.json);
}
