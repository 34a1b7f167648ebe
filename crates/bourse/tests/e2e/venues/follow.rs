//! What happens to a signed order without anybody filling it.

use alloy_primitives::{Bytes, U256};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::{Stage, Venue, units_of};
use crate::anvil::{
    Multi, alloy_address, approveCall, setApprovalForAllCall, transferCall, transferFromCall,
};
use crate::market::order;

/// A listing goes with its token and its maker's approval, comes back with them, and is over when it is taken back.
pub(super) fn follows_its_token(stage: &Stage, venue: &Venue) {
    let collection = stage.singles(1);
    let market = &stage.market;
    let seller = market.seller();
    let listed = stage.list(venue, collection, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    rests_without_its_token(stage, venue, collection, &listed);
    let gone = || is_gone(stage, venue, collection, &listed);
    let approve = |approved| setApprovalForAllCall { operator: alloy_address(venue.mover), approved };
    market.anvil.send(seller, collection, &approve(false));
    gone();
    market.anvil.send(seller, collection, &approve(true));
    stage.only_listing(venue, collection, "1");

    stage.cancel(venue, collection, seller, &listed);
    gone();
    stage.wait_status(venue, collection, &listed, "cancelled");
}

/// The only listing of token 1 goes with the token, and comes back with it.
pub(super) fn rests_without_its_token(stage: &Stage, venue: &Venue, collection: Address, listed: &str) {
    let market = &stage.market;
    let (seller, friend) = (market.seller(), market.platform());
    stage.only_listing(venue, collection, "1");
    market.anvil.send(seller, collection, &transfer(seller, friend));
    is_gone(stage, venue, collection, listed);
    market.anvil.send(friend, collection, &transfer(friend, seller));
    stage.only_listing(venue, collection, "1");
}

/// Nobody sees a listing of token 1, or buys it.
fn is_gone(stage: &Stage, venue: &Venue, collection: Address, listed: &str) {
    stage.market.wait_listings(collection, "1", 0);
    stage.refused(venue, collection, &units_of(listed, "1"), &Value::Null);
}

/// Nothing is listed at a marketplace, which is called by its name.
pub(super) fn is_made_elsewhere(stage: &Stage, venue: &Venue, collection: Address, name: &str) {
    let body = json!({ "collectionAddress": collection, "owner": stage.market.seller(), "contractType": "ERC721",
        "orderbook": venue.word, "listing": order("1", "1", Address::ZERO, "1000"), "walletType": "unknown" });
    let refused = stage.market.marketplace_answer("GenerateListingTransaction", &body);
    assert!(refused.status == 400 && refused.body.contains(name), "{refused:?}");
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

/// A listing of ten units of a token that its contract fills whole or not at all: nobody buys a part of it, nor anything of it
/// while its maker has less.
pub(super) fn is_all_or_nothing(stage: &Stage, venue: &Venue, collection: Address, listed: &str) {
    let market = &stage.market;
    let (seller, friend) = (market.seller(), market.platform());
    let listing = stage.only_listing(venue, collection, "1");
    assert_eq!((&listing["orderId"], &listing["quantityAvailable"]), (&json!(listed), &json!("10")));
    let refused = |units: &str| stage.refused(venue, collection, &units_of(listed, units), &Value::Null);
    let part = refused("3");
    assert!(part.body.contains("can only be filled as a whole, with all its 10 units"), "{part:?}");
    let give = |from: Address, to: Address| {
        let (raw, to, [token, amount]) = (alloy_address(from), alloy_address(to), [1, 4].map(U256::from));
        let call = Multi::safeTransferFromCall { from: raw, to, tokenId: token, amount, data: Bytes::new() };
        market.anvil.send(from, collection, &call);
    };

    give(seller, friend);
    stage.wait_status(venue, collection, listed, "inactive");
    market.wait_listings(collection, "1", 0);
    for units in ["6", "10"] {
        refused(units);
    }
    give(friend, seller);
    assert_eq!(stage.only_listing(venue, collection, "1")["quantityAvailable"], json!("10"));
}

/// Such a listing of the seller's, which somebody buys then.
pub(super) fn is_bought_whole(
    stage: &Stage,
    venue: &Venue,
    (collection, listed): (Address, &str),
    price: i128,
) {
    let market = &stage.market;
    market.fund(market.buyer(), 20_000_000);
    is_all_or_nothing(stage, venue, collection, listed);
    let steps = stage.buying(venue, collection, &units_of(listed, "10"), &Value::Null);
    assert_eq!(stage.gains(market.currency, market.buyer(), &steps)[0], -price);
    assert_eq!(stage.units(collection, market.buyer(), 1), 10);
    stage.wait_filled(venue, collection, "1", listed);
}

fn transfer(from: Address, to: Address) -> transferFromCall {
    transferFromCall { from: alloy_address(from), to: alloy_address(to), tokenId: U256::from(1) }
}
