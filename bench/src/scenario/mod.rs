//! What is measured. A further operation is one more file here and one more line in [`ALL`].

mod token_metadata_batch;

use crate::error::Error;

/// Every scenario, in the order in which they run.
pub(crate) const ALL: &[Scenario] = &[token_metadata_batch::SCENARIO];

/// One operation under load.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// What a request asks for, in words.
    pub(crate) title: &'static str,
    /// The path that requests are posted to.
    pub(crate) path: &'static str,
    /// The requests per second of Bourse, divided by those of the bare server, that we want at least.
    pub(crate) ratio_goal: f64,
    /// The bodies of the requests, the same in every run.
    pub(crate) bodies: fn() -> Vec<String>,
    /// Whether an answer is the right one for a request: the bodies of both.
    pub(crate) check: fn(&str, &[u8]) -> Result<(), Error>,
}
