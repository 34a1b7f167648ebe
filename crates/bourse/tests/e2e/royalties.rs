//! Royalties: whose they are, what they take of prices and of offers, and that they change.

use alloy_primitives::{U256, Uint};
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{alloy_address, setTokenRoyaltyCall};
use crate::market::{Market, order};

const COIN: u64 = 1_000_000;

/// Gives one token of a collection a royalty of its own.
fn set_token_royalty(market: &Market, collection: Address, token: u64, bps: u64) {
    let (recipient, fee) = (alloy_address(market.artist()), Uint::from(bps));
    let call = setTokenRoyaltyCall { tokenId: U256::from(token), recipient, fee };
    market.anvil.send(market.artist(), collection, &call);
}

/// Lists some units of a token of the seller at 10 coins each.
fn list(market: &Market, collection: Address, token: &str, units: &str) {
    let price = (10 * COIN).to_string();
    let listing = order(token, units, market.currency, &price);
    market.list(market.seller(), collection, "ERC1155", &listing);
}

/// What an order shows of its royalty: basis points, and what is left of the price.
fn shown(order: &Value) -> (u64, String) {
    let net = order["priceAmountNet"].as_str().unwrap().to_owned();
    (order["feeBps"].as_u64().unwrap(), net)
}

#[test]
fn a_token_with_a_royalty_of_its_own_shows_that() {
    let market = Market::open();
    let collection = market.multiples(market.seller(), 3, 10);
    set_token_royalty(&market, collection, 3, 1_000);
    market.wait_followed(collection);
    list(&market, collection, "2", "4");
    list(&market, collection, "3", "4");
    let [usual, special] = ["2", "3"].map(|token| market.wait_listings(collection, token, 1).remove(0));
    assert_eq!(shown(&usual), (500, "9500000".to_owned()));
    assert_eq!(shown(&special), (1_000, "9000000".to_owned()));
    let fee = json!([{ "kind": "royalty", "recipientAddress": market.artist(), "bps": 1_000 }]);
    assert_eq!(special["feeBreakdown"], fee);
}
