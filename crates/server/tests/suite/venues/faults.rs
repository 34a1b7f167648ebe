//! Services that are slow, busy, broken or wrong: nothing of what they say is passed on unless it is what was asked for.

use std::time::Duration;

use serde_json::{Value, json};

use super::sources::{blur_answer_for, buy_from_blur, log_in};
use super::stand_in::{Reply, StandIn};
use super::wallet::Wallet;
use super::{SEAPORT, TAKER, buy, put, refusal, signed, taken, text, vectors, venues_asking};
use crate::support::TestApp;
use crate::support::actor::Answer;

/// Somebody and something else than in the vectors.
const OTHER: &str = "0x0000000000000000000000000000000000000bad";

/// An order that a service must agree to, as the vectors have it.
struct Hosted {
    marketplace: &'static str,
    /// What the service knows it by.
    known_by: String,
    id: String,
    answer: Value,
    source: StandIn,
    app: TestApp,
}

impl Hosted {
    async fn start(marketplace: &'static str) -> Self {
        let held = vectors("held");
        let (order, answer) = match marketplace {
            "opensea" | "magic_eden" => {
                (held["seaport"][marketplace].clone(), held["seaport"][marketplace]["answer"].clone())
            }
            "payment_processor" => (held[marketplace].clone(), held[marketplace]["answer"].clone()),
            "x2y2" => {
                let order = json!({ "native": held["x2y2"]["order"], "id": held["x2y2"]["hash"] });
                (order, held["x2y2"]["listing"]["answer"].clone())
            }
            other => panic!("{other}"),
        };
        let source = StandIn::start().await;
        let app = venues_asking(&source, None).await;
        taken(&put(&app, [signed(marketplace, &order)]).await);
        let id = text(&order["id"]).to_owned();
        let known_by = if marketplace == "x2y2" { "12345".to_owned() } else { id.clone() };
        Self { marketplace, known_by, id, answer, source, app }
    }

    async fn buy(&self) -> Answer {
        buy(&self.app, self.marketplace, &self.id).await
    }

    /// What is said when the service answers this.
    async fn refusal_of(&self, answer: &Value) -> String {
        self.source.knows(&self.known_by, answer);
        let bought = self.buy().await;
        let (status, reason) = refusal(&bought);
        assert_eq!(status, 409, "{reason}");
        let prefix = format!("order {}: ", self.id);
        reason.strip_prefix(&prefix).unwrap_or_else(|| panic!("{reason}")).to_owned()
    }

    /// The answer of the vectors with one text in place of another, wherever it is.
    fn with(&self, from: &str, to: &str) -> Value {
        swapped(&self.answer, from, to)
    }
}

fn swapped(answer: &Value, from: &str, to: &str) -> Value {
    let plain = answer.to_string();
    assert!(plain.contains(from), "no {from} in {plain}");
    serde_json::from_str(&plain.replace(from, to)).unwrap()
}

/// A number as calls have it.
fn word(number: u64) -> String {
    format!("{number:064x}")
}

#[tokio::test]
async fn a_service_that_is_busy_is_asked_again() {
    let hosted = Hosted::start("opensea").await;
    hosted.source.knows(&hosted.known_by, &hosted.answer);
    for status in [429, 500, 503] {
        hosted.source.forced([Reply::text(status, "later")]);
        hosted.buy().await.ok();
        assert_eq!(hosted.source.asked().len(), 2, "{status}");
    }
    let slow = Reply::json(&hosted.answer).after(Duration::from_hours(1));
    hosted.source.forced([slow]);
    hosted.buy().await.ok();
    assert_eq!(hosted.source.asked().len(), 2);
}

