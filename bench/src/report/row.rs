//! One row of a table.

use serde_json::{Value, json};

use crate::stats::{Figures, median};

/// Figures in the units in which they are shown.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) requests_per_second: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) cpu_us: Option<f64>,
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
    /// The median of each column by itself.
    pub(super) fn median<'a>(rounds: impl Iterator<Item = &'a Figures>) -> Self {
        let rows: Vec<Self> = rounds.map(Self::from).collect();
        let middle = |column: fn(&Self) -> f64| median(rows.iter().map(column)).unwrap_or(f64::NAN);
        Self {
            requests_per_second: middle(|row| row.requests_per_second),
            p50_ms: middle(|row| row.p50_ms),
            p99_ms: middle(|row| row.p99_ms),
            cpu_us: median(rows.iter().filter_map(|row| row.cpu_us)),
            body_bytes: middle(|row| row.body_bytes),
        }
    }

    /// Prints the names of the columns.
    pub(super) fn print_head(last_column: &str) {
        println!(
            "{:>6}  {:<7} {:>10} {:>9} {:>9} {:>11} {last_column:>9}",
            "round", "server", "req/s", "p50 ms", "p99 ms", "cpu µs/req"
        );
    }

    /// Prints the row, with what its last column holds.
    pub(super) fn print(&self, round: &str, server: &str, last: &str) {
        let cpu = self.cpu_us.map_or_else(|| "-".to_owned(), |time| format!("{time:.1}"));
        let Self { requests_per_second, p50_ms, p99_ms, .. } = self;
        let line = format!(
            "{round:>6}  {server:<7} {requests_per_second:>10.0} {p50_ms:>9.3} {p99_ms:>9.3} {cpu:>11} {last:>9}"
        );
        println!("{}", line.trim_end());
    }

    /// The figures.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "requestsPerSecond": self.requests_per_second,
            "p50Ms": self.p50_ms,
            "p99Ms": self.p99_ms,
            "cpuUsPerRequest": self.cpu_us,
            "bodyBytesMean": self.body_bytes,
        })
    }
}
