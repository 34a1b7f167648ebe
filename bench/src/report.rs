//! The figures, as a table for people and as JSON for machines.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::{Context, Error};
use crate::scenario::Scenario;
use crate::stats::{Figures, float, median};

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Report {
    /// Connections of the load.
    pub(crate) connections: u16,
    /// Whether the rounds were too few and short to quote.
    pub(crate) quick: bool,
    /// The import before the load.
    pub(crate) import: Import,
    /// One for each scenario.
    pub(crate) outcomes: Vec<Outcome>,
}

impl Report {
    /// Writes the report to a file.
    pub(crate) fn write_json(&self, path: &Path) -> Result<(), Error> {
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "os": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
            "cores": cores(),
            "connections": self.connections,
            "quick": self.quick,
            "import": self.import.to_json(),
            "scenarios": self.outcomes.iter().map(Outcome::to_json).collect::<Vec<_>>(),
        });
        std::fs::write(path, format!("{report:#}\n")).context(|| format!("writing {}", path.display()))
    }
}

/// How fast `bourse import` was, as a process from start to end.
#[derive(Debug)]
pub(crate) struct Import {
    /// Lines of the file.
    pub(crate) lines: u64,
    /// Size of the file.
    pub(crate) bytes: u64,
    /// The time the process took.
    pub(crate) took: Duration,
}

impl Import {
    /// Prints the rate.
    pub(crate) fn print(&self) {
        let (lines, seconds, rate) = (self.lines, self.took.as_secs_f64(), self.lines_per_second());
        let megabytes = float(self.bytes) / 1e6;
        println!("import: {lines} lines, {megabytes:.1} MB in {seconds:.2} s: {rate:.0} lines/s");
    }

    fn lines_per_second(&self) -> f64 {
        float(self.lines) / self.took.as_secs_f64()
    }

    fn to_json(&self) -> Value {
        json!({
            "lines": self.lines,
            "bytes": self.bytes,
            "seconds": self.took.as_secs_f64(),
            "linesPerSecond": self.lines_per_second(),
        })
    }
}

/// The two servers, one straight after the other.
#[derive(Debug)]
pub(crate) struct Round {
    /// The real server.
    pub(crate) bourse: Figures,
    /// The server to compare with.
    pub(crate) bare: Figures,
}

impl Round {
    fn ratio(&self) -> f64 {
        self.bourse.requests_per_second / self.bare.requests_per_second
    }
}

/// The rounds of one scenario, printed as they come.
#[derive(Debug)]
pub(crate) struct Outcome {
    title: &'static str,
    path: &'static str,
    ratio_goal: f64,
    rounds: Vec<Round>,
}

impl Outcome {
    /// An outcome without rounds. Prints the head of the table.
    pub(crate) fn begin(scenario: &Scenario, connections: u16) -> Self {
        let &Scenario { title, path, ratio_goal, .. } = scenario;
        println!("\nPOST {path}: {title}, {connections} connections, {} cores", cores());
        println!(
            "{:>6}  {:<6} {:>10} {:>9} {:>9} {:>11} {:>7}",
            "round", "server", "req/s", "p50 ms", "p99 ms", "cpu µs/req", "ratio"
        );
        Self { title, path, ratio_goal, rounds: Vec::new() }
    }

    /// Takes a round and prints it.
    pub(crate) fn add(&mut self, round: Round) {
        self.rounds.push(round);
        let number = self.rounds.len().to_string();
        let Some(round) = self.rounds.last() else { return };
        print_row(&number, "bourse", &Row::from(&round.bourse), None);
        print_row(&number, "bare", &Row::from(&round.bare), Some(round.ratio()));
    }

    /// Prints the medians, and whether the goal was reached.
    pub(crate) fn print_end(&self) {
        print_row("median", "bourse", &self.median_row(|round| &round.bourse), None);
        print_row("median", "bare", &self.median_row(|round| &round.bare), Some(self.median_ratio()));
        let verdict = if self.is_reached() { "reached" } else { "missed" };
        println!("median ratio {:.3}, goal {:.2} or more: {verdict}", self.median_ratio(), self.ratio_goal);
    }

    fn median_ratio(&self) -> f64 {
        median(self.rounds.iter().map(Round::ratio)).unwrap_or(f64::NAN)
    }

    fn is_reached(&self) -> bool {
        self.median_ratio() >= self.ratio_goal
    }

    fn median_row(&self, side: fn(&Round) -> &Figures) -> Row {
        let rows: Vec<Row> = self.rounds.iter().map(|round| Row::from(side(round))).collect();
        let middle = |column: fn(&Row) -> f64| median(rows.iter().map(column)).unwrap_or(f64::NAN);
        Row {
            requests_per_second: middle(|row| row.requests_per_second),
            p50_ms: middle(|row| row.p50_ms),
            p99_ms: middle(|row| row.p99_ms),
            cpu_us: median(rows.iter().filter_map(|row| row.cpu_us)),
            body_bytes: middle(|row| row.body_bytes),
        }
    }

    fn to_json(&self) -> Value {
        let round = |round: &Round| {
            json!({
                "ratio": round.ratio(),
                "bourse": Row::from(&round.bourse).to_json(),
                "bare": Row::from(&round.bare).to_json(),
            })
        };
        json!({
            "title": self.title,
            "path": self.path,
            "ratioGoal": self.ratio_goal,
            "ratioMedian": self.median_ratio(),
            "reached": self.is_reached(),
            "median": {
                "bourse": self.median_row(|round| &round.bourse).to_json(),
                "bare": self.median_row(|round| &round.bare).to_json(),
            },
            "rounds": self.rounds.iter().map(round).collect::<Vec<_>>(),
        })
    }
}

/// Figures in the units in which they are shown.
#[derive(Debug)]
struct Row {
    requests_per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
    cpu_us: Option<f64>,
    body_bytes: f64,
}

impl From<&Figures> for Row {
    fn from(figures: &Figures) -> Self {
        Self {
            requests_per_second: figures.requests_per_second,
            p50_ms: figures.p50.as_secs_f64() * 1e3,
            p99_ms: figures.p99.as_secs_f64() * 1e3,
            cpu_us: figures.cpu_per_request.map(|time| time.as_secs_f64() * 1e6),
            body_bytes: figures.body_bytes_mean,
        }
    }
}

impl Row {
    fn to_json(&self) -> Value {
        json!({
            "requestsPerSecond": self.requests_per_second,
            "p50Ms": self.p50_ms,
            "p99Ms": self.p99_ms,
            "cpuUsPerRequest": self.cpu_us,
            "bodyBytesMean": self.body_bytes,
        })
    }
}

fn print_row(round: &str, server: &str, row: &Row, ratio: Option<f64>) {
    let cpu = row.cpu_us.map_or_else(|| "-".to_owned(), |time| format!("{time:.1}"));
    let ratio = ratio.map(|ratio| format!("{ratio:.3}")).unwrap_or_default();
    let Row { requests_per_second, p50_ms, p99_ms, .. } = row;
    let line = format!(
        "{round:>6}  {server:<6} {requests_per_second:>10.0} {p50_ms:>9.3} {p99_ms:>9.3} {cpu:>11} {ratio:>7}"
    );
    println!("{}", line.trim_end());
}

fn cores() -> usize {
    // Unknown on an exotic system only, where 0 says so.
    std::thread::available_parallelism().map_or(0, usize::from)
}
