//! Sales to those who offer.

use std::sync::Arc;

use serde_json::json;

use super::trading::{
    CLEO, SHOP, V2, accepted, check_token_approval, fills, market, market_with, refusal, sell, steps, wanted,
};
use crate::marketplace::{BEN, with};
use crate::support::chain::{FakeChain, IS_REQUEST_VALID};
use crate::support::seed::RELICS;

#[tokio::test]
async fn an_offer_is_accepted_and_its_fees_come_out_of_it() {
    let app = market([with(wanted("5", 1000), json!({ "feeBps": 500 }))]).await;
    let fees = json!({ "additionalFees": [{ "amount": "10000", "receiver": SHOP }] });
    let answer = sell(&app, &[("5", 2)], fees).await;
    let note = "of 0.002 M about 0.002 M go to others";
    assert!(answer.json["steps"][1]["note"].as_str().unwrap().starts_with(note), "{}", answer.json);
    let steps = steps(answer);
    let [approval, sale] = steps.as_slice() else { panic!("{steps:?}") };
    check_token_approval(approval, V2);
    // The maker pays the royalty on top, so all of the price may be fees.
    assert_eq!((sale.id.as_str(), sale.to.as_str(), sale.value, sale.price), ("sell", V2, 0, 2000));
    assert_eq!(fills(sale), [accepted(5, 2, &[(2000, SHOP)])]);
    let fees = json!({ "additionalFees": [
        { "amount": "10000", "receiver": SHOP }, { "amount": "5", "receiver": SHOP }] });
    let expected = "additionalFees: the fees add up to 2001, which is more than the 2000 that the price leaves \
                    without royalties";
    assert_eq!(refusal(&sell(&app, &[("5", 2)], fees).await), (400, expected.to_owned()));
}

#[tokio::test]
async fn several_offers_in_one_call() {
    let app = market([wanted("5", 1000), with(wanted("6", 10), json!({ "tokenId": "2" }))]).await;
    let steps = steps(sell(&app, &[("5", 2), ("6", 10)], json!({})).await);
    assert_eq!((steps.len(), steps[1].selector.as_str(), steps[1].price), (2, "a93c5317", 2100));
    assert_eq!(fills(&steps[1]), [accepted(5, 2, &[]), accepted(6, 10, &[])]);
}

#[tokio::test]
async fn an_approval_only_when_it_is_not_there() {
    for (is_operator, wallet, approvals) in [
        (None, "unknown", 1),
        (Some(false), "unknown", 1),
        (Some(true), "unknown", 0),
        (None, "sequence", 0),
        (None, "bourse", 0),
        (None, "service", 0),
    ] {
        let chain = Arc::new(FakeChain { is_operator, ..FakeChain::default() });
        let app = market_with(&[], Some(Arc::clone(&chain)), [wanted("5", 1000)]).await;
        let steps = steps(sell(&app, &[("5", 1)], json!({ "walletType": wallet })).await);
        assert_eq!(steps.len(), 1 + approvals, "{is_operator:?} {wallet}");
        if approvals == 1 {
            let asked = chain.asked.lock().unwrap().join(", ");
            let expected = format!(
                "137 {V2} {IS_REQUEST_VALID}, 137 royalty {V2} token 1 for 1000, 137 operator {RELICS} {CLEO} {V2}"
            );
            assert_eq!(asked, expected);
        }
    }
}

#[tokio::test]
async fn sellers_must_hold_what_they_sell() {
    let app = market([wanted("5", 1000), wanted("6", 1000)]).await;
    assert_eq!(sell(&app, &[("5", 5), ("6", 5)], json!({})).await.status, 200);
    let expected = format!("seller: {CLEO} holds 10 of token 1, not 11");
    assert_eq!(refusal(&sell(&app, &[("5", 5), ("6", 6)], json!({})).await), (409, expected));
    let expected = format!("seller: {SHOP} holds 0 of token 1, not 1");
    let nobody = sell(&app, &[("5", 1)], json!({ "seller": SHOP })).await;
    assert_eq!((nobody.refusal(), refusal(&nobody)), ((409, 1004), (409, expected)));
    let expected = format!("seller: {BEN} made order 5 and cannot fill it");
    let maker = sell(&app, &[("5", 1)], json!({ "seller": BEN })).await;
    assert_eq!(refusal(&maker), (400, expected));
}
