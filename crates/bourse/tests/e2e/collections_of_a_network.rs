//! A network of which all collections are followed, named by nobody.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{Multi, alloy_address, mintCall};
use crate::market::{Market, V2, node_setting, order, wait};

/// More blocks than a chain takes back: the first ones are those of before the first start.
#[test]
fn collections_of_before_the_first_start_are_found() {
    let (mut old, mut left) = (Vec::new(), Address::ZERO);
    let mut market = Market::open_at(&V2, |anvil| {
        let seller = anvil.account(1);
        let mint = |collection: Address| {
            let mint = mintCall { to: alloy_address(seller), tokenId: U256::from(5) };
            anvil.send(seller, collection, &mint);
        };
        // What happened before the block that is named makes no collection known.
        left = anvil.deploy_singles();
        mint(left);
        anvil.mine(40);
        for _ in 0..4 {
            let collection = anvil.deploy_singles();
            mint(collection);
            old.push(collection);
            anvil.mine(80);
        }
        format!("{}discover_from = 40\n", node_setting(anvil))
    });
    for collection in &old {
        market.wait_followed(*collection);
    }
    let followed = |market: &Market| {
        let status = market.instance.json(&["status"]);
        let followed = status["networks"][0]["collections"].as_array().unwrap().iter();
        followed.map(|collection| collection["contractAddress"].clone()).collect::<Vec<_>>()
    };
    assert!(!followed(&market).contains(&json!(left)));
    assert_eq!(followed(&market).len(), 4);
    // Another start looks at nothing again, and still finds what comes.
    market.kill();
    market.start();
    let new = market.anvil.deploy_singles();
    let mint = mintCall { to: alloy_address(market.seller()), tokenId: U256::from(5) };
    market.anvil.send(market.seller(), new, &mint);
    market.wait_followed(new);
    assert_eq!(followed(&market).len(), 5);
}

#[test]
fn a_collection_appears_with_its_first_token() {
    let market = Market::open_at(&V2, |anvil| format!("{}discover_from = 0\n", node_setting(anvil)));
    let seller = market.seller();
    let (singles, multiples) = (market.anvil.deploy_singles(), market.anvil.deploy_multiples());
    let to = alloy_address(seller);
    market.anvil.send(seller, singles, &mintCall { to, tokenId: U256::from(5) });
    market.wait_followed(singles);
    let mint = Multi::mintCall { to, tokenId: U256::from(6), amount: U256::from(10) };
    market.anvil.send(seller, multiples, &mint);
    market.wait_followed(multiples);

    // It is traded like any other.
    market.list(seller, multiples, "ERC1155", &order("6", "10", Address::ZERO, "1000"));
    market.wait_listings(multiples, "6", 1);
    // Money has transfers too, and is no collection.
    market.fund(seller, 1_000);
    market.anvil.send(seller, singles, &mintCall { to, tokenId: U256::from(7) });
    let is_there = |tokens: &Vec<String>| tokens.contains(&"7".to_owned());
    wait("the token after the money is known", || market.tokens(singles), is_there);
    let status = market.instance.json(&["status"]);
    let followed = status["networks"][0]["collections"].as_array().unwrap().iter();
    let followed: Vec<&Value> = followed.map(|collection| &collection["contractAddress"]).collect();
    assert_eq!(followed, [&json!(singles), &json!(multiples)], "{status}");
}
