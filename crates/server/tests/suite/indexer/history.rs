//! Transactions of accounts and contracts.

use std::collections::BTreeSet;

use bourse_market::facts::{Block, BlockHash, Fact, StatedFact};
use bourse_store::testing::operator;
use bourse_store::{BlockFacts, Blocks, BlocksCommitted, History, Store};
use bourse_wire::ChainId;
use serde_json::{Value, json};

use super::{ANNA, BEN, MASKS, NOBODY};
use crate::support::TestApp;
use crate::support::seed::{RELICS, key};
use crate::support::transcript::Transcript;

const HISTORY: &str = "Indexer/GetTransactionHistory";
const CHAIN: ChainId = ChainId(137);
const MAKER: &str = "0x0000000000000000000000000000000000000000";

/// Log, contract, token, from, to and how many.
type Moved<'m> = (u64, &'m str, u64, &'m str, &'m str, u64);

fn hash(number: u8, fork: u8) -> BlockHash {
    BlockHash::from([if number > 11 { number + fork } else { number }; 32])
}

/// A block of a fork. Three logs each are those of a transaction.
fn block(number: u8, fork: u8, moved: &[Moved<'_>]) -> BlockFacts {
    let block = Block {
        number: number.into(),
        hash: hash(number, fork),
        parent: hash(number - 1, fork),
        at: format!("2026-01-01T00:00:{number}Z").parse().unwrap(),
    };
    let stated = |(part, (log_index, contract, token, from, to, quantity)): (u32, &Moved<'_>)| StatedFact {
        collection: contract.parse().unwrap(),
        tx_hash: BlockHash::from([100 + u8::try_from(log_index / 3).unwrap() + 3 * (number - 11); 32]),
        log_index: *log_index,
        part,
        fact: Fact::Transfer {
            token_id: (*token).into(),
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
            quantity: (*quantity).into(),
            single: false,
        },
    };
    BlockFacts { block, facts: (0..).zip(moved).map(stated).collect() }
}

async fn commit(store: &Store, expected: BlockHash, rewind_to: Option<u64>, blocks: Vec<BlockFacts>) {
    let covered = vec![MASKS.parse().unwrap(), RELICS.parse().unwrap()];
    let batch = Blocks { chain: CHAIN, expected, rewind_to, blocks, covered, window: 8 };
    let done = store.commit_blocks(batch).await.unwrap();
    assert!(matches!(done, BlocksCommitted::Done { .. }), "{done:?}");
}

/// Two contracts that are followed, with two blocks of which a fork may undo the second.
async fn followed() -> TestApp {
    let app = TestApp::start().await;
    let (store, first) = (&app.store, block(10, 0, &[]));
    store.start_chain(CHAIN, first.block).await.unwrap();
    for contract in [MASKS, RELICS] {
        store.follow(key(contract), 10, operator()).await.unwrap();
        let history = History { collection: key(contract), from: 10, to: 10, blocks: Vec::new(), window: 8 };
        store.commit_history(history).await.unwrap();
    }
    let eleven = [
        (0, MASKS, 1, MAKER, ANNA, 5),
        (0, MASKS, 2, MAKER, ANNA, 7),
        (1, RELICS, 9, MAKER, BEN, 1),
        (3, MASKS, 1, ANNA, BEN, 2),
    ];
    let twelve = [(0, MASKS, 1, BEN, BEN, 1), (4, RELICS, 9, BEN, ANNA, 1), (5, MASKS, 2, ANNA, BEN, 3)];
    let blocks = vec![block(11, 0, &eleven), block(12, 0, &twelve)];
    commit(store, first.block.hash, None, blocks).await;
    app
}

#[tokio::test]
async fn of_an_account_a_contract_and_a_transaction() {
    let app = followed().await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    said.call(a, HISTORY, json!({ "chainId": 137, "filter": { "accountAddress": ANNA } })).await;
    let filter = json!({ "contractAddresses": [RELICS], "toBlock": 11 });
    said.call(a, HISTORY, json!({ "chainId": 137, "filter": filter, "includeMetadata": true })).await;
    let filter = json!({ "transactionHashes": [format!("{:#x}", BlockHash::from([104; 32]))] });
    said.call(a, HISTORY, json!({ "chainId": 137, "filter": filter })).await;
    said.call(a, HISTORY, json!({ "chainId": 137, "filter": { "accountAddress": NOBODY } })).await;
    said.call(a, HISTORY, json!({ "chainId": 137, "filter": {} })).await;
    said.call(a, HISTORY, json!({ "chainId": 137, "filter": { "accountAddress": ANNA, "tokenID": "1" } }))
        .await;
    said.call(
        a,
        HISTORY,
        json!({ "chainId": 137, "filter": { "accountAddress": ANNA, "metaTransactionIDs": ["1"] } }),
    )
    .await;
    insta::assert_snapshot!(said.text());
}

/// What a transaction moved: its block and name, and log and tokens of each transfer.
type Told = (u64, String, Vec<(u64, Vec<String>)>);

fn told(answer: &Value) -> Vec<Told> {
    answer["transactions"].as_array().unwrap().iter().map(told_of_one).collect()
}

fn told_of_one(transaction: &Value) -> Told {
    let transfers = transaction["transfers"].as_array().unwrap().iter();
    let tokens = |ids: &Value| -> Vec<String> {
        ids.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    };
    let transfers = transfers.map(|one| (one["logIndex"].as_u64().unwrap(), tokens(&one["tokenIds"])));
    let (number, hash) = (transaction["blockNumber"].as_u64(), transaction["blockHash"].as_str());
    (number.unwrap(), hash.unwrap().to_owned(), transfers.collect())
}

#[tokio::test]
async fn what_is_asked_for_and_nothing_else() {
    let app = followed().await;
    let asked = async |filter: Value| {
        let answer = app.project_a.call(HISTORY, json!({ "chainId": 137, "filter": filter })).await.ok();
        assert_eq!(answer["page"]["more"], false);
        told(&answer).into_iter().map(|(block, _, transfers)| (block, transfers)).collect::<Vec<_>>()
    };
    let one =
        |log: u64, tokens: &[&str]| (log, tokens.iter().map(|&token| token.to_owned()).collect::<Vec<_>>());
    let filter = json!({ "accountAddress": BEN, "contractAddress": MASKS });
    let expected = [(12, vec![one(5, &["2"])]), (12, vec![one(0, &["1"])]), (11, vec![one(3, &["1"])])];
    assert_eq!(asked(filter).await, expected);
    let filter = json!({ "accountAddresses": [ANNA, BEN], "fromBlock": 12 });
    assert_eq!(asked(filter).await, [(12, vec![one(4, &["9"]), one(5, &["2"])]), (12, vec![one(0, &["1"])])]);
    let filter = json!({ "contractAddress": MASKS, "tokenID": "2" });
    assert_eq!(asked(filter).await, [(12, vec![one(5, &["2"])]), (11, vec![one(0, &["2"])])]);
    let all = asked(json!({ "contractAddresses": [MASKS, RELICS] })).await;
    let first = (11, vec![one(0, &["1", "2"]), one(1, &["9"])]);
    assert_eq!((all.len(), all.last()), (4, Some(&first)));
    assert!(asked(json!({ "contractAddress": BEN })).await.is_empty());
}

/// Each of those named is read by itself.
#[tokio::test]
async fn only_so_many_are_named_at_once() {
    let app = followed().await;
    let addresses = |count: u64| (0..count).map(|number| format!("{number:#042x}")).collect::<Vec<_>>();
    let hashes = |count: u64| (0..count).map(|number| format!("{number:#066x}")).collect::<Vec<_>>();
    let asked =
        async |filter: Value| app.project_a.call(HISTORY, json!({ "chainId": 137, "filter": filter })).await;
    for (filter, named) in [
        (json!({ "accountAddresses": addresses(11) }), "filter.accountAddresses"),
        (json!({ "contractAddresses": addresses(11) }), "filter.contractAddresses"),
        (json!({ "transactionHashes": hashes(11) }), "filter.transactionHashes"),
    ] {
        let answer = asked(filter).await;
        assert_eq!(answer.status, 400);
        let cause = answer.json.to_string();
        assert!(cause.contains(named) && cause.contains("at most 10 are allowed"), "{cause}");
    }
    asked(json!({ "accountAddresses": addresses(10) })).await.ok();
    asked(json!({ "accountAddress": ANNA, "contractAddresses": addresses(50) })).await.ok();
}

/// A page by number that cannot be reached is refused, and never another one than was asked for.
#[tokio::test]
async fn a_page_that_is_too_far_away() {
    let app = followed().await;
    let page = async |operation: &str, page: u64| {
        let filter = json!({ "accountAddress": ANNA, "omitPrices": true });
        let page = json!({ "page": page, "pageSize": 200 });
        app.project_a.call(operation, json!({ "chainId": 137, "filter": filter, "page": page })).await
    };
    assert!(told(&page(HISTORY, 11).await.ok()).is_empty());
    let refused = page(HISTORY, 12).await;
    assert_eq!(refused.refusal(), (400, 2001));
    assert!(refused.json["msg"].as_str().unwrap().contains("too far away"), "{}", refused.json);
    let answer = page("IndexerGateway/GetTransactionHistory", 1).await.ok();
    assert!(!answer["transactions"][0]["results"].as_array().unwrap().is_empty());
}

/// However long pages are, all of them together are the same; and each transaction is on one of them.
#[tokio::test]
async fn page_by_page() {
    let app = followed().await;
    let filter = json!({ "accountAddresses": [ANNA, BEN, MAKER] });
    let all = told(&app.project_a.call(HISTORY, json!({ "chainId": 137, "filter": filter })).await.ok());
    for size in 1..6_usize {
        let (mut found, mut page) = (Vec::new(), json!({ "pageSize": size }));
        loop {
            let answer = app
                .project_a
                .call(HISTORY, json!({ "chainId": 137, "filter": filter, "page": page }))
                .await
                .ok();
            assert!(told(&answer).len() <= size);
            found.extend(told(&answer));
            if answer["page"]["more"] == false {
                break;
            }
            page = answer["page"].clone();
        }
        assert_eq!(found, all, "{size}");
        let second = json!({ "chainId": 137, "filter": filter, "page": { "page": 2, "pageSize": size } });
        let second = told(&app.project_a.call(HISTORY, second).await.ok());
        assert_eq!(second, all.iter().skip(size).take(size).cloned().collect::<Vec<_>>(), "{size}");
    }
}

/// What a block told that the chain took back is gone, and what comes in another block is there once, as of that one.
#[tokio::test]
async fn of_a_block_that_is_taken_back() {
    let app = followed().await;
    let other = [(3, MASKS, 1, BEN, BEN, 1), (4, RELICS, 9, BEN, ANNA, 1)];
    commit(&app.store, hash(12, 0), Some(11), vec![block(12, 50, &[]), block(13, 50, &other)]).await;
    let answer = app
        .project_a
        .call(HISTORY, json!({ "chainId": 137, "filter": { "accountAddress": BEN } }))
        .await
        .ok();
    let blocks: BTreeSet<_> = told(&answer).into_iter().map(|(number, hash, _)| (number, hash)).collect();
    let expected = [(11, format!("{:#x}", hash(11, 0))), (13, format!("{:#x}", hash(13, 50)))];
    assert_eq!(blocks, BTreeSet::from(expected));
    assert_eq!(told(&answer).len(), 3);
}

/// On several chains a part for each, and what goes wrong on one is told there.
#[tokio::test]
async fn on_several_chains() {
    let app = followed().await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    let filter = json!({ "accountAddress": ANNA });
    let body = json!({ "chainIds": [137, 80002], "filter": filter, "page": { "pageSize": 1 } });
    let first = said.call(a, "IndexerGateway/GetTransactionHistory", body.clone()).await;
    let next = json!({ "chainIds": [137, 80002], "filter": filter, "page": first["page"] });
    let next = a.call("IndexerGateway/GetTransactionHistory", next).await.ok();
    assert_eq!(next["transactions"].as_array().unwrap().len(), 1, "{next}");
    let body = json!({ "chainIds": [137, 80002], "contractAddress": MASKS, "lastBlockNumber": 11 });
    said.call(a, "IndexerGateway/GetBalanceUpdates", body).await;
    let synced =
        |contract: &str| json!({ "chainId": 137, "accountAddress": ANNA, "contractAddress": contract });
    said.call(a, "Indexer/SyncBalance", synced(MASKS)).await;
    said.call(a, "Indexer/SyncBalance", synced(NOBODY)).await;
    insta::assert_snapshot!(said.text());
}
