//! New blocks that a node tells of.

use std::time::{Duration, Instant};

use bourse_wire::Address;
use serde_json::{Value, json};

use crate::http::get;
use crate::market::{Market, V2, node_setting, order, order_data, wait};

/// How many units are sold, one by one.
const FILLS: usize = 30;
/// No question is asked meanwhile of whether there is a new block.
const POLL_MS: &str = "600000";
/// A fill that is seen later than this was not told of. Machines that run tests do much else.
const LATE: Duration = Duration::from_mins(1);

#[test]
fn a_fill_is_seen_as_soon_as_its_block_is_there() {
    let mut market = Market::open_at(&V2, |anvil| {
        format!("{}ws_url = \"ws://127.0.0.1:{}\"\n", node_setting(anvil), anvil.port)
    });
    let collection = market.multiples(market.seller(), 1, 100);
    market.wait_followed(collection);
    market.list(market.seller(), collection, "ERC1155", &order("1", "100", Address::ZERO, "1000"));
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    market.restart_with(&[("BOURSE_NETWORKS__HARDHAT__POLL_MS", POLL_MS)]);
    let subscribed = || {
        let metrics = get(market.server().port, "/metrics").unwrap().body;
        metrics.lines().any(|line| line == "bourse_chain_subscribed{network=\"hardhat\"} 1")
    };
    wait("the node tells of new blocks", subscribed, |is_so| *is_so);
    let told = &market.instance.json(&["status"])["networks"][0];
    assert_eq!((&told["subscribed"], &told["error"]), (&json!(true), &Value::Null), "{told}");

    let mut took: Vec<Duration> =
        (1..=FILLS).map(|sold| sell_one(&market, collection, &listing, sold)).collect();
    took.sort();
    let (median, slowest) = (took[FILLS / 2], took[FILLS - 1]);
    println!("fills are seen after {median:?} at the median and {slowest:?} at most, sending them included");
    assert!(slowest < LATE, "{took:?}");
}

/// Sells a unit of a listing of which so many are sold then; tells how long it takes from the transaction to the answer.
fn sell_one(market: &Market, collection: Address, listing: &Value, sold: usize) -> Duration {
    let body = market.purchase(market.buyer(), collection, &order_data(listing, "1"), &Value::Null);
    let steps = market.steps("GenerateBuyTransaction", &body);
    let sent = Instant::now();
    market.anvil.perform(market.buyer(), &steps);
    let remaining = json!((100 - sold).to_string());
    wait(
        "the fill is seen",
        || market.listings(collection, "1"),
        |all| all[0]["quantityRemaining"] == remaining,
    );
    sent.elapsed()
}
