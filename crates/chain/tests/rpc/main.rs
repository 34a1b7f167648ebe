//! Nodes as they are: some refuse batches, some are behind, some say too much.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod play;
mod pool;
mod server;
mod sources;
mod subscription;
mod teller;

use std::time::Duration;

use axum::http::StatusCode;
use bourse_chain::rpc::{HttpOptions, NodeUrl, Pool, PoolOptions};
use bourse_chain::{Call, Failure, LogFilter, Node, RealPace, Reverted, Span};
use bourse_wire::{Address, ChainId};
use serde_json::{Value, json};

use crate::server::{Server, block, log};

fn number_of(params: &Value) -> u64 {
    u64::from_str_radix(params[0].as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

/// A node with blocks up to 50, and a log in each.
async fn honest() -> Server {
    Server::node(|method, params| match method {
        "eth_chainId" => Ok(json!("0x89")),
        "eth_getBlockByNumber" if params[0] == "latest" => Ok(block(50)),
        "eth_getBlockByNumber" => {
            let number = number_of(params);
            Ok(if number <= 50 { block(number) } else { Value::Null })
        }
        "eth_getLogs" => {
            let bound = |name: &str| number_of(&json!([params[0][name]]));
            let (from, to) = (bound("fromBlock"), bound("toBlock").min(50));
            Ok((from..=to).rev().map(|number| log(number, 1)).collect())
        }
        _ => Err((-32601, "the method does not exist/is not available".to_owned())),
    })
    .await
}

#[tokio::test]
async fn blocks_and_logs_are_read() {
    let server = honest().await;
    let node = server.client(HttpOptions { batch_max: 3, ..HttpOptions::default() });
    assert_eq!(node.chain_id().await, Ok(ChainId(137)));
    let head = node.head().await.unwrap();
    assert_eq!((head.number, head.at.unix_seconds()), (50, 1_700_000_050));
    let blocks = node.blocks(&[3, 51, 4, 5, 6]).await.unwrap();
    let numbers: Vec<Option<u64>> = blocks.iter().map(|block| block.map(|block| block.number)).collect();
    assert_eq!(numbers, [Some(3), None, Some(4), Some(5), Some(6)]);
    let told = node.logs(Span::Range { from: 10, to: 13 }, &[LogFilter::default()]).await.unwrap();
    assert_eq!(told.last.map(|last| last.block.number), Some(13));
    let logs = told.logs;
    let places: Vec<(u64, u64)> = logs.iter().map(|told| (told.log.block_number, told.log.index)).collect();
    assert_eq!(places, [(13, 1), (12, 1), (11, 1), (10, 1)], "as they came; a pool puts them in order");
    assert_eq!((logs[0].log.data.as_ref(), logs[0].at), (&[1, 2][..], None));
}

#[tokio::test]
async fn silence_about_blocks_that_are_not_there_yet_is_no_answer() {
    let server = honest().await;
    let node = server.client(HttpOptions::default());
    let asked = node.logs(Span::Range { from: 45, to: 51 }, &[LogFilter::default()]).await;
    assert!(matches!(asked, Err(Failure::PossibleReorg { .. })), "{asked:?}");
}

#[tokio::test]
async fn a_filter_says_what_is_wanted() {
    let server = honest().await;
    let node = server.client(HttpOptions::default());
    let topic = alloy_primitives::B256::repeat_byte(9);
    let filter = LogFilter {
        addresses: vec![Address::from_bytes([0xc1; 20])],
        topics: vec![vec![topic, topic], vec![], vec![topic]],
    };
    node.logs(Span::Range { from: 255, to: 50 }, &[filter]).await.unwrap();
    let asked = server.asked.lock().unwrap();
    let text = topic.to_string();
    let expected = json!({
        "fromBlock": "0xff", "toBlock": "0x32", "address": format!("0x{}", "c1".repeat(20)),
        "topics": [[text, text], null, text],
    });
    assert_eq!(asked[0][0]["params"][0], expected);
}

#[tokio::test]
async fn batches_that_are_refused_become_smaller() {
    for allowed in [0, 1, 2] {
        let server = Server::raw(move |body| {
            let many = body.as_array().map_or(1, Vec::len);
            let refused = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no batches"}});
            if many > allowed && body.is_array() {
                let status = if allowed == 1 { StatusCode::BAD_REQUEST } else { StatusCode::OK };
                return (status, None, refused.to_string());
            }
            let one = |request: &Value| json!({"id": request["id"], "result": block(number_of(&request["params"]))});
            let answer = body.as_array().map_or_else(|| one(body), |requests| requests.iter().map(one).collect());
            (StatusCode::OK, None, answer.to_string())
        })
        .await;
        let node = server.client(HttpOptions::default());
        for _ in 0..2 {
            let blocks = node.blocks(&[1, 2, 3, 4, 5, 6, 7]).await.unwrap();
            assert_eq!(blocks.iter().flatten().map(|block| block.number).sum::<u64>(), 28);
        }
        // It is remembered what the node allows.
        let asked = server.asked.lock().unwrap();
        let largest = |bodies: &[Value]| bodies.iter().map(|body| body.as_array().map_or(1, Vec::len)).max();
        assert!(largest(&asked[asked.len() - 3..]) <= Some(allowed.max(1)));
    }
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let says = |status: u16, header, text: &'static str| async move {
        let status = StatusCode::from_u16(status).unwrap();
        let server = Server::raw(move |_| (status, header, text.to_owned())).await;
        let node = server.client(HttpOptions::default());
        let range = node.logs(Span::Range { from: 1, to: 9 }, &[LogFilter::default()]).await.unwrap_err();
        (range, node.head().await.unwrap_err())
    };
    let limited = r#"{"id":0,"error":{"code":-32614,"message":"eth_getLogs is limited to a 5,000 range"}}"#;
    for status in [200, 400, 413] {
        let (range, head) = says(status, None, limited).await;
        assert!(matches!(range, Failure::SmallerRange { suggested: Some(5000), .. }), "{status} {range:?}");
        assert!(matches!(head, Failure::Retry { .. }), "{head:?}");
    }
    let (_, head) = says(429, Some(("retry-after", "7")), "slow down").await;
    assert!(matches!(&head, Failure::Retry { after: Some(after), .. } if after.as_secs() == 7), "{head:?}");
    let (_, head) = says(401, None, "who are you").await;
    assert!(matches!(head, Failure::Stop { .. }), "{head:?}");
    let (_, head) = says(200, None, "<html>").await;
    assert!(matches!(head, Failure::Retry { .. }), "{head:?}");
}

#[tokio::test]
async fn answers_are_bounded_in_size_and_time() {
    let server =
        Server::raw(|_| (StatusCode::OK, None, format!(r#"{{"result":"{}"}}"#, "x".repeat(5000)))).await;
    let node = server.client(HttpOptions { response_bytes_max: 1000, ..HttpOptions::default() });
    let large = node.logs(Span::Range { from: 1, to: 9 }, &[]).await;
    assert!(matches!(large, Err(Failure::SmallerRange { .. })), "{large:?}");
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: NodeUrl = format!("http://{}/SECRET", silent.local_addr().unwrap()).parse().unwrap();
    let options = HttpOptions { timeout: Duration::from_millis(100), ..HttpOptions::default() };
    let node = bourse_chain::rpc::HttpNode::new(url, options, std::sync::Arc::default()).unwrap();
    let slow = node.logs(Span::Range { from: 1, to: 9 }, &[]).await;
    assert!(matches!(slow, Err(Failure::SmallerRange { .. })), "{slow:?}");
    assert!(matches!(node.head().await, Err(Failure::Retry { .. })));
}

#[tokio::test]
async fn the_key_in_an_address_is_never_shown() {
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let text = format!("http://user:PASSWORD@{closed}/v3/SECRET?key=SECRET");
    let url: NodeUrl = text.parse().unwrap();
    assert_eq!(url.to_string(), format!("http://{closed}"));
    assert!(!format!("{url:?}").contains("SECRET"));
    let node =
        bourse_chain::rpc::HttpNode::new(url, HttpOptions::default(), std::sync::Arc::default()).unwrap();
    let error = node.head().await.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("SECRET") && !shown.contains("PASSWORD"), "{shown}");
    for text in ["ftp://host/", "host", "", "http://"] {
        assert!(text.parse::<NodeUrl>().is_err(), "{text}");
    }
}

#[tokio::test]
async fn logs_of_blocks_that_are_gone_are_a_reorganisation() {
    let strange: [(&str, Value); 3] =
        [("removed", json!(true)), ("blockNumber", Value::Null), ("blockHash", Value::Null)];
    for (member, value) in strange {
        let server = Server::node(move |method, _| {
            let mut strange = log(3, 0);
            strange[member] = value.clone();
            Ok(if method == "eth_getLogs" { json!([strange]) } else { block(3) })
        })
        .await;
        let node = server.client(HttpOptions::default());
        let asked = node.logs(Span::Range { from: 1, to: 3 }, &[LogFilter::default()]).await;
        assert!(matches!(asked, Err(Failure::PossibleReorg { .. })), "{member}: {asked:?}");
    }
}

#[tokio::test]
async fn times_are_taken_from_logs_that_have_them() {
    let server = Server::node(|method, _| {
        let mut timed = log(3, 0);
        timed["blockTimestamp"] = json!("0x6553f100");
        let mut zero = log(3, 1);
        zero["blockTimestamp"] = json!("0x0");
        Ok(if method == "eth_getLogs" { json!([timed, zero]) } else { block(3) })
    })
    .await;
    let node = server.client(HttpOptions::default());
    let hash = alloy_primitives::B256::from(alloy_primitives::U256::from(3));
    let logs = node.logs(Span::Block(hash), &[LogFilter::default()]).await.unwrap().logs;
    assert_eq!(logs[0].at.map(bourse_wire::Timestamp::unix_seconds), Some(1_700_000_000));
    assert_eq!(logs[1].at, None);
}

#[tokio::test]
async fn calls_that_contracts_refuse_are_told_apart_from_nodes_that_fail() {
    let server = Server::node(|method, params| match params[0]["data"].as_str().unwrap_or_default() {
        "0x01" => Ok(json!("0x2a")),
        "0x02" => Err((3, "execution reverted: no".to_owned())),
        "0x03" => Err((-32000, "execution reverted".to_owned())),
        _ if method == "eth_getCode" => Ok(json!("0x")),
        _ => Err((-32603, "internal error".to_owned())),
    })
    .await;
    let node = server.client(HttpOptions::default());
    let call = |byte: u8| Call::new(Address::ZERO, vec![byte].into());
    let called = node.call(&[call(1), call(2), call(3)], None).await.unwrap();
    assert_eq!(called, [Ok(vec![0x2a].into()), Err(Reverted), Err(Reverted)]);
    assert!(matches!(node.call(&[call(1), call(4)], None).await, Err(Failure::Retry { .. })));
    assert_eq!(node.code(&[Address::ZERO]).await.unwrap(), [alloy_primitives::Bytes::new()]);
}

/// A topic that nobody but a test uses, and the bloom of a block in which the contract of [`log`] wrote under it.
fn bloom_of_log() -> String {
    let mut bloom = alloy_primitives::Bloom::ZERO;
    let topic = alloy_primitives::B256::from(alloy_primitives::U256::from(7));
    bloom.accrue_raw_log(alloy_primitives::Address::repeat_byte(0xc1), &[topic]);
    bloom.to_string()
}

/// The index of logs is empty; the block and its receipts tell of a log. Older nodes tell receipts one by one.
#[tokio::test]
async fn what_the_index_of_logs_lacks_is_read_from_receipts() {
    for tells_receipts_at_once in [true, false] {
        let server = Server::node(move |method, _| {
            let mut spoken = block(3);
            spoken["logsBloom"] = json!(bloom_of_log());
            spoken["transactions"] = json!([format!("0x{:064x}", 99)]);
            match method {
                "eth_chainId" => Ok(json!("0x89")),
                "eth_getLogs" => Ok(json!([])),
                "eth_getBlockReceipts" if tells_receipts_at_once => Ok(json!([{"logs": [log(3, 4)]}])),
                "eth_getBlockReceipts" => Err((-32601, "method not found".to_owned())),
                "eth_getTransactionReceipt" => Ok(json!({"logs": [log(3, 4)]})),
                _ => Ok(spoken),
            }
        })
        .await;
        let nodes = vec![("node 1".to_owned(), server.client(HttpOptions::default()))];
        let pace = RealPace::new(|| bourse_wire::Timestamp::ZERO);
        let pool = Pool::new(ChainId(137), nodes, PoolOptions::default(), pace);
        let hash = alloy_primitives::B256::from(alloy_primitives::U256::from(3));
        let told = pool.logs(Span::Block(hash), &[LogFilter::default()]).await.unwrap();
        assert_eq!(told.logs.iter().map(|told| told.log.index).collect::<Vec<_>>(), [4]);
        let troubles = pool.troubles();
        assert!(troubles[0].trouble.message.contains("left out logs of block 3"), "{troubles:?}");
        // Of a range only the last block is known: it is refused whole.
        let range = pool.logs(Span::Range { from: 1, to: 3 }, &[LogFilter::default()]).await.unwrap_err();
        assert!(matches!(&range, Failure::Retry { reason, .. } if reason.contains("node 1")), "{range:?}");
    }
}
