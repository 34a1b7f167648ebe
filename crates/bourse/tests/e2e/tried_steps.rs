//! Every step is tried on the chain before it is handed out: what is handed out settles, and what would not is refused in
//! words.

use std::time::Instant;

use alloy_primitives::U256;
use alloy_sol_types::sol;
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{Anvil, alloy_address, mintCall, ownerOfCall, setApprovalForAllCall, transferFromCall};
use crate::market::{Market, V1, V2, Venue, node_setting, order, order_data, wait};

const COIN: u64 = 1_000_000;
const ETHER: u64 = 1_000_000_000_000_000_000;

sol! {
    function pause();
    function blacklist(address account);
}

/// What an operation answers, with all its transactions tried.
fn tried(market: &Market, operation: &str, body: &Value) -> Value {
    let answer = market.marketplace(operation, body);
    let count = answer["steps"].as_array().unwrap().len();
    assert_eq!(answer["simulation"], json!({ "steps": count }), "{operation}: {answer}");
    answer["steps"].clone()
}

/// The refusal of an operation, which says this.
#[track_caller]
fn refused(market: &Market, operation: &str, body: &Value, expected: &str) {
    let answer = market.marketplace_answer(operation, body);
    assert_eq!(answer.status, 409, "{answer:?}");
    assert!(answer.body.contains(expected), "{answer:?}");
}

fn making(
    (who, maker): (&str, Address),
    collection: Address,
    (side, what): (&str, &Value),
    word: &str,
) -> Value {
    json!({ "collectionAddress": collection, who: maker, "contractType": "ERC721", "orderbook": word, side: what,
        "walletType": "unknown" })
}

/// Every kind of step settles as it was tried: approvals and what they are for are played in their order.
fn every_step_settles(venue: &Venue, word: &str) {
    let market = Market::open_at(venue, node_setting);
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    let price = order("1", "1", market.currency, &(4 * COIN).to_string());
    let list = making(("owner", seller), collection, ("listing", &price), word);
    let steps = tried(&market, "GenerateListingTransaction", &list);
    assert_eq!(steps.as_array().unwrap().len(), 2, "{steps}");
    market.anvil.perform(seller, &steps);
    let listing = market.wait_listings(collection, "1", 1).remove(0);

    let body = market.purchase(buyer, collection, &order_data(&listing, "1"), &Value::Null);
    let lacking = "step 2 of 2 (buy of order ";
    refused(&market, "GenerateBuyTransaction", &body, lacking);
    market.fund(buyer, 4 * COIN);
    let steps = tried(&market, "GenerateBuyTransaction", &body);
    assert_eq!(steps.as_array().unwrap().len(), 2, "approved and bought: {steps}");
    market.anvil.perform(buyer, &steps);
    market.wait_listings(collection, "1", 0);

    // Back by an offer, which the buyer accepts; a second one is taken back.
    market.fund(seller, 20 * COIN);
    for coins in [4, 5] {
        let price = order("1", "1", market.currency, &(coins * COIN).to_string());
        let offer = making(("maker", seller), collection, ("offer", &price), word);
        let steps = tried(&market, "GenerateOfferTransaction", &offer);
        market.anvil.perform(seller, &steps);
    }
    let offers = market.wait_offers(collection, "1", 2);
    let sale = json!({ "collectionAddress": collection, "seller": buyer, "marketplace": word,
        "ordersData": order_data(&offers[0], "1"), "walletType": "unknown" });
    let itself = json!({ "collectionAddress": collection, "seller": buyer, "marketplace": word,
        "ordersData": order_data(&offers[0], "1"), "walletType": "sequence" });
    assert_eq!(tried(&market, "GenerateSellTransaction", &itself).as_array().unwrap().len(), 1);
    let steps = tried(&market, "GenerateSellTransaction", &sale);
    assert_eq!(steps.as_array().unwrap().len(), 2, "approved and sold: {steps}");
    market.anvil.perform(buyer, &steps);
    assert_eq!(owner(&market, collection), seller);
    let cancel = json!({ "collectionAddress": collection, "maker": seller, "marketplace": word,
        "orderId": offers[1]["orderId"] });
    market.anvil.perform(seller, &tried(&market, "GenerateCancelTransaction", &cancel));
    market.wait_offers(collection, "1", 0);
}

fn owner(market: &Market, collection: Address) -> Address {
    let owner = market.anvil.ask(collection, &ownerOfCall { tokenId: U256::from(1) });
    Address::from_bytes(owner.into_array())
}

#[test]
fn every_step_settles_as_it_was_tried() {
    every_step_settles(&V2, "bourse_marketplace_v2");
}

#[test]
fn every_step_settles_as_it_was_tried_on_the_first_version() {
    every_step_settles(&V1, "bourse_marketplace_v1");
}

