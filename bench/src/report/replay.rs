//! What was measured while a chain was replayed.

use std::time::Duration;

use serde_json::{Value, json};

use super::verdict;
use crate::stats::{float, median};

/// Logs in a second that Bourse should read at least, by store.
const GOALS: [(&str, f64); 2] = [("SQLite", 20_000.0), ("PostgreSQL", 10_000.0)];

/// How many times longer Ponder should take at least than Bourse on the first of the stores.
const RATIO_GOAL: f64 = 10.0;

/// Everything about one chain.
#[derive(Debug)]
pub(crate) struct ReplayReport {
    /// Logs of the chain.
    pub(crate) logs: u64,
    /// Its blocks.
    pub(crate) blocks: u64,
    /// Balances, orders and other lines that were compared.
    pub(crate) lines: usize,
    /// The node alone.
    pub(crate) ceiling: Ceiling,
    /// Bourse, one for each store and round.
    pub(crate) synced: Vec<SyncReport>,
    /// Ponder, if it was there.
    pub(crate) ponder: Option<PonderReport>,
}

/// How fast the node tells all logs to somebody who throws them away.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ceiling {
    /// How many.
    pub(crate) logs: u64,
    /// In how many bytes.
    pub(crate) bytes: u64,
    /// In what time.
    pub(crate) took: Duration,
}

/// Bourse has read everything.
#[derive(Debug)]
pub(crate) struct SyncReport {
    /// Where it is kept.
    pub(crate) store: &'static str,
    /// From the start of the server until all collections were live.
    pub(crate) took: Duration,
    /// The most that the server had resident, where the system tells.
    pub(crate) peak: Option<u64>,
    /// What it had resident afterwards.
    pub(crate) memory: Option<u64>,
}

/// Ponder has read everything.
#[derive(Debug)]
pub(crate) struct PonderReport {
    /// Its version.
    pub(crate) version: &'static str,
    /// From the node.
    pub(crate) whole: IndexingReport,
    /// From the node's answers, which it had kept.
    pub(crate) cached: IndexingReport,
}

/// What Ponder needed for all logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexingReport {
    /// How many logs.
    pub(crate) logs: u64,
    /// Until it began, which does not count.
    pub(crate) starting: Duration,
    /// From then until it said that history is complete.
    pub(crate) took: Duration,
    /// The most that its processes had resident, where the system tells.
    pub(crate) peak: Option<u64>,
}

impl Ceiling {
    /// Prints it.
    pub(crate) fn print(&self) {
        println!(
            "the node alone: {:.0} logs/s, {:.0} MB/s",
            rate(self.logs, self.took),
            float(self.bytes) / 1e6 / self.took.as_secs_f64()
        );
    }
}

impl IndexingReport {
    /// Prints it.
    pub(crate) fn print(&self, what: &str) {
        println!(
            "Ponder, {what}: {:.1} s, {:.0} logs/s, peak {}; {:.1} s to start are not counted",
            self.took.as_secs_f64(),
            rate(self.logs, self.took),
            megabytes(self.peak),
            self.starting.as_secs_f64()
        );
    }

    fn to_json(self) -> Value {
        json!({
            "seconds": self.took.as_secs_f64(),
            "logsPerSecond": rate(self.logs, self.took),
            "startSeconds": self.starting.as_secs_f64(),
            "peakBytes": self.peak,
        })
    }
}

impl ReplayReport {
    /// Prints the figures of Bourse and the ratios, and whether goals were reached.
    pub(crate) fn print(&self) {
        for synced in &self.synced {
            println!(
                "Bourse on {}: {:.2} s, {:.0} logs/s, peak {}, then {}",
                synced.store,
                synced.took.as_secs_f64(),
                rate(self.logs, synced.took),
                megabytes(synced.peak),
                megabytes(synced.memory)
            );
        }
        for (store, goal) in GOALS {
            let Some(seconds) = self.seconds(store) else { continue };
            let rate = float(self.logs) / seconds;
            println!("{store}: {rate:.0} logs/s, goal {goal:.0} or more: {}", verdict(rate >= goal));
        }
        for (place, (store, _)) in GOALS.into_iter().enumerate() {
            let (Some(ratio), Some(ponder)) = (self.ratio(store), &self.ponder) else { continue };
            let goal = if place == 0 {
                format!(", goal {RATIO_GOAL} or more: {}", verdict(ratio >= RATIO_GOAL))
            } else {
                String::new()
            };
            println!("{store}: {ratio:.1} times as fast as Ponder {}{goal}", ponder.version);
        }
        println!("all {} balances, orders and counts of activities are what the logs say", self.lines);
    }

    /// The median of a store.
    fn seconds(&self, store: &str) -> Option<f64> {
        let of_store = self.synced.iter().filter(|synced| synced.store == store);
        median(of_store.map(|synced| synced.took.as_secs_f64()))
    }

    fn ratio(&self, store: &str) -> Option<f64> {
        Some(self.ponder.as_ref()?.whole.took.as_secs_f64() / self.seconds(store)?)
    }

    /// The figures.
    pub(super) fn to_json(&self) -> Value {
        let synced = |synced: &SyncReport| {
            json!({
                "store": synced.store,
                "seconds": synced.took.as_secs_f64(),
                "logsPerSecond": rate(self.logs, synced.took),
                "peakBytes": synced.peak,
                "memoryBytes": synced.memory,
            })
        };
        let ratios = GOALS.map(|(store, _)| json!({ "store": store, "toPonder": self.ratio(store) }));
        json!({
            "logs": self.logs,
            "blocks": self.blocks,
            "linesCompared": self.lines,
            "nodeLogsPerSecond": rate(self.ceiling.logs, self.ceiling.took),
            "bourse": self.synced.iter().map(synced).collect::<Vec<_>>(),
            "ponder": self.ponder.as_ref().map(|ponder| json!({
                "version": ponder.version,
                "fromNode": ponder.whole.to_json(),
                "fromCache": ponder.cached.to_json(),
            })),
            "ratios": ratios,
        })
    }
}

fn rate(logs: u64, took: Duration) -> f64 {
    float(logs) / took.as_secs_f64()
}

fn megabytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "not known".to_owned(), |bytes| format!("{:.0} MB", float(bytes) / 1e6))
}
