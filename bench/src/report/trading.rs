//! What was measured on one size of the traded collection.

use std::time::Duration;

use serde_json::{Value, json};

use super::contest::Contest;
use super::import::Import;
use super::tuned::TunedContest;
use super::writes::ReadsDuringWrites;
use super::{contests_json, tuned_json, verdict};
use crate::stats::float;

/// The size that the goals for memory and loading are about.
const GOAL_TOKENS: usize = 1_000_000;
const FIRST_TOUCH_GOAL: Duration = Duration::from_secs(4);
const MEMORY_GOAL_BYTES: u64 = 1_500_000_000;

/// Everything about one size.
#[derive(Debug)]
pub(crate) struct TradingReport {
    /// Tokens of the collection.
    pub(crate) tokens: usize,
    /// How many cores the server had.
    pub(crate) cores: usize,
    /// The import before the load.
    pub(crate) import: Import,
    /// The first request.
    pub(crate) first_touch: FirstTouch,
    /// The server's memory.
    pub(crate) memory: Memory,
    /// One for each scenario, and for each comparison of pages.
    pub(crate) contests: Vec<Contest>,
    /// One for each operation that was compared with PostgreSQL tuned by hand.
    pub(crate) tuned: Vec<TunedContest>,
    /// One for each kind of reads.
    pub(crate) writes: Vec<ReadsDuringWrites>,
}

/// The time that the first request took, which loads the collection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FirstTouch {
    /// From the start of the request to its answer.
    pub(crate) took: Duration,
    /// Requests that were refused before, with their time in that.
    pub(crate) refused: u32,
}

/// Resident memory of the server in bytes, where the system tells.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memory {
    /// At rest after the first request.
    pub(crate) loaded: Option<u64>,
    /// At rest after all reads, before writes.
    pub(crate) used: Option<u64>,
}

impl FirstTouch {
    /// Prints it, and whether the goal was reached.
    pub(crate) fn print(&self, tokens: usize) {
        let seconds = self.took.as_secs_f64();
        let refused = match self.refused {
            0 => String::new(),
            count => format!(", after {count} refused requests"),
        };
        let goal = goal(tokens, || format!("4 s or less: {}", verdict(self.took <= FIRST_TOUCH_GOAL)));
        println!("first touch: {seconds:.2} s{refused}{goal}");
    }
}

impl Memory {
    /// Prints what is known, and whether the goal was reached.
    pub(crate) fn print(&self, tokens: usize) {
        let line = |when: &str, bytes: u64| {
            let goal = goal(tokens, || format!("1.5 GB or less: {}", verdict(bytes <= MEMORY_GOAL_BYTES)));
            println!("memory {when}: {:.3} GB{goal}", float(bytes) / 1e9);
        };
        match (self.loaded, self.used) {
            (_, Some(used)) => line("at rest after all reads", used),
            (Some(loaded), None) => line("at rest after the load", loaded),
            (None, None) => println!("memory: not known on this system"),
        }
    }
}

/// A goal in words, if it is about this size.
fn goal(tokens: usize, words: impl FnOnce() -> String) -> String {
    if tokens == GOAL_TOKENS { format!(", goal {}", words()) } else { String::new() }
}

impl TradingReport {
    /// The figures.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "tokens": self.tokens,
            "cores": self.cores,
            "import": self.import.to_json(),
            "firstTouch": {
                "seconds": self.first_touch.took.as_secs_f64(),
                "refused": self.first_touch.refused,
            },
            "memoryBytes": { "afterLoad": self.memory.loaded, "afterReads": self.memory.used },
            "scenarios": contests_json(&self.contests),
            "tuned": tuned_json(&self.tuned),
            "readsDuringWrites": self.writes.iter().map(ReadsDuringWrites::to_json).collect::<Vec<_>>(),
        })
    }
}
