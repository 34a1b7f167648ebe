//! Pages about chains: a node of the test's own stands for the network that they name.

use alloy_primitives::U256;

use super::stage::Stage;
use crate::anvil::{Anvil, alloy_address, mintCall, setTokenURICall};

/// The contract that pages follow.
const CONTRACT: &str = "0x2222222222222222222222222222222222222222";
/// The block that it was deployed in, on a chain that is older than the test's.
const FIRST_BLOCK: &str = "51000000";
/// The addresses of nodes in pages.
const NODES: [&str; 2] = ["https://first.example/key", "https://second.example/key"];
/// The chains that pages call polygon and amoy.
const POLYGON: u64 = 137;
const AMOY: u64 = 80_002;

/// Where development nodes listen.
const DEVELOPMENT: &str = "http://127.0.0.1:8545";

/// Runs a page with a development chain on which nothing is yet, and a node of a test network on which its contract is.
pub(super) fn run_shop(page: &str) {
    super::run_on(page, |stage| {
        let anvil = Anvil::start(stage.directory());
        stage.name(DEVELOPMENT, anvil.url());
        (anvil, node(AMOY, stage))
    });
}

/// Runs a page with a node on which its contract is.
pub(super) fn run(page: &str) {
    super::run_on(page, |stage| node(POLYGON, stage));
}

/// A node on which the contract of pages is, with two tokens.
fn node(chain: u64, stage: &mut Stage) -> Anvil {
    let anvil = Anvil::start_as(chain, stage.directory());
    let contract = anvil.deploy_singles();
    let owner = anvil.account(0);
    for number in 1..=2_u64 {
        let token = U256::from(number);
        anvil.send(owner, contract, &mintCall { to: alloy_address(owner), tokenId: token });
        let uri = format!("data:application/json,{{\"name\":\"Relic {number}\"}}");
        anvil.send(owner, contract, &setTokenURICall { tokenId: token, uri });
    }
    for node in NODES {
        stage.name(node, anvil.url());
    }
    stage.name(CONTRACT, contract.to_string());
    stage.name(FIRST_BLOCK, "0");
    anvil
}
