//! How fast history is read, from a node over loopback to disk. Not a test of its own: `cargo test --release -p
//! bourse-chain --test rpc -- --ignored --nocapture` prints the rate.

use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use bourse_chain::rpc::HttpOptions;
use bourse_chain::{FollowOptions, Follower, RealPace, Status};
use bourse_store::CollectionKey;
use bourse_store::testing::TestDatabase;
use bourse_wire::{Address, ChainId, Timestamp};
use serde_json::{Value, json};

use crate::server::{Server, block};

const BLOCKS: u64 = 4_000;
const LOGS_PER_BLOCK: u64 = 50;

/// A token that is made, in a block of its own time.
fn minted(number: u64, index: u64) -> Value {
    let token = number * LOGS_PER_BLOCK + index;
    json!({
        "address": format!("0x{}", "c1".repeat(20)),
        "topics": [
            "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
            format!("0x{:064x}", 0),
            format!("0x{:064x}", 1 + token % 5000),
            format!("0x{token:064x}"),
        ],
        "data": "0x",
        "blockNumber": format!("{number:#x}"),
        "blockHash": format!("0x{number:064x}"),
        "blockTimestamp": format!("{:#x}", 1_700_000_000 + number),
        "transactionHash": format!("0x{token:064x}"),
        "transactionIndex": "0x0",
        "logIndex": format!("{index:#x}"),
        "removed": false,
    })
}

fn number(text: &Value) -> u64 {
    u64::from_str_radix(text.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

/// A node whose answers are written already, so that it is the follower that is measured.
async fn long_chain() -> Server {
    let of_block = |number| {
        let logs: Vec<String> = (0..LOGS_PER_BLOCK).map(|index| minted(number, index).to_string()).collect();
        logs.join(",")
    };
    let logs: Arc<Vec<String>> = Arc::new((0..=BLOCKS).map(of_block).collect());
    Server::raw(move |body| {
        let one = |request: &Value| {
            let result = answer(&logs, request["method"].as_str().unwrap(), &request["params"]);
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"])
        };
        let text = match body {
            Value::Array(requests) => format!("[{}]", requests.iter().map(one).collect::<Vec<_>>().join(",")),
            request => one(request),
        };
        (StatusCode::OK, None, text)
    })
    .await
}

fn answer(logs: &[String], method: &str, params: &Value) -> String {
    let place = |text: &Value| usize::try_from(number(text)).unwrap();
    match method {
        "eth_chainId" => json!("0x1").to_string(),
        "eth_getBlockByNumber" if params[0] == "latest" => block(BLOCKS).to_string(),
        "eth_getBlockByNumber" | "eth_getBlockByHash" => block(number(&params[0])).to_string(),
        "eth_getLogs" => {
            let (from, to) = match params[0].get("blockHash") {
                Some(hash) => (place(hash), place(hash)),
                None => (place(&params[0]["fromBlock"]), place(&params[0]["toBlock"])),
            };
            format!("[{}]", logs[from..=to].join(","))
        }
        _ => "null".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures; run it in release"]
async fn history_is_read_fast() {
    let server = long_chain().await;
    let database = TestDatabase::fresh().await.unwrap();
    let store = Arc::new(database.open().await.unwrap());
    let key = CollectionKey { chain: ChainId(1), address: Address::from_bytes([0xc1; 20]) };
    store.follow(key, 0, Timestamp::ZERO).await.unwrap();
    let status = Status::new(ChainId(1), Arc::default());
    let options = FollowOptions { multicall: None, ..FollowOptions::new(ChainId(1), "measure") };
    let node = Arc::new(server.client(HttpOptions::default()));
    let began = Instant::now();
    let pace = RealPace::new(move || {
        Timestamp::from_unix_nanos(
            1_800_000_000_000_000_000 + i128::try_from(began.elapsed().as_nanos()).unwrap(),
        )
    });
    let mut follower = Follower::new(options, node, store, Arc::new(pace), status.clone());
    while !status.get().collections.first().is_some_and(|one| one.live) {
        follower.turn().await.unwrap();
    }
    let (logs, seconds) = (BLOCKS * LOGS_PER_BLOCK, began.elapsed().as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = logs as f64 / seconds;
    println!("{logs} logs in {seconds:.1} s: {rate:.0} a second");
}
