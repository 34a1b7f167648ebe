//! A network that is known by its name.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{Anvil, alloy_address, mintCall, ownerOfCall};
use crate::http::{Answer, Credential};
use crate::instance::Instance;
use crate::market::{order, order_data, wait};
use crate::process::WAIT_MAX;

/// The chain that is called amoy.
const AMOY: u64 = 80_002;
/// Where the second version of our own marketplace is on most networks.
const USUAL: &str = "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712";

/// Its number, its own currency and its marketplace are known: tokens are listed and bought, and nobody said anything else.
#[test]
fn a_node_alone_is_enough_to_trade() {
    let instance = Instance::new();
    let anvil = Anvil::start_as(AMOY, instance.directory());
    anvil.copy_code(anvil.deploy_market("Market"), USUAL.parse().unwrap());
    let (seller, buyer, collection) = (anvil.account(1), anvil.account(2), anvil.deploy_singles());
    let token = U256::from(1);
    anvil.send(seller, collection, &mintCall { to: alloy_address(seller), tokenId: token });
    let project = instance.create_project("market");
    let mut server = instance.serve_unready("serve", &[("BOURSE_NETWORKS__AMOY__RPC_URL", &anvil.url())]);
    server.wait_ready(WAIT_MAX);
    let (contract, number) = (collection.to_string(), project.id.to_string());
    instance.json(&["collection", "add", "amoy", &contract, "--from", "0", "--project", &number]);
    let ask = |operation: &str, mut body: Value| -> Answer {
        body["chainId"] = json!("amoy");
        server.call(&format!("Marketplace/{operation}"), Credential::Key(&project.key), &body)
    };
    let currencies = ask("ListCurrencies", json!({})).ok()["currencies"].clone();
    let known: Vec<&Value> = currencies.as_array().unwrap().iter().map(|known| &known["symbol"]).collect();
    assert_eq!(known, [&json!("POL")], "{currencies}");

    let all = json!({ "contractAddress": collection, "side": "listing", "filter": { "includeEmpty": true } });
    let is_known = |answer: &Answer| answer.status == 200 && answer.body.contains("\"tokenId\":\"1\"");
    wait("the token is known", || ask("ListCollectibles", all.clone()), is_known);
    let listing = json!({ "collectionAddress": collection, "owner": seller, "contractType": "ERC721",
        "orderbook": "bourse_marketplace_v2", "listing": order("1", "1", Address::ZERO, "1000") });
    anvil.perform(seller, &ask("GenerateListingTransaction", listing).ok()["steps"]);
    let listings = || {
        let body = json!({ "contractAddress": collection, "tokenId": "1" });
        ask("ListListingsForCollectible", body).ok()["listings"].as_array().unwrap().clone()
    };
    let listed = wait("the listing is seen", listings, |listings| listings.len() == 1).remove(0);
    let purchase = json!({ "collectionAddress": collection, "buyer": buyer, "marketplace": "bourse_marketplace_v2",
        "ordersData": order_data(&listed, "1") });
    anvil.perform(buyer, &ask("GenerateBuyTransaction", purchase).ok()["steps"]);
    assert_eq!(anvil.ask(collection, &ownerOfCall { tokenId: token }), alloy_address(buyer));
    wait("the sale is seen", listings, Vec::is_empty);
}
