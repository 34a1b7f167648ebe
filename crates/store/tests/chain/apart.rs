//! What a chain states and what others say: blocks that no longer count take back the former and nothing else.

use alloy_primitives::B256;
use bourse_market::Standing;
use bourse_market::facts::{Fact, OrderPublished};
use bourse_store::testing::{batch, happened};
use bourse_store::{BlockFacts, Change, SignedOrder};
use bourse_wire::{ActivityAction, ActivityFacts, Amount, Marketplace, OrderFacts, OrderStatus};

use crate::signed::{MARKET, filled, key, open, order, put, settle, signed, state, unsettled};
use crate::stage::{Stage, block_on, collection, listing, stated, transfer};

fn cancelled(id: &str) -> Fact {
    Fact::OrderCancelled { marketplace: MARKET, order_id: id.to_owned() }
}

fn published(order: SignedOrder) -> Fact {
    let SignedOrder { facts, native, nonces } = order;
    Fact::OrderPublished(Box::new(OrderPublished { facts, native, nonces }))
}

/// Says that an order is over.
async fn end(stage: &Stage, id: &str, status: OrderStatus) {
    let change = Change::OrderEnded { key: key(id), status };
    stage.store.commit(batch(collection(0), vec![change])).await.unwrap();
}

#[tokio::test]
async fn a_reorganisation_does_not_revive_an_order_that_others_cancelled() {
    let mut stage = Stage::new().await;
    for id in ["a", "b"] {
        put(&stage, signed(id)).await;
    }
    stage.grow(&[&[filled("a", 4), filled("b", 4)]]).await;
    end(&stage, "a", OrderStatus::Cancelled).await;
    // An import says the same with the whole order.
    let cancelled = OrderFacts { status: OrderStatus::Cancelled, ..order(&stage, "b").await };
    stage.store.commit(batch(collection(0), vec![Change::Order(Box::new(cancelled))])).await.unwrap();
    for id in ["a", "b"] {
        assert_eq!(state(&stage, id).await, (OrderStatus::Cancelled, 6.into()));
    }
    stage.replace(100, 1, &[&[]]).await;
    for id in ["a", "b"] {
        assert_eq!(state(&stage, id).await, (OrderStatus::Cancelled, 10.into()), "the fill is undone: {id}");
    }
}

#[tokio::test]
async fn what_others_said_of_an_order_that_the_chain_cancelled_counts_once_the_block_is_gone() {
    let mut stage = Stage::new().await;
    for id in ["a", "b", "c"] {
        put(&stage, signed(id)).await;
    }
    stage.grow(&[&[cancelled("a"), cancelled("b"), cancelled("c")]]).await;
    end(&stage, "a", OrderStatus::Cancelled).await;
    end(&stage, "b", OrderStatus::Inactive).await;
    for id in ["a", "b", "c"] {
        assert_eq!(state(&stage, id).await.0, OrderStatus::Cancelled);
    }
    stage.replace(100, 1, &[&[]]).await;
    assert_eq!(state(&stage, "a").await.0, OrderStatus::Cancelled);
    assert_eq!(state(&stage, "b").await.0, OrderStatus::Inactive);
    assert_eq!(state(&stage, "c").await.0, OrderStatus::Active, "nobody else said so");
}

#[tokio::test]
async fn what_was_filled_does_not_become_cancelled() {
    let mut stage = Stage::new().await;
    put(&stage, signed("a")).await;
    stage.grow(&[&[filled("a", 10)]]).await;
    end(&stage, "a", OrderStatus::Cancelled).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, Amount::ZERO));
    stage.replace(100, 1, &[&[]]).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Cancelled, 10.into()));
}

