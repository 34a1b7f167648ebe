//! Offers for any token of a collection, as the owners of its tokens see them.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::seaport::deploy;
use super::{COIN, Stage, Venue};
use crate::anvil::{alloy_address, approveCall, setApprovalForAllCall};
use crate::market::{order, wait};

/// What the marketplace says of a token's offers, its best one and its place among the others.
fn said(stage: &Stage, collection: Address, token: &str) -> Value {
    let market = &stage.market;
    let members = |order: &Value| {
        ["orderId", "tokenId", "status", "priceAmount", "quantityRemaining", "quantityAvailable"]
            .map(|member| order[member].clone())
    };
    let one = json!({ "contractAddress": collection, "tokenId": token });
    let offers = market.offers(collection, token);
    let count = market.marketplace("GetCountOfOffersForCollectible", &one)["count"].clone();
    assert_eq!(count, json!(offers.len()));
    let best = market.marketplace("GetHighestPriceOfferForCollectible", &one)["order"].clone();
    assert_eq!(best, offers.first().cloned().unwrap_or_default());
    let all = json!({ "contractAddress": collection, "side": "offer" });
    let rows = market.marketplace("ListCollectibles", &all)["collectibles"].clone();
    let is_token = |row: &&Value| row["metadata"]["tokenId"] == json!(token);
    let row = rows.as_array().unwrap().iter().find(is_token).map(|row| row["offer"].clone());
    assert_eq!(row.unwrap_or_default(), best);
    json!(offers.iter().map(members).collect::<Vec<_>>())
}

/// Offers on a collection, for one of its tokens and for any.
struct Offered {
    venue: Venue,
    collection: Address,
    any: String,
    own: String,
}

impl Offered {
    /// One unit of token 1 for three coins, and five units of any token for five coins each.
    fn make(stage: &Stage, venue: &Venue) -> Self {
        let (market, collection) = (&stage.market, stage.multiples(2));
        let buyer = market.buyer();
        market.fund(buyer, 28_000_000);
        let own = stage.offer(venue, collection, "ERC1155", &order("1", "1", market.currency, "3000000"));
        let body = json!({ "collectionAddress": collection, "maker": buyer, "contractType": "ERC1155",
            "orderbook": venue.word, "offer": order("0", "5", market.currency, "5000000"),
            "offerType": "collection", "walletType": "unknown" });
        let steps = market.steps("GenerateOfferTransaction", &body);
        let any = stage.carry_out(buyer, &steps).unwrap();
        Self { venue: venue.clone(), collection, any, own }
    }

    /// Waits until so many units of the orders are offered for a token, the best first.
    fn comes_to(&self, stage: &Stage, token: &str, expected: &[(&String, &str)]) {
        let expected: Vec<Value> = expected.iter().map(|(id, units)| json!([id, units])).collect();
        let what = format!("{}: token {token} has {expected:?}", self.venue.word);
        let offers = || {
            let offers = stage.market.offers(self.collection, token).into_iter();
            let units = offers.map(|offer| json!([offer["orderId"], offer["quantityAvailable"]]));
            units.collect::<Vec<_>>()
        };
        wait(&what, offers, |found| *found == expected);
    }

    /// Sells units of a token to who offers for any, at five coins each.
    fn sell(&self, stage: &Stage, token: &str, units: i128) {
        let (market, word) = (&stage.market, self.venue.word);
        let orders = json!([{ "orderId": self.any, "quantity": units.to_string(), "tokenId": token }]);
        let steps = stage.selling(&self.venue, self.collection, &orders, &Value::Null);
        let gains = stage.gains(market.currency, market.seller(), &steps);
        assert_eq!(gains, [-5 * units * COIN, 5 * units * COIN, 0, 0], "{word}");
    }

    /// It goes with the money that may be taken.
    fn follows_its_money(&self, stage: &Stage) {
        let market = &stage.market;
        let allow = |amount: u64| {
            let allow = approveCall { spender: alloy_address(self.venue.mover), amount: U256::from(amount) };
            market.anvil.send(market.buyer(), market.currency, &allow);
        };
        allow(5_000_000);
        self.comes_to(stage, "2", &[(&self.any, "1")]);
        allow(0);
        self.comes_to(stage, "2", &[]);
        self.comes_to(stage, "1", &[]);
        allow(28_000_000);
        self.comes_to(stage, "2", &[(&self.any, "5")]);
        self.comes_to(stage, "1", &[(&self.any, "5"), (&self.own, "1")]);
    }

    /// What is sold is less of it, and more again when the chain takes that back.
    fn is_taken_in_part(&self, stage: &Stage) {
        let market = &stage.market;
        let approve = setApprovalForAllCall { operator: alloy_address(self.venue.mover), approved: true };
        market.anvil.send(market.seller(), self.collection, &approve);
        // What was approved stays.
        market.anvil.mine(3);
        stage.catch_up();
        self.sell(stage, "2", 2);
        self.comes_to(stage, "1", &[(&self.any, "3"), (&self.own, "1")]);
        self.comes_to(stage, "2", &[(&self.any, "3")]);
        market.anvil.reorganise(2);
        self.comes_to(stage, "2", &[(&self.any, "5")]);
        stage.catch_up();
        self.sell(stage, "2", 2);
        self.comes_to(stage, "2", &[(&self.any, "3")]);
        self.comes_to(stage, "1", &[(&self.any, "3"), (&self.own, "1")]);
    }

    /// The rest of it is taken, with another token.
    fn is_taken(&self, stage: &Stage) {
        self.sell(stage, "1", 3);
        self.comes_to(stage, "1", &[(&self.own, "1")]);
        self.comes_to(stage, "2", &[]);
        stage.wait_status(&self.venue, self.collection, &self.any, "filled");
        let bought = [1, 2].map(|token| stage.units(self.collection, stage.market.buyer(), token));
        assert_eq!(bought, [3, 2]);
    }
}

#[test]
fn an_offer_for_any_token_is_seen_by_all_and_taken_in_parts() {
    let mut stage = Stage::open(deploy);
    let venues = stage.venues.clone();
    let mut offered: Vec<(Offered, [Value; 2])> = Vec::new();
    for venue in &venues {
        let offers = Offered::make(&stage, venue);
        offers.comes_to(&stage, "1", &[(&offers.any, "5"), (&offers.own, "1")]);
        offers.comes_to(&stage, "2", &[(&offers.any, "5")]);
        offers.follows_its_money(&stage);
        offers.is_taken_in_part(&stage);
        let said = ["1", "2"].map(|token| said(&stage, offers.collection, token));
        offered.push((offers, said));
    }
    // Whoever reads the chain anew says the same.
    stage.market.kill();
    stage.market.instance.json(&["chain", "resync", "hardhat", "--yes"]);
    stage.market.start();
    for (offers, as_it_was) in &offered {
        offers.comes_to(&stage, "2", &[(&offers.any, "3")]);
        offers.comes_to(&stage, "1", &[(&offers.any, "3"), (&offers.own, "1")]);
        assert_eq!(["1", "2"].map(|token| said(&stage, offers.collection, token)), *as_it_was);
        offers.is_taken(&stage);
    }
}
