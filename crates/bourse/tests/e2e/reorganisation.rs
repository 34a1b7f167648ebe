//! A chain that changes its mind: after every reorganisation the facts are those of a sync from scratch.

use std::time::Instant;

use alloy_primitives::U256;
use bourse_store::Store;
use bourse_store::testing::facts_digest;
use bourse_wire::{Address, ChainId};
use serde_json::{Value, json};

use crate::anvil::{alloy_address, mintCall, transferCall};
use crate::market::{Market, order, wait};
use crate::process::{POLL_INTERVAL, WAIT_MAX};

#[test]
fn shallow_deep_and_repeated_reorganisations_leave_the_facts_of_the_chain() {
    let market = Market::open();
    let collection = market.singles(market.seller());
    // The contracts themselves stay.
    market.anvil.mine(40);
    for depth in [1, 3, 20] {
        trade(&market, collection, depth);
        settle(&market);
        market.anvil.reorganise(depth);
        assert_like_from_scratch(&market, collection, &format!("depth {depth}"));
    }
    // Twice before the first can have been followed, and again while orders are being filled.
    trade(&market, collection, 100);
    market.anvil.reorganise(2);
    market.anvil.reorganise(5);
    trade(&market, collection, 200);
    market.anvil.reorganise(1);
    assert_like_from_scratch(&market, collection, "twice in a row");
}

#[test]
fn a_reorganisation_while_the_server_is_down_is_found_at_its_start() {
    let mut market = Market::open();
    let collection = market.singles(market.seller());
    trade(&market, collection, 1);
    settle(&market);
    market.kill();
    market.anvil.reorganise(4);
    trade_without_server(&market, collection, 50);
    market.start();
    assert_like_from_scratch(&market, collection, "while it was down");
    // And killed in the middle of following one.
    trade(&market, collection, 60);
    market.anvil.reorganise(3);
    market.kill();
    market.start();
    assert_like_from_scratch(&market, collection, "killed meanwhile");
}

#[test]
fn a_reorganisation_during_history_and_at_the_hand_over_is_followed() {
    let market = Market::open();
    let collection = market.anvil.deploy_singles();
    for token in 0..40 {
        mint(&market, collection, token);
    }
    market.follow(collection);
    market.anvil.reorganise(6);
    assert_like_from_scratch(&market, collection, "during history");
    let other = market.anvil.deploy_singles();
    mint(&market, other, 1);
    settle(&market);
    market.follow(other);
    for depth in 1..5 {
        mint(&market, other, 10 + depth);
        market.anvil.reorganise(depth);
    }
    assert_like_from_scratch(&market, other, "at the hand-over");
}

#[test]
fn a_chain_that_is_forgotten_is_read_anew() {
    let mut market = Market::open();
    let collection = market.singles(market.seller());
    trade(&market, collection, 1);
    settle(&market);
    let before = digest(&market);
    let listed = market.instance.json(&["collection", "list", "hardhat"]);
    let (contract, live) = (&listed[0]["contractAddress"], &listed[0]["live"]);
    assert_eq!((contract, live), (&json!(collection), &json!(true)), "{listed}");
    market.kill();

    let said = market.instance.failure(&["chain", "resync", "hardhat"]);
    assert!(said.contains("add --yes"), "{said}");
    assert_eq!(market.instance.json(&["collection", "list", "hardhat"]), listed, "nothing is done unasked");
    market.instance.json(&["chain", "resync", "hardhat", "--yes"]);
    assert_ne!(digest(&market), before);
    let forgotten = market.instance.run(&["collection", "list", "hardhat"]).stdout;
    let row = forgotten.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(row, format!("{collection} 0 0 reading its history {}", market.project.id), "{forgotten}");

    market.start();
    settle(&market);
    assert_eq!(digest(&market), before);
    assert_eq!(market.instance.json(&["collection", "list", "hardhat"]), listed);
    assert_like_from_scratch(&market, collection, "after a resync");
}

#[test]
fn a_collection_is_left_and_read_anew_beside_a_running_server() {
    let market = Market::open();
    let collection = market.singles(market.seller());
    trade(&market, collection, 1);
    mint(&market, collection, 7);
    settle(&market);
    market.list(market.seller(), collection, "ERC721", &order("7", "1", Address::ZERO, "1000"));
    market.wait_listings(collection, "7", 1);
    let contract = collection.to_string();
    let removed = market.instance.json(&["collection", "remove", "hardhat", &contract]);
    assert_eq!(removed, json!({ "chainId": 31337, "contractAddress": collection }));
    market.wait_listings(collection, "7", 0);
    mint(&market, collection, 8);
    settle(&market);
    assert_eq!(market.instance.json(&["collection", "list", "hardhat"]), json!([]));
    let said = market.instance.failure(&["collection", "remove", "hardhat", &contract]);
    assert!(said.contains("is not followed"), "{said}");
    // From a late block on, and then from the first.
    let add = |from: &str| market.instance.json(&["collection", "add", "hardhat", &contract, "--from", from]);
    let head = market.anvil.rpc("eth_blockNumber", &json!([])).as_str().unwrap().to_owned();
    let head = u64::from_str_radix(head.trim_start_matches("0x"), 16).unwrap().to_string();
    assert_eq!(add(&head)["fromBlock"].to_string(), head);
    settle(&market);
    assert_eq!(add("0")["fromBlock"], 0);
    assert_eq!(add(&head)["fromBlock"], 0, "what counts is told");
    mint(&market, collection, 9);
    assert_like_from_scratch(&market, collection, "read anew");
    market.wait_listings(collection, "7", 1);
}

