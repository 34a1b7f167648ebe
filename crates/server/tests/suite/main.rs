//! The service as its callers see it: whole requests against a whole application, on a database of the test's own.
//!
//! `STORE=sqlite` (the default) or `STORE=postgres` chooses the engine. The snapshots are the same files for both.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod analytics;
mod answers;
mod console;
mod conventions;
mod errors;
mod files;
mod floors;
mod follow;
mod hostile;
mod ingest;
mod marketplace;
mod metadata;
mod support;
mod tenancy;
