//! The import.

use std::time::Duration;

use serde_json::{Value, json};

use crate::jsonl::WrittenFile;
use crate::stats::float;

/// How fast `bourse import` was, as a process from start to end.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    /// The file.
    pub(crate) file: WrittenFile,
    /// The time the process took.
    pub(crate) took: Duration,
}

impl Import {
    /// Prints the rate.
    pub(crate) fn print(&self) {
        let (lines, seconds, rate) = (self.file.lines, self.took.as_secs_f64(), self.lines_per_second());
        let megabytes = float(self.file.bytes) / 1e6;
        println!("import: {lines} lines, {megabytes:.1} MB in {seconds:.2} s: {rate:.0} lines/s");
    }

    fn lines_per_second(&self) -> f64 {
        float(self.file.lines) / self.took.as_secs_f64()
    }

    /// The figures.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "lines": self.file.lines,
            "bytes": self.file.bytes,
            "seconds": self.took.as_secs_f64(),
            "linesPerSecond": self.lines_per_second(),
        })
    }
}
