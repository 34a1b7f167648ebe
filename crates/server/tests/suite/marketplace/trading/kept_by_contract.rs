//! Orders of the service's own marketplaces are sold as their contract keeps them, whoever said what they are.

use std::sync::Arc;

use serde_json::json;

use super::{CLEO, V2, buy, market_with, refusal, sell, sold, steps, wanted};
use crate::marketplace::{ANA, BEN, COIN, DOLLAR, with};
use crate::support::TestApp;
use crate::support::chain::{FakeChain, KeptOrder};
use crate::support::seed::RELICS;

/// When they end.
pub(in crate::marketplace) const UNTIL: &str = "2030-01-01T00:00:00Z";

/// What the contract keeps of the listing that is sold.
pub(in crate::marketplace) const LISTING: KeptOrder = KeptOrder {
    is_valid: true,
    creator: ANA,
    is_listing: true,
    collection: RELICS,
    token: 1,
    quantity: 10,
    expiry: 1_893_456_000,
    currency: DOLLAR,
    price: 1000,
};

async fn market(chain: &Arc<FakeChain>) -> TestApp {
    let until = json!({ "validUntil": UNTIL });
    let orders = [with(sold("77", 1000), until.clone()), with(wanted("78", 1000), until)];
    market_with(&[], Some(Arc::clone(chain)), orders).await
}

#[tokio::test]
async fn what_the_contract_keeps_is_what_is_sold() {
    let chain = Arc::new(FakeChain::default());
    let app = market(&chain).await;
    LISTING.said_by(&chain, V2);
    assert_eq!(steps(buy(&app, &[("77", 3)], json!({})).await).len(), 2);
    for (member, kept) in [
        ("collectionContractAddress", KeptOrder { collection: DOLLAR, ..LISTING }),
        ("side", KeptOrder { is_listing: false, ..LISTING }),
        ("tokenId", KeptOrder { token: 666, ..LISTING }),
        ("createdBy", KeptOrder { creator: BEN, ..LISTING }),
        ("priceAmount", KeptOrder { price: 1001, ..LISTING }),
        ("priceCurrencyAddress", KeptOrder { currency: COIN, ..LISTING }),
        ("validUntil", KeptOrder { expiry: LISTING.expiry + 1, ..LISTING }),
    ] {
        kept.said_by(&chain, V2);
        let answer = buy(&app, &[("77", 3)], json!({})).await;
        assert_eq!(answer.refusal(), (409, 1004), "{member}: {}", answer.json);
        let message = answer.json["msg"].as_str().unwrap();
        assert!(message.contains(&format!("order 77: {member} is not what its maker made it")), "{message}");
    }
    // An offer is bought by the same word.
    KeptOrder { is_listing: false, creator: BEN, ..LISTING }.said_by(&chain, V2);
    assert_eq!(steps(sell(&app, &[("78", 1)], json!({})).await).len(), 2);
    LISTING.said_by(&chain, V2);
    assert_eq!(sell(&app, &[("78", 1)], json!({})).await.status, 409);
}

#[tokio::test]
async fn what_the_contract_would_refuse_is_not_sold() {
    let chain = Arc::new(FakeChain::default());
    let app = market(&chain).await;
    for (kept, reason) in [
        (KeptOrder { creator: COIN, is_valid: false, quantity: 0, ..LISTING }, "has no such order"),
        (KeptOrder { is_valid: false, ..LISTING }, "would refuse it"),
        (KeptOrder { quantity: 2, ..LISTING }, "3 units of order 77 where 2 can be filled right now"),
    ] {
        kept.said_by(&chain, V2);
        let answer = buy(&app, &[("77", 3)], json!({})).await;
        assert_eq!(answer.status, 409, "{}", answer.json);
        assert!(answer.json["msg"].as_str().unwrap().contains(reason), "{}", answer.json);
    }
}

/// Without a node, orders are what stewards and the operator say. Where somebody can be asked, an address that does not tell what
/// it keeps may have no code, and takes whatever is sent to it.
#[tokio::test]
async fn only_where_nobody_can_be_asked_the_steward_is_believed() {
    let chain = Arc::new(FakeChain::default());
    let app = market(&chain).await;
    assert_eq!(steps(buy(&app, &[("77", 3)], json!({ "buyer": CLEO })).await).len(), 2);
    chain.awake();
    let untold = |id: &str| {
        let what = format!("tells what contract {V2} keeps of it, so that it is not filled now");
        (409, format!("order {id}: no node of the network {what}"))
    };
    assert_eq!(refusal(&buy(&app, &[("77", 3)], json!({})).await), untold("77"));
    assert_eq!(refusal(&sell(&app, &[("78", 1)], json!({})).await), untold("78"));
}
