//! Many questions to contracts go through Multicall3 in one call, where the chain has it.

use std::cell::RefCell;

use alloy_primitives::{U256, hex};
use alloy_sol_types::{SolCall, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{Anvil, alloy_address, balanceOfCall, transferCall};
use crate::market::{Market, V2, order, wait};
use crate::node_requests::Wiretap;

sol! {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    function aggregate3(Call3[] calls);
}

/// How often both makers are given something to be looked at for.
const TRANSFERS_MAX: usize = 5;

/// Where it is on nearly every chain.
const USUAL: &str = "0xca11bde05977b3631167028862be2a173976ca11";

#[test]
fn calls_go_together_through_the_usual_contract() {
    assert_calls_go_through(|anvil| {
        let usual = USUAL.parse().unwrap();
        anvil.copy_code(anvil.deploy("Multicall3", &[]), usual);
        (usual, String::new())
    });
}

#[test]
fn calls_go_together_through_the_contract_of_the_settings() {
    assert_calls_go_through(|anvil| {
        let contract = anvil.deploy("Multicall3", &[]);
        (contract, format!("multicall = \"{contract}\"\n"))
    });
}

/// Offers of two makers are looked at in one call, which also says what the collection's contract is.
fn assert_calls_go_through(place: impl Fn(&Anvil) -> (Address, String)) {
    let placed = RefCell::new(None);
    let market = Market::open_at(&V2, |anvil| {
        let (multicall, setting) = place(anvil);
        let tap = Wiretap::before(anvil.port);
        let settings = format!("rpc_url = \"{}\"\n{setting}", tap.url());
        *placed.borrow_mut() = Some((tap, multicall));
        settings
    });
    let (tap, multicall) = placed.into_inner().unwrap();
    let collection = market.singles(market.seller());
    market.wait_followed(collection);
    for maker in [market.buyer(), market.platform()] {
        market.fund(maker, 10_000_000);
        market.offer(maker, collection, "ERC721", &order("1", "1", market.currency, "4000000"));
    }
    market.wait_offers(collection, "1", 2);
    // What one gives the other is looked at for both; then one can no longer pay.
    let give = |amount: u64| {
        let given = transferCall { to: alloy_address(market.buyer()), amount: U256::from(amount) };
        market.anvil.send(market.platform(), market.currency, &given);
    };
    give(7_000_000);
    market.wait_offers(collection, "1", 1);
    let asks_for_funds = |call: &&Call3| {
        call.target == alloy_address(market.currency) && call.callData.starts_with(&balanceOfCall::SELECTOR)
    };
    let asked = || -> Vec<usize> {
        let calls = tap.calls_of("eth_call");
        let together = calls.iter().filter_map(|call| aggregated(call, multicall));
        together.map(|calls| calls.iter().filter(asks_for_funds).count()).collect()
    };
    // One that is just being looked at is looked at once more after that, alone. The next time it is not.
    for _ in 0..TRANSFERS_MAX {
        let before: usize = asked().iter().sum();
        if asked().contains(&2) {
            break;
        }
        give(1);
        wait("both are looked at", || asked().iter().sum::<usize>(), |asked| *asked >= before + 2);
    }
    assert_eq!(asked().into_iter().max(), Some(2));

    let calls = tap.calls_of("eth_call");
    let together: Vec<Vec<Call3>> = calls.iter().filter_map(|call| aggregated(call, multicall)).collect();
    // What goes to the makers of a token is asked of the market.
    assert!(together.iter().flatten().any(|call| call.target == alloy_address(market.contract)), "{calls:?}");
    let alone = |call: &&Value| {
        let data = call[0]["data"].as_str().unwrap();
        call[0]["to"] == json!(market.currency)
            && data.starts_with(&hex::encode_prefixed(balanceOfCall::SELECTOR))
    };
    assert_eq!(calls.iter().find(alone), None);
}

/// The calls within a call, if it is of the contract that takes many.
fn aggregated(call: &Value, multicall: Address) -> Option<Vec<Call3>> {
    let data = hex::decode(call[0]["data"].as_str().unwrap()).unwrap();
    (call[0]["to"] == json!(multicall)).then(|| aggregate3Call::abi_decode(&data).unwrap().calls)
}
