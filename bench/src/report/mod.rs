//! The figures, as tables for people and as JSON for machines.

mod calls;
mod contest;
mod counting;
mod growth;
mod import;
mod replay;
mod row;
mod trading;
mod tuned;
mod writes;

use std::path::Path;

use serde_json::{Value, json};

pub(crate) use calls::{CallReport, CallsReport, PlaceFigures};
pub(crate) use contest::{Contest, Heading, Round};
pub(crate) use counting::{
    ChartReport, ChartTimes, Comparison, CountingReport, Disk, Ingest, Percentiles, Rate, SendReport,
};
pub(crate) use growth::print_growth;
pub(crate) use import::Import;
pub(crate) use replay::{Ceiling, IndexingReport, PonderReport, ReplayReport, SyncReport};
pub(crate) use trading::{FirstTouch, Memory, TradingReport};
pub(crate) use tuned::TunedContest;
pub(crate) use writes::{ReadsDuringWrites, WRITES_PER_SECOND};

use crate::error::{Context, Error};
use crate::stage::all_cores;

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Report {
    /// Connections of the load.
    pub(crate) connections: u16,
    /// Whether the rounds were too few and short to quote.
    pub(crate) quick: bool,
    /// The relics, if they were asked for.
    pub(crate) relics: Option<RelicsReport>,
    /// Trading at each size, the smallest first.
    pub(crate) trading: Vec<TradingReport>,
    /// The counting houses, the smallest first.
    pub(crate) countings: Vec<CountingReport>,
    /// The replay of a chain, if it was asked for.
    pub(crate) replay: Option<ReplayReport>,
    /// Calls on several databases, if they were asked for.
    pub(crate) calls: Option<CallsReport>,
}

/// What was measured on the relics.
#[derive(Debug)]
pub(crate) struct RelicsReport {
    /// The import before the load.
    pub(crate) import: Import,
    /// One for each scenario.
    pub(crate) contests: Vec<Contest>,
    /// One for each operation that was compared with PostgreSQL tuned by hand.
    pub(crate) tuned: Vec<TunedContest>,
}

impl Report {
    /// Whether nothing was measured.
    pub(crate) fn is_empty(&self) -> bool {
        self.relics.is_none() && self.trading.is_empty() && self.countings.is_empty() && self.replay.is_none()
    }

    /// Writes the report to a file.
    pub(crate) fn write_json(&self, path: &Path) -> Result<(), Error> {
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "os": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
            "cores": all_cores(),
            "connections": self.connections,
            "quick": self.quick,
            "import": self.relics.as_ref().map(|relics| relics.import.to_json()),
            "scenarios": self.relics.as_ref().map(|relics| contests_json(&relics.contests)),
            "trading": self.trading.iter().map(TradingReport::to_json).collect::<Vec<_>>(),
            "tuned": self.relics.as_ref().map(|relics| tuned_json(&relics.tuned)),
            "countings": self.countings.iter().map(CountingReport::to_json).collect::<Vec<_>>(),
            "replay": self.replay.as_ref().map(ReplayReport::to_json),
            "calls": self.calls.as_ref().map(CallsReport::to_json),
        });
        std::fs::write(path, format!("{report:#}\n")).context(|| format!("writing {}", path.display()))
    }
}

fn contests_json(contests: &[Contest]) -> Value {
    contests.iter().map(Contest::to_json).collect()
}

fn tuned_json(contests: &[TunedContest]) -> Value {
    contests.iter().map(TunedContest::to_json).collect()
}

/// The word for a goal.
fn verdict(reached: bool) -> &'static str {
    if reached { "reached" } else { "missed" }
}