#[tokio::test]
async fn an_order_that_a_log_published_and_somebody_put_stays_when_the_log_is_undone() {
    let mut stage = Stage::new().await;
    // The contract took the maker's word for it, so that the log has no signature.
    let unsigned = SignedOrder { native: r#"{"id":"a","unsigned":true}"#.to_owned(), ..signed("a") };
    stage.grow(&[&[published(unsigned.clone()), filled("a", 3)]]).await;
    put(&stage, signed("a")).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, 7.into()));
    let natives = stage.store.natives_by_key(stage.id, vec![key("a")]).await.unwrap();
    assert_eq!(natives[&key("a")], signed("a").native, "it is good without the log");
    stage.replace(100, 1, &[&[]]).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, 10.into()));
    assert_eq!(unsettled(&stage).await, ["a"]);
    // It comes back, and goes again.
    stage.replace(100, 2, &[&[published(unsigned)]]).await;
    stage.replace(100, 3, &[&[]]).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, 10.into()));
}

#[tokio::test]
async fn a_cancellation_found_by_asking_is_undone_with_its_block() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[]]).await;
    for id in ["a", "b"] {
        put(&stage, signed(id)).await;
    }
    settle(&stage, stage.newest(), "a", Standing::Cancelled).await;
    settle(&stage, stage.newest(), "b", open(4)).await;
    stage.grow(&[&[filled("b", 1)]]).await;
    assert_eq!(state(&stage, "a").await.0, OrderStatus::Cancelled);
    assert_eq!(state(&stage, "b").await.1, 3.into());
    stage.replace(101, 1, &[&[]]).await;
    assert_eq!(state(&stage, "a").await.0, OrderStatus::Cancelled, "that block still counts");
    assert_eq!((state(&stage, "b").await.1, unsettled(&stage).await.len()), (4.into(), 0));
    stage.replace(100, 2, &[&[]]).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, 10.into()));
    assert_eq!(state(&stage, "b").await, (OrderStatus::Active, 10.into()));
    assert_eq!(unsettled(&stage).await, ["a", "b"], "they are asked about again");
}

/// A log of the block and an answer as of its end are undone together.
#[tokio::test]
async fn what_a_log_and_an_answer_say_of_one_block_is_undone_at_once() {
    let mut stage = Stage::new().await;
    put(&stage, signed("a")).await;
    stage.grow(&[&[filled("a", 1)]]).await;
    settle(&stage, stage.newest(), "a", open(5)).await;
    assert_eq!(state(&stage, "a").await.1, 5.into());
    stage.replace(100, 1, &[&[]]).await;
    assert_eq!((state(&stage, "a").await.1, unsettled(&stage).await), (10.into(), vec!["a".to_owned()]));
}

#[tokio::test]
async fn an_order_that_is_not_signed_keeps_what_its_source_said() {
    let mut stage = Stage::new().await;
    let said = |remaining: u64| OrderFacts { quantity_remaining: remaining.into(), ..signed("a").facts };
    let put = async |stage: &Stage, remaining| {
        let change = Change::Order(Box::new(said(remaining)));
        stage.store.commit(batch(collection(0), vec![change])).await.unwrap();
        state(stage, "a").await.1
    };
    assert_eq!(put(&stage, 10).await, 10.into());
    stage.grow(&[&[filled("a", 4)]]).await;
    assert_eq!(put(&stage, 10).await, 6.into(), "its source has not heard of the fill");
    assert_eq!(put(&stage, 5).await, 5.into(), "its source knows of another");
    stage.replace(100, 1, &[&[]]).await;
    assert_eq!(state(&stage, "a").await.1, 5.into());
    assert_eq!(put(&stage, 9).await, 9.into());
}

#[tokio::test]
async fn a_token_that_somebody_told_of_stays_when_its_mint_is_undone() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1), transfer(2, 0, 1)]]).await;
    let metadata = r#"{"tokenId":"1","name":"One"}"#.to_owned();
    let change = Change::Token { token_id: 1.into(), metadata: metadata.clone() };
    stage.store.commit(batch(collection(0), vec![change])).await.unwrap();
    stage.replace(100, 1, &[&[]]).await;
    let tokens = stage.facts().await.into_iter().filter(|line| line.contains(" token "));
    assert_eq!(tokens.count(), 1, "the other one only the chain told of");
    let found = stage.store.tokens(stage.id, vec![1.into(), 2.into()]).await.unwrap();
    let found: Vec<_> = found.into_iter().map(|token| token.metadata).collect();
    assert_eq!(found, [metadata]);
}

