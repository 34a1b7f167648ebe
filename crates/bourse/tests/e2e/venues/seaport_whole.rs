//! Orders of Seaport that their makers signed to be filled whole or not at all.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::follow::is_bought_whole;
use super::seaport::{approve, on_each};
use super::seaport_orders::Thing;
use super::{COIN, Stage, Venue, units_of};
use crate::anvil::{alloy_address, approveCall, setApprovalForAllCall};

/// Puts such an order; tells its name.
fn put_whole(
    stage: &Stage,
    venue: &Venue,
    maker: Address,
    (given, asked): (Thing, &[(Thing, Address)]),
) -> String {
    let mut written = stage.write_seaport(venue, maker, given, asked);
    written["value"]["orderType"] = json!(0);
    stage.put(venue, maker, &written)
}

#[test]
fn a_listing_is_bought_whole_or_not_at_all() {
    on_each(|stage, venue| {
        let (collection, currency) = (stage.multiples(1), stage.market.currency);
        let [_, seller, artist, _] = stage.people();
        approve(stage, venue, collection);
        let asked = [(Thing::Money(currency, 9 * COIN), seller), (Thing::Money(currency, COIN), artist)];
        let listed = put_whole(stage, venue, seller, (Thing::Units(collection, 1, 10), &asked));
        is_bought_whole(stage, venue, (collection, &listed), 10 * COIN);
    });
}

#[test]
fn an_offer_is_taken_whole_or_not_at_all() {
    on_each(|stage, venue| {
        let (market, collection) = (&stage.market, stage.multiples(1));
        let [buyer, seller, ..] = stage.people();
        market.fund(buyer, 10_000_000);
        let allow = |amount: u64| {
            let call = approveCall { spender: alloy_address(venue.mover), amount: U256::from(amount) };
            market.anvil.send(buyer, market.currency, &call);
            stage.catch_up();
        };
        allow(10_000_000);
        let asked = [(Thing::Units(collection, 1, 10), buyer)];
        let offered = put_whole(stage, venue, buyer, (Thing::Money(market.currency, 10 * COIN), &asked));
        let offers = |count: usize| market.wait_offers(collection, "1", count);
        assert_eq!(offers(1)[0]["quantityAvailable"], json!("10"));
        let selling = |units: &str| {
            let body = json!({ "collectionAddress": collection, "seller": seller, "marketplace": venue.word,
                "ordersData": units_of(&offered, units), "additionalFees": [], "walletType": "unknown" });
            market.marketplace_answer("GenerateSellTransaction", &body)
        };
        let part = selling("4");
        assert_eq!(part.status, 400, "{part:?}");
        assert!(part.body.contains("can only be filled as a whole, with all its 10 units"), "{part:?}");
        // Money for nine units is money for none.
        allow(9_000_000);
        stage.wait_status(venue, collection, &offered, "inactive");
        offers(0);
        assert_eq!(selling("9").status, 409);
        allow(10_000_000);
        offers(1);
        let operator = alloy_address(venue.mover);
        market.anvil.send(seller, collection, &setApprovalForAllCall { operator, approved: true });
        let steps = stage.selling(venue, collection, &units_of(&offered, "10"), &Value::Null);
        let gains = stage.gains(market.currency, seller, &steps);
        assert_eq!(gains, [-10 * COIN, 10 * COIN, 0, 0], "{}", venue.word);
        assert_eq!(stage.units(collection, buyer, 1), 10);
        stage.wait_status(venue, collection, &offered, "filled");
    });
}
