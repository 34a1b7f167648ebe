//! What is asked of nodes.

use std::sync::Arc;

use bourse_chain::Receipt;
use bourse_server::service;
use serde_json::{Value, json};

use super::ANNA;
use crate::streams::{Stream, said, sale};
use crate::support::actor::Answer;
use crate::support::chain::FakeChain;
use crate::support::market::put_coin;
use crate::support::orders::commit;
use crate::support::seed::RELICS;
use crate::support::transcript::Transcript;
use crate::support::{TestApp, WAIT_MAX};

const NATIVE: &str = "Indexer/GetNativeTokenBalance";
const RECEIPT: &str = "Indexer/FetchTransactionReceipt";
const FILTERED: &str = "Indexer/FetchTransactionReceiptWithFilter";
const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

fn hash(digit: char) -> String {
    format!("0x{}", digit.to_string().repeat(64))
}

fn receipt() -> Receipt {
    Receipt {
        transaction: hash('1').parse().unwrap(),
        succeeded: true,
        index: 3,
        kind: 2,
        block_hash: hash('b').parse().unwrap(),
        block_number: 100,
        gas_used: 21_000,
        effective_gas_price: 7,
        from: ANNA.parse().unwrap(),
        to: None,
        logs: vec![bourse_market::facts::Log {
            address: "0x00000000000000000000000000000000000000e1".parse().unwrap(),
            topics: vec![TRANSFER.parse().unwrap()],
            data: vec![1, 2].into(),
            block_number: 100,
            block_hash: hash('b').parse().unwrap(),
            tx_hash: hash('1').parse().unwrap(),
            index: 9,
        }],
    }
}

