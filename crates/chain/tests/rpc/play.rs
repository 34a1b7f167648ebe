//! Nodes that play the steps of a wallet, and how they fail to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use alloy_primitives::{Bytes, U256, hex};
use axum::http::StatusCode;
use bourse_chain::rpc::{HttpNode, HttpOptions, Pool, PoolOptions};
use bourse_chain::{Outcome, Played, RealPace, Rehearsal, Unplayed};
use bourse_protocols::native::Inquiry;
use bourse_protocols::{Call, approve_currency, approve_tokens};
use bourse_wire::{Address, Amount, ChainId, Timestamp};
use serde_json::{Value, json};

use crate::server::{Reply, Server, block};

const WALLET: Address = Address::from_bytes([0xaa; 20]);
const COIN: Address = Address::from_bytes([0xc0; 20]);
const MARKET: Address = Address::from_bytes([0xee; 20]);
/// When the newest block of the stand-ins was made, and what time it is for whoever asks.
const HEAD: u64 = 100;
const NOW: u64 = 1_700_000_000 + HEAD + 3;
/// More than any of these takes, and what one may take that never answers.
const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(50);

/// The error of a contract, as a node writes its data.
const REVERTED: &str = "0x19f6cea5";

/// A purchase for a currency, which is approved first.
fn purchase() -> Rehearsal {
    let buy = Call { to: MARKET, data: Bytes::from_static(&[1, 2]), value: Amount::from(7), price: 9.into() };
    Rehearsal {
        wallet: WALLET,
        calls: vec![approve_currency(COIN, MARKET, 9.into()), buy],
        approvals: 1,
        asked: vec![Inquiry::of(COIN, Bytes::from_static(&[5]))],
        now: NOW,
        known: Some(HEAD),
    }
}

fn pool(server: &Server) -> Pool<HttpNode, RealPace> {
    pool_of(&[server], None)
}

/// Nodes behind one name, at a time that stands still unless it is told to pass.
fn pool_of(servers: &[&Server], seconds: Option<Arc<AtomicU64>>) -> Pool<HttpNode, RealPace> {
    let nodes = servers.iter().map(|server| {
        (server.address.to_string(), server.client(HttpOptions { timeout: LONG, ..HttpOptions::default() }))
    });
    let seconds = seconds.unwrap_or_default();
    let pace = RealPace::new(move || {
        let seconds = seconds.load(Ordering::Relaxed);
        Timestamp::from_unix_nanos(i128::from(NOW + seconds) * 1_000_000_000)
    });
    Pool::new(ChainId(5), nodes.collect(), PoolOptions::default(), pace)
}

/// What every stand-in answers to what is asked beside.
fn beside(method: &str) -> Option<Value> {
    match method {
        "eth_chainId" => Some(json!("0x5")),
        "eth_getBlockByNumber" => Some(block(HEAD)),
        "eth_getBalance" => Some(json!("0x64")),
        _ => None,
    }
}

