//! Seaport, with and without a conduit, and its forks: everything is tried on each.

use alloy_primitives::{B256, U256, hex, keccak256};
use alloy_sol_types::{SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::contract_makers::{PRICE, a_contract_lists_and_offers};
use super::follow::{
    comes_back_when_its_end_was_found_by_asking, follows_its_money, follows_its_token,
    outlives_a_reorganisation,
};
use super::seaport_orders::{Thing, bulk};
use super::typed::struct_hash;
use super::{COIN, ETHER, Stage, Venue, fee, ids, units_of};
use crate::anvil::{Anvil, alloy_address, approveCall, setApprovalForAllCall, transferFromCall};
use crate::market::{order, wait};

sol! {
    function createConduit(bytes32 conduitKey, address initialOwner) returns (address);
    function getConduit(bytes32 conduitKey) returns (address conduit, bool exists);
    function updateChannel(address conduit, address channel, bool isOpen);
    function incrementCounter();
}

/// Seaport as one marketplace has it and with a conduit as another has it, and two forks, one of them with a conduit.
pub(crate) fn deploy(anvil: &Anvil) -> Vec<Venue> {
    let controller = anvil.deploy_foreign("ConduitController", &[]);
    let contract = |name| anvil.deploy_foreign(name, &alloy_address(controller).abi_encode());
    vec![
        Venue::new("opensea", contract("Seaport")),
        with_conduit(anvil, controller, ("magic_eden", contract("Seaport")), 1),
        with_conduit(anvil, controller, ("mintify", contract("MintifyExchange")), 2),
        Venue::new("alienswap", contract("Alienswap")),
    ]
}

/// A marketplace with a conduit that moves everything.
fn with_conduit(
    anvil: &Anvil,
    controller: Address,
    (word, contract): (&'static str, Address),
    number: u8,
) -> Venue {
    let owner = anvil.account(0);
    // Only the one whom the key begins with may use it.
    let mut key = [number; 32];
    key[..20].copy_from_slice(owner.bytes());
    let key = B256::from(key);
    anvil.send(owner, controller, &createConduitCall { conduitKey: key, initialOwner: alloy_address(owner) });
    let conduit = anvil.ask(controller, &getConduitCall { conduitKey: key }).conduit;
    let open = updateChannelCall { conduit, channel: alloy_address(contract), isOpen: true };
    anvil.send(owner, controller, &open);
    let mover = Address::from_bytes(conduit.into_array());
    Venue { mover, setting: format!("{key}@{mover}"), ..Venue::new(word, contract) }
}

/// Tries something on every one of them.
pub(super) fn on_each(scene: impl Fn(&Stage, &Venue)) {
    let stage = Stage::open(deploy);
    for venue in &stage.venues {
        scene(&stage, venue);
    }
}

#[test]
fn a_listing_is_signed_listed_and_bought() {
    on_each(|stage, venue| {
        let collection = stage.singles(2);
        let market = &stage.market;
        let price = ETHER.to_string();
        let listed = stage.list(venue, collection, "ERC721", &order("1", "1", Address::ZERO, &price));
        let listing = stage.only_listing(venue, collection, "1");
        assert_eq!((&listing["orderId"], &listing["createdBy"]), (&json!(listed), &json!(market.seller())));
        assert_eq!(listing["priceAmount"], json!(price));
        let steps = stage.buying(venue, collection, &units_of(&listed, "1"), &fee(250, market.platform()));
        assert_eq!(ids(&steps), ["buy"]);
        assert_eq!(steps[0]["to"], json!(venue.contract));
        let gains = stage.gains(Address::ZERO, market.buyer(), &steps);
        assert_eq!(gains, [-ETHER - ETHER / 40, ETHER, 0, ETHER / 40], "{}", venue.word);
        assert_eq!(stage.owner(collection, 1), market.buyer());
        stage.wait_filled(venue, collection, "1", &listed);

        // The same for a currency, which the conduit or the contract must be let take.
        let listed = stage.list(venue, collection, "ERC721", &order("2", "1", market.currency, "4000000"));
        stage.only_listing(venue, collection, "2");
        market.fund(market.buyer(), 4_000_000);
        let steps = stage.buying(venue, collection, &units_of(&listed, "1"), &Value::Null);
        assert_eq!(ids(&steps), ["tokenApproval", "buy"]);
        let gains = stage.gains(market.currency, market.buyer(), &steps);
        assert_eq!(gains, [-4 * COIN, 4 * COIN, 0, 0], "{}", venue.word);
        assert_eq!(stage.owner(collection, 2), market.buyer());
        stage.wait_filled(venue, collection, "2", &listed);
    });
}

#[test]
fn an_order_that_is_put_is_bought_in_parts_and_pays_everybody() {
    on_each(|stage, venue| {
        let collection = stage.multiples(2);
        let market = &stage.market;
        let [buyer, seller, artist, platform] = stage.people();
        let asked = |currency: Address, unit: i128| {
            [(90, seller), (6, artist), (4, platform)]
                .map(|(percent, who)| (Thing::Money(currency, unit * percent / 10), who))
        };
        let put =
            stage.put_seaport(venue, seller, Thing::Units(collection, 1, 10), &asked(market.currency, COIN));
        // Without an approval it is no offer to anybody.
        stage.wait_status(venue, collection, &put, "inactive");
        stage.refused(venue, collection, &units_of(&put, "1"), &Value::Null);
        approve(stage, venue, collection);
        let listing = stage.only_listing(venue, collection, "1");
        let listed = listing["orderId"].as_str().unwrap();
        assert_eq!((&listing["priceAmount"], &listing["feeBps"]), (&json!("1000000"), &json!(1000)));
        market.fund(buyer, 20_000_000);
        let steps = stage.buying(venue, collection, &units_of(listed, "3"), &fee(100, platform));
        assert_eq!(ids(&steps), ["tokenApproval", "buy"]);
        let gains = stage.gains(market.currency, buyer, &steps);
        assert_eq!(gains, [-3_030_000, 2_700_000, 180_000, 120_000 + 30_000], "{}", venue.word);
        assert_eq!(stage.units(collection, buyer, 1), 3);
        let remaining = |all: &Vec<Value>| all[0]["quantityRemaining"] == json!("7");
        wait("seven remain", || market.listings(collection, "1"), remaining);
        let eight = stage.refused(venue, collection, &units_of(listed, "8"), &Value::Null);
        assert!(eight.body.contains("where 7 can be filled right now"), "{eight:?}");
        let steps = stage.buying(venue, collection, &units_of(listed, "7"), &Value::Null);
        let gains = stage.gains(market.currency, buyer, &steps);
        assert_eq!(gains, [-7_000_000, 6_300_000, 420_000, 280_000], "{}", venue.word);
        assert_eq!(stage.units(collection, buyer, 1), 10);
        stage.wait_filled(venue, collection, "1", listed);

        // The whole of one at once, for the chain's own currency.
        stage.put_seaport(venue, seller, Thing::Units(collection, 2, 10), &asked(Address::ZERO, ETHER / 100));
        let listed = stage.only_listing(venue, collection, "2")["orderId"].as_str().unwrap().to_owned();
        let steps = stage.buying(venue, collection, &units_of(&listed, "10"), &fee(1000, artist));
        let gains = stage.gains(Address::ZERO, buyer, &steps);
        let hundredths = [-11 * ETHER / 100, 9 * ETHER / 100, 16 * ETHER / 1000, 4 * ETHER / 1000];
        assert_eq!(gains, hundredths, "{}", venue.word);
        assert_eq!(stage.units(collection, buyer, 2), 10);
        stage.wait_filled(venue, collection, "2", &listed);
    });
}

#[test]
fn an_order_that_its_maker_tells_the_contract_of_is_listed_and_bought_without_a_signature() {
    on_each(|stage, venue| {
        let collection = stage.singles(1);
        let [buyer, seller, artist, platform] = stage.people();
        approve(stage, venue, collection);
        let asked =
            [(Thing::Money(Address::ZERO, ETHER), seller), (Thing::Money(Address::ZERO, ETHER / 10), artist)];
        let published = stage.publish_seaport(venue, seller, Thing::Single(collection, 1), &asked);
        let listing = stage.only_listing(venue, collection, "1");
        assert_eq!((&listing["orderId"], &listing["createdBy"]), (&json!(published), &json!(seller)));
        let steps = stage.buying(venue, collection, &units_of(&published, "1"), &fee(100, platform));
        let gains = stage.gains(Address::ZERO, buyer, &steps);
        let thousandths = |parts: i128| parts * ETHER / 1000;
        assert_eq!(gains, [-1111, 1000, 100, 11].map(thousandths), "{}", venue.word);
        assert_eq!(stage.owner(collection, 1), buyer);
        stage.wait_filled(venue, collection, "1", &published);
    });
}

#[test]
fn shares_of_new_orders_are_paid_to_the_unit() {
    on_each(|stage, venue| {
        let (market, collection) = (&stage.market, stage.multiples(1));
        let [buyer, seller, artist, platform] = stage.people();
        let shares = json!([{ "amount": "250", "receiver": platform }, { "amountInBaseUnits": "1000000", "receiver": artist }]);
        let body = json!({ "collectionAddress": collection, "owner": seller, "contractType": "ERC1155",
            "orderbook": venue.word, "listing": order("1", "10", market.currency, "2000000"),
            "additionalFees": shares, "walletType": "unknown" });
        let steps = market.steps("GenerateListingTransaction", &body);
        let listed = stage.carry_out(seller, &steps).unwrap();
        let listing = stage.only_listing(venue, collection, "1");
        assert_eq!((&listing["orderId"], &listing["feeBps"]), (&json!(listed), &json!(750)));
        market.fund(buyer, 20_000_000);
        let steps = stage.buying(venue, collection, &units_of(&listed, "3"), &Value::Null);
        let gains = stage.gains(market.currency, buyer, &steps);
        assert_eq!(gains, [-6_000_000, 5_550_000, 300_000, 150_000], "{}", venue.word);
    });
}

#[test]
fn an_offer_for_any_token_is_made_and_taken_with_one() {
    on_each(|stage, venue| {
        let (market, collection) = (&stage.market, stage.singles(2));
        let [buyer, seller, _, platform] = stage.people();
        market.fund(buyer, 5_000_000);
        let body = json!({ "collectionAddress": collection, "maker": buyer, "contractType": "ERC721",
            "orderbook": venue.word, "offer": order("0", "1", market.currency, "5000000"),
            "offerType": "collection", "additionalFees": fee(100, platform), "walletType": "unknown" });
        let steps = market.steps("GenerateOfferTransaction", &body);
        let offered = stage.carry_out(buyer, &steps).unwrap();
        let query = json!({ "input": [{ "contractAddress": collection, "orderId": offered,
            "marketplace": venue.word }] });
        let kept = market.marketplace("GetOrders", &query)["orders"][0].clone();
        assert!(kept["tokenId"].is_null() && kept["status"] == "active", "{kept}");
        let orders = json!([{ "orderId": offered, "quantity": "1", "tokenId": "2" }]);
        let steps = stage.selling(venue, collection, &orders, &Value::Null);
        let gains = stage.gains(market.currency, seller, &steps);
        assert_eq!(gains, [-5_000_000, 4_950_000, 0, 50_000], "{}", venue.word);
        assert_eq!(stage.owner(collection, 2), buyer);
    });
}

/// Blocks that nobody takes back any more are read by what the collection's contract wrote; who made these orders told
/// nobody but the marketplace.
#[test]
fn orders_that_a_contract_was_told_of_long_ago_are_found_by_who_comes_later() {
    let mut stage = Stage::open(deploy);
    let [buyer, seller, ..] = stage.people();
    let told = |stage: &Stage, venue: &Venue| {
        let collection = stage.singles(3);
        approve(stage, venue, collection);
        let publish = |token: u64| {
            let asked = [(Thing::Money(Address::ZERO, ETHER), seller)];
            stage.publish_seaport(venue, seller, Thing::Single(collection, token), &asked)
        };
        let [open, bought, cancelled] = [1, 2, 3].map(publish);
        stage.market.wait_listings(collection, "3", 1);
        let steps = stage.buying(venue, collection, &units_of(&bought, "1"), &Value::Null);
        stage.market.anvil.perform(buyer, &steps);
        stage.cancel(venue, collection, seller, &cancelled);
        (collection, [(open, "active"), (bought, "filled"), (cancelled, "cancelled")])
    };
    let venues = stage.venues.clone();
    let told: Vec<_> = venues.iter().map(|venue| told(&stage, venue)).collect();
    stage.market.anvil.mine(300);
    let check = |stage: &Stage, when: &str| {
        for (venue, (collection, orders)) in venues.iter().zip(&told) {
            for (order, status) in orders {
                stage.wait_known(venue, *collection, order);
                stage.wait_status(venue, *collection, order, status);
            }
            assert_eq!(stage.market.wait_listings(*collection, "1", 1).len(), 1, "{} {when}", venue.word);
        }
    };
    let fresh = stage.market.anew();
    fresh.put_currencies();
    for (collection, _) in &told {
        fresh.follow(*collection);
    }
    check(&Stage { market: fresh, venues: venues.clone() }, "where nothing was known");
    stage.market.kill();
    stage.market.instance.json(&["chain", "resync", "hardhat", "--yes"]);
    stage.market.start();
    check(&stage, "after everything was forgotten");
}

/// Lets the marketplace move the seller's tokens of a collection.
pub(super) fn approve(stage: &Stage, venue: &Venue, collection: Address) {
    let call = setApprovalForAllCall { operator: alloy_address(venue.mover), approved: true };
    stage.market.anvil.send(stage.market.seller(), collection, &call);
    stage.catch_up();
}

#[test]
fn of_several_orders_those_are_bought_that_still_can_be() {
    on_each(|stage, venue| {
        let collection = stage.singles(3);
        let market = &stage.market;
        let [buyer, seller, artist, platform] = stage.people();
        approve(stage, venue, collection);
        let tokens = ["1", "2", "3"];
        for (token, price) in [(1, 10), (2, 20), (3, 30)] {
            let price = price * ETHER / 1000;
            let asked = [(price * 9 / 10, seller), (price / 10, artist)]
                .map(|(amount, who)| (Thing::Money(Address::ZERO, amount), who));
            stage.put_seaport(venue, seller, Thing::Single(collection, token), &asked);
        }
        let listed = tokens.map(|token| stage.only_listing(venue, collection, token)["orderId"].clone());
        let orders = listed.iter().map(|id| json!({ "orderId": id, "quantity": "1" })).collect();
        let steps = stage.buying(venue, collection, &orders, &fee(100, platform));
        assert_eq!(ids(&steps), ["buy"]);
        assert_eq!(steps[0]["value"], json!((60_600 * ETHER / 1_000_000).to_string()));
        // One is taken back before the transaction is sent.
        stage.cancel(venue, collection, seller, listed[1].as_str().unwrap());
        let gains = stage.moved(Address::ZERO, buyer, &steps);
        let thousandths = |parts: i128| parts * ETHER / 10_000;
        assert_eq!(gains, [-406, 360, 40, 6].map(thousandths), "{}", venue.word);
        let owners = [1, 2, 3].map(|token| stage.owner(collection, token));
        assert_eq!(owners, [buyer, seller, buyer]);
        for (listed, (token, status)) in
            listed.iter().zip([("1", "filled"), ("2", "cancelled"), ("3", "filled")])
        {
            stage.wait_status(venue, collection, listed.as_str().unwrap(), status);
            market.wait_listings(collection, token, 0);
        }
        stage.refused(venue, collection, &orders, &Value::Null);
    });
}

#[test]
fn parts_of_several_orders_are_bought_for_a_currency() {
    on_each(|stage, venue| {
        let collection = stage.multiples(3);
        let market = &stage.market;
        let [buyer, _, _, platform] = stage.people();
        let listed = ["1", "2", "3"].map(|token| {
            let listed =
                stage.list(venue, collection, "ERC1155", &order(token, "10", market.currency, "1000000"));
            stage.only_listing(venue, collection, token);
            json!({ "orderId": listed, "quantity": "2" })
        });
        market.fund(buyer, 20_000_000);
        let steps = stage.buying(venue, collection, &listed.iter().cloned().collect(), &fee(1000, platform));
        assert_eq!(ids(&steps), ["tokenApproval", "buy"]);
        let gains = stage.gains(market.currency, buyer, &steps);
        assert_eq!(gains, [-6_600_000, 6_000_000, 0, 600_000], "{}", venue.word);
        for token in [1, 2, 3] {
            assert_eq!(stage.units(collection, buyer, token), 2);
            let eight = |all: &Vec<Value>| all[0]["quantityRemaining"] == json!("8");
            wait("eight remain", || market.listings(collection, &token.to_string()), eight);
        }
    });
}

#[test]
fn offers_for_a_token_and_for_any_are_taken() {
    on_each(|stage, venue| {
        let collection = stage.singles(2);
        let market = &stage.market;
        let [buyer, seller, artist, platform] = stage.people();
        market.fund(buyer, 20_000_000);
        let offered = stage.offer(venue, collection, "ERC721", &order("1", "1", market.currency, "4000000"));
        let offer = market.wait_offers(collection, "1", 1).remove(0);
        assert_eq!((&offer["orderId"], &offer["marketplace"]), (&json!(offered), &json!(venue.word)));
        let steps = stage.selling(venue, collection, &units_of(&offered, "1"), &fee(1000, platform));
        assert_eq!(ids(&steps), ["tokenApproval", "sell"]);
        let gains = stage.gains(market.currency, seller, &steps);
        assert_eq!(gains, [-4_000_000, 3_600_000, 0, 400_000], "{}", venue.word);
        assert_eq!(stage.owner(collection, 1), buyer);
        stage.wait_status(venue, collection, &offered, "filled");
        market.wait_offers(collection, "1", 0);

        // For any token, with a share for the artist, which the seller pays out of what they just got.
        let allow = approveCall { spender: alloy_address(venue.mover), amount: U256::from(5 * COIN) };
        market.anvil.send(buyer, market.currency, &allow);
        stage.catch_up();
        let asked =
            [(Thing::AnySingle(collection), buyer), (Thing::Money(market.currency, COIN / 4), artist)];
        let offered = stage.put_seaport(venue, buyer, Thing::Money(market.currency, 5 * COIN), &asked);
        stage.wait_status(venue, collection, &offered, "active");
        let orders = json!([{ "orderId": offered, "quantity": "1", "tokenId": "2" }]);
        let steps = stage.selling(venue, collection, &orders, &Value::Null);
        let gains = stage.gains(market.currency, seller, &steps);
        assert_eq!(gains, [-5_000_000, 4_750_000, 250_000, 0], "{}", venue.word);
        assert_eq!(stage.owner(collection, 2), buyer);
        stage.wait_status(venue, collection, &offered, "filled");

        // For any token of which there are many, as many units as the seller likes.
        let collection = stage.multiples(2);
        market.anvil.send(buyer, market.currency, &allow);
        stage.catch_up();
        let asked =
            [(Thing::AnyUnits(collection, 5), buyer), (Thing::Money(market.currency, COIN / 2), artist)];
        let offered = stage.put_seaport(venue, buyer, Thing::Money(market.currency, 5 * COIN), &asked);
        let orders = json!([{ "orderId": offered, "quantity": "2", "tokenId": "2" }]);
        stage.wait_status(venue, collection, &offered, "active");
        let steps = stage.selling(venue, collection, &orders, &fee(1000, platform));
        let gains = stage.gains(market.currency, seller, &steps);
        assert_eq!(gains, [-2_000_000, 1_600_000, 200_000, 200_000], "{}", venue.word);
        assert_eq!(stage.units(collection, buyer, 2), 2);
    });
}

#[test]
fn a_contract_lists_and_offers_by_what_its_owner_signs() {
    on_each(|stage, venue| a_contract_lists_and_offers(stage, venue, PRICE));
}

/// Each order comes with the signature, its place among those that were signed, and what proves that.
#[test]
fn orders_that_are_signed_at_once_are_bought_one_by_one() {
    on_each(|stage, venue| {
        let (market, collection) = (&stage.market, stage.singles(4));
        let seller = market.seller();
        approve(stage, venue, collection);
        let written: Vec<Value> = [1, 2, 3, 4]
            .map(|token| {
                let asked = [(Thing::Money(Address::ZERO, 1_000 * i128::from(token)), seller)];
                stage.write_seaport(venue, seller, Thing::Single(collection, token), &asked)
            })
            .into();
        let signature = stage.sign(seller, &bulk(venue, &written));
        let name = |place: usize| struct_hash(&written[place]);
        // What proves another place proves nothing.
        let elsewhere = [&[0, 0, 1], name(1).as_slice(), name(2).as_slice()].concat();
        let said =
            stage.submit(venue, &written[0]["value"], &format!("{signature}{}", hex::encode(elsewhere)));
        assert_eq!(said, Some(json!("invalid-signature")), "{}", venue.word);
        for place in [2, 0, 3, 1] {
            let pair = place & 2;
            let across = keccak256([name(2 - pair), name(3 - pair)].concat());
            let number = u8::try_from(place).unwrap();
            let proof = [&[0, 0, number], name(place ^ 1).as_slice(), across.as_slice()].concat();
            let proven = format!("{signature}{}", hex::encode(&proof));
            assert_eq!(stage.submit(venue, &written[place]["value"], &proven), None, "{}", venue.word);
            let token = (place + 1).to_string();
            let listing = stage.only_listing(venue, collection, &token);
            assert_eq!(listing["orderId"], json!(name(place).to_string()));
            let orders = units_of(&name(place).to_string(), "1");
            let steps = stage.buying(venue, collection, &orders, &Value::Null);
            let price = 1_000 * i128::try_from(place + 1).unwrap();
            assert_eq!(stage.gains(Address::ZERO, market.buyer(), &steps), [-price, price, 0, 0]);
            stage.wait_filled(venue, collection, &token, &name(place).to_string());
        }
    });
}

#[test]
fn a_listing_follows_its_token_and_what_its_maker_allows() {
    on_each(follows_its_token);
}

#[test]
fn an_offer_follows_the_money_behind_it() {
    on_each(|stage, venue| follows_its_money(stage, venue, venue.mover));
}

#[test]
fn an_end_that_was_found_by_asking_and_taken_back_leaves_the_order() {
    on_each(|stage, venue| {
        comes_back_when_its_end_was_found_by_asking(stage, venue, ["filled", "cancelled"]);
    });
}

#[test]
fn a_fill_that_the_chain_takes_back_leaves_the_order() {
    on_each(outlives_a_reorganisation);
}

#[test]
fn what_is_over_or_signed_for_something_else_is_not_taken() {
    on_each(|stage, venue| {
        let collection = stage.singles(1);
        let [buyer, seller, ..] = stage.people();
        let asked = [(Thing::Money(Address::ZERO, ETHER), seller)];
        let written = stage.write_seaport(venue, seller, Thing::Single(collection, 1), &asked);
        let submit = |signature: &str| stage.submit(venue, &written["value"], signature);
        let invalid = Some(json!("invalid-signature"));
        assert_eq!(submit(&stage.sign(buyer, &written)), invalid, "{}", venue.word);
        for (member, value) in [("name", json!("Consideration")), ("version", json!("1.5"))] {
            let mut other = written.clone();
            other["domain"][member] = value;
            assert_eq!(submit(&stage.sign(seller, &other)), invalid, "{} {member}", venue.word);
        }
        stage.market.anvil.send(seller, venue.contract, &incrementCounterCall {});
        assert_eq!(submit(&stage.sign(seller, &written)), Some(json!("not-fillable")), "{}", venue.word);
    });
}

#[test]
fn a_counter_that_moves_ends_every_order() {
    on_each(|stage, venue| {
        let (first, second) = (stage.singles(1), stage.multiples(1));
        let market = &stage.market;
        let price = order("1", "1", Address::ZERO, "1000");
        let listed = [
            (first, stage.list(venue, first, "ERC721", &price)),
            (second, stage.list(venue, second, "ERC1155", &price)),
        ];
        for (collection, _) in &listed {
            stage.only_listing(venue, *collection, "1");
        }
        market.anvil.send(market.seller(), venue.contract, &incrementCounterCall {});
        for (collection, listed) in &listed {
            market.wait_listings(*collection, "1", 0);
            stage.wait_status(venue, *collection, listed, "cancelled");
            stage.refused(venue, *collection, &units_of(listed, "1"), &Value::Null);
        }
        // What is signed with the new number is an order again.
        let listed = stage.list(venue, first, "ERC721", &price);
        stage.only_listing(venue, first, "1");
        let steps = stage.buying(venue, first, &units_of(&listed, "1"), &Value::Null);
        market.anvil.perform(market.buyer(), &steps);
        stage.wait_filled(venue, first, "1", &listed);
    });
}

/// Neither what is followed nor the approvals tell of it: only trying the steps does.
#[test]
fn a_token_that_moved_on_a_block_that_is_not_followed_yet_is_neither_sold_nor_listed() {
    let mut stage = Stage::open(deploy);
    let collection = stage.singles(1);
    let (seller, friend) = (stage.market.seller(), stage.market.artist());
    let venues: Vec<(Venue, String)> = stage.venues[..2]
        .iter()
        .map(|venue| {
            let price = order("1", "1", Address::ZERO, "1000");
            (venue.clone(), stage.list(venue, collection, "ERC721", &price))
        })
        .collect();
    stage.market.wait_listings(collection, "1", venues.len());
    stage.market.restart_polling(600_000);
    stage.catch_up();
    for (venue, listed) in &venues {
        stage.buying(venue, collection, &units_of(listed, "1"), &Value::Null);
    }
    let (from, to) = (alloy_address(seller), alloy_address(friend));
    stage.market.anvil.send(seller, collection, &transferFromCall { from, to, tokenId: U256::from(1) });
    for (venue, listed) in &venues {
        let refused = stage.refused(venue, collection, &units_of(listed, "1"), &Value::Null);
        let expected = format!("buyer: step 1 of 1 (buy of order {listed}) would fail right now: token 1 is");
        assert!(refused.body.contains(&expected), "{refused:?}");
        let body = json!({ "collectionAddress": collection, "owner": seller, "contractType": "ERC721",
            "orderbook": venue.word, "listing": order("1", "1", Address::ZERO, "2000"), "walletType": "unknown" });
        let refused = stage.market.marketplace_answer("GenerateListingTransaction", &body);
        let expected = format!("owner: {seller} holds 0 of token 1, not 1");
        assert!(refused.status == 409 && refused.body.contains(&expected), "{refused:?}");
    }
}
