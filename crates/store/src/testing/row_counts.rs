//! How many rows statements hand over, whichever engine runs them: what a statement reads is not to grow with what is stored.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The most rows that each statement has handed over in this process.
static MOST: LazyLock<Mutex<HashMap<String, usize>>> = LazyLock::new(Mutex::default);

/// Notes the rows of a statement.
pub(crate) fn note(sql: String, rows: usize) {
    let mut most = MOST.lock().unwrap_or_else(PoisonError::into_inner);
    let most = most.entry(sql).or_default();
    *most = (*most).max(rows);
}

/// The most rows that any statement with this in its text has handed over so far; `None` when none was run.
pub fn most_rows(part: &str) -> Option<usize> {
    let most = MOST.lock().unwrap_or_else(PoisonError::into_inner);
    most.iter().filter(|(sql, _)| sql.contains(part)).map(|(_, rows)| *rows).max()
}
