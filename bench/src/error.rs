//! The one error of this crate. Nothing reacts to the kind of a failure, so it is only its text.

use std::fmt;

/// Why the benchmark stopped, in words.
#[derive(Debug)]
pub(crate) struct Error(String);

impl Error {
    /// An error with this text.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Adds what was being done to an error of any kind.
pub(crate) trait Context<T> {
    /// Puts `doing`, such as "reading /tmp/x", before the text of the error.
    fn context(self, doing: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: fmt::Display> Context<T> for Result<T, E> {
    fn context(self, doing: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|error| Error(format!("{}: {error}", doing())))
    }
}
