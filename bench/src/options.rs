//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

/// Measures Bourse beside a bare axum server that answers the same bytes.
#[derive(Debug, Parser)]
#[command(
    name = "bourse-bench",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(crate) struct Options {
    /// Use this bourse binary instead of building one
    #[arg(long, value_name = "PATH")]
    pub(crate) bourse: Option<PathBuf>,

    /// Connections that send requests at the same time
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) connections: u16,

    /// Write the figures to this file too, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Fewer and shorter rounds: to see that it works, not to quote
    #[arg(long)]
    pub(crate) quick: bool,

    /// Set only when the benchmark runs itself as another process.
    #[command(subcommand)]
    pub(crate) role: Option<Role>,
}

impl Options {
    /// How often and how long to load each server.
    pub(crate) fn plan(&self) -> Plan {
        if self.quick {
            Plan { rounds: 3, round: Duration::from_secs(1), warm_up: Duration::from_millis(500) }
        } else {
            Plan { rounds: 5, round: Duration::from_secs(3), warm_up: Duration::from_secs(2) }
        }
    }
}

/// How often and how long each server is loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Measured rounds for each server. Odd, so that the median is one of them.
    pub(crate) rounds: usize,
    /// The length of a measured round.
    pub(crate) round: Duration,
    /// The length of the round before them, which is not counted.
    pub(crate) warm_up: Duration,
}

/// What this process is, when it is not the benchmark itself.
#[derive(Debug, Subcommand)]
pub(crate) enum Role {
    /// The bare server.
    #[command(hide = true)]
    Bare(BareArguments),
}

/// What the bare server is told.
#[derive(Debug, Args)]
pub(crate) struct BareArguments {
    /// Address to accept connections on.
    #[arg(long)]
    pub(crate) listen: SocketAddr,
    /// Path to answer.
    #[arg(long)]
    pub(crate) path: String,
    /// File with the body of every answer.
    #[arg(long)]
    pub(crate) body: PathBuf,
}
