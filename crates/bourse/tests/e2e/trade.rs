//! Buying and selling through the service, with every step sent to a real chain.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{
    Multi, alloy_address, invalidateRequestsCall, ownerOfCall, setApprovalForAllCall, setTokenURICall,
    transferFromCall,
};
use crate::http::Credential;
use crate::market::{Market, ROYALTY_BPS, order, order_data, wait};

const ETHER: u64 = 1_000_000_000_000_000_000;

#[test]
fn a_token_is_listed_bought_and_paid_for_exactly() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);

    market.list(seller, collection, "ERC721", &order("1", "1", Address::ZERO, &ETHER.to_string()));
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    assert_eq!(listing["createdBy"], json!(seller));
    assert_eq!(listing["feeBps"], json!(ROYALTY_BPS));
    assert_eq!(listing["priceAmountNet"], json!((ETHER / 20 * 19).to_string()));
    let filter = json!({ "contractAddress": collection, "side": "listing" });
    let found = market.marketplace("ListCollectibles", &filter);
    assert_eq!(found["collectibles"][0]["listing"]["orderId"], listing["orderId"]);
    assert_eq!(
        market.marketplace("GetFloorOrder", &filter)["collectible"]["metadata"]["tokenId"],
        json!("1")
    );

    let before = wealth(&market);
    let orders = json!([{ "orderId": listing["orderId"], "quantity": "1" }]);
    let fees = json!([{ "amount": "250", "receiver": market.platform() }]);
    let steps = market.steps("GenerateBuyTransaction", &market.purchase(buyer, collection, &orders, &fees));
    assert_eq!(steps.as_array().unwrap().len(), 1, "{steps}");
    let fee = ETHER / 40;
    assert_eq!((&steps[0]["id"], &steps[0]["price"]), (&json!("buy"), &json!((ETHER + fee).to_string())));
    market.anvil.perform(buyer, &steps);

    let owner = market.anvil.ask(collection, &ownerOfCall { tokenId: U256::from(1) });
    assert_eq!(owner, alloy_address(buyer));
    let after = wealth(&market);
    let gained: Vec<U256> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
    assert_eq!(gained, [ETHER / 20 * 19, ETHER / 20, fee].map(U256::from));

    market.wait_listings(collection, "1", 0);
    assert_eq!(market.marketplace_answer("GetFloorOrder", &filter).error(), "NotFound");
    let query = json!({ "input": [{ "contractAddress": collection, "orderId": listing["orderId"],
        "marketplace": "bourse_marketplace_v2" }] });
    assert_eq!(market.marketplace("GetOrders", &query)["orders"][0]["status"], json!("filled"));
    let actions = wait("a sale", || actions(&market, collection), |all| all.contains(&"sale".to_owned()));
    assert_eq!(actions, ["sale", "transfer", "listing", "mint"]);
    let sellers_and_buyers = || market_wallets(&market);
    wait("market wallets", sellers_and_buyers, |wallets| *wallets == 2);
}

/// What the seller, the artist and the platform have of the native currency.
fn wealth(market: &Market) -> [U256; 3] {
    [market.seller(), market.artist(), market.platform()].map(|account| market.anvil.native_balance(account))
}

/// What happened in a collection, the last first.
fn actions(market: &Market, collection: Address) -> Vec<String> {
    let answer = market.marketplace("ListCollectionActivities", &json!({ "contractAddress": collection }));
    let activities = answer["activities"].as_array().unwrap();
    activities.iter().map(|activity| activity["action"].as_str().unwrap().to_owned()).collect()
}

/// How many wallets traded in the project's market, on all days together.
fn market_wallets(market: &Market) -> u64 {
    let filter = json!({ "filter": { "startDate": "2026-01-01", "endDate": "2029-12-31" } });
    let answer = market.server().call("Analytics/MarketWalletsDaily", market.secret(), &filter).ok();
    answer["marketStats"].as_array().unwrap().iter().map(|point| point["value"].as_u64().unwrap()).sum()
}

