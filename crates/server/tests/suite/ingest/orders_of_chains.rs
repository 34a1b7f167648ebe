//! Orders that a chain states, and nobody else.

use bourse_market::facts::{Block, BlockHash, Fact, OrderMade, StatedFact};
use bourse_store::testing::operator_at;
use bourse_store::{BlockFacts, Blocks, BlocksCommitted, History};
use bourse_wire::{Address, ChainId, Marketplace, OrderSide, Timestamp};
use serde_json::{Value, json};

use super::{order, order_key, put, reasons, taken};
use crate::support::seed::{RELICS, key};
use crate::support::{TestApp, wait_until};

const CHAIN: ChainId = ChainId(137);

fn own(id: &str) -> Value {
    order(id, json!({ "marketplace": "service_marketplace_v2" }))
}

fn own_key(id: &str) -> Value {
    let mut key = order_key(id);
    key["marketplace"] = json!("service_marketplace_v2");
    key
}

#[tokio::test]
async fn own_orders_of_a_followed_collection_are_refused_and_others_are_not() {
    let app = TestApp::start().await;
    let both = json!({ "orders": [own("a"), order("b", json!({}))] });
    assert_eq!(put(&app, "PutOrders", both.clone()).await, taken(2, 2));
    app.store.follow(key(RELICS), 0, operator_at(app.now())).await.unwrap();
    app.clock.advance(2);
    let answer = put(&app, "PutOrders", both).await;
    assert_eq!(reasons(&answer), [(0, "stated-by-chain")]);
    assert_eq!((&answer["accepted"], &answer["changed"]), (&json!(1), &json!(0)));
    let message = answer["rejected"][0]["message"].as_str().unwrap();
    assert!(message.contains("chain 137 is followed"), "{message}");
    for operation in ["CancelOrders", "InvalidateOrders"] {
        let answer = put(&app, operation, json!({ "orders": [own_key("a"), order_key("b")] })).await;
        assert_eq!(reasons(&answer), [(0, "stated-by-chain")], "{operation}");
    }
}

fn block(number: u64, fork: u8, parent: BlockHash) -> Block {
    let at = Timestamp::from_unix_nanos(1_700_000_000_000_000_000 + i128::from(number));
    let mut hash = [fork; 32];
    hash[0] = u8::try_from(number).unwrap();
    let hash = BlockHash::from(hash);
    Block { number, hash, parent, at }
}

/// A token that is made, and a listing of it.
fn facts(block: Block, collection: Address, valid_until: Timestamp) -> BlockFacts {
    let maker = Address::from_bytes([1; 20]);
    let mint = Fact::Transfer {
        token_id: 1.into(),
        from: Address::ZERO,
        to: maker,
        quantity: 1.into(),
        single: true,
    };
    let listing = Fact::OrderMade(Box::new(OrderMade {
        marketplace: Marketplace::OwnV2,
        order_id: "5".to_owned(),
        side: OrderSide::Listing,
        maker,
        operator: Address::from_bytes([2; 20]),
        token_id: Some(1.into()),
        quantity: 1.into(),
        price_amount: 1_000.into(),
        currency: Address::ZERO,
        valid_until,
        fees: Vec::new(),
    }));
    let stated = |(log_index, fact)| StatedFact { collection, tx_hash: block.hash, log_index, part: 0, fact };
    BlockFacts { block, facts: (0..).zip([mint, listing]).map(stated).collect() }
}

/// How many listings the service knows, and how many tokens.
async fn seen(app: &TestApp) -> (usize, usize) {
    let listings = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": "1" });
    let listings = app.project_a.call("Marketplace/ListListingsForCollectible", listings).await.ok();
    let tokens = json!({ "chainID": 137, "contractAddress": RELICS, "tokenIDs": [1] });
    let tokens = app.project_a.call("Metadata/GetTokenMetadata", tokens).await.ok();
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    (count(&listings["listings"]), count(&tokens["tokenMetadata"]))
}

async fn wait_for(app: &TestApp, expected: (usize, usize), what: &str) {
    wait_until(what, async || seen(app).await == expected).await;
}

#[tokio::test]
async fn what_a_block_stated_disappears_when_it_is_undone() {
    let app = TestApp::start().await;
    let currency = json!({ "chainId": 137, "contractAddress": Address::ZERO, "name": "POL", "symbol": "POL", "decimals": 18 });
    put(&app, "PutCurrencies", json!({ "currencies": [currency] })).await;
    let background = app.background();
    let first = block(10, 0, BlockHash::ZERO);
    let collection = key(RELICS);
    app.store.follow(collection, 10, operator_at(app.now())).await.unwrap();
    app.store.start_chain(CHAIN, first).await.unwrap();
    let history = History { collection, from: 10, to: 10, blocks: Vec::new(), window: 8 };
    app.store.commit_history(history).await.unwrap();
    let commit = async |expected: BlockHash, rewind_to, blocks| {
        let covered = vec![collection.address];
        let batch = Blocks { chain: CHAIN, expected, rewind_to, blocks, covered, window: 8 };
        let done = app.store.commit_blocks(batch).await.unwrap();
        assert!(matches!(done, BlocksCommitted::Done { .. }), "{done:?}");
    };
    let second = block(11, 0, first.hash);
    let until = Timestamp::from_unix_nanos(4_000_000_000_000_000_000);
    commit(first.hash, None, vec![facts(second, collection.address, until)]).await;
    wait_for(&app, (1, 1), "a listing").await;
    let other = block(11, 1, first.hash);
    commit(second.hash, Some(10), vec![facts(other, collection.address, until)]).await;
    wait_for(&app, (1, 1), "the same listing in another block").await;
    let empty = BlockFacts { block: block(11, 2, first.hash), facts: Vec::new() };
    commit(other.hash, Some(10), vec![empty]).await;
    wait_for(&app, (0, 0), "the end of it").await;
    background.stop().await;
}
