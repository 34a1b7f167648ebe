//! Reads while orders change, beside the same reads while nothing does.

use serde_json::{Value, json};

use super::row::Row;
use super::verdict;
use crate::stats::{Figures, median};

/// The order changes a second that are sent.
pub(crate) const WRITES_PER_SECOND: u32 = 20_000;

/// The share of them that must be acknowledged for the goal to be about that many.
const WRITES_SHARE: f64 = 0.98;

/// The p99 during writes, divided by the quiet one, that we want at most.
const P99_GROWTH_GOAL: f64 = 1.5;

/// One kind of reads.
#[derive(Debug)]
pub(crate) struct ReadsDuringWrites {
    /// What `--only` picks the reads by.
    pub(crate) name: &'static str,
    /// Connections that read.
    pub(crate) connections: u16,
    /// How many cores the server has.
    pub(crate) cores: usize,
    /// Rounds before any write.
    pub(crate) quiet: Vec<Figures>,
    /// Rounds during writes.
    pub(crate) writing: Vec<Figures>,
    /// Changes that were acknowledged in a second, for each of these rounds.
    pub(crate) changes_per_second: Vec<f64>,
}

impl ReadsDuringWrites {
    /// Prints all rounds, their medians, and whether the goal was reached.
    pub(crate) fn print(&self) {
        let Self { name, connections, cores, .. } = self;
        println!(
            "\n{name} during {WRITES_PER_SECOND} order changes/s: {connections} connections, {cores} cores"
        );
        Row::print_head("changes/s");
        for (index, figures) in self.quiet.iter().enumerate() {
            Row::from(figures).print(&(index + 1).to_string(), "quiet", "");
        }
        for (index, (figures, changes)) in self.writing.iter().zip(&self.changes_per_second).enumerate() {
            Row::from(figures).print(&(index + 1).to_string(), "writing", &format!("{changes:.0}"));
        }
        self.quiet_row().print("median", "quiet", "");
        self.writing_row().print("median", "writing", &format!("{:.0}", self.median_changes()));
        let (growth, verdict) = (self.p99_growth(), verdict(self.is_reached()));
        println!("median p99 {growth:.2} times the quiet one, goal {P99_GROWTH_GOAL} or less: {verdict}");
    }

    /// The figures.
    pub(super) fn to_json(&self) -> Value {
        let rows =
            |rounds: &[Figures]| -> Value { rounds.iter().map(|row| Row::from(row).to_json()).collect() };
        json!({
            "name": self.name,
            "connections": self.connections,
            "cores": self.cores,
            "changesPerSecond": self.median_changes(),
            "p99Growth": self.p99_growth(),
            "p99GrowthGoal": P99_GROWTH_GOAL,
            "reached": self.is_reached(),
            "median": { "quiet": self.quiet_row().to_json(), "writing": self.writing_row().to_json() },
            "quiet": rows(&self.quiet),
            "writing": rows(&self.writing),
        })
    }

    fn quiet_row(&self) -> Row {
        Row::median(self.quiet.iter())
    }

    fn writing_row(&self) -> Row {
        Row::median(self.writing.iter())
    }

    fn median_changes(&self) -> f64 {
        median(self.changes_per_second.iter().copied()).unwrap_or(f64::NAN)
    }

    fn p99_growth(&self) -> f64 {
        self.writing_row().p99_ms / self.quiet_row().p99_ms
    }

    fn is_reached(&self) -> bool {
        let wanted = f64::from(WRITES_PER_SECOND) * WRITES_SHARE;
        self.p99_growth() <= P99_GROWTH_GOAL && self.median_changes() >= wanted
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ReadsDuringWrites;
    use crate::stats::Figures;

    fn figures(p99_ms: u64) -> Figures {
        Figures {
            requests_per_second: 1.0,
            p50: Duration::from_millis(1),
            p99: Duration::from_millis(p99_ms),
            cpu_per_request: None,
            body_bytes_mean: 1.0,
        }
    }

    #[test]
    fn the_goal_needs_both_the_latency_and_the_changes() {
        let reads = |p99_ms, changes| ReadsDuringWrites {
            name: "reads",
            connections: 4,
            cores: 2,
            quiet: vec![figures(2)],
            writing: vec![figures(p99_ms)],
            changes_per_second: vec![changes],
        };
        assert!(reads(3, 19_900.0).is_reached());
        assert!(!reads(4, 19_900.0).is_reached());
        assert!(!reads(3, 15_000.0).is_reached());
    }
}
