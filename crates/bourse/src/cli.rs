//! The command line.

use std::path::PathBuf;

use bourse_store::Subject;
use bourse_wire::{Address, ProjectId, RecordId};
use clap::{Args, Parser, Subcommand};

/// One server for token and contract metadata, listings and offers for collectibles, purchase steps, project
/// audiences and project analytics. Start with `bourse demo`.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Args, Clone, Default)]
pub(crate) struct Common {
    /// Settings file in TOML; ./bourse.toml is read when it exists
    #[arg(long, global = true, value_name = "FILE", env = "BOURSE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Directory for everything that is kept on disk
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<String>,
    /// Database, `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`; a SQLite file in the data directory by default
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Print JSON, for programs to read
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the service
    Serve(Listen),
    /// Run the service with data to look at, made at the first start
    Demo(Demo),
    /// Read records from JSON Lines files
    Import(Import),
    /// Make and look at projects
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Say which projects may state what all projects share
    #[command(subcommand)]
    Grant(GrantCommand),
    /// Make and manage a project's public access keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Make and manage a project's secret tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Manage what is counted of a project's events
    #[command(subcommand)]
    Analytics(AnalyticsCommand),
    /// Add collections whose chain is followed, and look at them
    #[command(subcommand)]
    Collection(CollectionCommand),
    /// Manage how chains are followed
    #[command(subcommand)]
    Chain(ChainCommand),
    /// Tell who said what: of a collection, of an order, or in the administration of the service
    Log(Log),
    /// Let people into the console
    #[command(subcommand)]
    Console(ConsoleCommand),
    /// Show how far the chains of configured networks are followed
    Status,
    /// Write a backup of the embedded database, the uploaded files and the signing secret, also while they are served
    Backup {
        /// File to write, such as bourse-2025-01-31.tar.gz; it must not be there yet
        file: PathBuf,
    },
    /// Put a backup into a data directory that nobody uses
    Restore(Restore),
    /// Copy uploaded files from another directory or bucket to where `storage.files` wants them
    CopyFiles(CopyFiles),
    /// Copy a SQLite database that nobody uses into an empty one in PostgreSQL
    Move(Move),
    /// Bring the tables of the database up to date, as the next start would
    Upgrade(Upgrade),
    /// Ask the running service whether it answers; fails when it does not
    Health(Health),
    /// Check configuration, database, migrations, disk and clock
    Doctor(Doctor),
    /// Print the OpenAPI document
    Openapi,
    /// Print the effective settings and where each came from
    Config {
        /// Print the commented default file instead, to start your own from
        #[arg(long)]
        defaults: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum ConsoleCommand {
    /// Make a link that makes somebody an administrator; it works once, within three days
    Link,
    /// List the invitations that nobody has accepted yet
    Invites,
    /// Take an invitation back: its link works no longer
    Revoke {
        /// Id of the invitation, as `bourse console invites` shows it
        invite: String,
    },
    /// Let somebody sign in without the second factor, who lost it
    SecondFactorOff {
        /// E-mail address of the account
        email: String,
    },
}

/// With a network and a contract: who stated what of that collection. Without: who administered what. The newest comes
/// first.
#[derive(Args)]
pub(crate) struct Log {
    /// Name or chain id of a network
    #[arg(long)]
    pub(crate) network: Option<String>,
    /// Contract on that network
    #[arg(long)]
    pub(crate) contract: Option<Address>,
    /// Order of that contract, by its id
    #[arg(long, value_name = "ID")]
    pub(crate) order: Option<String>,
    /// Marketplace of that order, such as opensea
    #[arg(long, value_name = "WORD")]
    pub(crate) marketplace: Option<String>,
    /// Only what concerns this project, of the administration
    #[arg(long, value_parser = project_id, conflicts_with_all = ["network", "contract", "order", "marketplace"])]
    pub(crate) project: Option<ProjectId>,
    /// So many entries at most
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) limit: u64,
}

#[derive(Args, Clone, Default)]
pub(crate) struct Listen {
    /// Address and port to accept connections on, such as 0.0.0.0:4010
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
}

/// With a node of a development chain, contracts are deployed there and people trade on it. What an interrupted start began,
/// the next one ends. No key is ever stored.
#[derive(Args)]
pub(crate) struct Demo {
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// Node of a development chain, such as `http://127.0.0.1:8545` of anvil or hardhat
    #[arg(long, value_name = "URL")]
    pub(crate) node: Option<String>,
    /// File with the private key of the account that deploys and pays, where it is none of the node's own; the variable
    /// `BOURSE_DEMO_KEY` may hold it instead
    #[arg(long, value_name = "FILE", requires = "node")]
    pub(crate) key_file: Option<PathBuf>,
    /// Confirm, by its id, a chain that does not look like one for development: money is spent there
    #[arg(long, value_name = "CHAIN_ID", requires = "node")]
    pub(crate) not_a_development_chain: Option<u64>,
}

#[derive(Args)]
pub(crate) struct Health {
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// Ask whether its database answers too
    #[arg(long)]
    pub(crate) ready: bool,
}

#[derive(Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// Also look at what a market should have before real money is taken in it: its address, people, keys, nodes and contracts
    #[arg(long)]
    pub(crate) shop: bool,
    /// Also compare what the running service holds in memory with the database, and that with what contracts say
    #[arg(long)]
    pub(crate) deep: bool,
    /// Compare everything, not only some collections
    #[arg(long, requires = "deep")]
    pub(crate) whole: bool,
}

