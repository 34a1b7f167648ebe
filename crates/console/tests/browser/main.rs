//! The console as people meet it: in a real browser, on a service in this process.
//!
//! Chromium and its driver come from Debian's packages, axe-core from npm; `./test` installs both. One browser runs at a
//! time, so that none is slow because of another. `service::on_each_engine` marks the tests that run on both engines; all
//! others run on SQLite only. The tests with the demo's data are those of the binary, in `demo_in_browser.rs`.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test knows its machine")]

#[expect(dead_code, reason = "the tests with the demo's data need more of it")]
mod browser;
mod contacts;
mod forged;
mod hostile_texts;
mod journeys;
mod roles;
mod service;
#[expect(dead_code, reason = "the tests with the demo's data need more of it")]
mod site;

#[path = "../../../bourse/tests/e2e/http.rs"]
#[expect(dead_code, reason = "the binary's tests need more of it")]
mod http;
#[path = "../../../bourse/tests/e2e/process.rs"]
#[expect(dead_code, reason = "the binary's tests need more of it")]
mod process;
