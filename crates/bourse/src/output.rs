//! Printing, for people or for programs.

use std::io::Write as _;

use serde_json::Value;

use crate::context::CommandError;

/// Prints JSON for programs, or lines for people.
pub(crate) fn print(json: bool, value: &Value, people: impl FnOnce() -> String) -> Result<(), CommandError> {
    let text = if json { format!("{value:#}") } else { people() };
    match writeln!(std::io::stdout(), "{}", text.trim_end()) {
        // Whoever read has read enough (`| head`).
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.map_err(CommandError::io("printing")),
    }
}

/// Columns under headings, each as wide as its widest cell.
pub(crate) fn table<const COLUMNS: usize>(head: [&str; COLUMNS], rows: Vec<[String; COLUMNS]>) -> String {
    let mut widths = head.map(|cell| cell.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: [String; COLUMNS]| {
        let padded = cells.into_iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let lines = std::iter::once(line(head.map(str::to_owned))).chain(rows.into_iter().map(line));
    lines.collect::<Vec<_>>().join("\n")
}