/// Reads JSON Lines: one record a line, told apart by its `type` (currency, contract, token, balance, order, event,
/// usage, audience). The same file twice changes nothing. docs/import.md describes every record.
#[derive(Args)]
pub(crate) struct Import {
    /// Files to read, in order; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Report bad lines and go on, instead of stopping at the first
    #[arg(long)]
    pub(crate) skip_bad: bool,
}

/// Exits with 1 when it cannot be done. With --check, 0 says that there is nothing to do, and 3 that there is.
#[derive(Args)]
pub(crate) struct Upgrade {
    /// Change nothing: say which schema the database has, which this program needs, and what would be done
    #[arg(long)]
    pub(crate) check: bool,
}

/// Stop the service before. Every row is copied and then looked at again in both databases. Whatever stops it, the same
/// command goes on where it was; the old database is only read. Uploaded files stay where they are, and the signing
/// secret in the data directory.
#[derive(Args)]
pub(crate) struct Move {
    /// The database to copy: `sqlite:PATH`
    #[arg(long, value_name = "URL")]
    pub(crate) from: String,
    /// An empty database: `postgres://USER:PASSWORD@HOST/NAME`
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,
}

/// What is there already is not copied again, and nothing is removed. It can be run beside the service: once before
/// `storage.files` is changed, for most of them, and once after, for those that came meanwhile.
#[derive(Args)]
pub(crate) struct CopyFiles {
    /// Where they are: a directory, or `s3://BUCKET/PREFIX` of the same store
    #[arg(long, value_name = "PLACE")]
    pub(crate) from: String,
}

/// Checks the whole backup first, and changes nothing when it is damaged. Stop the service before.
#[derive(Args)]
pub(crate) struct Restore {
    /// A file that `bourse backup` wrote
    pub(crate) file: PathBuf,
    /// Move what the data directory holds aside, into a directory inside it, instead of refusing
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Subcommand)]
pub(crate) enum ProjectCommand {
    /// Make a project with an access key and a secret token, which are shown this once
    Create {
        /// Name of the project
        name: String,
    },
    /// List all projects
    List,
    /// Show a project with its credentials
    Show {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
    },
}

#[derive(Subcommand)]
pub(crate) enum GrantCommand {
    /// Let a project state something
    Add {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
        #[command(flatten)]
        terms: GrantTerms,
    },
    /// List what a project may state
    List {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
    },
    /// Let a project no longer state something; what it has stated stays
    Remove {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
        #[command(flatten)]
        terms: GrantTerms,
    },
}

#[derive(Args)]
pub(crate) struct GrantTerms {
    /// Of what: collections (tokens, balances, orders, following), identity (names of contracts, verified), currencies
    #[arg(value_parser = subject)]
    pub(crate) subject: Subject,
    /// Network by name or number; all when left out
    #[arg(long)]
    pub(crate) network: Option<String>,
    /// Contract on that network; all when left out
    #[arg(long)]
    pub(crate) contract: Option<Address>,
}

