//! Purchases.

use std::sync::Arc;

use bourse_wire::{ChainId, Marketplace};
use serde_json::json;

use super::trading::{
    CLEO, HELPER, SHOP, V1, V2, accepted, buy, check_approval, fills, market, market_with, sold, steps,
};
use crate::marketplace::{COIN, DOLLAR, with};
use crate::support::chain::{FakeChain, IS_REQUEST_VALID};

#[tokio::test]
async fn a_listing_for_money_that_must_be_approved() {
    let app = market([sold("77", 1000)]).await;
    let steps = steps(buy(&app, &[("77", 3)], json!({})).await);
    let [approval, bought] = steps.as_slice() else { panic!("{steps:?}") };
    check_approval(approval, DOLLAR, V2, 3000);
    assert_eq!((bought.id.as_str(), bought.to.as_str(), bought.value, bought.price), ("buy", V2, 0, 3000));
    assert_eq!(fills(bought), [accepted(77, 3, &[])]);
}

#[tokio::test]
async fn a_listing_for_the_coin_of_the_chain() {
    let app = market([with(sold("77", 1000), json!({ "priceCurrencyAddress": COIN }))]).await;
    let steps = steps(buy(&app, &[("77", 3)], json!({ "walletType": "sequence" })).await);
    let [bought] = steps.as_slice() else { panic!("{steps:?}") };
    assert_eq!((bought.id.as_str(), bought.to.as_str(), bought.value, bought.price), ("buy", V2, 3000, 3000));
    assert_eq!(fills(bought), [accepted(77, 3, &[])]);
}

#[tokio::test]
async fn on_the_first_marketplace() {
    let v1 = json!({ "marketplace": "bourse_marketplace_v1" });
    let app = market([with(sold("77", 1000), v1.clone())]).await;
    let steps = steps(buy(&app, &[("77", 1)], v1).await);
    check_approval(&steps[0], DOLLAR, V1, 1000);
    assert_eq!((steps[1].to.as_str(), steps.len()), (V1, 2));
}

#[tokio::test]
async fn the_usual_contracts_where_none_is_configured() {
    let app = market([]).await;
    let contract = |chain, marketplace| {
        let venue = app.app.registry().venue(ChainId(chain), marketplace).unwrap();
        venue.newest().unwrap().contract().to_string()
    };
    for chain in [1, 999_999] {
        assert_eq!(contract(chain, Marketplace::OwnV1), "0xb537a160472183f2150d42eb1c3dd6684a55f74c");
        assert_eq!(contract(chain, Marketplace::OwnV2), "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712");
    }
    assert_eq!(app.app.settings().networks.get(1).unwrap().own.batch_helper, None);
    assert_eq!(contract(137, Marketplace::OwnV2), V2);
}

/// A chain that can be asked saves a step when it has the answer, and only then.
#[tokio::test]
async fn an_approval_only_when_the_allowance_is_short() {
    for (allowance, approvals) in
        [(None, 1), (Some(0), 1), (Some(3074), 1), (Some(3075), 0), (Some(u64::MAX), 0)]
    {
        let chain = Arc::new(FakeChain { allowance, ..FakeChain::default() });
        let app = market_with(&[], Some(Arc::clone(&chain)), [sold("77", 1000)]).await;
        let fees = json!({ "additionalFees": [{ "amount": "250", "receiver": SHOP }] });
        let steps = steps(buy(&app, &[("77", 3)], fees).await);
        assert_eq!(steps.len(), 1 + approvals, "{allowance:?}");
        if approvals == 1 {
            check_approval(&steps[0], DOLLAR, V2, 3075);
        }
        let asked = chain.asked.lock().unwrap().join(", ");
        // The contract itself is asked about the order first.
        let mut expected = format!(
            "137 {V2} {IS_REQUEST_VALID}, 137 royalty {V2} token 1 for 3000, 137 allowance {DOLLAR} {CLEO} {V2}"
        );
        if allowance == Some(3074) {
            // Something is left: it is tried whether that can be replaced, or else taken back.
            expected += &format!(", 137 {DOLLAR} 095ea7b3").repeat(2);
        }
        assert_eq!(asked, expected);
    }
}

