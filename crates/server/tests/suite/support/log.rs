//! What the service writes about itself.

use std::io::{self, Write};
use std::sync::{Mutex, OnceLock};

use tracing::Level;

/// The errors of all tests of this process, one line each; a test finds its own by the id of its request.
///
/// Not one log for each test: whether a line is wanted is remembered for the whole process.
static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static STARTED: OnceLock<()> = OnceLock::new();

/// Begins to keep what is logged.
pub(crate) fn start() {
    STARTED.get_or_init(|| {
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_max_level(Level::ERROR);
        tracing::subscriber::set_global_default(subscriber.with_writer(|| Lines).finish()).unwrap();
        tracing::callsite::rebuild_interest_cache();
    });
}

/// The line that mentions a text; empty when none does.
pub(crate) fn line_with(text: &str) -> String {
    let lines = String::from_utf8(LINES.lock().unwrap().clone()).unwrap();
    lines.lines().find(|line| line.contains(text)).unwrap_or_default().to_owned()
}

struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