/// A node that says this of steps, or fails with a code and a message.
async fn playing(says: Result<Value, (i64, &'static str)>) -> Server {
    Server::node(move |method, _| match (method, beside(method)) {
        (_, Some(answer)) => Ok(answer),
        ("eth_simulateV1", None) => says.clone().map_err(|(code, words)| (code, words.to_owned())),
        ("eth_call", None) => Ok(json!("0x01")),
        (method, None) => panic!("{method} is not asked"),
    })
    .await
}

/// A block made of calls that ended like this.
fn played(calls: &[Value]) -> Value {
    json!([{"number": format!("{:#x}", HEAD + 1), "gasUsed": "0x1", "calls": calls}])
}

fn done() -> Value {
    json!({"status": "0x1", "returnData": "0x01", "logs": [], "gasUsed": "0x5208"})
}

fn asked_of(server: &Server, method: &str) -> usize {
    let asked = server.asked.lock().unwrap();
    let all = asked.iter().flat_map(|body| match body {
        Value::Array(batch) => batch.clone(),
        one => vec![one.clone()],
    });
    all.filter(|request| request["method"] == method).count()
}

#[tokio::test]
async fn steps_are_played_in_their_order_by_one_request() {
    let server = playing(Ok(played(&[done(), done(), done()]))).await;
    let said = pool(&server).play(&purchase(), LONG).await.unwrap();
    let expected = Played {
        funds: U256::from(100),
        outcomes: vec![Outcome::Done, Outcome::Done],
        answers: vec![Some(Bytes::from_static(&[1]))],
        block: HEAD,
    };
    assert_eq!(said, expected);
    let asked = server.asked.lock().unwrap();
    let [_, batch] = asked.as_slice() else { panic!("once for the chain, once for the steps: {asked:?}") };
    let params = &batch[2]["params"];
    assert_eq!((&params[1], &params[0]["validation"]), (&json!("latest"), &json!(false)));
    let stage = &params[0]["blockStateCalls"][0];
    assert_eq!(stage["blockOverrides"], json!({"time": format!("{:#x}", NOW + 12)}), "a little ahead");
    assert!(stage.get("stateOverrides").is_none(), "the wallet has what it has: {stage}");
    let approval = hex::encode_prefixed(purchase().calls.remove(0).data);
    assert_eq!(
        stage["calls"],
        json!([
            {"from": WALLET, "to": COIN, "data": approval, "value": "0x0"},
            {"from": WALLET, "to": MARKET, "data": "0x0102", "value": "0x7"},
            {"from": WALLET, "to": COIN, "data": "0x05"},
        ])
    );
}

#[tokio::test]
async fn what_a_contract_refused_with_is_read_wherever_a_node_writes_it() {
    let data = Bytes::from_static(&[0x19, 0xf6, 0xce, 0xa5]);
    for (call, outcome) in [
        (
            json!({"status": "0x0", "returnData": "0x", "error":
                {"code": 3, "message": "execution reverted", "data": REVERTED}}),
            Outcome::Reverted(data.clone()),
        ),
        (
            json!({"status": "0x0", "returnData": REVERTED, "error": {"code": -3200, "message": "failed"}}),
            Outcome::Reverted(data.clone()),
        ),
        (json!({"status": "0x0", "returnData": "0x"}), Outcome::Reverted(Bytes::new())),
        (
            json!({"status": "0x0", "error": {"message": "execution reverted", "data": {"no": "text"}}}),
            Outcome::Reverted(Bytes::new()),
        ),
        // Whatever a contract says, it is not the node that says it.
        (
            json!({"status": "0x0", "error": {"code": 3, "message": "execution reverted: abort, timeout, gas limit"}}),
            Outcome::Reverted(Bytes::new()),
        ),
        (
            json!({"status": "0x0", "returnData": REVERTED, "error": {"message": "reverted: out of gas"}}),
            Outcome::Reverted(data.clone()),
        ),
        // The node gave up, and not the contract.
        (json!({"status": "0x0", "error": {"code": -32015, "message": "out of gas"}}), Outcome::Untried),
        (json!({"status": "0x0", "error": {"message": "execution timeout"}}), Outcome::Untried),
    ] {
        let server = playing(Ok(played(&[done(), call.clone(), done()]))).await;
        let said = pool(&server).play(&purchase(), LONG).await.unwrap();
        assert_eq!(said.outcomes, [Outcome::Done, outcome], "{call}");
    }
    let long = format!("0x{}", "ab".repeat(100_000));
    let server = playing(Ok(played(&[done(), json!({"status": "0x0", "returnData": long}), done()]))).await;
    let said = pool(&server).play(&purchase(), LONG).await.unwrap();
    assert_eq!(said.outcomes[1], Outcome::Reverted(vec![0xab; 4096].into()), "no more is kept");
}

#[tokio::test]
async fn a_wallet_that_lacks_money_is_told_so_whatever_the_node_says_of_the_steps() {
    for says in [Err((-38014, "insufficient funds")), Ok(json!("nonsense")), Ok(played(&[]))] {
        let server = playing(says).await;
        let mut rehearsal = purchase();
        rehearsal.calls[1].value = 101.into();
        let said = pool(&server).play(&rehearsal, LONG).await.unwrap();
        assert_eq!(said.funds, U256::from(100));
        assert_eq!(said.outcomes, [Outcome::Untried, Outcome::Untried]);
    }
}

/// What a node of an older kind says, and those that say something else altogether.
#[tokio::test]
async fn where_a_node_plays_nothing_in_order_what_stands_alone_is_tried() {
    let ways: [Result<Value, (i64, &'static str)>; 9] = [
        Err((-32601, "the method eth_simulateV1 does not exist/is not available")),
        Err((-32601, "Method not found")),
        Err((-32000, "method is not supported on your plan")),
        Ok(Value::Null),
        Ok(json!([])),
        Ok(json!({"calls": []})),
        Ok(json!([{"calls": []}, {"calls": []}])),
        Ok(played(&[done()])),
        Ok(played(&[done(), json!({"status": "0x7"}), done()])),
    ];
    for says in ways {
        let server = playing(says.clone()).await;
        let seconds = Arc::new(AtomicU64::new(0));
        let pool = pool_of(&[&server], Some(Arc::clone(&seconds)));
        for _ in 0..3 {
            let said = pool.play(&purchase(), LONG).await.unwrap();
            assert_eq!(said.outcomes, [Outcome::Done, Outcome::Untried], "{says:?}");
            assert_eq!(said.answers, [None], "it would depend on the steps");
        }
        assert_eq!(asked_of(&server, "eth_simulateV1"), 1, "it is remembered: {says:?}");
        seconds.store(601, Ordering::Relaxed);
        pool.play(&purchase(), LONG).await.unwrap();
        assert_eq!(asked_of(&server, "eth_simulateV1"), 2, "and asked again from time to time");
    }
}

#[tokio::test]
async fn what_stands_alone_is_believed_only_where_nothing_else_can_be_the_reason() {
    let unable = (-32601, "Method not found");
    let refusing = |code: i64, message: &'static str| {
        Server::node(move |method, _| match (method, beside(method)) {
            (_, Some(answer)) => Ok(answer),
            ("eth_call", None) => Err((code, message.to_owned())),
            _ => Err((unable.0, unable.1.to_owned())),
        })
    };
    let reverted = || Outcome::Reverted(Bytes::new());
    for (code, message, now, outcome) in [
        (3, "execution reverted", NOW, reverted()),
        (-32000, "VM execution error: reverted", NOW, reverted()),
        (3, "execution reverted: timeout, aborted", NOW, reverted()),
        (-32000, "out of gas", NOW, Outcome::Untried),
        (-32005, "too many requests", NOW, Outcome::Untried),
        // What is valid from now on was not when the newest block was made.
        (3, "execution reverted", NOW + 1000, Outcome::Untried),
    ] {
        let server = refusing(code, message).await;
        let rehearsal = Rehearsal { now, ..purchase() };
        let said = pool(&server).play(&rehearsal, LONG).await.unwrap();
        assert_eq!(said.outcomes, [outcome, Outcome::Untried], "{message}");
    }
    // Approvals of different contracts have nothing to do with each other, those of one contract may.
    let server = playing(Err(unable)).await;
    let calls = vec![
        approve_currency(COIN, MARKET, 0.into()),
        approve_currency(COIN, MARKET, 9.into()),
        approve_tokens(MARKET, COIN),
    ];
    let rehearsal = Rehearsal { calls, approvals: 3, asked: Vec::new(), ..purchase() };
    let said = pool(&server).play(&rehearsal, LONG).await.unwrap();
    assert_eq!(said.outcomes, [Outcome::Done, Outcome::Untried, Outcome::Done]);
    // Without steps, what is asked depends on nothing.
    let rehearsal = Rehearsal { calls: Vec::new(), approvals: 0, ..purchase() };
    let said = pool(&server).play(&rehearsal, LONG).await.unwrap();
    assert_eq!(said.answers, [Some(Bytes::from_static(&[1]))]);
}

#[tokio::test]
async fn nodes_that_take_no_batches_are_asked_one_by_one() {
    let server = Server::raw(|body| {
        let Some(method) = body["method"].as_str() else {
            let refused = json!({"error": {"code": -32600, "message": "batches are not allowed"}});
            return (StatusCode::OK, None, refused.to_string()) as Reply;
        };
        let result = beside(method).unwrap_or_else(|| played(&[done(), done(), done()]));
        (StatusCode::OK, None, json!({"id": body["id"], "result": result}).to_string())
    })
    .await;
    let said = pool(&server).play(&purchase(), LONG).await.unwrap();
    assert_eq!(said.outcomes, [Outcome::Done, Outcome::Done]);
}

#[tokio::test]
async fn a_chain_whose_clock_is_ahead_is_played_on_after_its_newest_block() {
    let server = Server::node(|method, params| {
        Ok(beside(method).unwrap_or_else(|| {
            let time = params[0]["blockStateCalls"][0]["blockOverrides"]["time"].as_str().unwrap();
            let time = u64::from_str_radix(&time[2..], 16).unwrap();
            let status = if time > 1_700_000_000 + HEAD { "0x1" } else { "0x0" };
            played(&[done(), json!({"status": status, "returnData": "0x"}), done()])
        }))
    })
    .await;
    let rehearsal = Rehearsal { now: NOW - 5000, ..purchase() };
    let said = pool(&server).play(&rehearsal, LONG).await.unwrap();
    assert_eq!(said.outcomes, [Outcome::Done, Outcome::Done]);
}

#[tokio::test]
async fn a_node_that_cannot_be_asked_costs_so_much_and_is_left_alone_for_a_while() {
    for says in [Err((-32005, "rate limit exceeded")), Err((-32000, "too many requests"))] {
        let server = playing(says.clone()).await;
        let seconds = Arc::new(AtomicU64::new(0));
        let pool = pool_of(&[&server], Some(Arc::clone(&seconds)));
        for _ in 0..3 {
            assert_eq!(pool.play(&purchase(), LONG).await, Err(Unplayed::Silent), "{says:?}");
        }
        assert_eq!(asked_of(&server, "eth_simulateV1"), 1, "{says:?}");
        assert!(pool.troubles().is_empty(), "it is followed all the same");
        seconds.store(6, Ordering::Relaxed);
        assert_eq!(pool.play(&purchase(), LONG).await, Err(Unplayed::Silent));
        assert_eq!(asked_of(&server, "eth_simulateV1"), 2, "it is tried again: {says:?}");
    }
}

/// Whoever sends steps that a node does not get through would otherwise have nothing of anybody's tried.
#[tokio::test]
async fn what_a_node_does_not_get_through_says_nothing_of_other_steps() {
    for odd in
        [(-38015, "block gas limit reached"), (-32603, "internal error"), (-32000, "execution timeout")]
    {
        let server = Server::node(move |method, params| match (method, beside(method)) {
            (_, Some(answer)) => Ok(answer),
            (_, None) if params.to_string().contains("0x0bad") => Err((odd.0, odd.1.to_owned())),
            (_, None) => Ok(played(&[done(), done(), done()])),
        })
        .await;
        let pool = pool(&server);
        let mut rehearsal = purchase();
        rehearsal.calls[1].data = Bytes::from_static(&[0x0b, 0xad]);
        assert_eq!(pool.play(&rehearsal, LONG).await, Err(Unplayed::Silent), "{odd:?}");
        assert!(pool.play(&purchase(), LONG).await.is_ok(), "{odd:?}");
    }
}

/// One that hangs leaves its share of the time to the next.
#[tokio::test]
async fn a_rehearsal_that_takes_too_long_is_played_by_another_node() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let silent = HttpNode::new(url.parse().unwrap(), HttpOptions::default(), Arc::default()).unwrap();
    let good = playing(Ok(played(&[done(), done(), done()]))).await;
    let nodes = vec![("silent".to_owned(), silent), ("good".to_owned(), good.client(HttpOptions::default()))];
    let pace = RealPace::new(|| Timestamp::from_unix_nanos(i128::from(NOW) * 1_000_000_000));
    let pool = Pool::new(ChainId(5), nodes, PoolOptions::default(), pace);
    let said = pool.play(&purchase(), Duration::from_secs(2)).await.unwrap();
    assert_eq!(said.outcomes, [Outcome::Done, Outcome::Done]);
}

