//! Orders of the service's own marketplaces are sold as their contract keeps them, whoever said what they are.

use std::sync::Arc;

use serde_json::json;

use super::{CLEO, V2, buy, market_with, sell, sold, steps, wanted};
use crate::marketplace::{ANA, BEN, COIN, DOLLAR, with};
use crate::support::TestApp;
use crate::support::chain::FakeChain;
use crate::support::seed::RELICS;

/// `isRequestValid(uint256,uint256)`.
const IS_VALID: &str = "24dc6bd0";
const UNTIL: &str = "2030-01-01T00:00:00Z";

/// An order as the contract keeps it.
#[derive(Clone, Copy)]
struct Kept {
    is_valid: bool,
    creator: &'static str,
    is_listing: bool,
    collection: &'static str,
    token: u64,
    quantity: u64,
    expiry: u64,
    currency: &'static str,
    price: u64,
}

const LISTING: Kept = Kept {
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

impl Kept {
    /// Has the contract say so of every order.
    fn said_by(self, chain: &FakeChain) {
        let address = |address: &str| format!("{:0>64}", &address[2..]);
        let number = |number: u64| format!("{number:064x}");
        let words = [
            number(self.is_valid.into()),
            address(self.creator),
            number(self.is_listing.into()),
            number(1),
            address(self.collection),
            number(self.token),
            number(self.quantity),
            number(self.expiry),
            address(self.currency),
            number(self.price),
        ];
        chain.says_data(V2, IS_VALID, &words.concat());
    }
}

async fn market(chain: &Arc<FakeChain>) -> TestApp {
    let until = json!({ "validUntil": UNTIL });
    let orders = [with(sold("77", 1000), until.clone()), with(wanted("78", 1000), until)];
    market_with(&[], Some(Arc::clone(chain)), orders).await
}

#[tokio::test]
async fn what_the_contract_keeps_is_what_is_sold() {
    let chain = Arc::new(FakeChain::default());
    let app = market(&chain).await;
    LISTING.said_by(&chain);
    assert_eq!(steps(buy(&app, &[("77", 3)], json!({})).await).len(), 2);
    for (member, kept) in [
        ("collectionContractAddress", Kept { collection: DOLLAR, ..LISTING }),
        ("side", Kept { is_listing: false, ..LISTING }),
        ("tokenId", Kept { token: 666, ..LISTING }),
        ("createdBy", Kept { creator: BEN, ..LISTING }),
        ("priceAmount", Kept { price: 1001, ..LISTING }),
        ("priceCurrencyAddress", Kept { currency: COIN, ..LISTING }),
        ("validUntil", Kept { expiry: LISTING.expiry + 1, ..LISTING }),
    ] {
        kept.said_by(&chain);
        let answer = buy(&app, &[("77", 3)], json!({})).await;
        assert_eq!(answer.refusal(), (409, 1004), "{member}: {}", answer.json);
        let message = answer.json["msg"].as_str().unwrap();
        assert!(message.contains(&format!("order 77: {member} is not what its maker made it")), "{message}");
    }
    // An offer is bought by the same word.
    Kept { is_listing: false, creator: BEN, ..LISTING }.said_by(&chain);
    assert_eq!(steps(sell(&app, &[("78", 1)], json!({})).await).len(), 2);
    LISTING.said_by(&chain);
    assert_eq!(sell(&app, &[("78", 1)], json!({})).await.status, 409);
}

#[tokio::test]
async fn what_the_contract_would_refuse_is_not_sold() {
    let chain = Arc::new(FakeChain::default());
    let app = market(&chain).await;
    for (kept, reason) in [
        (Kept { creator: COIN, is_valid: false, quantity: 0, ..LISTING }, "has no such order"),
        (Kept { is_valid: false, ..LISTING }, "would refuse it"),
        (Kept { quantity: 2, ..LISTING }, "3 units of order 77 where 2 can be filled right now"),
    ] {
        kept.said_by(&chain);
        let answer = buy(&app, &[("77", 3)], json!({})).await;
        assert_eq!(answer.status, 409, "{}", answer.json);
        assert!(answer.json["msg"].as_str().unwrap().contains(reason), "{}", answer.json);
    }
}

/// Without a node, or while none answers, orders are what stewards and the operator say.
#[tokio::test]
async fn where_nobody_can_be_asked_the_steward_is_believed() {
    let chain = Arc::new(FakeChain::default());
    let app = market(&chain).await;
    assert_eq!(steps(buy(&app, &[("77", 3)], json!({ "buyer": CLEO })).await).len(), 2);
    chain.awake();
    assert_eq!(steps(buy(&app, &[("77", 3)], json!({})).await).len(), 2, "it does not say");
}
