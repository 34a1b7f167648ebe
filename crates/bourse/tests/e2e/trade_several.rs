//! Several orders in one purchase, on each version of the marketplace and through the contract that pays for many.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{Multi, alloy_address};
use crate::market::{Market, V1, V2, Venue, node_setting, order, order_data, wait};

const ETHER: u64 = 1_000_000_000_000_000_000;

#[test]
fn the_first_version_trades_a_currency() {
    several_are_bought_with_a_currency(&V1);
}

#[test]
fn the_second_version_trades_a_currency() {
    several_are_bought_with_a_currency(&V2);
}

/// Two units of each of three listings of five, with a fee that is paid once.
fn several_are_bought_with_a_currency(venue: &Venue) {
    let market = Market::open_at(venue, node_setting);
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.multiples(seller, 3, 5);
    market.wait_followed(collection);
    let orders = list_three(&market, collection, market.currency, "1000000");
    market.fund(buyer, 100_000_000);
    let fees = json!([{ "amount": "1000", "receiver": market.platform() }]);
    let steps = market.steps("GenerateBuyTransaction", &market.purchase(buyer, collection, &orders, &fees));
    // The contract applies fees to every order of a batch, so one order carries them and the others follow.
    assert_eq!(ids(&steps), ["tokenApproval", "buy", "buy"]);
    assert_eq!((&steps[1]["price"], &steps[2]["price"]), (&json!("2600000"), &json!("4000000")));
    assert!((1..3).all(|step| steps[step]["to"] == json!(market.contract)), "{steps}");
    market.anvil.perform(buyer, &steps);

    assert_bought_two_of_each(&market, collection);
    let balance = |account| market.anvil.balance(market.currency, account);
    assert_eq!(balance(buyer), U256::from(100_000_000 - 6_600_000));
    assert_eq!(balance(seller), U256::from(5_700_000));
    assert_eq!(balance(market.artist()), U256::from(300_000));
    assert_eq!(balance(market.platform()), U256::from(600_000));
    assert_eq!(balance(market.contract), U256::ZERO);
}

#[test]
fn the_first_version_takes_offers_back_and_no_native_currency() {
    let market = Market::open_at(&V1, node_setting);
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    let native = json!({ "collectionAddress": collection, "owner": seller, "contractType": "ERC721",
        "orderbook": "bourse_marketplace_v1", "listing": order("1", "1", Address::ZERO, "1000") });
    let refused = market.marketplace_answer("GenerateListingTransaction", &native);
    let is_told = refused.status == 400 && refused.body.contains("takes no native currency for this");
    assert!(is_told, "{refused:?}");

    market.fund(buyer, 10_000_000);
    market.offer(buyer, collection, "ERC721", &order("1", "1", market.currency, "4000000"));
    let offer = market.wait_offers(collection, "1", 1).remove(0);
    assert_eq!(offer["marketplace"], json!("bourse_marketplace_v1"));
    let cancel = json!({ "collectionAddress": collection, "maker": buyer, "marketplace": "bourse_marketplace_v1",
        "orderId": offer["orderId"] });
    market.anvil.perform(buyer, &market.steps("GenerateCancelTransaction", &cancel));
    market.wait_offers(collection, "1", 0);

    market.offer(buyer, collection, "ERC721", &order("1", "1", market.currency, "2000000"));
    let offer = market.wait_offers(collection, "1", 1).remove(0);
    let sale = json!({ "collectionAddress": collection, "seller": seller, "marketplace": "bourse_marketplace_v1",
        "ordersData": order_data(&offer, "1"), "additionalFees": [], "walletType": "unknown" });
    market.anvil.perform(seller, &market.steps("GenerateSellTransaction", &sale));
    market.wait_offers(collection, "1", 0);
    let balance = |account| market.anvil.balance(market.currency, account);
    assert_eq!(
        [balance(buyer), balance(seller), balance(market.artist())],
        [7_900_000, 2_000_000, 100_000].map(U256::from)
    );
}

#[test]
fn listings_of_the_same_units_are_not_sold_together() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.multiples(seller, 2, 5);
    market.wait_followed(collection);
    for price in ["1000", "2000"] {
        market.list(seller, collection, "ERC1155", &order("1", "4", market.currency, price));
    }
    market.fund(buyer, 1_000_000);
    let listings = market.wait_listings(collection, "1", 2);
    let purchase = |units: [&str; 2]| {
        let pick = |place: usize| json!({ "orderId": listings[place]["orderId"], "quantity": units[place] });
        market.purchase(buyer, collection, &json!([pick(0), pick(1)]), &Value::Null)
    };
    let refused = market.marketplace_answer("GenerateBuyTransaction", &purchase(["4", "2"]));
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains(&format!("{seller} holds 5 of token 1, not 6")), "{refused:?}");
    market.anvil.perform(buyer, &market.steps("GenerateBuyTransaction", &purchase(["4", "1"])));
    market.wait_listings(collection, "1", 0);
}

