//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::counting;

/// What `--growth` measures.
const GROWTH_SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// Measures Bourse beside a bare axum server that answers the same bytes.
#[derive(Debug, Parser)]
#[command(
    name = "bourse-bench",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line have nothing to do with each other"
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

    /// Measure only what has this in its name or path, such as `search` or `ListCollectibles`; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,

    /// Tokens of the traded collection
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(2_000..=10_000_000))]
    tokens: u32,

    /// Pin both servers to so many cores, one number after the other, such as `1,2,4,8`
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with = "growth", value_parser = clap::value_parser!(u16).range(1..=1024))]
    cores: Vec<u16>,

    /// Measure trading at 10,000, 100,000 and 1,000,000 tokens, and show how costs grow
    #[arg(long, conflicts_with = "tokens")]
    pub(crate) growth: bool,

    /// Measure the counting house at 5,000,000 wallets too
    #[arg(long)]
    pub(crate) counting_large: bool,

    /// Compare with PostgreSQL, too, with tables and indexes made by hand for each request
    #[arg(long)]
    pub(crate) tuned: bool,

    /// Measure calls that reach the database, and nothing else, on each of these in turns: `sqlite`, or a name and the URL of
    /// an empty database, `postgres=postgres://USER@HOST/NAME`; repeatable
    #[arg(long, value_name = "NAME=URL", conflicts_with_all = ["growth", "cliffs"])]
    pub(crate) calls: Vec<String>,

    /// Look for requests that cost far more than others of their kind, in this process
    #[arg(long, conflicts_with = "growth")]
    pub(crate) cliffs: bool,

    /// Write the skewed collection of `--cliffs` to this file, to be imported, and measure nothing
    #[arg(long, value_name = "FILE", conflicts_with = "cliffs")]
    pub(crate) cliffs_records: Option<PathBuf>,

    /// Take Ponder from the `node_modules` of this directory instead of installing it
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) ponder: Option<PathBuf>,

    /// Set only when the benchmark runs itself as another process.
    #[command(subcommand)]
    pub(crate) role: Option<Role>,
}

impl Options {
    /// Whether something is to be measured. Without any choice, everything is.
    pub(crate) fn selects(&self, name: &str, path: &str) -> bool {
        let holds = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        self.only.is_empty() || self.only.iter().any(|part| holds(name, part) || holds(path, part))
    }

    /// Whether something of the counting house is to be measured. Its name is picked only by more than `count`, which
    /// is the name of a scenario.
    pub(crate) fn selects_counting(&self, path: &str) -> bool {
        let is_name =
            |part: &String| part.len() > "count".len() && counting::NAME.starts_with(&part.to_lowercase());
        self.only.iter().any(is_name) || self.selects("", path)
    }

    /// The sizes of the traded collection to measure, the smallest first.
    pub(crate) fn trading_sizes(&self) -> Vec<usize> {
        if self.growth { GROWTH_SIZES.to_vec() } else { vec![self.tokens()] }
    }

    /// How many cores the servers have, one after the other; without a number, all that there are.
    pub(crate) fn pins(&self) -> Vec<Option<u16>> {
        if self.cores.is_empty() { vec![None] } else { self.cores.iter().copied().map(Some).collect() }
    }

    /// Tokens of the collection to measure, where there is one.
    pub(crate) fn tokens(&self) -> usize {
        usize::try_from(self.tokens).unwrap_or(usize::MAX)
    }

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
    /// The node that replays a chain.
    #[command(hide = true)]
    Node(NodeArguments),
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
    /// File with the bodies to answer in turn.
    #[arg(long)]
    pub(crate) answers: PathBuf,
}

/// What the node is told.
#[derive(Debug, Args)]
pub(crate) struct NodeArguments {
    /// Address to accept connections on.
    #[arg(long)]
    pub(crate) listen: SocketAddr,
    /// How many logs its chain has, about.
    #[arg(long)]
    pub(crate) logs: usize,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::Options;

    #[test]
    fn parts_of_names_and_paths_select() {
        let options = Options::parse_from(["bourse-bench", "--only", "search", "--only", "listcollectibles"]);
        assert!(options.selects("search", "/rpc/Metadata/SearchTokenMetadata"));
        assert!(options.selects("list-by-owner", "/rpc/Marketplace/ListCollectibles"));
        assert!(!options.selects("count", "/rpc/Marketplace/GetCountOfFilteredCollectibles"));
        assert!(Options::parse_from(["bourse-bench"]).selects("count", ""));
    }

    #[test]
    fn servers_have_all_cores_or_those_that_are_named() {
        let pins = |arguments: &[&str]| Options::parse_from(arguments).pins();
        assert_eq!(pins(&["bourse-bench"]), [None]);
        assert_eq!(pins(&["bourse-bench", "--cores", "1,2,8"]), [Some(1), Some(2), Some(8)]);
        Options::try_parse_from(["bourse-bench", "--cores", "0"]).unwrap_err();
    }

    #[test]
    fn one_size_or_growth() {
        let sizes = |arguments: &[&str]| Options::parse_from(arguments).trading_sizes();
        assert_eq!(sizes(&["bourse-bench"]), [1_000_000]);
        assert_eq!(sizes(&["bourse-bench", "--tokens", "10000"]), [10_000]);
        assert_eq!(sizes(&["bourse-bench", "--growth"]), [10_000, 100_000, 1_000_000]);
        Options::try_parse_from(["bourse-bench", "--growth", "--tokens", "10000"]).unwrap_err();
    }
}
