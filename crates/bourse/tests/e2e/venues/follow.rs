//! What happens to a signed order without anybody filling it.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::{Stage, Venue, units_of};
use crate::anvil::{alloy_address, approveCall, setApprovalForAllCall, transferCall, transferFromCall};
use crate::market::order;

/// A listing goes with its token and its maker's approval, comes back with them, and is over when it is taken back.
pub(super) fn follows_its_token(stage: &Stage, venue: &Venue) {
    let collection = stage.singles(1);
    let market = &stage.market;
    let (seller, friend) = (market.seller(), market.platform());
    let listed = stage.list(venue, collection, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    stage.only_listing(venue, collection, "1");
    let orders = units_of(&listed, "1");
    let gone = || {
        market.wait_listings(collection, "1", 0);
        stage.refused(venue, collection, &orders, &Value::Null);
    };

    market.anvil.send(seller, collection, &transfer(seller, friend));
    gone();
    market.anvil.send(friend, collection, &transfer(friend, seller));
    stage.only_listing(venue, collection, "1");

    let approve = |approved| setApprovalForAllCall { operator: alloy_address(venue.mover), approved };
    market.anvil.send(seller, collection, &approve(false));
    gone();
    market.anvil.send(seller, collection, &approve(true));
    stage.only_listing(venue, collection, "1");

    stage.cancel(venue, collection, seller, &listed);
    gone();
    stage.wait_status(venue, collection, &listed, "cancelled");
}

/// An offer goes with the money that the spender may take, and comes back with it.
pub(super) fn follows_its_money(stage: &Stage, venue: &Venue, spender: Address) {
    let collection = stage.singles(1);
    let market = &stage.market;
    let (buyer, friend) = (market.buyer(), market.platform());
    market.fund(buyer, 1_000_000);
    let offered = stage.offer(venue, collection, "ERC721", &order("1", "1", market.currency, "1000000"));
    let offers = |count| {
        let offers = market.wait_offers(collection, "1", count);
        assert!(offers.iter().all(|offer| offer["orderId"] == json!(offered)), "{offers:?}");
    };
    offers(1);
    let allow = |amount: u64| approveCall { spender: alloy_address(spender), amount: U256::from(amount) };
    market.anvil.send(buyer, market.currency, &allow(999_999));
    offers(0);
    market.anvil.send(buyer, market.currency, &allow(1_000_000));
    offers(1);
    let all =
        transferCall { to: alloy_address(friend), amount: market.anvil.balance(market.currency, buyer) };
    market.anvil.send(buyer, market.currency, &all);
    offers(0);
    let body = json!({ "collectionAddress": collection, "seller": market.seller(), "marketplace": venue.word,
        "ordersData": units_of(&offered, "1"), "additionalFees": [], "walletType": "unknown" });
    let refused = market.marketplace_answer("GenerateSellTransaction", &body);
    assert_eq!(refused.status, 409, "{refused:?}");
    market.anvil.send(friend, market.currency, &transferCall { to: alloy_address(buyer), ..all });
    offers(1);
    stage.cancel(venue, collection, buyer, &offered);
    offers(0);
    stage.wait_status(venue, collection, &offered, "cancelled");
}

/// A fill, and then a cancel, that the chain takes back leave an order that can be filled.
pub(super) fn outlives_a_reorganisation(stage: &Stage, venue: &Venue) {
    let (market, collection) = (&stage.market, stage.singles(1));
    let listed = stage.list(venue, collection, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    stage.only_listing(venue, collection, "1");
    // What was approved stays.
    market.anvil.mine(3);
    let orders = units_of(&listed, "1");
    market.anvil.perform(market.buyer(), &stage.buying(venue, collection, &orders, &Value::Null));
    stage.wait_filled(venue, collection, "1", &listed);
    market.anvil.reorganise(2);
    stage.only_listing(venue, collection, "1");
    stage.wait_status(venue, collection, &listed, "active");
    assert_eq!(stage.owner(collection, 1), market.seller());

    stage.cancel(venue, collection, market.seller(), &listed);
    stage.wait_status(venue, collection, &listed, "cancelled");
    market.wait_listings(collection, "1", 0);
    market.anvil.reorganise(2);
    stage.only_listing(venue, collection, "1");
    let steps = stage.buying(venue, collection, &orders, &Value::Null);
    assert_eq!(stage.gains(Address::ZERO, market.buyer(), &steps)[0], -1000);
    assert_eq!(stage.owner(collection, 1), market.buyer());
    stage.wait_filled(venue, collection, "1", &listed);
}

/// A server into which an order is imported that was filled, and then one that was taken back, learns that by asking, as its
/// logs were read before; when the chain takes the end back, the order can be filled again. `ends` are what contracts call the
/// two ends.
pub(super) fn comes_back_when_its_end_was_found_by_asking(stage: &Stage, venue: &Venue, ends: [&str; 2]) {
    let (market, collection) = (&stage.market, stage.singles(1));
    let listing = json!({ "collectionAddress": collection, "owner": market.seller(), "contractType": "ERC721",
        "orderbook": venue.word, "listing": order("1", "1", Address::ZERO, "1000"), "walletType": "unknown" });
    let steps = market.steps("GenerateListingTransaction", &listing);
    let listed = stage.carry_out(market.seller(), &steps).unwrap();
    stage.only_listing(venue, collection, "1");
    let signed = &steps.as_array().unwrap().last().unwrap()["signature"];
    let signature = stage.sign(market.seller(), signed);
    // What was approved stays.
    market.anvil.mine(3);
    let orders = units_of(&listed, "1");
    let fill = |stage: &Stage| {
        let steps = stage.buying(venue, collection, &orders, &Value::Null);
        stage.market.anvil.perform(market.buyer(), &steps);
    };
    for (is_fill, end) in [true, false].into_iter().zip(ends) {
        if is_fill {
            fill(stage);
        } else {
            stage.cancel(venue, collection, market.seller(), &listed);
        }
        let late = stage.anew(collection);
        late.import(venue, &signed["value"], &signature);
        late.wait_status(venue, collection, &listed, end);
        late.market.wait_listings(collection, "1", 0);
        market.anvil.reorganise(2);
        late.only_listing(venue, collection, "1");
        late.wait_status(venue, collection, &listed, "active");
        assert_eq!(late.owner(collection, 1), market.seller());
        stage.only_listing(venue, collection, "1");
        late.assert_stands(venue, collection, &listed);
    }
    fill(stage);
    assert_eq!(stage.owner(collection, 1), market.buyer());
}

fn transfer(from: Address, to: Address) -> transferFromCall {
    transferFromCall { from: alloy_address(from), to: alloy_address(to), tokenId: U256::from(1) }
}
