//! Royalties: whose they are, what they take of prices and of offers, and that they change.

use alloy_primitives::{U256, Uint};
use bourse_store::{CollectionKey, OwnOrders};
use bourse_wire::{Address, ChainId, OrderFacts};
use serde_json::{Value, json};

use crate::anvil::{
    Anvil, alloy_address, isRequestValidCall, setDefaultRoyaltyCall, setRoyaltyInfoCall, setSilentCall,
    setTokenRoyaltyCall, transferCall,
};
use crate::market::{DEPLOYED, Market, V2, Venue, node_setting, order, order_data, wait};

const COIN: u64 = 1_000_000;

/// A market in which royalties that no log tells of are asked for every second.
fn open(venue: &Venue) -> Market {
    let settings = |anvil: &Anvil| format!("{}royalties_interval_ms = 1000\n", node_setting(anvil));
    Market::open_at(venue, settings)
}

/// Gives all tokens of a collection a royalty, without a word.
fn set_royalty(market: &Market, collection: Address, bps: u64) {
    let (recipient, fee) = (alloy_address(market.artist()), Uint::from(bps));
    market.anvil.send(market.artist(), collection, &setDefaultRoyaltyCall { recipient, fee });
}

/// Gives one token of a collection a royalty of its own.
fn set_token_royalty(market: &Market, collection: Address, token: u64, bps: u64) {
    let (recipient, fee) = (alloy_address(market.artist()), Uint::from(bps));
    let call = setTokenRoyaltyCall { tokenId: U256::from(token), recipient, fee };
    market.anvil.send(market.artist(), collection, &call);
}

/// Has the market pay a royalty for a collection that tells none.
fn set_custom_royalty(market: &Market, collection: Address, bps: u64) {
    let (contract, recipient) = (alloy_address(collection), alloy_address(market.artist()));
    let call = setRoyaltyInfoCall { tokenContract: contract, recipient, fee: Uint::from(bps) };
    market.anvil.send(market.anvil.account(0), market.contract, &call);
}

/// Lists some units of a token of the seller at 10 coins each.
fn list(market: &Market, collection: Address, token: &str, units: &str) {
    let price = (10 * COIN).to_string();
    let listing = order(token, units, market.currency, &price);
    market.list(market.seller(), collection, "ERC1155", &listing);
}

/// Has the buyer offer 10 coins each for some units of a token.
fn offer(market: &Market, collection: Address, token: &str, units: &str) {
    let price = (10 * COIN).to_string();
    let offer = order(token, units, market.currency, &price);
    market.offer(market.buyer(), collection, "ERC1155", &offer);
}

/// What an order shows of its royalty: basis points, and what is left of the price.
fn shown(order: &Value) -> (u64, String) {
    let net = order["priceAmountNet"].as_str().unwrap().to_owned();
    (order["feeBps"].as_u64().unwrap(), net)
}

