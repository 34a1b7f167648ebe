//! Collections that catch up with their chain.

use bourse_market::facts::Fact;
use bourse_store::{Actor, BlockFacts, ChainError, CollectionKey, HistoryCommitted, StoreError};
use bourse_wire::Timestamp;

use crate::stage::{CHAIN, Stage, block_on, collection, first_block, stated, transfer};

/// The blocks of the chain, with facts of another collection.
fn with_facts(stage: &Stage, of: CollectionKey, facts: &[(u64, Fact)]) -> Vec<BlockFacts> {
    let block = |(number, fact): &(u64, Fact)| {
        let block = stage.at(*number).block;
        BlockFacts { block, facts: vec![stated(of, &block, 9, fact.clone())] }
    };
    facts.iter().map(block).collect()
}

/// A chain of six blocks, and a collection that is followed from its second one on.
async fn stage() -> Stage {
    let mut stage = Stage::new().await;
    stage.grow(&[&[], &[], &[], &[], &[]]).await;
    stage.store.follow(collection(1), 101, Actor::command_line(Timestamp::ZERO)).await.unwrap();
    stage
}

async fn stands_at(stage: &Stage) -> (u64, bool) {
    let followed = stage.store.followed(CHAIN).await.unwrap();
    let second = followed.iter().find(|followed| followed.key == collection(1)).unwrap();
    assert_eq!(stage.store.following(collection(1)).await.unwrap().as_ref(), Some(second), "asked alone");
    assert_eq!(stage.store.following(collection(9)).await.unwrap(), None);
    (second.next_block, second.live)
}

#[tokio::test]
async fn a_history_goes_on_where_it_stands_and_becomes_live_at_the_checkpoint() {
    let stage = stage().await;
    let first = with_facts(&stage, collection(1), &[(101, transfer(1, 0, 1)), (102, transfer(1, 1, 2))]);
    let stale = HistoryCommitted::Stale;
    assert_eq!(stage.history(collection(1), 102, 103, Vec::new()).await.unwrap(), stale);
    assert_eq!(stage.history(collection(1), 101, 106, Vec::new()).await.unwrap(), stale);
    let done = stage.history(collection(1), 101, 103, first.clone()).await.unwrap();
    assert!(matches!(done, HistoryCommitted::Done { live: false, changed } if changed > 0), "{done:?}");
    assert_eq!(stands_at(&stage).await, (104, false));
    assert_eq!(stage.history(collection(1), 101, 103, first).await.unwrap(), stale, "only once");
    let last = with_facts(&stage, collection(1), &[(105, transfer(1, 2, 3))]);
    let done = stage.history(collection(1), 104, 105, last).await.unwrap();
    assert!(matches!(done, HistoryCommitted::Done { live: true, .. }), "{done:?}");
    assert_eq!(stands_at(&stage).await, (106, true));
    assert_eq!(
        stage.history(collection(1), 106, 106, Vec::new()).await.unwrap(),
        stale,
        "live ones have no history"
    );
}

#[tokio::test]
async fn a_history_of_blocks_that_do_not_count_is_not_taken() {
    let stage = stage().await;
    let mut other = stage.at(104).block;
    other.hash = block_on(&other, 5).hash;
    let facts = vec![stated(collection(1), &other, 0, transfer(1, 0, 1))];
    let forked =
        stage.history(collection(1), 101, 104, vec![BlockFacts { block: other, facts }]).await.unwrap();
    assert_eq!(forked, HistoryCommitted::Forked);
    assert_eq!(stands_at(&stage).await, (101, false));
}

#[tokio::test]
async fn a_history_is_of_a_collection_and_in_order() {
    let stage = stage().await;
    let error = |result: Result<HistoryCommitted, StoreError>| match result {
        Err(StoreError::Chain(error)) => error,
        other => panic!("{other:?}"),
    };
    let unknown = stage.history(collection(2), 101, 101, Vec::new()).await.unwrap();
    assert_eq!(unknown, HistoryCommitted::Stale, "it may have been left since it was asked about");
    let out = |number| ChainError::OutOfRange { number };
    let facts = with_facts(&stage, collection(1), &[(103, transfer(1, 0, 1)), (102, transfer(1, 1, 2))]);
    assert_eq!(error(stage.history(collection(1), 101, 104, facts.clone()).await), out(102));
    assert_eq!(error(stage.history(collection(1), 101, 102, facts[..1].to_vec()).await), out(103));
    assert_eq!(error(stage.history(collection(1), 101, 100, Vec::new()).await), out(100));
}

#[tokio::test]
async fn a_history_can_be_undone_like_any_block_and_is_read_again() {
    let mut stage = stage().await;
    let facts = with_facts(&stage, collection(1), &[(102, transfer(1, 0, 1)), (104, transfer(1, 1, 2))]);
    stage.history(collection(1), 101, 104, facts).await.unwrap();
    let before_fork = stage.facts().await;
    stage.replace(103, 1, &[&[], &[], &[]]).await;
    assert_eq!(stands_at(&stage).await, (104, false));
    assert_ne!(stage.facts().await, before_fork);
    stage.history(collection(1), 104, 106, Vec::new()).await.unwrap();
    assert_eq!(stands_at(&stage).await, (107, true));

    let scratch = self::stage().await;
    let mut scratch = scratch;
    scratch.replace(103, 1, &[&[], &[], &[]]).await;
    let facts = with_facts(&scratch, collection(1), &[(102, transfer(1, 0, 1))]);
    scratch.history(collection(1), 101, 106, facts).await.unwrap();
    Stage::assert_same(&stage.facts().await, &scratch.facts().await, "the fork is as if it had never been");
}

#[tokio::test]
async fn a_rewind_to_before_its_beginning_sets_a_collection_to_its_beginning() {
    let mut stage = stage().await;
    stage.store.follow(collection(2), 105, Actor::command_line(Timestamp::ZERO)).await.unwrap();
    stage.history(collection(2), 105, 105, Vec::new()).await.unwrap();
    stage.cover(collection(2));
    stage.store.follow(collection(3), 109, Actor::command_line(Timestamp::ZERO)).await.unwrap();
    let block = block_on(&stage.at(103).block, 1);
    let facts = vec![stated(collection(2), &block, 0, transfer(1, 0, 1))];
    assert_eq!(
        stage.commit(Some(103), vec![BlockFacts { block, facts }]).await.unwrap(),
        0,
        "it begins later"
    );
    let followed = stage.store.followed(CHAIN).await.unwrap();
    let stand: Vec<_> = followed.iter().map(|followed| (followed.next_block, followed.live)).collect();
    assert_eq!(stand, [(105, true), (101, false), (105, false), (109, false)]);
}

#[tokio::test]
async fn what_blocks_state_of_a_collection_that_is_not_live_is_left_to_its_history() {
    let mut stage = stage().await;
    let block = block_on(&stage.newest(), 0);
    let facts = vec![stated(collection(1), &block, 0, transfer(1, 0, 1))];
    assert_eq!(stage.commit(None, vec![BlockFacts { block, facts }]).await.unwrap(), 0);
    assert_eq!(first_block().number, 100);
    assert_eq!(stands_at(&stage).await, (101, false));
}
