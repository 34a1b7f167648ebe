//! A follower of a made-up chain, in all weathers. Everything follows from a seed, as `bourse_simulation` says.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod away;
mod hearing;
mod memory_store;
mod named_cases;
mod odd_nodes;
mod real_store;
mod several_servers;
mod simulation;

use std::collections::HashSet;
use std::sync::Arc;

use bourse_chain::decode::Decoder;
use bourse_market::facts::{Fact, StatedFact};
use bourse_protocols::Scope;
use bourse_simulation::{STRANGER, World, WorldBlock, protocols, run, seeds, share_of};
use bourse_wire::Address;

use crate::memory_store::{Ledger, MemoryBooks};
use crate::simulation::{Sim, weather_of};

/// What a block states of a collection.
pub(crate) fn stated_by(block: &WorldBlock, collection: Address) -> Vec<StatedFact> {
    let decoder = Decoder::new(protocols());
    let mut all = Vec::new();
    for log in &block.logs {
        for (statement, part) in decoder.read(&[log]).statements.into_iter().zip(0..) {
            let is_meant = match statement.scope {
                Scope::Collection(of) => of == collection,
                Scope::EveryCollection => true,
            };
            if is_meant {
                let (tx_hash, log_index) = (log.tx_hash, log.index);
                all.push(StatedFact { collection, tx_hash, log_index, part, fact: statement.fact });
            }
        }
    }
    all
}

/// What the blocks that count state of a collection.
fn stated(world: &World, collection: Address) -> Ledger {
    let of_block = |block: &WorldBlock| (block.block.number, stated_by(block, collection));
    world.chain.iter().map(|block| of_block(block)).filter(|(_, facts)| !facts.is_empty()).collect()
}

/// A simulation over memory, which compares everything that is committed with the block that it is said to be of.
pub(crate) fn in_memory(seed: u64) -> Sim<MemoryBooks> {
    let sim = Sim::new(seed, Arc::new(MemoryBooks::default()));
    sim.books.0.lock().unwrap().truth = Some(Arc::clone(&sim.shared));
    sim
}

/// Whether memory holds what the chain states, and nothing else. Fees are not in logs; they come from calls.
pub(crate) fn check(sim: &Sim<MemoryBooks>) {
    let memory = sim.books.0.lock().unwrap();
    let world = sim.shared.world();
    assert_eq!(memory.state.as_ref().unwrap().checkpoint, world.head().block);
    for followed in &memory.followed {
        let address = followed.key.address;
        let mut found = memory.ledgers.get(&address).cloned().unwrap_or_default();
        for stated in found.values_mut().flatten() {
            if let Fact::OrderMade(order) = &mut stated.fact {
                let share = share_of(address, order.operator).and_then(|bps| i64::try_from(bps).ok());
                assert_eq!(order.fees.first().map(|fee| fee.bps), share);
                order.fees.clear();
            }
        }
        let expected = stated(&world, address);
        let numbers: HashSet<u64> = found.keys().chain(expected.keys()).copied().collect();
        for number in numbers {
            assert_eq!(found.get(&number), expected.get(&number), "block {number} of {address}");
        }
    }
}

async fn storm(seed: u64) {
    let mut sim = in_memory(seed);
    let blocks = 20 + sim.shared.dice.lock().unwrap().below(150);
    sim.shared.world().mine(blocks);
    sim.discover = seed % 8 == 7;
    sim.set(weather_of(seed));
    sim.storm(80).await;
    sim.settle().await;
    check(&sim);
    if sim.discover {
        let memory = sim.books.0.lock().unwrap();
        assert!(
            memory.followed.iter().any(|one| one.key.address == STRANGER),
            "the stranger was not noticed"
        );
    }
}

#[test]
fn every_weather_ends_with_what_the_chain_states() {
    for seed in seeds(24) {
        run(seed, storm(seed));
    }
}
