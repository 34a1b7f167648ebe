//! Orders that name a cosigner, whose service agrees to each fill.

use std::sync::Arc;

use bourse_wire::{Address, Amount};
use serde_json::{Value, json};

use super::{FAMILY, processor};
use crate::Protocol;
use crate::native::{NativeOrder, Proof};
use crate::testing::{admit, changed, fill, fill_with, person, protocol, text, trade, vectors};

#[test]
fn cosigned_listings_need_their_marketplace() {
    let held = vectors("held")[FAMILY].clone();
    let order = || [admit(&*processor(), &held).unwrap()];
    assert_eq!(order()[0].proof, Proof::Signed);
    let filling = json!({ "quantities": ["1"], "taker": person(0xb0) });
    let plan = fill_with(&*processor(), &order(), &filling, &[held["answer"].clone()]).unwrap();
    assert_eq!(plan.calls[0].data.to_string(), text(&held["data"]));
    assert_eq!(plan.calls[0].value.to_string(), text(&held["value"]));
    let orders = order();
    let trade = trade(&*processor(), &orders, &filling).unwrap();
    assert_eq!(processor().source_requests(&trade).unwrap()[0].path, "/execute/buy/v7");
    let refusal = fill(&*processor(), &orders, &filling).unwrap_err().to_string();
    assert!(
        refusal
            .ends_with("needs the signature of its marketplace for each fill, which only a source can give")
    );
    // A cosignature is for one taker and one order, and somebody has made it.
    let refused = |order: &[NativeOrder], filling: &Value, answer: Value| {
        fill_with(&*processor(), order, filling, &[answer]).unwrap_err().to_string()
    };
    let stranger = json!({ "quantities": ["1"], "taker": person(0xbb) });
    assert!(refused(&orders, &stranger, held["answer"].clone()).contains("the answer is for another taker"));
    let other =
        [admit(&*processor(), &changed(&json!({ "orders": [held] }), "/nonce", json!("10"))).unwrap()];
    assert!(
        refused(&other, &filling, held["answer"].clone())
            .ends_with("the answer has no cosignature that can be used")
    );
    let data = text(&held["data"]);
    let expiration = format!("{:064x}", 1_800_000_000);
    let later = data.replace(&expiration, &format!("{:064x}", 1_800_000_001));
    let mut forged = held["answer"].clone();
    forged["steps"][0]["items"][0]["data"]["data"] = json!(later);
    assert!(refused(&orders, &filling, forged).contains("the answer is for another cosigner"));
}

/// Offers for a token and for any, of both versions, with the answers of their cosigner.
fn offers() -> Vec<CosignedOffer> {
    let all = vectors("held")[FAMILY]["offers"].as_array().unwrap().clone();
    all.into_iter().map(CosignedOffer).collect()
}

struct CosignedOffer(Value);

impl CosignedOffer {
    fn protocol(&self) -> Arc<dyn Protocol> {
        protocol(&json!({ "marketplace": FAMILY, "chainId": 1, "contract": self.0["contract"] }))
    }

    /// The token that it is taken with.
    fn token(&self) -> u64 {
        if self.0["native"]["tokenId"].is_null() { 77 } else { 5 }
    }

    fn filling(&self, taker: u8) -> Value {
        json!({ "quantities": ["1"], "tokens": [self.token().to_string()], "taker": person(taker) })
    }

    /// The answer with some hexadecimal digits of its call changed.
    fn forged(&self, from: &str, to: &str) -> Value {
        let mut answer = self.0["answer"].clone();
        let data = &mut answer["steps"][0]["items"][0]["data"]["data"];
        assert!(text(data).contains(from), "{from}");
        *data = json!(text(data).replace(from, to));
        answer
    }

    /// Why an answer to somebody at some time is of no use, if it is not.
    fn refusal(&self, answer: &Value, taker: u8, now: u64) -> String {
        let (protocol, orders) = (self.protocol(), [admit(&*self.protocol(), &self.0).unwrap()]);
        let trade = trade(&*protocol, &orders, &self.filling(taker)).unwrap().at(now);
        let filled = protocol.fill(&trade, std::slice::from_ref(answer));
        filled.map_or_else(|refusal| refusal.to_string(), |_| String::new())
    }
}

/// A word with a number in it.
fn word(number: u64) -> String {
    format!("{number:064x}")
}

/// Of what a service answers to whoever takes an offer, the cosignature is used and nothing else: the vectors' answers
/// would pay others.
#[test]
fn cosigned_offers_are_sold_with_the_cosignature_alone() {
    for offer in offers() {
        let (protocol, held) = (offer.protocol(), &offer.0);
        let orders = [admit(&*protocol, held).unwrap()];
        let asked =
            protocol.source_requests(&trade(&*protocol, &orders, &offer.filling(0xb0)).unwrap()).unwrap();
        assert_eq!((asked.len(), asked[0].path.as_str()), (1, "/execute/sell/v7"));
        let token = format!("{}:{}", person(0xc0), offer.token());
        let item = json!({ "orderId": held["id"], "quantity": "1", "token": token });
        // Such a service refuses what it does not know.
        assert_eq!(asked[0].body, json!({ "items": [item], "taker": person(0xb0) }));
        let plan = fill_with(&*protocol, &orders, &offer.filling(0xb0), &[held["answer"].clone()]).unwrap();
        assert_ne!(held["answer"]["steps"][0]["items"][0]["data"]["data"], held["data"]);
        assert_eq!(plan.calls[0].data.to_string(), text(&held["data"]));
        assert_eq!(plan.calls[0].value, Amount::ZERO);
    }
}

#[test]
fn hostile_answers_about_cosigned_offers_are_refused() {
    for offer in offers() {
        let answer = &offer.0["answer"];
        let has = |refusal: String, reason: &str| assert!(refusal.contains(reason), "{refusal}");
        assert_eq!(offer.refusal(answer, 0xb0, 1_800_000_000), "");
        has(offer.refusal(answer, 0xb0, 1_800_000_001), "the answer was good until 1800000000");
        has(offer.refusal(answer, 0xbb, 0), "the answer is for another taker");
        let longer = offer.forged(&word(1_800_000_000), &word(1_800_000_001));
        has(offer.refusal(&longer, 0xb0, 0), "the answer is for another cosigner");
        let number = text(&offer.0["native"]["nonce"]).parse().unwrap();
        let end = word(1_900_000_000);
        let other = offer.forged(&format!("{}{end}", word(number)), &format!("{}{end}", word(13)));
        has(offer.refusal(&other, 0xb0, 0), "no cosignature that can be used");
        let mut elsewhere = answer.clone();
        elsewhere["steps"][0]["items"][0]["data"]["to"] = json!(Address::ZERO);
        has(offer.refusal(&elsewhere, 0xb0, 0), "the answer is for another contract");
        let unwilling = json!({ "message": "Order not fillable" });
        has(offer.refusal(&unwilling, 0xb0, 0), "the marketplace does not agree: Order not fillable");
        for nonsense in
            [json!(null), json!([]), json!({ "steps": [] }), json!({ "steps": [{ "id": "sale" }] })]
        {
            has(offer.refusal(&nonsense, 0xb0, 0), "the answer has no /steps");
        }
        // The cosignature of another offer is for that one.
        for (place, other) in offers().iter().enumerate().filter(|(_, other)| other.0["id"] != offer.0["id"])
        {
            assert_ne!(offer.refusal(&other.0["answer"], 0xb0, 0), "", "{place}");
        }
    }
}
