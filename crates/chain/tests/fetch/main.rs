//! Metadata fetched from a small web that only this machine can reach.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "the queue is compared with the clock of the machine")]

mod get;
mod linked;
mod post;
mod queue;
mod web;
mod worker;
