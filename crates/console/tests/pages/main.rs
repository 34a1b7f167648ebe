//! The console, page by page, without a browser's engine: whole requests against a whole application, on a database of the
//! test's own.
//!
//! `STORE=sqlite` (the default) or `STORE=postgres` chooses the engine. The application and who calls it are those of the
//! server's tests.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "the seed comes from the environment or from the clock")]

mod analytics;
mod audiences;
mod audit;
mod away;
mod browser;
mod collections;
mod explorer;
mod guests;
mod hosted;
mod networks;
mod people;
mod second_factor;
mod storefront;
#[path = "../../../server/tests/suite/support/mod.rs"]
#[expect(dead_code, reason = "the server's tests need more of it")]
mod support;
mod usage;
mod webhooks;

/// What the support code has called: the service with its console.
use bourse_console::service;
