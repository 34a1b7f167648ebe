//! Which blocks are taken, and which are not.

use alloy_primitives::B256;
use bourse_store::testing::{change_unnoticed, facts_digest, operator};
use bourse_store::{Actor, Blocks, BlocksCommitted, ChainError, HistoryCommitted, StoreError};
use bourse_wire::Timestamp;

use crate::database::open;
use crate::stage::{
    CHAIN, Stage, WINDOW, approval, block_on, collection, filled, first_block, listing, transfer,
};

fn refusal<T: std::fmt::Debug>(result: Result<T, StoreError>) -> ChainError {
    match result {
        Err(StoreError::Chain(error)) => error,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[tokio::test]
async fn a_chain_starts_once_and_goes_on() {
    let (_database, store) = open().await;
    assert_eq!(store.chain_state(CHAIN).await.unwrap(), None);
    let first = first_block();
    store.start_chain(CHAIN, first).await.unwrap();
    store.start_chain(CHAIN, block_on(&first, 9)).await.unwrap();
    let state = store.chain_state(CHAIN).await.unwrap().unwrap();
    assert_eq!((state.checkpoint, state.window), (first, vec![first]));
}

#[tokio::test]
async fn collections_are_followed_from_a_block_on() {
    let (_database, store) = open().await;
    let id = store.follow(collection(0), 50, Actor::command_line(Timestamp::ZERO)).await.unwrap();
    assert_eq!(store.follow(collection(0), 50, Actor::command_line(Timestamp::ZERO)).await.unwrap(), id);
    assert_eq!(
        store.follow(collection(0), 70, Actor::command_line(Timestamp::ZERO)).await.unwrap(),
        id,
        "a later block is included"
    );
    store.follow(collection(0), 40, Actor::command_line(Timestamp::ZERO)).await.unwrap();
    let [followed] = <[_; 1]>::try_from(store.followed(CHAIN).await.unwrap()).unwrap();
    assert_eq!((followed.id, followed.key, followed.from), (id, collection(0), 40));
    assert_eq!((followed.next_block, followed.live), (40, false));
}

#[tokio::test]
async fn blocks_must_follow_on_each_other() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[]]).await;
    let [first, second] = <[_; 2]>::try_from(stage.fork(101, 0, &[&[], &[]])).unwrap();
    let error = |number, parent, expected| ChainError::NotAdjacent { number, parent, expected };
    let checkpoint = stage.newest().hash;
    let skipping = stage.commit(None, vec![second.clone()]).await;
    assert_eq!(refusal(skipping), error(103, first.block.hash, checkpoint));
    let mut elsewhere = first.clone();
    elsewhere.block.parent = B256::repeat_byte(9);
    let unconnected = stage.commit(None, vec![elsewhere]).await;
    assert_eq!(refusal(unconnected), error(102, B256::repeat_byte(9), checkpoint));
    let mut misnumbered = first.clone();
    misnumbered.block.number = 105;
    let misnumbered = stage.commit(None, vec![misnumbered]).await;
    assert_eq!(refusal(misnumbered), error(105, checkpoint, checkpoint));
    stage.commit(None, vec![first, second]).await.unwrap();
    assert_eq!(stage.newest().number, 103);
}

#[tokio::test]
async fn what_was_prepared_for_another_checkpoint_is_not_taken() {
    let mut stage = Stage::new().await;
    let late = stage.batch(None, stage.fork(100, 1, &[&[transfer(1, 0, 1)]]));
    stage.grow(&[&[transfer(2, 0, 1)]]).await;
    assert_eq!(stage.store.commit_blocks(late).await.unwrap(), BlocksCommitted::Moved);
    let not_started = Blocks { chain: bourse_wire::ChainId(1), ..stage.batch(None, Vec::new()) };
    assert_eq!(stage.store.commit_blocks(not_started).await.unwrap(), BlocksCommitted::Moved);
    Stage::assert_same(&stage.facts().await, &stage.facts_from_scratch().await, "nothing of it is there");
}

#[tokio::test]
async fn a_collection_that_went_live_meanwhile_must_be_asked_for() {
    let mut stage = Stage::new().await;
    stage.store.follow(collection(1), 100, Actor::command_line(Timestamp::ZERO)).await.unwrap();
    let lagging = stage.batch(None, stage.fork(100, 0, &[&[]]));
    let live = stage.history(collection(1), 100, 100, Vec::new()).await.unwrap();
    assert_eq!(live, HistoryCommitted::Done { live: true, changed: 0 });
    assert_eq!(stage.store.commit_blocks(lagging).await.unwrap(), BlocksCommitted::Uncovered);
    stage.cover(collection(1));
    stage.grow(&[&[]]).await;
    let followed = stage.store.followed(CHAIN).await.unwrap();
    assert!(followed.iter().all(|collection| collection.live && collection.next_block == 102));
}

