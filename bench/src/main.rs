//! Measures Bourse beside a bare axum server that answers the same bytes; `bench/README.md` explains.
#![expect(clippy::disallowed_methods, reason = "tools are found, and servers kept apart, by the environment")]

mod answers;
mod bare;
mod binary;
mod calls;
mod client;
mod cliffs;
mod compare;
mod counting;
mod error;
mod first_touch;
mod jsonl;
mod load;
mod memory;
mod options;
mod postgres;
mod process;
mod relics;
mod replay;
mod report;
mod run;
mod scenario;
mod skew;
mod stage;
mod stats;
mod trading;
mod tuned;
mod write_load;
mod writer;

use std::process::ExitCode;

use clap::Parser;
// The allocator of the real server, so that the bare one has the same.
use bourse_allocator as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::error::{Context, Error};
use crate::options::{Options, Role};

#[tokio::main]
async fn main() -> ExitCode {
    let mut options = Options::parse();
    let result = match options.role.take() {
        Some(Role::Bare(arguments)) => bare::serve(&arguments).await,
        Some(Role::Node(arguments)) => replay::serve(&arguments).await,
        None if options.cliffs => cliffs::measure(&options),
        None => match &options.cliffs_records {
            Some(path) => cliffs::write_records(&options, path),
            None => run_until_signal(&options).await,
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the benchmark, or stops it at a signal. Either way the future is dropped here, and with it the guards
/// that end the servers and remove the data directory.
async fn run_until_signal(options: &Options) -> Result<(), Error> {
    let listen = |kind| signal(kind).context(|| "listening for signals".to_owned());
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hang_up = listen(SignalKind::hangup())?;
    tokio::select! {
        result = run::run(options) => result,
        _ = interrupt.recv() => Err(Error::new("interrupted")),
        _ = terminate.recv() => Err(Error::new("terminated")),
        _ = hang_up.recv() => Err(Error::new("the terminal was closed")),
    }
}
