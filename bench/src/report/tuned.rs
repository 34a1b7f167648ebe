//! Bourse beside a PostgreSQL that was tuned by hand.

use serde_json::{Value, json};

use super::verdict;
use crate::stats::median;

/// The rounds of one operation, printed as they come.
#[derive(Debug)]
pub(crate) struct TunedContest {
    name: &'static str,
    goal: f64,
    /// Answers of Bourse in a second, and those of PostgreSQL straight after them.
    rounds: Vec<(f64, f64)>,
}

impl TunedContest {
    /// A contest without rounds. Prints its heading.
    pub(crate) fn begin(name: &'static str, goal: f64) -> Self {
        println!("\n{name} beside PostgreSQL tuned by hand");
        println!("{:>6} {:>12} {:>12} {:>7}", "round", "bourse/s", "postgres/s", "times");
        Self { name, goal, rounds: Vec::new() }
    }

    /// Takes a round and prints it.
    pub(crate) fn add(&mut self, bourse: f64, postgres: f64) {
        self.rounds.push((bourse, postgres));
        print_row(&self.rounds.len().to_string(), bourse, postgres, bourse / postgres);
    }

    /// Prints the medians, and whether the goal was reached.
    pub(crate) fn print_end(&self) {
        print_row("median", self.middle(|round| round.0), self.middle(|round| round.1), self.times());
        println!(
            "{:.1} times as fast, goal {} or more: {}",
            self.times(),
            self.goal,
            verdict(self.is_reached())
        );
    }

    fn times(&self) -> f64 {
        self.middle(|(bourse, postgres)| bourse / postgres)
    }

    fn is_reached(&self) -> bool {
        self.times() >= self.goal
    }

    fn middle(&self, column: fn(&(f64, f64)) -> f64) -> f64 {
        median(self.rounds.iter().map(column)).unwrap_or(f64::NAN)
    }

    /// The figures.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "goal": self.goal,
            "timesMedian": self.times(),
            "reached": self.is_reached(),
            "rounds": self.rounds.iter().map(|(bourse, postgres)| json!([bourse, postgres])).collect::<Vec<_>>(),
        })
    }
}

fn print_row(round: &str, bourse: f64, postgres: f64, times: f64) {
    println!("{round:>6} {bourse:>12.0} {postgres:>12.0} {times:>7.1}");
}