/// Waits until the only listing of a token shows so many basis points.
fn wait_shown(market: &Market, collection: Address, token: &str, bps: u64) {
    let look = || market.listings(collection, token);
    let listings = wait(&format!("{bps} basis points"), look, |listings| {
        listings.len() == 1 && listings[0]["feeBps"] == json!(bps)
    });
    let net = (10 * COIN * (10_000 - bps) / 10_000).to_string();
    assert_eq!(shown(&listings[0]), (bps, net));
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

/// Nothing else makes anybody ask within five minutes.
#[test]
fn a_royalty_of_the_marketplace_is_followed_by_its_log_and_back_with_the_chain() {
    let market = Market::open_at(&DEPLOYED, node_setting);
    let collection = market.multiples(market.seller(), 1, 10);
    market.anvil.send(market.seller(), collection, &setSilentCall { isSilent: true });
    set_custom_royalty(&market, collection, 300);
    market.wait_followed(collection);
    list(&market, collection, "1", "4");
    wait_shown(&market, collection, "1", 300);
    set_custom_royalty(&market, collection, 800);
    wait_shown(&market, collection, "1", 800);
    market.anvil.reorganise(1);
    wait_shown(&market, collection, "1", 300);
    set_custom_royalty(&market, collection, 0);
    wait_shown(&market, collection, "1", 0);
}

#[test]
fn a_royalty_that_changes_without_a_word_is_asked_for_again() {
    let market = open(&DEPLOYED);
    let collection = market.multiples(market.seller(), 2, 10);
    market.wait_followed(collection);
    list(&market, collection, "1", "4");
    list(&market, collection, "2", "4");
    wait_shown(&market, collection, "1", 500);
    set_royalty(&market, collection, 700);
    wait_shown(&market, collection, "1", 700);
    set_token_royalty(&market, collection, 2, 1_000);
    wait_shown(&market, collection, "2", 1_000);
    wait_shown(&market, collection, "1", 700);
}

/// The most units of an offer that its contract says are good.
fn valid_units(market: &Market, offer: &Value) -> u64 {
    let id: U256 = offer["orderId"].as_str().unwrap().parse().unwrap();
    let is_valid = |units: &u64| {
        let call = isRequestValidCall { requestId: id, quantity: U256::from(*units) };
        market.anvil.ask(market.contract, &call).valid
    };
    (1..=4).rev().find(is_valid).unwrap_or(0)
}

/// What is available of an offer, while its royalty goes up and down, is what its contract says; and the basis points that
/// it shows then.
fn follow_offer(venue: &Venue, expected: [(u64, u64, u64); 4]) {
    let market = open(venue);
    let collection = market.multiples(market.seller(), 1, 10);
    market.wait_followed(collection);
    let buyer = market.buyer();
    market.fund(buyer, 42 * COIN);
    offer(&market, collection, "1", "4");
    let look = || market.offers(collection, "1");
    for (bps, units, shown) in expected {
        set_royalty(&market, collection, bps);
        let offers = wait(&format!("{units} units at {bps} basis points"), look, |offers| {
            let [offer] = offers.as_slice() else { return false };
            offer["quantityAvailable"] == json!(units.to_string()) && offer["feeBps"] == json!(shown)
        });
        assert_eq!(valid_units(&market, &offers[0]), units, "{bps}");
    }
}

/// 42 coins pay for four units with 5 % on top, and for three with 10 %.
#[test]
fn an_offer_is_good_for_what_a_deployed_contract_takes_when_it_is_filled() {
    follow_offer(&DEPLOYED, [(500, 4, 500), (1_000, 3, 1_000), (4_500, 2, 4_500), (0, 4, 0)]);
}

/// Whoever offered for 5 % never pays more for all of it, whatever the royalty is by then.
#[test]
fn an_offer_is_good_for_what_our_own_contract_holds_it_to() {
    follow_offer(&V2, [(500, 4, 500), (1_000, 4, 500), (200, 4, 200), (9_000, 4, 500)]);
}

/// All orders of a collection, as they are kept.
fn orders(market: &Market, collection: Address) -> Vec<OrderFacts> {
    let key = CollectionKey { chain: ChainId(31337), address: collection };
    let all = OwnOrders { after: None, open_at: None, most: 100 };
    market.instance.with_store(async |store| store.own_orders(key, all).await.unwrap())
}

/// Orders that are open, filled in part and over, of tokens with the usual royalty and with others, before and after it
/// changed.
fn live_through_changes(venue: &Venue) {
    let market = open(venue);
    let collection = market.multiples(market.seller(), 3, 20);
    market.wait_followed(collection);
    market.fund(market.buyer(), 500 * COIN);
    for token in ["1", "2", "3"] {
        list(&market, collection, token, "4");
        offer(&market, collection, token, "2");
    }
    for (token, units) in [("1", "4"), ("2", "3")] {
        let listing = market.wait_listings(collection, token, 1).remove(0);
        let body = market.purchase(market.buyer(), collection, &order_data(&listing, units), &Value::Null);
        market.anvil.perform(market.buyer(), &market.steps("GenerateBuyTransaction", &body));
    }
    market.wait_listings(collection, "1", 0);
    set_token_royalty(&market, collection, 3, 2_000);
    set_royalty(&market, collection, 900);
    list(&market, collection, "1", "1");
    let scratch = market.anew();
    scratch.follow(collection);
    let both = || (orders(&market, collection), orders(&scratch, collection));
    let are_same = |(lived, fresh): &(Vec<OrderFacts>, _)| lived == fresh && lived.len() == 7;
    let (lived, _) = wait("both tell the same", both, are_same);
    let bps = |order: &OrderFacts| order.fee_bps;
    assert_eq!(lived.iter().map(bps).collect::<Vec<_>>(), expected_bps(venue.is_deployed(), &lived));
    scratch.put_currencies();
    for token in ["1", "2", "3"] {
        let answers =
            |market: &Market| (market.listings(collection, token), market.offers(collection, token));
        wait(
            "both answer the same",
            || (answers(&market), answers(&scratch)),
            |(lived, fresh)| lived == fresh,
        );
    }
}

/// The basis points of orders after the change: those of the token by now, or on our own market those that an order that
/// can still be filled was made with, when that is less.
fn expected_bps(is_deployed: bool, orders: &[OrderFacts]) -> Vec<i64> {
    let expected = |order: &OrderFacts| {
        let is_of_third = order.token_id == Some(3.into());
        let now = if is_of_third { 2_000 } else { 900 };
        let was_made_before = order.order_id != "6";
        let is_open = order.quantity_remaining != 0.into();
        if is_deployed || !was_made_before || !is_open { now } else { 500 }
    };
    orders.iter().map(expected).collect()
}

#[test]
fn a_server_that_lived_through_changes_tells_what_a_new_one_does_of_deployed_contracts() {
    live_through_changes(&DEPLOYED);
}

#[test]
fn a_server_that_lived_through_changes_tells_what_a_new_one_does_of_our_own_contract() {
    live_through_changes(&V2);
}

/// Of 29 each, 3.33 % are nothing of one unit, 3 of four and 2 of three, as both contracts reckon.
#[test]
fn the_royalty_of_all_units_is_rounded_once() {
    for venue in [&DEPLOYED, &V2] {
        let market = open(venue);
        let collection = market.multiples(market.seller(), 1, 10);
        set_royalty(&market, collection, 333);
        market.wait_followed(collection);
        let buyer = market.buyer();
        market.fund(buyer, 119);
        let offer = order("1", "4", market.currency, "29");
        market.offer(buyer, collection, "ERC1155", &offer);
        let look = || market.offers(collection, "1");
        let good_for = |units: u64| {
            let offers = wait(&format!("{units} units are covered"), look, |offers| {
                let [offer] = offers.as_slice() else { return false };
                offer["quantityAvailable"] == json!(units.to_string())
            });
            assert_eq!(valid_units(&market, &offers[0]), units);
        };
        good_for(4);
        let one = transferCall { to: alloy_address(market.platform()), amount: U256::from(1) };
        market.anvil.send(buyer, market.currency, &one);
        good_for(3);
        market.fund(buyer, 1);
        good_for(4);
    }
}

/// Deployed contracts would burn it, or fail.
#[test]
fn a_royalty_for_nobody_is_refused_before_anything_is_sent() {
    let market = open(&DEPLOYED);
    let collection = market.multiples(market.seller(), 2, 10);
    market.anvil.send(market.seller(), collection, &setSilentCall { isSilent: true });
    market.wait_followed(collection);
    list(&market, collection, "1", "4");
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    market.fund(market.buyer(), 100 * COIN);
    let fee = Uint::from(300);
    let nobody = setRoyaltyInfoCall {
        tokenContract: alloy_address(collection),
        recipient: alloy_address(Address::ZERO),
        fee,
    };
    market.anvil.send(market.anvil.account(0), market.contract, &nobody);
    let wanted = order("2", "1", market.currency, "1000");
    let body = |who: &str, maker: Address, side: &str| {
        json!({ "collectionAddress": collection, who: maker, "contractType": "ERC1155",
            "orderbook": DEPLOYED.word, side: wanted, "walletType": "unknown" })
    };
    let purchase = market.purchase(market.buyer(), collection, &order_data(&listing, "1"), &Value::Null);
    for (operation, body) in [
        ("GenerateBuyTransaction", &purchase),
        ("GenerateListingTransaction", &body("owner", market.seller(), "listing")),
        ("GenerateOfferTransaction", &body("maker", market.buyer(), "offer")),
    ] {
        let refused = market.marketplace_answer(operation, body);
        let is_told = refused.status == 409 && refused.body.contains("would go to the zero address");
        assert!(is_told, "{operation}: {refused:?}");
    }
    set_custom_royalty(&market, collection, 300);
    market.anvil.perform(market.buyer(), &market.steps("GenerateBuyTransaction", &purchase));
}
