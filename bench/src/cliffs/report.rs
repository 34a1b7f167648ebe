//! What was found: how long the questions of an operation took, and which took longest.

use std::collections::HashSet;
use std::time::Duration;

use bourse_catalog::Collection;

use super::Measured;
use super::question::Operation;
use super::world::Kind;
use crate::stats::percentile;

/// The slowest questions that are told of each operation, one of each shape.
const SLOWEST: usize = 10;
/// What 99 of 100 questions of an operation may take.
const GOAL: Duration = Duration::from_millis(2);

/// Tells of a collection.
pub(super) fn print_heading(kind: Kind, collection: &Collection, built: Duration) {
    let megabytes = collection.bytes() / 1_000_000;
    println!(
        "\ncliffs, {}: {} tokens, {megabytes} MB, built in {:.1} s",
        kind.word(),
        collection.len(),
        built.as_secs_f64()
    );
}

/// The questions of an operation, the slowest first.
pub(super) struct OperationReport {
    operation: Operation,
    measured: Vec<Measured>,
}

impl OperationReport {
    pub(super) fn new(operation: Operation, mut measured: Vec<Measured>) -> Self {
        measured.sort_by_key(|measured| std::cmp::Reverse(measured.time));
        Self { operation, measured }
    }

    pub(super) fn print(&self) {
        let times: Vec<Duration> = self.measured.iter().rev().map(|measured| measured.time).collect();
        let figure = |percent| percentile(&times, percent).unwrap_or_default();
        let (median, p99) = (figure(50), figure(99));
        let verdict = if p99 <= GOAL { "reached" } else { "missed" };
        println!(
            "{:16} median {:>9} µs, p99 {:>9} µs (goal {} µs {verdict}), slowest {:>9} µs",
            self.operation.name(),
            micros(median),
            micros(p99),
            GOAL.as_micros(),
            micros(figure(100))
        );
        let mut shapes = HashSet::new();
        let slowest = self.measured.iter().filter(|measured| shapes.insert(measured.question.shape()));
        for Measured { question, time } in slowest.take(SLOWEST) {
            println!("    {:>9} µs {}", micros(*time), question.to_json());
        }
    }
}

fn micros(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e6)
}
