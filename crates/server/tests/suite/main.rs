//! The service as its callers see it: whole requests against a whole application, on a database of the test's own.
//!
//! `STORE=sqlite` (the default), `STORE=postgres` or `STORE=citus` chooses the engine. The snapshots are the same files for all.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "seeds come from the environment or from the clock, tools are found there"
)]

mod analytics;
mod answers;
mod authority;
mod authors;
mod bucket;
mod builder;
mod cluster;
mod cluster_chain;
mod conventions;
mod data_version;
mod database_gone;
mod door;
mod errors;
mod failover;
mod files;
mod follow;
mod following;
mod hostile;
mod indexer;
mod ingest;
mod kept;
mod linked;
mod marketplace;
mod metadata;
mod pages;
mod past;
mod replica;
mod scale;
mod self_check;
mod simulation;
mod storage;
mod storefront;
mod streams;
mod streams_bounds;
mod support;
mod tenancy;
mod venues;
mod webhooks;

/// What the support code has called. The console's tests share that code, and have their pages called as well.
use bourse_server::service;
