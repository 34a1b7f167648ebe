//! Balances of a followed contract that changed since a block.

use std::collections::BTreeSet;

use bourse_market::facts::{Block, BlockHash, Fact, StatedFact};
use bourse_server::service;
use bourse_store::testing::operator;
use bourse_store::{BlockFacts, Blocks, BlocksCommitted, History, Store};
use bourse_wire::ChainId;
use serde_json::{Value, json};

use super::{ANNA, BEN, MASKS, NOBODY};
use crate::streams::{Stream, said};
use crate::support::TestApp;
use crate::support::seed::key;
use crate::support::transcript::Transcript;

const UPDATES: &str = "Indexer/GetBalanceUpdates";
const CHAIN: ChainId = ChainId(137);
const NODE: [(&str, &str); 2] =
    [("networks.polygon.rpc_url", "https://node.example"), ("networks.polygon.id", "137")];
const MAKER: &str = "0x0000000000000000000000000000000000000000";

fn hash(number: u8, fork: u8) -> BlockHash {
    BlockHash::from([if number > 11 { number + fork } else { number }; 32])
}

/// A block of a fork, in which tokens go from one to another.
fn block(number: u8, fork: u8, transfers: &[(u64, &str, &str)]) -> BlockFacts {
    let block = Block {
        number: number.into(),
        hash: hash(number, fork),
        parent: hash(number - 1, fork),
        at: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    let stated = |(log_index, (token, from, to)): (u64, &(u64, &str, &str))| StatedFact {
        collection: MASKS.parse().unwrap(),
        tx_hash: hash(number, fork),
        log_index,
        part: 0,
        fact: Fact::Transfer {
            token_id: (*token).into(),
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
            quantity: 1.into(),
            single: true,
        },
    };
    BlockFacts { block, facts: (0..).zip(transfers).map(stated).collect() }
}

async fn commit(store: &Store, expected: BlockHash, rewind_to: Option<u64>, blocks: Vec<BlockFacts>) {
    let covered = vec![MASKS.parse().unwrap()];
    let batch = Blocks { chain: CHAIN, expected, rewind_to, blocks, covered, window: 8 };
    let done = store.commit_blocks(batch).await.unwrap();
    assert!(matches!(done, BlocksCommitted::Done { .. }), "{done:?}");
}

async fn followed() -> TestApp {
    let app = TestApp::with(&NODE).await;
    let (store, first) = (&app.store, block(10, 0, &[]));
    store.follow(key(MASKS), 10, operator()).await.unwrap();
    store.start_chain(CHAIN, first.block).await.unwrap();
    let history = History { collection: key(MASKS), from: 10, to: 10, blocks: Vec::new(), window: 8 };
    store.commit_history(history).await.unwrap();
    let blocks = vec![block(11, 0, &[(1, MAKER, ANNA), (2, MAKER, ANNA)]), block(12, 0, &[(1, ANNA, BEN)])];
    commit(store, first.block.hash, None, blocks).await;
    app
}

#[tokio::test]
async fn since_a_block() {
    let app = followed().await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    let since = |number: u64, hash: BlockHash| json!({ "contractAddress": MASKS, "lastBlockNumber": number, "lastBlockHash": format!("{hash:#x}") });
    said.call(a, UPDATES, json!({ "contractAddress": MASKS, "lastBlockNumber": 0 })).await;
    said.call(a, UPDATES, since(11, hash(11, 0))).await;
    commit(&app.store, hash(12, 0), Some(11), vec![block(12, 50, &[]), block(13, 50, &[(2, ANNA, NOBODY)])])
        .await;
    said.call(a, UPDATES, since(12, hash(12, 0))).await;
    said.call(a, UPDATES, json!({ "contractAddress": BEN, "lastBlockNumber": 0 })).await;
    insta::assert_snapshot!(said.text());
}

/// Token, account and balance of each of some lines of a stream, and the block that all of them are of.
fn heard(lines: &[Value]) -> (BTreeSet<(String, String, String)>, Value) {
    let block = lines[0]["balance"]["blockHash"].clone();
    let row = |line: &Value| {
        assert_eq!(line["balance"]["blockHash"], block);
        let text = |member: &str| line["balance"][member].as_str().unwrap().to_owned();
        (text("tokenID"), text("accountAddress"), text("balance"))
    };
    (lines.iter().map(row).collect(), block)
}

#[tokio::test]
async fn who_listens_is_told_what_is_held_and_that_it_is_not_after_all() {
    let app = followed().await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let masks = json!({ "chainId": 137, "contractAddress": MASKS });
    let path = "/rpc/Indexer/SubscribeBalanceUpdates";
    let mut stream = Stream::subscribe(&entrance, &app.project_a, path, masks.clone()).await;
    let row =
        |token: &str, account: &str, held: &str| (token.to_owned(), account.to_owned(), held.to_owned());
    commit(&app.store, hash(12, 0), None, vec![block(13, 0, &[(2, ANNA, BEN)])]).await;
    let expected = BTreeSet::from([row("2", ANNA, "0"), row("2", BEN, "1")]);
    let mut lines = stream.lines(2).await;
    assert_eq!(heard(&lines), (expected, json!(format!("{:#x}", hash(13, 0)))));
    lines.sort_by_key(|line| line["balance"]["balance"].to_string());
    insta::assert_snapshot!(said(path, &masks, &lines[0]));
    // Blocks 12 and 13 are gone, with all that they told.
    commit(&app.store, hash(13, 0), Some(11), vec![block(12, 50, &[(2, ANNA, NOBODY)])]).await;
    let expected = [
        row("1", ANNA, "1"),
        row("1", BEN, "0"),
        row("2", ANNA, "0"),
        row("2", BEN, "0"),
        row("2", NOBODY, "1"),
    ];
    assert_eq!(heard(&stream.lines(5).await), (expected.into(), json!(format!("{:#x}", hash(12, 50)))));
    // More than are told one by one ends it, with a word about where they are.
    let many: Vec<_> = (100..1_200).map(|token| (token, MAKER, BEN)).collect();
    commit(&app.store, hash(12, 50), None, vec![block(13, 50, &many)]).await;
    let rest = stream.rest().await;
    assert!(rest.contains("webrpcError") && rest.contains("GetBalanceUpdates"), "{rest}");
    let unknown = json!({ "chainId": 137, "contractAddress": NOBODY });
    let answer = app.project_a.call("Indexer/SubscribeBalanceUpdates", unknown).await;
    assert_eq!(answer.json["error"], "NotFound");
    background.stop().await;
}

/// Whoever keeps a copy has in the end what balances say, page by page, and what came of a block that is no more is gone.
#[tokio::test]
async fn a_copy_is_what_balances_say() {
    let app = followed().await;
    let pages = async |since: u64, hash: Option<BlockHash>| {
        let mut body =
            json!({ "contractAddress": MASKS, "lastBlockNumber": since, "page": { "pageSize": 1 } });
        body["lastBlockHash"] = json!(hash.map(|hash| format!("{hash:#x}")));
        let mut found: Vec<(Value, Value, Value)> = Vec::new();
        loop {
            let answer = app.project_a.call(UPDATES, body.clone()).await.ok();
            let row =
                |row: &Value| (row["tokenID"].clone(), row["accountAddress"].clone(), row["balance"].clone());
            found.extend(answer["balances"].as_array().unwrap().iter().map(row));
            if answer["page"]["more"] == false {
                return (answer["isComplete"] == true, found);
            }
            body["page"] = answer["page"].clone();
        }
    };
    let row = |token: &str, account: &str, held: &str| (json!(token), json!(account), json!(held));
    assert_eq!(pages(11, Some(hash(11, 0))).await, (false, vec![row("1", ANNA, "0"), row("1", BEN, "1")]));
    assert_eq!(pages(12, Some(hash(12, 0))).await, (false, vec![]));
    commit(&app.store, hash(12, 0), Some(11), vec![block(12, 50, &[])]).await;
    assert_eq!(pages(12, Some(hash(12, 0))).await, (true, vec![row("1", ANNA, "1"), row("2", ANNA, "1")]));
    // Of the other block it is known what changed since.
    assert_eq!(pages(11, Some(hash(11, 0))).await, (false, vec![]));
    // Supplies and balances go back with it.
    let supply = json!({ "contractAddress": MASKS });
    let supply = app.project_a.call("Indexer/GetTokenSupplies", supply).await.ok();
    assert_eq!(supply["tokenIDs"].as_array().unwrap().len(), 2);
    let held = json!({ "accountAddress": ANNA, "contractAddress": MASKS });
    let held = app.project_a.call("Indexer/GetTokenBalances", held).await.ok();
    assert_eq!(
        (held["balances"].as_array().unwrap().len(), &held["balances"][0]["blockNumber"]),
        (2, &json!(12))
    );
}
