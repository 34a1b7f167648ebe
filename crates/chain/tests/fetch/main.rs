//! Metadata fetched from a small web that only this machine can reach.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod get;
mod queue;
mod web;
mod worker;