#[test]
fn parts_are_bought_with_a_currency_that_is_approved_first() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.multiples(seller, 1, 10);
    market.wait_followed(collection);

    market.list(seller, collection, "ERC1155", &order("1", "10", market.currency, "2000000"));
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    market.fund(buyer, 100_000_000);
    let buy = |quantity: &str| {
        let body = market.purchase(buyer, collection, &order_data(&listing, quantity), &Value::Null);
        market.steps("GenerateBuyTransaction", &body)
    };
    let steps = buy("3");
    let ids: Vec<&str> = steps.as_array().unwrap().iter().map(|step| step["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["tokenApproval", "buy"]);
    market.anvil.perform(buyer, &steps);
    let held = Multi::balanceOfCall { owner: alloy_address(buyer), tokenId: U256::from(1) };
    assert_eq!(market.anvil.ask(collection, &held), U256::from(3));
    assert_eq!(market.anvil.balance(market.currency, buyer), U256::from(94_000_000));
    assert_eq!(market.anvil.balance(market.currency, seller), U256::from(5_700_000));
    assert_eq!(market.anvil.balance(market.currency, market.artist()), U256::from(300_000));

    let remaining = |all: &Vec<Value>| all[0]["quantityRemaining"] == json!("7");
    wait("seven remain", || market.listings(collection, "1"), remaining);
    market.allow(buyer, 1_000_000_000);
    let steps = buy("7");
    assert_eq!(steps.as_array().unwrap().len(), 1, "the allowance is enough: {steps}");
    market.anvil.perform(buyer, &steps);
    market.wait_listings(collection, "1", 0);
    assert_eq!(market.anvil.ask(collection, &held), U256::from(10));
}

#[test]
fn an_offer_is_accepted_and_follows_the_money_behind_it() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    market.fund(buyer, 10_000_000);
    market.offer(buyer, collection, "ERC721", &order("1", "1", market.currency, "4000000"));
    let offer = market.wait_offers(collection, "1", 1).remove(0);

    // Without an allowance it is no offer.
    market.allow(buyer, 0);
    market.wait_offers(collection, "1", 0);
    market.allow(buyer, 10_000_000);
    market.wait_offers(collection, "1", 1);

    let body = json!({ "collectionAddress": collection, "seller": seller, "marketplace": "bourse_marketplace_v2",
        "ordersData": order_data(&offer, "1"), "additionalFees": [{ "amount": "1000", "receiver": market.platform() }],
        "walletType": "unknown" });
    let steps = market.steps("GenerateSellTransaction", &body);
    market.anvil.perform(seller, &steps);
    let owner = market.anvil.ask(collection, &ownerOfCall { tokenId: U256::from(1) });
    assert_eq!(owner, alloy_address(buyer));
    // The one who offered pays the artist on top, the seller pays the platform.
    assert_eq!(market.anvil.balance(market.currency, buyer), U256::from(10_000_000 - 4_200_000));
    assert_eq!(market.anvil.balance(market.currency, market.artist()), U256::from(200_000));
    assert_eq!(market.anvil.balance(market.currency, market.platform()), U256::from(400_000));
    assert_eq!(market.anvil.balance(market.currency, seller), U256::from(3_600_000));
    market.wait_offers(collection, "1", 0);
}