#[derive(Subcommand)]
pub(crate) enum KeyCommand {
    /// Make an access key, which is shown this once
    Create {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
        #[command(flatten)]
        limits: KeyLimits,
    },
    /// List a project's access keys
    List {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
    },
    /// Put a new key in the place of an old one, which stops working
    Rotate {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
        /// Number of the key, as `bourse key list` shows it
        #[arg(value_parser = record_id)]
        key: RecordId,
    },
    /// Stop a key from working; a project keeps at least one
    Disable {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
        /// Number of the key, as `bourse key list` shows it
        #[arg(value_parser = record_id)]
        key: RecordId,
    },
}

#[derive(Args)]
pub(crate) struct KeyLimits {
    /// What the key is called
    #[arg(long, default_value = "default")]
    pub(crate) name: String,
    /// Origin that the key works from, such as `https://game.example` or `https://*.game.example`; may be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub(crate) origins: Vec<String>,
    /// Refuse requests that do not say where they come from
    #[arg(long)]
    pub(crate) require_origin: bool,
    /// Service that the key works for: metadata, collections, marketplace, builder, analytics, indexer, gateway, ingest; may be repeated
    #[arg(long = "service", value_name = "SERVICE", value_parser = service)]
    pub(crate) services: Vec<String>,
}

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a secret token, which is shown this once
    Create {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
        /// What the token is called
        #[arg(long, default_value = "default")]
        name: String,
        /// Days until it expires; it does not when left out
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
        expires_in_days: Option<u32>,
    },
    /// List a project's secret tokens
    List {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
    },
    /// Stop a token from working
    Revoke {
        /// Project id
        #[arg(value_parser = project_id)]
        project: ProjectId,
        /// Id of the token, as `bourse token list` shows it
        // Ids that earlier versions made may begin with a hyphen.
        #[arg(allow_hyphen_values = true)]
        token: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum CollectionCommand {
    /// Follow a contract's tokens and orders on its chain
    Add {
        /// Name or chain id of a network, which needs a node (`rpc_url`)
        network: String,
        /// Address of the contract
        contract: Address,
        /// Block to read from; the one it was deployed in, or an earlier one. An earlier one than before has it read anew
        #[arg(long, value_name = "BLOCK", default_value_t = 0)]
        from: u64,
        /// Project that it is followed for: what happens there counts in its charts, and the project may end it
        #[arg(long, value_parser = project_id)]
        project: Option<ProjectId>,
    },
    /// List the followed collections of a network
    List {
        /// Name or chain id of a network
        network: String,
    },
    /// Stop following a contract, whoever asked for it; its holders and open orders are forgotten
    Remove {
        /// Name or chain id of a network
        network: String,
        /// Address of the contract
        contract: Address,
    },
}

#[derive(Subcommand)]
pub(crate) enum ChainCommand {
    /// Forget what a chain stated and read it anew; stop the servers that follow it first
    Resync {
        /// Name or chain id of a network
        network: String,
        /// Confirm: until everything is read again, orders and holders of its collections are incomplete
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum AnalyticsCommand {
    /// Take a wallet out of everything that is counted, when somebody asks to be forgotten
    Forget {
        /// Project id
        #[arg(long, value_parser = project_id)]
        project: ProjectId,
        /// Address of the wallet
        #[arg(long)]
        wallet: Address,
    },
}

fn project_id(text: &str) -> Result<ProjectId, String> {
    let number: u64 =
        text.parse().map_err(|_| "a project id is a whole number, see `bourse project list`".to_owned())?;
    number.try_into().map_err(|error: bourse_wire::IdError| error.to_string())
}

fn record_id(text: &str) -> Result<RecordId, String> {
    let number: u64 =
        text.parse().map_err(|_| "a key's number is a whole number, see `bourse key list`".to_owned())?;
    number.try_into().map_err(|error: bourse_wire::IdError| error.to_string())
}

fn subject(text: &str) -> Result<Subject, String> {
    let words: Vec<&str> = Subject::ALL.iter().map(|subject| subject.word()).collect();
    Subject::parse(text).ok_or_else(|| format!("is none of {}", words.join(", ")))
}

fn service(text: &str) -> Result<String, String> {
    let known = bourse_server::Service::ALL.map(bourse_server::Service::short);
    if known.contains(&text) { Ok(text.to_owned()) } else { Err(format!("is none of {}", known.join(", "))) }
}