async fn sales(stage: &Stage) -> Vec<ActivityFacts> {
    let activities = stage.store.activities(stage.id, None, None, 100).await.unwrap();
    let facts = activities.into_iter().map(|activity| activity.facts);
    facts.filter(|facts| facts.action == ActivityAction::Sale).collect()
}

#[tokio::test]
async fn a_transaction_that_comes_back_at_another_place_is_the_same_event() {
    let mut stage = Stage::new().await;
    put(&stage, signed("a")).await;
    let sale = |stage: &Stage, fork, log_index| {
        let block = block_on(&stage.at(100).block, fork);
        // The same transaction, which sells twice.
        let at = |index| {
            let mut stated = stated(collection(0), &block, index, filled("a", 2));
            stated.tx_hash = B256::repeat_byte(7);
            stated
        };
        vec![BlockFacts { block, facts: vec![at(log_index), at(log_index + 3)] }]
    };
    let blocks = sale(&stage, 0, 2);
    stage.commit(None, blocks).await.unwrap();
    let before = sales(&stage).await;
    let blocks = sale(&stage, 1, 5);
    stage.commit(Some(100), blocks).await.unwrap();
    let after = sales(&stage).await;
    let names = |sales: &[ActivityFacts]| -> Vec<String> {
        sales.iter().map(|sale| sale.unique_hash.clone()).collect()
    };
    assert_eq!(names(&before), names(&after));
    assert_eq!((after.len(), after[0].log_index, after[1].log_index), (2, 8, 5));
    assert_ne!(after[0].unique_hash, after[1].unique_hash);
}

#[tokio::test]
async fn what_others_tell_of_happened_stays_when_blocks_are_undone() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1), listing(5, 1, 1)]]).await;
    let told = happened(ActivityAction::Sale, 1, "told");
    let told = ActivityFacts { marketplace: Marketplace::Opensea, from: crate::stage::account(1), ..told };
    let change = Change::Activity(Box::new(told));
    stage.store.commit(batch(collection(0), vec![change])).await.unwrap();
    stage.grow(&[&[transfer(1, 1, 2)]]).await;
    stage.replace(100, 1, &[&[]]).await;
    let left = stage.store.activities(stage.id, None, None, 100).await.unwrap();
    assert_eq!(left.iter().map(|one| one.facts.unique_hash.as_str()).collect::<Vec<_>>(), ["told"]);
}

/// Whoever reads a collection sees it before a reorganisation or after it: undoing and what comes instead is one version.
#[tokio::test]
async fn a_reorganisation_is_one_version_of_a_collection() {
    let mut stage = Stage::new().await;
    put(&stage, signed("a")).await;
    stage.grow(&[&[transfer(1, 0, 1), filled("a", 2)], &[listing(5, 1, 1)], &[transfer(1, 1, 2)]]).await;
    let version = async |stage: &Stage| stage.store.versions(vec![stage.id]).await.unwrap()[0].1;
    let before = version(&stage).await;
    stage.replace(100, 1, &[&[transfer(1, 0, 3), filled("a", 3)], &[listing(6, 3, 1)]]).await;
    assert_eq!(version(&stage).await.version, before.version + 1);
    let changes = stage.store.changes(stage.id, before).await.unwrap().unwrap();
    let mut orders: Vec<_> = changes.orders.iter().map(|order| order.order_id.as_str()).collect();
    orders.sort_unstable();
    assert_eq!(orders, ["6", "a"]);
    let gone: Vec<_> = changes.gone_orders.iter().map(|key| key.order_id.as_str()).collect();
    assert_eq!(gone, ["5"]);
    let held: Vec<_> = changes.balances.iter().filter(|held| held.balance != Amount::ZERO).collect();
    assert_eq!((held.len(), held[0].account), (1, crate::stage::account(3)));
}