#[test]
fn a_listing_ends_and_returns_with_what_its_maker_may_do() {
    let market = Market::open();
    let (seller, friend) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    market.list(seller, collection, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    let listing = market.wait_listings(collection, "1", 1).remove(0);

    let (away, back) = (transfer(seller, friend), transfer(friend, seller));
    market.anvil.send(seller, collection, &away);
    market.wait_listings(collection, "1", 0);
    let body = market.purchase(market.platform(), collection, &order_data(&listing, "1"), &Value::Null);
    let refused = market.marketplace_answer("GenerateBuyTransaction", &body);
    assert_ne!(refused.status, 200, "{refused:?}");
    market.anvil.send(friend, collection, &back);
    market.wait_listings(collection, "1", 1);

    let approve = |approved| setApprovalForAllCall { operator: alloy_address(market.contract), approved };
    market.anvil.send(seller, collection, &approve(false));
    market.wait_listings(collection, "1", 0);
    market.anvil.send(seller, collection, &approve(true));
    market.wait_listings(collection, "1", 1);

    let body = json!({ "collectionAddress": collection, "maker": seller, "marketplace": "bourse_marketplace_v2",
        "orderId": listing["orderId"] });
    let steps = market.steps("GenerateCancelTransaction", &body);
    market.anvil.perform(seller, &steps);
    market.wait_listings(collection, "1", 0);
    let after = market.marketplace_answer("GenerateCancelTransaction", &body);
    assert_ne!(after.status, 200, "{after:?}");
}

fn transfer(from: Address, to: Address) -> transferFromCall {
    transferFromCall { from: alloy_address(from), to: alloy_address(to), tokenId: U256::from(1) }
}

#[test]
fn all_orders_of_a_maker_end_at_once() {
    let market = Market::open();
    let seller = market.seller();
    let (first, second) = (market.singles(seller), market.singles(seller));
    for collection in [first, second] {
        market.wait_followed(collection);
        market.list(seller, collection, "ERC721", &order("1", "1", Address::ZERO, "1000"));
        market.wait_listings(collection, "1", 1);
    }
    market.anvil.send(seller, market.contract, &invalidateRequestsCall {});
    for collection in [first, second] {
        market.wait_listings(collection, "1", 0);
    }
    market.list(seller, first, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    market.wait_listings(first, "1", 1);
}

#[test]
fn the_state_of_networks_is_shown() {
    let market = Market::open();
    let collection = market.singles(market.seller());
    market.wait_followed(collection);
    let status = market.instance.json(&["status"]);
    let network = &status["networks"][0];
    assert_eq!(network["chainId"], json!(31337), "{status}");
    assert_eq!(network["collections"][0]["live"], json!(true), "{status}");
    let metrics = crate::http::get(market.server().port, "/metrics").unwrap().body;
    assert!(metrics.contains("bourse_chain_head{"), "{metrics}");
}

#[test]
fn what_contracts_say_of_themselves_and_their_tokens_is_fetched() {
    let market = Market::open();
    let collection = market.singles(market.seller());
    let key = Credential::Key(&market.project.key);
    let info = || {
        let body = json!({ "chainID": "31337", "contractAddress": collection });
        market.server().call("Metadata/GetContractInfo", key, &body)
    };
    let info = wait("the contract is described", info, |answer| answer.status == 200).ok();
    let described = &info["contractInfo"];
    assert_eq!((&described["name"], &described["type"]), (&json!("Relics"), &json!("ERC721")));

    // The contract announces the change (ERC-4906).
    let metadata =
        r#"data:application/json,{"name":"Amulet","attributes":[{"trait_type":"Age","value":900}]}"#;
    let call = setTokenURICall { tokenId: U256::from(1), uri: metadata.to_owned() };
    market.anvil.send(market.seller(), collection, &call);
    let name = || {
        let body = json!({ "chainID": "31337", "contractTokenMap": { collection.to_string(): ["1"] } });
        let answer = market.server().call("Metadata/GetTokenMetadataBatch", key, &body).ok();
        answer["contractTokenMetadata"][collection.to_string()][0].clone()
    };
    let token = wait("the metadata is fetched", name, |token| token["name"] == json!("Amulet"));
    assert_eq!(token["status"], json!("AVAILABLE"));
    let body = json!({ "chainID": "31337", "contractAddress": collection });
    let filters = market.server().call("Metadata/TokenCollectionFilters", key, &body).ok();
    assert_eq!(filters["filters"][0]["name"], json!("Age"));
}