#[tokio::test]
async fn a_node_that_never_answers_or_says_too_much_is_not_waited_for() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let silent = HttpNode::new(url.parse().unwrap(), HttpOptions::default(), Arc::default()).unwrap();
    let pace = RealPace::new(|| Timestamp::from_unix_nanos(i128::from(NOW) * 1_000_000_000));
    let pool = Pool::new(ChainId(5), vec![("silent".to_owned(), silent)], PoolOptions::default(), pace);
    assert_eq!(pool.play(&purchase(), SHORT).await, Err(Unplayed::Silent));

    let huge = Value::String("x".repeat(9 << 20));
    let server = playing(Ok(huge)).await;
    assert_eq!(self::pool(&server).play(&purchase(), LONG).await, Err(Unplayed::Silent));
    let nobody: Pool<HttpNode, RealPace> = pool_of(&[], None);
    assert_eq!(nobody.play(&purchase(), LONG).await, Err(Unplayed::NoNode));
}

#[tokio::test]
async fn another_node_plays_where_the_first_fails_or_is_behind() {
    let failing = playing(Err((-32603, "internal error"))).await;
    let good = playing(Ok(played(&[done(), done(), done()]))).await;
    let said = pool_of(&[&failing, &good], None).play(&purchase(), LONG).await.unwrap();
    assert_eq!(said.outcomes, [Outcome::Done, Outcome::Done]);
    let ahead = Rehearsal { known: Some(HEAD + 1), ..purchase() };
    assert_eq!(pool(&good).play(&ahead, LONG).await, Err(Unplayed::Behind));
    // One that answers about a newer block than it plays on: several machines behind one address.
    let mixed = json!([{"number": format!("{:#x}", HEAD - 5), "calls": [done(), done(), done()]}]);
    let mixed = playing(Ok(mixed)).await;
    assert_eq!(pool(&mixed).play(&purchase(), LONG).await, Err(Unplayed::Behind));
}
