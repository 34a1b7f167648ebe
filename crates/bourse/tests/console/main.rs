//! The console as people meet it: in a real browser, on the binary as a process.
//!
//! Chromium and its driver come from Debian's packages, axe-core from npm; `./test` installs both. One browser runs at a
//! time, so that none is slow because of another. Screenshots go to `console-screenshots` in the target directory, or to
//! the directory that `BOURSE_SCREENSHOTS` names.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "the environment says where screenshots go")]

mod browser;
mod demo;
mod forged;
mod hostile_texts;
mod journeys;
mod looks;
mod roles;
mod site;

#[path = "../e2e/http.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod http;
#[path = "../e2e/instance.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod instance;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod process;
