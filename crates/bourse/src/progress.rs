//! How far long work is: a bar when somebody watches, plain lines otherwise.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a plain line is printed.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// The progress of one piece of work, on standard error.
pub(crate) struct Progress {
    what: &'static str,
    bar: Option<ProgressBar>,
    last_line: Instant,
}

impl Progress {
    /// Starts to report; `total` when it is known how much there is.
    pub(crate) fn start(what: &'static str, total: Option<u64>) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = if total.is_some() {
                "{msg} [{bar:32}] {percent}% {elapsed}, {eta} to go"
            } else {
                "{msg} {spinner} {pos} {elapsed}"
            };
            // The templates above are well-formed; the plain style is as good should that change.
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.with_style(style).with_message(what)
        });
        Self { what, bar, last_line: Instant::now() }
    }

    /// Notes how far the work is, with a sentence for plain lines.
    pub(crate) fn at(&mut self, position: u64, sentence: impl FnOnce() -> String) {
        match &self.bar {
            Some(bar) => bar.set_position(position),
            None if self.last_line.elapsed() >= LINE_INTERVAL => {
                eprintln!("{}: {}", self.what, sentence());
                self.last_line = Instant::now();
            }
            None => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