#[test]
fn a_paused_collection_and_a_currency_that_shuts_somebody_out_are_told_of() {
    let mut market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let paused = market.anvil.deploy("TestPausableERC721", &[]);
    let mint = mintCall { to: alloy_address(seller), tokenId: U256::from(1) };
    market.anvil.send(seller, paused, &mint);
    market.follow(paused);
    market.wait_followed(paused);
    market.list(seller, paused, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    let listing = market.wait_listings(paused, "1", 1).remove(0);
    let body = market.purchase(buyer, paused, &order_data(&listing, "1"), &Value::Null);
    tried(&market, "GenerateBuyTransaction", &body);
    market.anvil.send(seller, paused, &pauseCall {});
    refused(&market, "GenerateBuyTransaction", &body, "the contract is paused: nothing moves");

    let collection = market.singles(seller);
    market.wait_followed(collection);
    market.currency = market.anvil.deploy("TestGuardedERC20", &[]);
    market.put_currencies();
    market.fund(buyer, 10 * COIN);
    market.list(seller, collection, "ERC721", &order("1", "1", market.currency, &COIN.to_string()));
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    let body = market.purchase(buyer, collection, &order_data(&listing, "1"), &Value::Null);
    tried(&market, "GenerateBuyTransaction", &body);
    market.anvil.send(buyer, market.currency, &blacklistCall { account: alloy_address(market.artist()) });
    let expected = "step 2 of 2 (buy of order ";
    refused(&market, "GenerateBuyTransaction", &body, expected);
    refused(&market, "GenerateBuyTransaction", &body, "shuts somebody out who takes part in it");
}

#[test]
fn a_buyer_with_too_little_native_money_is_told_how_much_is_missing() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    let price = ETHER / 10 * 12;
    market.list(seller, collection, "ERC721", &order("1", "1", Address::ZERO, &price.to_string()));
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    let body = market.purchase(buyer, collection, &order_data(&listing, "1"), &Value::Null);
    let funds = |amount: u64| market.anvil.rpc("anvil_setBalance", &json!([buyer, format!("{amount:#x}")]));
    funds(ETHER / 10 * 3);
    let expected =
        format!("buyer: {buyer} has 0.3 ETH where these steps take 1.2 ETH: 0.9 ETH are missing, beside");
    refused(&market, "GenerateBuyTransaction", &body, &expected);
    funds(2 * ETHER);
    market.anvil.perform(buyer, &tried(&market, "GenerateBuyTransaction", &body));
    // Whoever buys through another service gets what they lack from it.
    market.anvil.send(buyer, collection, &transfer(buyer, seller));
    let again = market.anvil.ask(collection, &ownerOfCall { tokenId: U256::from(1) });
    assert_eq!(again, alloy_address(seller));
}

fn transfer(from: Address, to: Address) -> transferFromCall {
    transferFromCall { from: alloy_address(from), to: alloy_address(to), tokenId: U256::from(1) }
}

/// A server that follows blocks so seldom that a test is over before the next.
fn seldom(market: &mut Market) {
    market.restart_polling(600_000);
    let newest = market.anvil.rpc("eth_blockNumber", &json!([]));
    let newest: U256 = newest.as_str().unwrap().parse().unwrap();
    let followed = || {
        let metrics = crate::http::get(market.server().port, "/metrics").unwrap().body;
        let line = metrics.lines().find(|line| line.starts_with("bourse_chain_checkpoint{"));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<U256>().ok())
    };
    wait("the newest block is followed", followed, |followed| *followed == Some(newest));
}

#[test]
fn what_happened_on_blocks_that_are_not_followed_yet_is_seen() {
    let mut market = Market::open();
    let (seller, buyer, friend) = (market.seller(), market.buyer(), market.platform());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    market.fund(buyer, 10 * COIN);
    market.offer(buyer, collection, "ERC721", &order("1", "1", market.currency, &COIN.to_string()));
    let offer = market.wait_offers(collection, "1", 1).remove(0);
    seldom(&mut market);
    let sale = json!({ "collectionAddress": collection, "seller": seller, "marketplace": "bourse_marketplace_v2",
        "ordersData": order_data(&offer, "1"), "walletType": "unknown" });
    tried(&market, "GenerateSellTransaction", &sale);
    // By what is followed the seller still has the token.
    market.anvil.send(seller, collection, &transfer(seller, friend));
    refused(&market, "GenerateSellTransaction", &sale, "token 1 is not the seller's any more");
    market.anvil.send(friend, collection, &transfer(friend, seller));
    let approve = setApprovalForAllCall { operator: alloy_address(market.contract), approved: true };
    market.anvil.send(seller, collection, &approve);
    let steps = tried(&market, "GenerateSellTransaction", &sale);
    market.anvil.perform(seller, &steps);
    assert_eq!(owner(&market, collection), buyer);
}

/// What it costs to have steps tried; printed, as machines differ.
#[test]
fn trying_steps_can_be_switched_off_and_costs_little() {
    let mut times = Vec::new();
    for setting in ["", "simulate = false\n"] {
        let market = Market::open_at(&V2, |anvil: &Anvil| format!("{}{setting}", node_setting(anvil)));
        let (seller, buyer) = (market.seller(), market.buyer());
        let collection = market.singles(seller);
        market.wait_followed(collection);
        market.fund(buyer, COIN);
        market.list(seller, collection, "ERC721", &order("1", "1", market.currency, &COIN.to_string()));
        let listing = market.wait_listings(collection, "1", 1).remove(0);
        let body = market.purchase(buyer, collection, &order_data(&listing, "1"), &Value::Null);
        let mut taken: Vec<f64> = (0..40)
            .map(|_| {
                let begun = Instant::now();
                let answer = market.marketplace("GenerateBuyTransaction", &body);
                let took = begun.elapsed().as_secs_f64() * 1000.0;
                let off = json!({ "steps": 0, "note": "trying steps is switched off for this network" });
                let expected = if setting.is_empty() { json!({ "steps": 2 }) } else { off };
                assert_eq!(answer["simulation"], expected);
                took
            })
            .collect();
        taken.sort_by(f64::total_cmp);
        times.push((taken[20], taken[39]));
    }
    println!(
        "GenerateBuyTransaction in ms (median, slowest): tried {:?}, not tried {:?}",
        times[0], times[1]
    );
}