#[test]
fn native_listings_are_paid_for_together_where_a_contract_does_it() {
    let market = Market::open_at(&V2, |anvil| {
        let helper = anvil.deploy("BatchPayableHelper", &[]);
        format!("{}batch_helper = \"{helper}\"\n", node_setting(anvil))
    });
    let collection = market.multiples(market.seller(), 3, 5);
    market.wait_followed(collection);
    let orders = list_three(&market, collection, Address::ZERO, &ETHER.to_string());
    let all_at_once = market.purchase(market.buyer(), collection, &orders, &Value::Null);
    let steps = market.steps("GenerateBuyTransaction", &all_at_once);
    assert_eq!(ids(&steps), ["buy"]);
    assert_eq!((&steps[0]["value"], &steps[0]["price"]), (&json!("6000000000000000000"), &steps[0]["value"]));
    let helper: Address = serde_json::from_value(steps[0]["to"].clone()).unwrap();
    assert_ne!(helper, market.contract);

    // With a fee: one listing carries it, the others are paid for together.
    let steps = buy_two_of_each_for_ether(&market, collection, &orders);
    assert_eq!(ids(&steps), ["buy", "buy"]);
    assert_eq!((&steps[0]["to"], &steps[1]["to"]), (&json!(market.contract), &json!(helper)));
    assert_eq!(market.anvil.native_balance(helper), U256::ZERO);
    // The contract names whoever called it as the buyer; the buyer is who got the tokens.
    let sales = || sales(&market, collection);
    let sold_to = |sales: &Vec<Value>| sales.iter().map(|sale| sale["to"].clone()).collect::<Vec<_>>();
    let sales = wait("three sales", sales, |sales| sales.len() == 3);
    assert_eq!(sold_to(&sales), vec![json!(market.buyer()); 3]);
}

#[test]
fn native_listings_are_paid_for_one_by_one_where_no_contract_does_it() {
    let market = Market::open();
    let collection = market.multiples(market.seller(), 3, 5);
    market.wait_followed(collection);
    let orders = list_three(&market, collection, Address::ZERO, &ETHER.to_string());
    let steps = buy_two_of_each_for_ether(&market, collection, &orders);
    assert_eq!(ids(&steps), ["buy", "buy", "buy"]);
    assert!(steps.as_array().unwrap().iter().all(|step| step["to"] == json!(market.contract)), "{steps}");
}

/// Buys two units of each of three listings for an ether a unit, with a fee of 1 %, and looks where the money went.
fn buy_two_of_each_for_ether(market: &Market, collection: Address, orders: &Value) -> Value {
    let buyer = market.buyer();
    let fees = json!([{ "amount": "100", "receiver": market.platform() }]);
    let steps = market.steps("GenerateBuyTransaction", &market.purchase(buyer, collection, orders, &fees));
    let wealth = || {
        [market.seller(), market.artist(), market.platform(), buyer]
            .map(|account| market.anvil.native_balance(account))
    };
    let before = wealth();
    let gas = market.anvil.perform(buyer, &steps);
    let after = wealth();
    let cents = |cents: u64| U256::from(cents) * U256::from(ETHER / 100);
    assert_eq!([0, 1, 2].map(|who| after[who] - before[who]), [570, 30, 6].map(cents));
    assert_eq!(before[3] - after[3], cents(606) + gas);
    assert_eq!(market.anvil.native_balance(market.contract), U256::ZERO);
    assert_bought_two_of_each(market, collection);
    steps
}

/// Offers five units of each of three tokens for sale; tells what it takes to ask for two of each.
fn list_three(market: &Market, collection: Address, currency: Address, price: &str) -> Value {
    let tokens = ["1", "2", "3"];
    for token in tokens {
        market.list(market.seller(), collection, "ERC1155", &order(token, "5", currency, price));
    }
    let two_of = |token| {
        let listing = market.wait_listings(collection, token, 1).remove(0);
        json!({ "orderId": listing["orderId"], "quantity": "2" })
    };
    tokens.map(two_of).into_iter().collect()
}

/// The buyer has two units of each token, and three of each remain for sale.
fn assert_bought_two_of_each(market: &Market, collection: Address) {
    for token in [1, 2, 3] {
        let held = Multi::balanceOfCall { owner: alloy_address(market.buyer()), tokenId: U256::from(token) };
        assert_eq!(market.anvil.ask(collection, &held), U256::from(2));
        let listings = || market.listings(collection, &token.to_string());
        let three_remain = |all: &Vec<Value>| all[0]["quantityRemaining"] == json!("3");
        wait("three remain", listings, three_remain);
    }
}

fn ids(steps: &Value) -> Vec<&str> {
    steps.as_array().unwrap().iter().map(|step| step["id"].as_str().unwrap()).collect()
}

fn sales(market: &Market, collection: Address) -> Vec<Value> {
    let answer = market.marketplace("ListCollectionActivities", &json!({ "contractAddress": collection }));
    let activities = answer["activities"].as_array().unwrap().iter();
    activities.filter(|activity| activity["action"] == json!("sale")).cloned().collect()
}