#[tokio::test]
async fn as_many_blocks_as_the_window_can_be_undone_and_no_more() {
    let mut stage = Stage::new().await;
    for number in 0..2 * WINDOW {
        stage.grow(&[&[transfer(number, 0, 1)]]).await;
    }
    let newest = stage.newest().number;
    let state = stage.store.chain_state(CHAIN).await.unwrap().unwrap();
    let numbers: Vec<u64> = state.window.iter().map(|block| block.number).collect();
    assert_eq!(numbers, (newest - WINDOW..=newest).collect::<Vec<_>>());
    let deeper = newest - WINDOW - 1;
    let blocks = stage.fork(deeper, 1, &[&[]]);
    let error = refusal(stage.commit(Some(deeper), blocks).await);
    assert_eq!(error, ChainError::BeyondWindow { to: deeper, oldest: newest - WINDOW });
    assert!(error.to_string().contains("resync"));
    stage.replace(newest - WINDOW, 1, &[&[transfer(77, 0, 2)]]).await;
    assert_eq!(stage.newest().number, newest - WINDOW + 1);
    Stage::assert_same(&stage.facts().await, &stage.facts_from_scratch().await, "as deep as it goes");
    // What is kept grows again, but not downwards.
    let again = stage.commit(Some(newest - WINDOW - 1), Vec::new()).await;
    assert_eq!(refusal(again), ChainError::BeyondWindow { to: newest - WINDOW - 1, oldest: newest - WINDOW });
}

#[tokio::test]
async fn blocks_that_came_together_can_be_undone_as_deep() {
    let mut stage = Stage::new().await;
    let facts: Vec<[_; 1]> = (0..2 * WINDOW).map(|number| [transfer(number, 0, 1)]).collect();
    let facts: Vec<&[_]> = facts.iter().map(<[_; 1]>::as_slice).collect();
    stage.grow(&facts).await;
    let oldest = stage.newest().number - WINDOW;
    stage.replace(oldest, 1, &[&[]]).await;
    Stage::assert_same(&stage.facts().await, &stage.facts_from_scratch().await, "as deep as it goes");
}

#[tokio::test]
async fn a_rewind_alone_leaves_what_was_before() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1), listing(5, 1, 1)]]).await;
    let before = stage.facts().await;
    stage.grow(&[&[filled(5, 2, 0), transfer(1, 1, 2)], &[approval(1, false), transfer(2, 0, 3)]]).await;
    assert_ne!(stage.facts().await, before);
    stage.commit(Some(101), Vec::new()).await.unwrap();
    assert_eq!(stage.facts().await, before);
    let state = stage.store.chain_state(CHAIN).await.unwrap().unwrap();
    assert_eq!(state.checkpoint, stage.newest());
    assert_eq!(stage.commit(Some(101), Vec::new()).await.unwrap(), 0, "to where it is");
}

#[tokio::test]
async fn equal_facts_have_an_equal_digest_and_others_another() {
    let (mut one, mut other) = (Stage::new().await, Stage::new().await);
    let digest = async |stage: &Stage| facts_digest(&stage.store, CHAIN).await.unwrap();
    one.grow(&[&[transfer(1, 0, 1)]]).await;
    assert_ne!(digest(&one).await, digest(&other).await);
    other.grow(&[&[transfer(1, 0, 1)]]).await;
    assert_eq!(digest(&one).await, digest(&other).await);
}

#[tokio::test]
async fn starting_over_forgets_what_the_chain_stated() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1), listing(5, 1, 1), approval(1, true)]]).await;
    let (facts, chain) = (stage.facts().await, stage.chain.clone());
    stage.store.resync_chain(CHAIN, operator()).await.unwrap();
    assert_eq!(stage.store.chain_state(CHAIN).await.unwrap(), None);
    assert_eq!(stage.facts().await.len(), 1, "the token stays, with what was fetched of it");
    let [followed] = <[_; 1]>::try_from(stage.store.followed(CHAIN).await.unwrap()).unwrap();
    assert_eq!((followed.next_block, followed.live), (100, false));
    stage.store.start_chain(CHAIN, chain[1].block).await.unwrap();
    let again = stage.history(collection(0), 100, 101, vec![chain[1].clone()]).await.unwrap();
    assert!(matches!(again, HistoryCommitted::Done { live: true, .. }), "{again:?}");
    assert_eq!(stage.facts().await, facts);
}

/// How many blocks there are of which it is kept what they replaced in a collection.
async fn undoable(stage: &Stage) -> u64 {
    let rows = "UPDATE chain_undo SET number = number WHERE collection_id = $1";
    change_unnoticed(&stage.store, stage.id, rows).await.unwrap()
}

#[tokio::test]
async fn what_settled_blocks_replaced_is_forgotten() {
    let mut stage = Stage::new().await;
    for number in 1..=2 * WINDOW {
        stage.grow(&[&[transfer(number, 0, 1)]]).await;
    }
    assert_eq!(undoable(&stage).await, WINDOW, "with each block that states something");
    for _ in 0..64 {
        stage.grow(&[&[]]).await;
    }
    assert_eq!(undoable(&stage).await, 0, "and after a while without any");
}