async fn with_node(settings: &[(&'static str, &str)]) -> (TestApp, Arc<FakeChain>) {
    let chain = Arc::new(FakeChain::default());
    *chain.funds.lock().unwrap() = Some(1_500_000_000_000_000_000);
    *chain.head.lock().unwrap() = 110;
    chain.receipts.lock().unwrap().push(receipt());
    let (app, ()) =
        TestApp::asking(settings, Some(Arc::<FakeChain>::clone(&chain)), async |_, _, _| ()).await;
    put_coin(&app).await;
    (app, chain)
}

#[tokio::test]
async fn what_nodes_tell() {
    let (app, _chain) = with_node(&[]).await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    let account = json!({ "chainId": 137, "accountAddress": ANNA });
    said.call(a, NATIVE, account.clone()).await;
    said.call(a, "Indexer/GetEtherBalance", account).await;
    said.call(a, RECEIPT, json!({ "chainId": 137, "txnHash": hash('1') })).await;
    let filter = json!({ "txnHash": hash('1'), "from": ANNA, "event": TRANSFER });
    said.call(a, FILTERED, json!({ "chainId": 137, "filter": filter })).await;
    let filter = json!({ "txnHash": hash('1'), "to": ANNA });
    said.call(a, FILTERED, json!({ "chainId": 137, "filter": filter })).await;
    said.call(a, FILTERED, json!({ "chainId": 137, "filter": { "from": ANNA } })).await;
    let chain = json!({ "chainId": 137 });
    said.call(a, "Indexer/GetChainID", chain.clone()).await;
    let version = said.call(a, "Indexer/Version", chain.clone()).await;
    said.call(a, "Indexer/RuntimeStatus", chain).await;
    let hash = version["version"]["schemaHash"].as_str().unwrap();
    insta::assert_snapshot!(said.text().replace(hash, "…").replace(env!("CARGO_PKG_VERSION"), "(version)"));
}

/// A transaction is waited for as many blocks as are asked for, while the chain moves on.
#[tokio::test]
async fn a_transaction_is_waited_for() {
    // It waits for three quarters of it.
    let (app, chain) = with_node(&[("limits.request_timeout_ms", "4000")]).await;
    let missing = json!({ "chainId": 137, "txnHash": hash('2'), "maxBlockWait": 0 });
    let answer = app.project_a.call(RECEIPT, missing).await;
    assert_eq!(answer.refusal(), (400, 3000));
    let asked = async |blocks: Value| {
        let body = json!({ "chainId": 137, "txnHash": hash('2'), "maxBlockWait": blocks });
        app.project_a.call(RECEIPT, body).await
    };
    chain.moves.store(true, std::sync::atomic::Ordering::Relaxed);
    let before = *chain.head.lock().unwrap();
    assert_eq!(asked(json!(3)).await.refusal(), (400, 3000));
    assert_eq!(*chain.head.lock().unwrap() - before, 4);
    // However many are asked for, a request ends in its time.
    chain.moves.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(asked(json!(1_000_000)).await.refusal(), (400, 3000));
    *chain.comes_at.lock().unwrap() =
        Some((3, Receipt { transaction: hash('2').parse().unwrap(), ..receipt() }));
    assert_eq!(asked(json!(1_000_000)).await.ok()["receipt"]["txnHash"], hash('2'));
}

/// Whoever finds no place to wait is told to come back, and not that there is no such transaction.
#[tokio::test]
async fn only_so_many_wait_for_transactions() {
    let (app, _chain) = with_node(&[("limits.request_timeout_ms", "6000")]).await;
    let asked = |hash: String, blocks: u64| {
        let body = json!({ "chainId": 137, "txnHash": hash, "maxBlockWait": blocks });
        app.project_a.call(RECEIPT, body)
    };
    let waiting = futures_util::future::join_all((0..40).map(|_| asked(hash('2'), 1_000)));
    let beside = async {
        // What is there needs no place, and neither does who would not wait.
        asked(hash('1'), 3).await.ok();
        assert_eq!(asked(hash('2'), 0).await.refusal(), (400, 3000));
    };
    let (answers, ()) = futures_util::future::join(waiting, beside).await;
    let mut refusals: Vec<_> = answers.iter().map(Answer::refusal).collect();
    refusals.sort_unstable();
    let expected = [vec![(400, 3000); 32], vec![(503, 1901); 8]].concat();
    assert_eq!(refusals, expected);
}

/// Those of a contract that a filter lets through, each once.
#[tokio::test]
async fn who_listens_is_told_what_became_of_transactions() {
    let (app, chain) = with_node(&[]).await;
    let of = |digit: char, contract: &str| {
        let mut receipt = Receipt { transaction: hash(digit).parse().unwrap(), ..receipt() };
        receipt.logs[0].address = contract.parse().unwrap();
        receipt
    };
    chain.receipts.lock().unwrap().extend([of('3', RELICS), of('4', ANNA), of('5', RELICS)]);
    commit(&app.store, vec![sale(&hash('9'), 1)]).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let path = "/rpc/Indexer/SubscribeReceipts";
    let body = json!({ "chainId": 137, "filter": { "contractAddress": RELICS, "event": TRANSFER } });
    let mut stream = Stream::subscribe(&entrance, &app.project_a, path, body.clone()).await;
    let sales: Vec<_> = ['3', '4', '6'].map(|digit| sale(&hash(digit), 1)).into();
    commit(&app.store, sales).await;
    commit(&app.store, vec![sale(&hash('5'), 2)]).await;
    let lines = stream.lines(2).await;
    let names: Vec<&Value> = lines.iter().map(|line| &line["receipt"]["txnHash"]).collect();
    assert_eq!(names, [&json!(hash('3')), &json!(hash('5'))]);
    let fetched = app.project_a.call(RECEIPT, json!({ "chainId": 137, "txnHash": hash('3') })).await.ok();
    assert_eq!(lines[0], fetched);
    insta::assert_snapshot!(said(path, &body, &lines[0]));
    let all = app.project_a.call("Indexer/SubscribeReceipts", json!({ "chainId": 137, "filter": {} })).await;
    assert!(all.status == 400 && all.text().contains("filter.contractAddress"), "{}", all.text());
    background.stop().await;
}

/// However many listen, and in however many collections it happened.
#[tokio::test]
async fn a_node_is_asked_once_for_each_transaction_that_many_are_told_of() {
    let (app, chain) = with_node(&[]).await;
    let of = |digit: char| {
        let mut receipt = Receipt { transaction: hash(digit).parse().unwrap(), ..receipt() };
        receipt.logs[0].address = RELICS.parse().unwrap();
        receipt
    };
    chain.receipts.lock().unwrap().extend([of('3'), of('5')]);
    commit(&app.store, vec![sale(&hash('9'), 1)]).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let body = json!({ "chainId": 137, "filter": { "contractAddress": RELICS } });
    let mut streams = Vec::new();
    for _ in 0..50 {
        let path = "/rpc/Indexer/SubscribeReceipts";
        streams.push(Stream::subscribe(&entrance, &app.project_a, path, body.clone()).await);
    }
    commit(&app.store, vec![sale(&hash('3'), 1), sale(&hash('5'), 2)]).await;
    for stream in &mut streams {
        let lines = stream.lines(2).await;
        assert_eq!(lines[0]["receipt"]["txnHash"], hash('3'));
    }
    let asked = chain.asked.lock().unwrap().clone();
    let count = |what: &str| asked.iter().filter(|asked| asked.contains(what)).count();
    assert_eq!(count("receipt"), 2, "{asked:?}");
    // The head of a moment ago is good enough; a slow machine may need another.
    assert!(count("head") < 10, "{asked:?}");
    background.stop().await;
}

#[tokio::test]
async fn a_node_that_says_nothing_keeps_nobody_from_signs_of_life_and_the_end() {
    let (app, chain) = with_node(&[]).await;
    commit(&app.store, vec![sale(&hash('9'), 1)]).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let body = json!({ "chainId": 137, "filter": { "contractAddress": RELICS } });
    let path = "/rpc/Indexer/SubscribeReceipts";
    let mut stream = Stream::subscribe(&entrance, &app.project_a, path, body).await;
    chain.withholds.store(true, std::sync::atomic::Ordering::Relaxed);
    commit(&app.store, vec![sale(&hash('3'), 1)]).await;
    let life = async {
        let is_asked = || chain.asked.lock().unwrap().iter().any(|asked| asked.contains("receipt"));
        while !is_asked() || stream.text() != "\n\n" {
            assert!(stream.grow().await);
        }
    };
    tokio::time::timeout(WAIT_MAX, life).await.expect("a sign of life");
    app.app.begin_to_stop().await;
    let rest = tokio::time::timeout(WAIT_MAX, stream.rest()).await.expect("the end");
    assert!(rest.contains("about to stop"), "{rest}");
    background.stop().await;
}

#[tokio::test]
async fn without_a_node() {
    let app = TestApp::start().await;
    let account = json!({ "chainId": 137, "accountAddress": ANNA });
    let listened = json!({ "chainId": 137, "filter": { "contractAddress": RELICS } });
    for (operation, body) in [
        (NATIVE, account),
        (RECEIPT, json!({ "chainId": 137, "txnHash": hash('1') })),
        ("Indexer/SubscribeReceipts", listened),
    ] {
        let answer = app.project_a.call(operation, body).await;
        assert_eq!(answer.refusal(), (400, 2001), "{}", answer.json);
        assert!(answer.text().contains("network polygon has no node"), "{}", answer.text());
    }
    let filter = json!({ "accountAddresses": [ANNA] });
    let answer = app
        .project_a
        .call("Indexer/GetTokenBalancesSummary", json!({ "chainId": 137, "filter": filter }))
        .await;
    let native = &answer.ok()["nativeBalances"][0];
    assert_eq!(
        (&native["balance"], &native["errorReason"]),
        (&json!("0"), &json!("no node of the network is configured"))
    );
}
