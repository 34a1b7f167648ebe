//! Two servers, or two kinds of requests to one, loaded in turns.

use serde_json::{Value, json};

use super::row::Row;
use super::verdict;
use crate::stats::{Figures, median};

/// What is compared.
#[derive(Debug)]
pub(crate) struct Heading {
    /// What `--only` picks it by.
    pub(crate) name: &'static str,
    /// What a request asks for, in words.
    pub(crate) title: String,
    /// The path that requests are posted to.
    pub(crate) path: &'static str,
    /// How many cores the servers have.
    pub(crate) cores: usize,
    /// What is measured.
    pub(crate) subject: &'static str,
    /// What it is compared with.
    pub(crate) reference: &'static str,
    /// The requests per second of the subject, divided by those of the reference, that we want at least.
    pub(crate) ratio_goal: f64,
}

/// The two, one straight after the other.
#[derive(Debug)]
pub(crate) struct Round {
    /// What is measured.
    pub(crate) subject: Figures,
    /// What it is compared with.
    pub(crate) reference: Figures,
}

impl Round {
    fn ratio(&self) -> f64 {
        self.subject.requests_per_second / self.reference.requests_per_second
    }
}

/// The rounds of one comparison, printed as they come.
#[derive(Debug)]
pub(crate) struct Contest {
    heading: Heading,
    rounds: Vec<Round>,
}

impl Contest {
    /// A contest without rounds. Prints the head of the table.
    pub(crate) fn begin(heading: Heading, connections: u16) -> Self {
        let Heading { name, title, path, cores, .. } = &heading;
        println!("\n{name}: POST {path}: {title}, {connections} connections, {cores} cores");
        Row::print_head("ratio");
        Self { heading, rounds: Vec::new() }
    }

    /// Takes a round and prints it.
    pub(crate) fn add(&mut self, round: Round) {
        let number = (self.rounds.len() + 1).to_string();
        self.print_pair(&number, &Row::from(&round.subject), &Row::from(&round.reference), round.ratio());
        self.rounds.push(round);
    }

    /// Prints the medians, and whether the goal was reached.
    pub(crate) fn print_end(&self) {
        let ratio = self.median_ratio();
        self.print_pair("median", &self.subject_row(), &self.reference_row(), ratio);
        let verdict = verdict(self.is_reached());
        println!("median ratio {ratio:.3}, goal {:.2} or more: {verdict}", self.heading.ratio_goal);
    }

    /// What is compared.
    pub(super) fn heading(&self) -> &Heading {
        &self.heading
    }

    /// Processor time of the subject for each request in microseconds, where the system tells.
    pub(super) fn cpu_us(&self) -> Option<f64> {
        self.subject_row().cpu_us
    }

    /// The median of the ratios.
    pub(super) fn median_ratio(&self) -> f64 {
        median(self.rounds.iter().map(Round::ratio)).unwrap_or(f64::NAN)
    }

    fn print_pair(&self, round: &str, subject: &Row, reference: &Row, ratio: f64) {
        subject.print(round, self.heading.subject, "");
        reference.print(round, self.heading.reference, &format!("{ratio:.3}"));
    }

    fn is_reached(&self) -> bool {
        self.median_ratio() >= self.heading.ratio_goal
    }

    fn subject_row(&self) -> Row {
        Row::median(self.rounds.iter().map(|round| &round.subject))
    }

    fn reference_row(&self) -> Row {
        Row::median(self.rounds.iter().map(|round| &round.reference))
    }

    /// The figures.
    pub(super) fn to_json(&self) -> Value {
        let Heading { name, title, path, cores, subject, reference, ratio_goal } = &self.heading;
        let round = |round: &Round| {
            json!({
                "ratio": round.ratio(),
                (*subject): Row::from(&round.subject).to_json(),
                (*reference): Row::from(&round.reference).to_json(),
            })
        };
        json!({
            "name": name,
            "title": title,
            "path": path,
            "cores": cores,
            "ratioGoal": ratio_goal,
            "ratioMedian": self.median_ratio(),
            "reached": self.is_reached(),
            "median": {
                (*subject): self.subject_row().to_json(),
                (*reference): self.reference_row().to_json(),
            },
            "rounds": self.rounds.iter().map(round).collect::<Vec<_>>(),
        })
    }
}
