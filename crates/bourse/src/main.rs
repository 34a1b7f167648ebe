//! Bourse: one binary for token metadata, listings and offers, purchase steps, audiences and analytics.

mod backup;
mod cli;
mod commands;
mod context;
mod data_lock;
mod demo;
mod import;
mod output;
mod progress;

use std::process::ExitCode;

use bourse_allocator as _;
use clap::Parser as _;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match commands::run(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bourse: {error}");
            ExitCode::FAILURE
        }
    }
}