#[tokio::test]
async fn a_service_that_stays_busy_is_named() {
    let hosted = Hosted::start("opensea").await;
    let busy = Reply::text(500, r#"{"errors":["out of order"]}"#);
    hosted.source.forced([busy.clone(), busy]);
    let answer = hosted.buy().await;
    assert_eq!(refusal(&answer), (409, "the service of opensea does not answer: 500 out of order"));
    assert_eq!(hosted.source.asked().len(), 2);
    let slow = Reply::json(&hosted.answer).after(Duration::from_hours(1));
    hosted.source.forced([slow.clone(), slow]);
    let answer = hosted.buy().await;
    let (status, reason) = refusal(&answer);
    assert_eq!(status, 409);
    assert!(reason.starts_with("the service of opensea does not answer: "), "{reason}");
    assert!(!reason.contains(&hosted.source.url), "{reason}");
}

#[tokio::test]
async fn a_service_that_refuses_is_asked_once() {
    let hosted = Hosted::start("opensea").await;
    for (reply, expected) in [
        (Reply::text(400, r#"{"errors":["The order is not valid"]}"#), "refuses: 400 The order is not valid"),
        (Reply::text(403, r#"{"message":"no"}"#), "refuses: 403 no"),
        (Reply::text(404, "gone"), "refuses: 404"),
        (Reply::text(302, ""), "refuses: 302"),
        (Reply::text(401, r#"{"error":{"message":"who?"}}"#), "refuses: 401 who?"),
    ] {
        hosted.source.forced([reply]);
        let answer = hosted.buy().await;
        assert_eq!(refusal(&answer), (409, format!("the service of opensea {expected}").as_str()));
        assert_eq!(hosted.source.asked().len(), 1);
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let hosted = Hosted::start("opensea").await;
    let much = format!("[\"{}\"]", "x".repeat(5 << 20));
    for text in ["", "<html>", "{", "\u{0}", much.as_str()] {
        hosted.source.forced([Reply::text(200, text)]);
        let answer = hosted.buy().await;
        let (status, reason) = refusal(&answer);
        assert_eq!(status, 409);
        assert!(reason.starts_with("the service of opensea answered nothing that can be read: "), "{reason}");
        assert!(reason.len() < 300, "{reason}");
        assert_eq!(hosted.source.asked().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_without_what_is_needed_is_refused() {
    for marketplace in ["opensea", "magic_eden", "payment_processor", "x2y2"] {
        let hosted = Hosted::start(marketplace).await;
        let wrong = [
            json!(null),
            json!([]),
            json!({}),
            json!("text"),
            json!(5),
            json!({ "steps": {} }),
            json!({ "steps": [] }),
            json!({ "data": [] }),
            json!({ "data": [{ "input": 5 }] }),
            json!({ "fulfillment_data": null }),
            json!({ "fulfillment_data": { "orders": [{}] } }),
        ];
        for answer in wrong {
            let reason = hosted.refusal_of(&answer).await;
            assert!(reason.starts_with("the answer has no "), "{marketplace} {answer}: {reason}");
        }
    }
}

#[tokio::test]
async fn opensea_answers_for_something_else() {
    let hosted = Hosted::start("opensea").await;
    let contract = hosted.with(SEAPORT, OTHER);
    let reason = hosted.refusal_of(&contract).await;
    assert!(reason.starts_with(&format!("the answer is for another contract: {OTHER}")), "{reason}");
    let order = hosted.with("\"salt\":\"50\"", "\"salt\":\"51\"");
    let reason = hosted.refusal_of(&order).await;
    assert_eq!(reason, "the answer is for another order: 51, where 50 was asked for");
    // What the zone wants to see, in its published form, for somebody else.
    let agreement = |who: &str| format!("0x00{}{}{}", &who[2..], "00000000ffffffff", "11".repeat(64));
    let reason = hosted.refusal_of(&hosted.with("0x0011223344", &agreement(OTHER))).await;
    assert_eq!(reason, format!("the answer is for another taker: {OTHER}, where {TAKER} was asked for"));
    hosted.source.knows(&hosted.known_by, &hosted.with("0x0011223344", &agreement(TAKER)));
    hosted.buy().await.ok();
    let reason = hosted.refusal_of(&hosted.with("extraData", "extra")).await;
    assert_eq!(reason, "the answer has no extraData that can be used");
    let reason = hosted.refusal_of(&hosted.with("0x0011223344", "0x")).await;
    assert_eq!(reason, "the answer has no extraData that can be used");
    let reason = hosted.refusal_of(&json!({ "errors": ["Order is not fulfillable"] })).await;
    assert_eq!(reason, "the marketplace does not agree: Order is not fulfillable");
}

#[tokio::test]
async fn magic_eden_answers_for_something_else() {
    let hosted = Hosted::start("magic_eden").await;
    let contract = hosted.with(SEAPORT, OTHER);
    let reason = hosted.refusal_of(&contract).await;
    assert!(reason.starts_with(&format!("the answer is for another contract: {OTHER}")), "{reason}");
    let missing = "the answer has no steps that can be used";
    // Another token, another price, another function.
    for (from, to) in
        [(word(5), word(6)), (word(925), word(9)), ("0xe7acab24".to_owned(), "0xe7acab25".to_owned())]
    {
        assert_eq!(hosted.refusal_of(&hosted.with(&from, &to)).await, missing);
    }
    let reason = hosted.refusal_of(&json!({ "message": "No fillable orders" })).await;
    assert_eq!(reason, "the marketplace does not agree: No fillable orders");
}

#[tokio::test]
async fn a_cosigner_answers_for_something_else() {
    let hosted = Hosted::start("payment_processor").await;
    let contract = text(&vectors("held")["payment_processor"]["contract"]).to_owned();
    let reason = hosted.refusal_of(&hosted.with(&contract, OTHER)).await;
    assert!(reason.starts_with(&format!("the answer is for another contract: {OTHER}")), "{reason}");
    let reason = hosted.refusal_of(&hosted.with(&TAKER[2..], &OTHER[2..])).await;
    assert_eq!(reason, format!("the answer is for another taker: {OTHER}, where {TAKER} was asked for"));
    // Another order, and a signature that somebody else made.
    let reason = hosted.refusal_of(&hosted.with(&word(9), &word(10))).await;
    assert_eq!(reason, "the answer has no cosignature that can be used");
    let reason = hosted.refusal_of(&hosted.with(&word(1_800_000_000), &word(1_800_000_001))).await;
    assert!(reason.starts_with("the answer is for another cosigner: "), "{reason}");
}

#[tokio::test]
async fn x2y2_answers_for_something_else() {
    let hosted = Hosted::start("x2y2").await;
    let hash = text(&vectors("held")["x2y2"]["hash"])[2..].to_owned();
    for (what, from, to) in [
        ("taker", TAKER[2..].to_owned(), OTHER[2..].to_owned()),
        ("price", word(1000), word(1001)),
        ("order", hash, "77".repeat(32)),
        ("token", word(5), word(6)),
        ("maker", super::MAKER[2..].to_owned(), OTHER[2..].to_owned()),
    ] {
        let reason = hosted.refusal_of(&hosted.with(&from, &to)).await;
        assert!(reason.starts_with(&format!("the answer is for another {what}: ")), "{what}: {reason}");
    }
    let reason = hosted.refusal_of(&json!({ "success": false, "message": "order is closed" })).await;
    assert_eq!(reason, "the marketplace does not agree: order is closed");
}

#[tokio::test]
async fn blur_answers_for_something_else() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["blur"].clone();
    taken(&put(&app, [signed("blur", &held["orders"][0])]).await);
    let (buyer, id) = (Wallet::of(7), text(&held["orders"][0]["id"]));
    log_in(&app, &buyer, id).await;
    let good = blur_answer_for(&buyer, held["one"]["answer"].clone()).0;
    let both = blur_answer_for(&buyer, held["two"]["answer"].clone()).0;
    let own = buyer.address();
    for (what, answer) in [
        ("contract", swapped(&good, "0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5", OTHER)),
        ("recipient", swapped(&good, &own[2..], &OTHER[2..])),
        ("collection", swapped(&good, &super::COLLECTION[2..], &OTHER[2..])),
        ("token", swapped(&good, &word(5), &word(6))),
        ("token", swapped(&good, &word(1000), &word(1001))),
        ("value", swapped(&good, "0x03e8", "0x03e9")),
        ("token", both),
    ] {
        source.knows("5", &answer);
        let answer = buy_from_blur(&app, &buyer, &[id]).await;
        let (status, reason) = refusal(&answer);
        assert_eq!(status, 409, "{reason}");
        assert!(reason.starts_with(&format!("order {id}: the answer is for another {what}: ")), "{reason}");
    }
    source.knows(
        "5",
        &json!({ "success": true, "buys": [], "cancelReasons": [{ "reason": "ListingNotFound" }] }),
    );
    let answer = buy_from_blur(&app, &buyer, &[id]).await;
    let expected = format!("order {id}: the marketplace does not agree: ListingNotFound");
    assert_eq!(refusal(&answer), (409, expected.as_str()));
    source.knows("5", &json!({ "success": true, "buys": [], "cancelReasons": [] }));
    assert_eq!(refusal(&buy_from_blur(&app, &buyer, &[id]).await).0, 409);
}

#[tokio::test]
async fn blur_forgets_somebody() {
    let source = StandIn::start().await;
    let app = venues_asking(&source, None).await;
    let held = vectors("held")["blur"].clone();
    taken(&put(&app, [signed("blur", &held["orders"][0])]).await);
    let (buyer, id) = (Wallet::of(7), text(&held["orders"][0]["id"]));
    log_in(&app, &buyer, id).await;
    source.forced([Reply::text(401, r#"{"message":"Unauthorized"}"#)]);
    let answer = buy_from_blur(&app, &buyer, &[id]).await.ok();
    assert_eq!(answer["steps"][0]["id"], "signEIP191", "{answer}");
    log_in(&app, &buyer, id).await;
    source.knows("5", &blur_answer_for(&buyer, held["one"]["answer"].clone()).0);
    let answer = buy_from_blur(&app, &buyer, &[id]).await.ok();
    assert_eq!(answer["steps"][0]["id"], "buy");
}
