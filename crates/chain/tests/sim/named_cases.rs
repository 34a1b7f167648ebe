//! Cases that have names.

use bourse_chain::{FollowError, Phase};

use crate::memory_store::MemoryBooks;
use crate::simulation::{Sim, WINDOW};
use crate::{check, in_memory};
use bourse_simulation::{COLLECTIONS, Weather, run};

fn sim(seed: u64, blocks: u64) -> Sim<MemoryBooks> {
    let sim = in_memory(seed);
    sim.shared.world().mine(blocks);
    sim
}

/// A follower that has everything.
async fn settled(seed: u64) -> Sim<MemoryBooks> {
    let mut sim = sim(seed, 100);
    sim.add_all().await;
    sim.settle().await;
    check(&sim);
    sim
}

fn rewinds(sim: &Sim<MemoryBooks>) -> u32 {
    sim.books.0.lock().unwrap().rewinds
}

fn reorganisation_of(depth: u64) {
    run(depth, async {
        let mut sim = settled(depth).await;
        sim.shared.world().reorganise(depth, depth + 1);
        sim.settle().await;
        check(&sim);
        assert_eq!(rewinds(&sim), 1);
        assert_eq!(sim.status.get().reorgs, 1);
    });
}

#[test]
fn one_block_is_taken_back() {
    reorganisation_of(1);
}

#[test]
fn three_blocks_are_taken_back() {
    reorganisation_of(3);
}

#[test]
fn twenty_blocks_are_taken_back() {
    reorganisation_of(20);
}

#[test]
fn all_blocks_that_are_kept_are_taken_back() {
    reorganisation_of(WINDOW);
}

#[test]
fn more_blocks_than_are_kept_are_taken_back() {
    run(0, async {
        let mut sim = settled(0).await;
        sim.shared.world().reorganise(WINDOW + 1, WINDOW + 3);
        for _ in 0..10 {
            if let Err(FollowError::Stopped { message }) = sim.turn().await {
                assert!(message.contains("bourse chain resync 31337"), "{message}");
                assert_eq!(rewinds(&sim), 0);
                return;
            }
        }
        panic!("it went on: {:?}", sim.status.get());
    });
}

#[test]
fn a_node_that_is_on_another_chain_once_stops_nothing() {
    run(0, async {
        let mut sim = settled(0).await;
        let right = sim.shared.world().chain.clone();
        sim.shared.world().reorganise(WINDOW + 5, WINDOW + 6);
        for _ in 0..2 {
            assert!(!matches!(sim.turn().await, Err(FollowError::Stopped { .. })));
        }
        sim.shared.world().chain = right;
        sim.shared.world().mine(1);
        sim.settle().await;
        check(&sim);
    });
}

#[test]
fn the_chain_becomes_shorter() {
    run(0, async {
        let mut sim = settled(0).await;
        sim.shared.world().reorganise(5, 2);
        sim.settle().await;
        check(&sim);
        assert_eq!(rewinds(&sim), 1);
    });
}

#[test]
fn a_node_that_is_behind_takes_nothing_back() {
    run(0, async {
        let mut sim = settled(0).await;
        sim.set(Weather { behind: 1000, ..Weather::default() });
        for _ in 0..30 {
            sim.turn().await.unwrap();
        }
        assert_eq!(rewinds(&sim), 0);
    });
}

#[test]
fn blocks_are_taken_back_during_history() {
    run(3, async {
        let mut sim = sim(3, 400);
        sim.add_all().await;
        sim.turn().await.unwrap();
        assert!(sim.status.get().collections.iter().any(|one| !one.live));
        sim.shared.world().reorganise(20, 22);
        sim.settle().await;
        check(&sim);
    });
}

/// Blocks are taken back at every request of the turns around the hand-over, one after another.
#[test]
fn blocks_are_taken_back_at_the_hand_over() {
    for seed in 0..20 {
        run(seed, async move {
            let mut sim = sim(seed, 60);
            sim.add_all().await;
            sim.set(Weather {
                reorganisation: 150,
                block: 100,
                forgotten: 500,
                confused: 500,
                ..Weather::default()
            });
            for _ in 0..12 {
                let _ = sim.turn().await;
            }
            sim.settle().await;
            check(&sim);
        });
    }
}

#[test]
fn blocks_are_taken_back_twice_in_a_row() {
    run(0, async {
        let mut sim = settled(0).await;
        sim.shared.world().reorganise(3, 5);
        sim.turn().await.unwrap();
        sim.shared.world().reorganise(8, 9);
        sim.turn().await.unwrap();
        sim.shared.world().reorganise(2, 1);
        sim.settle().await;
        check(&sim);
    });
}

#[test]
fn the_process_dies_while_blocks_are_taken_back() {
    for seed in 0..20 {
        run(seed, async move {
            let mut sim = settled(seed).await;
            sim.shared.world().reorganise(10, 12);
            sim.set(Weather { death: 300, ..Weather::default() });
            for _ in 0..10 {
                let _ = sim.turn().await;
            }
            sim.settle().await;
            check(&sim);
        });
    }
}

#[test]
fn a_chain_without_a_word() {
    run(1, async {
        let mut sim = sim(1, 0);
        sim.add(COLLECTIONS[0]).await;
        // Only the first block is there, and it says nothing.
        sim.settle().await;
        check(&sim);
        sim.shared.world().mine(3);
        sim.settle().await;
        check(&sim);
        assert_eq!(sim.status.get().phase, Phase::Live);
    });
}

#[test]
fn nobody_is_followed() {
    run(1, async {
        let mut sim = sim(1, 50);
        sim.settle().await;
        sim.shared.world().reorganise(4, 5);
        sim.settle().await;
        check(&sim);
        // One that comes later is read from the beginning.
        sim.add(COLLECTIONS[1]).await;
        sim.settle().await;
        check(&sim);
    });
}

#[test]
fn the_store_fails_before_and_after_it_did_something() {
    for seed in 0..10 {
        run(seed, async move {
            let mut sim = settled(seed).await;
            sim.set(Weather { store: 300, ..Weather::default() });
            for _ in 0..30 {
                sim.shared.world().mine(1);
                let _ = sim.turn().await;
            }
            sim.settle().await;
            check(&sim);
        });
    }
}