/// Of a currency that is followed, accounts have what its contract says, whatever is taken back meanwhile.
#[test]
fn money_is_what_its_contract_says() {
    let market = Market::open();
    let (currency, rich) = (market.currency, market.anvil.account(9));
    let all = U256::MAX >> 2_u8;
    pay(&market, rich, &mintCall { to: alloy_address(rich), tokenId: all });
    market.follow(currency);
    for depth in [1, 4] {
        for payer in 5..9 {
            let to = alloy_address(market.anvil.account(payer));
            pay(&market, rich, &transferCall { to, amount: all >> (payer + depth) });
            let back = transferCall { to: alloy_address(rich), amount: U256::from(payer) };
            pay(&market, market.anvil.account(payer), &back);
        }
        settle(&market);
        assert_money(&market, &format!("before depth {depth}"));
        market.anvil.reorganise(depth as u64);
        market.anvil.mine(1);
        assert_like_from_scratch(&market, currency, &format!("depth {depth}"));
        assert_money(&market, &format!("depth {depth}"));
    }
}

fn pay(market: &Market, from: Address, call: &impl alloy_sol_types::SolCall) {
    market.anvil.send(from, market.currency, call);
}

/// Compares what accounts have, and how much there is, with what the contract says.
fn assert_money(market: &Market, when: &str) {
    let indexer = |operation: &str, body: Value| {
        let operation = format!("Indexer/{operation}");
        market.server().call(&operation, market.secret(), &body).ok()
    };
    let mut sum = U256::ZERO;
    for number in 0..10 {
        let account = market.anvil.account(number);
        let expected = market.anvil.balance(market.currency, account);
        let body =
            json!({ "chainId": "31337", "accountAddress": account, "contractAddress": market.currency });
        let held = |answer: &Value| answer["balances"][0]["balance"].as_str().unwrap_or("0").to_owned();
        wait(when, || held(&indexer("GetTokenBalances", body.clone())), |held| *held == expected.to_string());
        sum += expected;
    }
    let body = json!({ "chainId": "31337", "tokenMap": { market.currency.to_string(): ["0"] } });
    let supplies = indexer("GetTokenSuppliesMap", body);
    assert_eq!(supplies["supplies"][market.currency.to_string()][0]["supply"], sum.to_string(), "{when}");
}

fn mint(market: &Market, collection: Address, token: u64) {
    let call = mintCall { to: alloy_address(market.seller()), tokenId: U256::from(token) };
    market.anvil.send(market.seller(), collection, &call);
}

/// Mints, lists and sells a token whose number nobody had before, each in a block of its own.
fn trade(market: &Market, collection: Address, number: u64) {
    let token = (1_000 + number).to_string();
    mint(market, collection, 1_000 + number);
    settle(market);
    market.list(market.seller(), collection, "ERC721", &order(&token, "1", Address::ZERO, "1000"));
    settle(market);
    let listing = market.wait_listings(collection, &token, 1).remove(0);
    let orders = json!([{ "orderId": listing["orderId"], "quantity": "1" }]);
    let body = market.purchase(market.buyer(), collection, &orders, &Value::Null);
    let steps = market.steps("GenerateBuyTransaction", &body);
    market.anvil.perform(market.buyer(), &steps);
    market.anvil.mine(2);
}

fn trade_without_server(market: &Market, collection: Address, number: u64) {
    mint(market, collection, 2_000 + number);
    market.anvil.mine(3);
}

/// Waits until what is stored is what the chain says. Answers follow a little later.
pub(crate) fn settle(market: &Market) {
    let started = Instant::now();
    market.instance.with_store(async |store| {
        while !is_settled(market, store).await {
            assert!(started.elapsed() < WAIT_MAX, "the checkpoint did not become the head");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    });
}

async fn is_settled(market: &Market, store: &Store) -> bool {
    let head = market.anvil.rpc("eth_getBlockByNumber", &json!(["latest", false]));
    let chain = ChainId(31337);
    let (state, followed) = (store.chain_state(chain).await.unwrap(), store.followed(chain).await.unwrap());
    state.is_some_and(|state| head["hash"] == state.checkpoint.hash.to_string())
        && followed.iter().all(|collection| collection.live)
}

/// A hash of everything that the chain states.
fn digest(market: &Market) -> [u8; 32] {
    market.instance.with_store(async |store| facts_digest(store, ChainId(31337)).await.unwrap())
}

fn assert_like_from_scratch(market: &Market, collection: Address, when: &str) {
    settle(market);
    let scratch = market.anew();
    let followed = market.instance.with_store(async |store| store.followed(ChainId(31337)).await.unwrap());
    assert!(followed.iter().any(|followed| followed.key.address == collection), "{when}");
    for followed in followed {
        scratch.follow(followed.key.address);
    }
    settle(&scratch);
    assert_eq!(digest(market), digest(&scratch), "{when}");
}