#[tokio::test]
async fn several_orders_are_one_call_and_their_fees_are_paid_once() {
    let app = market([sold("1", 1000), sold("2", 2000), sold("3", 3000)]).await;
    let orders = [("1", 1), ("2", 2), ("3", 3), ("1", 4)];
    let all = steps(buy(&app, &orders, json!({})).await);
    assert_eq!(all.len(), 2);
    check_approval(&all[0], DOLLAR, V2, 18_000);
    assert_eq!(all[1].selector, "a93c5317");
    assert_eq!((all[1].value, all[1].price), (0, 18_000));
    // What is named twice is filled once.
    let batch = [accepted(1, 5, &[]), accepted(2, 2, &[]), accepted(3, 3, &[])];
    assert_eq!(fills(&all[1]), batch);
    let fees = json!({ "additionalFees": [
        { "amount": "100", "receiver": SHOP },
        { "amount": "0", "receiver": COIN },
        { "amountInBaseUnits": 10_001, "receiver": CLEO },
    ] });
    let all = steps(buy(&app, &orders, fees).await);
    check_approval(&all[0], DOLLAR, V2, 18_000 + 180 + 10_001);
    // The first can carry 5000, and the second 4000.
    let expected = [
        accepted(1, 5, &[(180, SHOP), (4820, CLEO)]),
        accepted(2, 2, &[(4000, CLEO)]),
        accepted(3, 3, &[(1181, CLEO)]),
    ];
    assert_eq!(all[1..].iter().flat_map(fills).collect::<Vec<_>>(), expected);
    assert_eq!(all[1..].iter().map(|step| step.price).collect::<Vec<_>>(), [10_000, 8000, 10_181]);
}

#[tokio::test]
async fn several_orders_for_the_coin_of_the_chain() {
    let coin = json!({ "priceCurrencyAddress": COIN });
    let orders = || [with(sold("1", 1000), coin.clone()), with(sold("2", 2000), coin.clone())];
    let asked = [("1", 1), ("2", 2)];
    let app = market(orders()).await;
    let all = steps(buy(&app, &asked, json!({})).await);
    assert_eq!(
        all.iter().map(|step| (step.value, step.price)).collect::<Vec<_>>(),
        [(1000, 1000), (4000, 4000)]
    );
    assert_eq!(all.iter().flat_map(fills).collect::<Vec<_>>(), [accepted(1, 1, &[]), accepted(2, 2, &[])]);
    let app = market_with(&[("networks.polygon.batch_helper", HELPER)], None, orders()).await;
    let all = steps(buy(&app, &asked, json!({})).await);
    let [bought] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((bought.to.as_str(), bought.value, bought.price), (HELPER, 5000, 5000));
    assert_eq!(fills(bought), [accepted(1, 1, &[]), accepted(2, 2, &[])]);
}

/// Fees leave room for the royalty: the order's own word for it, unless the chain says otherwise.
#[tokio::test]
async fn royalties_bound_the_fees() {
    let order = || with(sold("77", 100_000), json!({ "feeBps": 1000 }));
    let fees = |amount: u64| json!({ "additionalFees": [{ "amountInBaseUnits": amount, "receiver": SHOP }] });
    let app = market([order()]).await;
    assert_eq!(buy(&app, &[("77", 1)], fees(90_000)).await.status, 200);
    let refused = buy(&app, &[("77", 1)], fees(90_001)).await;
    assert_eq!(refused.refusal(), (400, 2001));
    for (royalty, most) in [(0, 100_000), (30_000, 70_000), (200_000, 0)] {
        let chain = FakeChain { royalty: Some(royalty), ..FakeChain::default() };
        let app = market_with(&[], Some(Arc::new(chain)), [order()]).await;
        let refused = buy(&app, &[("77", 1)], fees(100_001)).await.json["msg"].as_str().unwrap().to_owned();
        assert!(refused.contains(&format!("more than the {most} that")), "{refused}");
    }
}
