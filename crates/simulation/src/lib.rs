//! A made-up chain and a node that tells of it, in all weathers: what simulations of the follower and of the whole service
//! share. Everything follows from a seed: a failure tells which, and `BOURSE_SIM_SEED=n` runs that one again.
//! `BOURSE_SIM_SEEDS=n` runs so many instead of the few that are run always.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may fail by panicking")]
#![expect(missing_docs, reason = "for tests of this repository alone, where a name that says it is enough")]

mod dice;
mod node;
mod odd;
mod pace;
mod signed;
mod world;

pub use dice::Dice;
pub use node::{CHAIN, Shared, Weather, WorldNode, share_of};
pub use odd::{OddNode, Oddity};
pub use pace::SimPace;
pub use signed::{SEAPORT, SignedFacts, SignedOrder, seaport};
pub use world::{
    COLLECTIONS, Facts, MARKETS, MONEY, PEOPLE, STRANGER, World, WorldBlock, WorldOrder, address, protocols,
};

/// Runs a simulation to its end on one thread.
pub fn run(seed: u64, simulation: impl Future<Output = ()>) {
    let telling = Telling(seed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(simulation);
    std::mem::forget(telling);
}

/// Tells the seed of a simulation that failed.
struct Telling(u64);

impl Drop for Telling {
    fn drop(&mut self) {
        eprintln!("the simulation of seed {} failed: BOURSE_SIM_SEED={}", self.0, self.0);
    }
}

/// The seeds to run, when nobody says otherwise.
#[expect(clippy::disallowed_methods, reason = "the seed comes from the environment")]
pub fn seeds(usual: u64) -> Vec<u64> {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    match (number("BOURSE_SIM_SEED"), number("BOURSE_SIM_SEEDS")) {
        (Some(seed), _) => vec![seed],
        (None, count) => (0..count.unwrap_or(usual)).collect(),
    }
}
