//! One struct for each section. What a setting is for, and why to change it, is said in the default file.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use bourse_chain::fetch::{FetchSettings, Gateways, LinkError, Pace, Rules};
use bourse_protocols::native::Api;
use bourse_wire::Marketplace;
use ipnet::IpNet;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, de};

use crate::files::FilesPlace;
use crate::redact::{Endpoints, Hidden};

/// Name of the `SQLite` file that is used when no database is named.
pub const SQLITE_FILE_NAME: &str = "bourse.db";

/// `[service]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The name of this installation in logs and metrics.
    pub name: String,
}

/// `[server]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Address and port to accept connections on.
    #[serde(deserialize_with = "socket_address")]
    pub listen: SocketAddr,
    /// As written, possibly empty: [`crate::Settings::public_url`] is the one to use.
    pub public_url: String,
    /// The proxies that are believed when they name whom a request comes from.
    #[schemars(with = "Vec<String>")]
    pub trusted_proxies: TrustedProxies,
    /// How long the service goes on once it is told to stop, in milliseconds.
    pub drain_ms: u64,
    /// Host and port under which other servers of the installation reach this one; empty when it shares nothing.
    pub peer_address: String,
}

/// `server.trusted_proxies`: addresses, and networks of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Whether an address is one of them.
    #[inline]
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl TryFrom<Vec<String>> for TrustedProxies {
    type Error = String;

    fn try_from(texts: Vec<String>) -> Result<Self, String> {
        let network = |text: String| {
            let address = text.parse().map(|address: IpAddr| IpNet::from(address.to_canonical()));
            let network = address.or_else(|_| text.parse());
            network.map_err(|_| {
                format!("`{text:.64}` is neither an IP address nor a network such as 10.0.0.0/8")
            })
        };
        texts.into_iter().map(network).collect::<Result<_, _>>().map(Self)
    }
}

/// `[storage]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    /// Directory of everything kept on disk.
    pub data: PathBuf,
    /// Where the records are kept.
    #[schemars(with = "String")]
    pub database: Database,
    /// A server that follows that of the database, from which whole collections are read.
    #[schemars(with = "String")]
    pub database_read: DatabaseRead,
    /// Where uploaded files are kept.
    #[schemars(with = "String")]
    pub files: FilesPlace,
    /// Database connections open at once.
    pub connections_max: u32,
    /// How long PostgreSQL may be silent before it is asked whether it is there, in milliseconds.
    pub database_timeout_ms: u64,
    /// Versions of each collection's change log that are kept.
    pub changes_kept: u64,
    /// Days for which it is kept who stated what of a collection.
    pub attributions_days: u32,
    /// Days for which entries of the audit log are kept.
    pub audit_days: u32,
    /// Memory budget of resident collections and of charts, in bytes.
    pub resident_bytes_max: usize,
    /// How long to wait between two collections that are compared with the store; 0 for never.
    #[schemars(extend("x-off-at-zero" = true))]
    pub self_check_interval_ms: u64,
    /// Whether large collections are kept in files.
    pub keep_collections: bool,
    /// Directory of files that large collections are kept in; empty for one beside a `SQLite` database, and none otherwise.
    pub kept_directory: PathBuf,
    /// What these files may take together, in bytes.
    pub kept_bytes_max: u64,
    /// Memory from which on a collection is kept in a file.
    pub kept_bytes_min: usize,
}

/// The directory of kept collections in the data directory.
const KEPT_DIRECTORY: &str = "resident";

impl Storage {
    /// Where collections are kept in files, if they are.
    pub fn kept_directory(&self) -> Option<PathBuf> {
        match (self.kept_directory.as_os_str().is_empty(), self.sqlite_file()) {
            _ if !self.keep_collections => None,
            (false, _) => Some(self.kept_directory.clone()),
            (true, Some(_)) => Some(self.data.join(KEPT_DIRECTORY)),
            (true, None) => None,
        }
    }

    /// The `SQLite` file, or `None` when the records are in `PostgreSQL`.
    pub fn sqlite_file(&self) -> Option<PathBuf> {
        match &self.database {
            Database::InData => Some(self.data.join(SQLITE_FILE_NAME)),
            Database::Sqlite(path) => Some(path.clone()),
            Database::Postgres(_) => None,
        }
    }
}

/// `storage.database`
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub enum Database {
    /// Nothing written: a `SQLite` file in the data directory.
    InData,
    /// A `SQLite` file of its own.
    Sqlite(PathBuf),
    /// The URL of a `PostgreSQL` database, which may hold a password.
    Postgres(SecretString),
}

impl TryFrom<String> for Database {
    /// The reason never repeats the text, which may hold a password.
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.is_empty() {
            return Ok(Self::InData);
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.into()));
        }
        match text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")) {
            None => Err("must be empty, sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME"),
            Some("") => Err("must name a file after sqlite:"),
            // Every connection would get a database of its own.
            Some(":memory:") => Err("cannot be a database in memory"),
            // Taken as part of the name, options would silently make another file.
            Some(path) if path.contains('?') => Err("must be sqlite:PATH without options after `?`"),
            Some(path) => Ok(Self::Sqlite(path.into())),
        }
    }
}

/// `storage.database_read`
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub enum DatabaseRead {
    /// Nothing written: everything is read from the database itself.
    Nowhere,
    /// The URL of a `PostgreSQL` server that follows that of the database. It may hold a password.
    Replica(SecretString),
}

impl TryFrom<String> for DatabaseRead {
    /// The reason never repeats the text, which may hold a password.
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match Database::try_from(text) {
            Ok(Database::InData) => Ok(Self::Nowhere),
            Ok(Database::Postgres(url)) => Ok(Self::Replica(url)),
            Ok(Database::Sqlite(_)) | Err(_) => Err("must be empty or postgres://USER:PASSWORD@HOST/NAME"),
        }
    }
}

/// `[auth]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// Key of the JSON Web Tokens; empty means one made at the first start.
    #[schemars(with = "Hidden")]
    pub jwt_secret: SecretString,
}

impl Auth {
    /// Whether the key is set, rather than one made at the first start.
    pub fn has_secret(&self) -> bool {
        !self.jwt_secret.expose_secret().is_empty()
    }
}

/// `[console]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Console {
    /// Whether the console is served.
    pub enabled: bool,
    /// Whether everybody who can sign in may make projects, not administrators only.
    pub anyone_creates_projects: bool,
    /// How long a session lasts, in hours.
    pub session_hours: u64,
    /// Largest picture that is fetched to be shown, in bytes.
    pub image_bytes_max: usize,
    /// Time for fetching one, in milliseconds.
    pub image_timeout_ms: u64,
    /// Memory for pictures that were fetched, in bytes.
    pub image_cache_bytes_max: usize,
}

/// `[shop]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shop {
    /// Directory with languages of the installation's own; empty when there are none.
    pub languages: PathBuf,
}

/// `[limits]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Largest request body, in bytes.
    pub body_bytes_max: usize,
    /// Largest uploaded file, in bytes.
    pub upload_bytes_max: usize,
    /// What the uploaded files of one project may take, in bytes; 0 means no limit.
    #[schemars(extend("x-off-at-zero" = true))]
    pub project_files_bytes_max: u64,
    /// Levels of nesting accepted in JSON.
    pub json_depth_max: usize,
    /// Contracts in one request.
    pub batch_contracts_max: usize,
    /// Tokens in one request.
    pub batch_tokens_max: usize,
    /// Contacts in one request.
    pub contacts_max: usize,
    /// Records in one request that gets data in.
    pub ingest_records_max: usize,
    /// Items in a page when the client names no number.
    pub page_size_default: u32,
    /// Items in a page, at most.
    pub page_size_max: u32,
    /// Time for one request, in milliseconds.
    pub request_timeout_ms: u64,
    /// Time an upload may take.
    pub upload_timeout_ms: u64,
    /// Requests served at once.
    pub concurrent_requests_max: usize,
    /// Requests of one project served at once.
    pub project_requests_max: usize,
    /// Streams open at once.
    pub streams_max: usize,
    /// Streams of one project open at once.
    pub project_streams_max: usize,
    /// Streams open at once from one address.
    pub address_streams_max: usize,
    /// Memory for what streams were told lately, and for what is written for one reader each, in bytes.
    pub streams_bytes_max: usize,
    /// Collections that one project may follow.
    pub followed_collections_max: u64,
    /// Memory for bodies that are larger than small, in bytes.
    pub bodies_bytes_max: usize,
    /// Connections open at once.
    pub connections_max: usize,
    /// Connections open at once from one address.
    pub connections_per_address_max: usize,
    /// Time for the headers of a request, in milliseconds.
    pub header_timeout_ms: u64,
    /// Time in which some of an answer must be taken, in milliseconds.
    pub write_timeout_ms: u64,
    /// Time after which a connection is closed on which nothing happens, in milliseconds.
    pub idle_timeout_ms: u64,
    /// Requests per minute and access key; 0 means no limit.
    pub rate_per_minute: u32,
    /// Signed orders that one access key, or one project that is no steward of their collections, may send a minute.
    pub key_orders_per_minute: u32,
    /// Proofs of wallets that sign themselves up to audiences, looked at a minute from one address.
    pub wallet_proofs_per_minute: u32,
    /// Contacts of an audience above which no wallet signs itself up any more.
    pub registered_contacts_max: u64,
    /// Open signed orders of one maker in one collection that are kept without a steward's word.
    pub maker_orders_max: u64,
    /// Signed orders of one collection that are kept although nobody knows that their makers have what they would give.
    pub unbacked_orders_max: u64,
    /// Time between two writes of the usage counters, in milliseconds.
    pub metering_flush_ms: u64,
}

impl Limits {
    /// How long a request waits for something that is being loaded, and goes on being loaded when it does not.
    pub fn load_patience(&self) -> Duration {
        Duration::from_millis(self.request_timeout_ms / 4)
    }
}

/// `[quotas]`: compute units per project, service and calendar month; 0 means no limit. The default file has one for
/// each service, under its short name.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Quotas(BTreeMap<String, u64>);

impl Quotas {
    /// Units that a project has in a month of a service by its short name; 0 for no limit.
    #[inline]
    pub fn of(&self, service: &str) -> u64 {
        self.0.get(service).copied().unwrap_or_default()
    }
}

/// `[trial]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The access key that everybody may try the service with; empty for none. It is shown to everybody.
    pub access_key: String,
    /// Compute units per minute and address; 0 means no limit.
    pub rate_per_minute: u32,
    /// Compute units per day, of all together; 0 means no limit.
    pub units_per_day: u64,
}

/// `[analytics]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Analytics {
    /// Days for which the names of batches are remembered.
    pub batches_days: u32,
    /// Days for which the ids of events are remembered.
    pub event_ids_days: u32,
    /// Days for which events are kept as they came; 0 means not at all.
    pub raw_events_days: u32,
    /// Events in one request with a secret token.
    pub events_max: usize,
    /// Events in one request with an access key.
    pub events_by_key_max: usize,
}

/// `[metadata]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// Addresses that names of IPFS are appended to.
    pub ipfs_gateways: Vec<String>,
    /// Addresses that names of Arweave are appended to.
    pub arweave_gateways: Vec<String>,
    /// Whether links without encryption are followed.
    pub plain_http: bool,
    /// Hosts that are fetched from although their addresses are private.
    pub allowed_hosts: Vec<String>,
    /// Largest body, in bytes.
    pub body_bytes_max: usize,
    /// Time for one fetch, in milliseconds.
    pub timeout_ms: u64,
    /// Time to connect, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Fetches at once.
    pub fetches_max: usize,
    /// Fetches at once from one host.
    pub fetches_per_host_max: usize,
    /// Times that something is tried.
    pub attempts_max: u64,
    /// Time before something is tried again, in milliseconds; it doubles.
    pub retry_ms: u64,
    /// What it doubles up to.
    pub retry_ms_max: u64,
    /// Time before something that counts as not available is tried again, in milliseconds.
    pub given_up_retry_ms: u64,
    /// Time after which something is taken over from another server, in milliseconds.
    pub lease_ms: u64,
    /// Time between two looks at an empty queue, in milliseconds.
    pub poll_ms: u64,
    /// Time before a project may ask again for all tokens of a collection, in milliseconds.
    pub refresh_all_ms: u64,
}

impl Metadata {
    /// How to fetch; an error names the gateway that is none.
    pub fn fetch(&self) -> Result<FetchSettings, LinkError> {
        let time = Duration::from_millis;
        Ok(FetchSettings {
            gateways: Gateways::read(&self.ipfs_gateways, &self.arweave_gateways)?,
            rules: Rules {
                plain_http: self.plain_http,
                accept: "application/json, */*;q=0.5",
                allowed_hosts: self.allowed_hosts.clone(),
                body_bytes_max: self.body_bytes_max,
                timeout: time(self.timeout_ms),
                connect_timeout: time(self.connect_timeout_ms),
            },
            pace: Pace {
                concurrent_max: self.fetches_max,
                per_host_max: self.fetches_per_host_max,
                attempts_max: self.attempts_max,
                retry_min: time(self.retry_ms),
                retry_max: time(self.retry_ms_max),
                given_up_retry: time(self.given_up_retry_ms),
                lease: time(self.lease_ms),
                poll: time(self.poll_ms),
            },
        })
    }
}

/// `[webhooks]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// Webhooks that one project may have.
    pub listeners_max: u64,
    /// Contracts that one of them may name.
    pub contracts_max: usize,
    /// Hosts that are sent to although their addresses are private.
    pub allowed_hosts: Vec<String>,
    /// Time for one delivery, in milliseconds.
    pub timeout_ms: u64,
    /// Time to connect, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Deliveries at once.
    pub deliveries_max: usize,
    /// Deliveries at once to one project.
    pub project_deliveries_max: usize,
    /// Times that something is tried.
    pub attempts_max: u64,
    /// Time before something is tried again, in milliseconds; it doubles.
    pub retry_ms: u64,
    /// What it doubles up to.
    pub retry_ms_max: u64,
    /// Messages of one webhook that are kept aside.
    pub dead_letters_max: u64,
}

impl Webhooks {
    /// By which rules is sent. Nothing of an answer is read but its status.
    pub fn rules(&self) -> Rules {
        Rules {
            plain_http: true,
            accept: "*/*",
            allowed_hosts: self.allowed_hosts.clone(),
            body_bytes_max: 0,
            timeout: Duration::from_millis(self.timeout_ms),
            connect_timeout: Duration::from_millis(self.connect_timeout_ms),
        }
    }
}

/// `[sources]`: the own services of marketplaces that must agree to fills; empty where there is none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// OpenSea's.
    #[schemars(with = "Endpoints")]
    pub opensea_url: SecretString,
    /// Key for it.
    #[schemars(with = "Hidden")]
    pub opensea_key: SecretString,
    /// Magic Eden's.
    #[schemars(with = "Endpoints")]
    pub magic_eden_url: SecretString,
    /// Key for it.
    #[schemars(with = "Hidden")]
    pub magic_eden_key: SecretString,
    /// A cosigner's of Payment Processor.
    #[schemars(with = "Endpoints")]
    pub payment_processor_url: SecretString,
    /// Key for it.
    #[schemars(with = "Hidden")]
    pub payment_processor_key: SecretString,
    /// Blur's.
    #[schemars(with = "Endpoints")]
    pub blur_url: SecretString,
    /// Key for it.
    #[schemars(with = "Hidden")]
    pub blur_key: SecretString,
    /// X2Y2's.
    #[schemars(with = "Endpoints")]
    pub x2y2_url: SecretString,
    /// Key for it.
    #[schemars(with = "Hidden")]
    pub x2y2_key: SecretString,
    /// Time that a service may take to answer, in milliseconds.
    pub timeout_ms: u64,
    /// Times that a service is asked that does not answer.
    pub attempts_max: u32,
}

/// The own service of one marketplace, as the settings name it; what it lacks is empty.
pub struct SourceSettings<'s> {
    /// Whose orders it agrees to.
    pub marketplace: Marketplace,
    /// What it speaks.
    pub api: Api,
    /// Its address.
    pub url: &'s SecretString,
    /// What it knows us by.
    pub key: &'s SecretString,
}

impl Sources {
    /// Each service.
    pub fn services(&self) -> [SourceSettings<'_>; 5] {
        let service = |marketplace, api, url, key| SourceSettings { marketplace, api, url, key };
        [
            service(Marketplace::Opensea, Api::OpenSea, &self.opensea_url, &self.opensea_key),
            service(Marketplace::MagicEden, Api::Reservoir, &self.magic_eden_url, &self.magic_eden_key),
            service(
                Marketplace::PaymentProcessor,
                Api::Reservoir,
                &self.payment_processor_url,
                &self.payment_processor_key,
            ),
            service(Marketplace::Blur, Api::Blur, &self.blur_url, &self.blur_key),
            service(Marketplace::X2y2, Api::X2y2, &self.x2y2_url, &self.x2y2_key),
        ]
    }
}

/// `[cors]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cors {
    /// Web origins that may call the service: `*` alone, or a list without it.
    pub origins: Vec<String>,
}

/// `[log]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// How a line looks.
    pub format: LogFormat,
    /// A `tracing` filter, not checked here.
    pub level: String,
}

/// `log.format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object on each line.
    Json,
}

/// Reads an address with a better reason than "invalid socket address syntax": host names are the usual slip.
fn socket_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| {
        de::Error::custom(format!("must be an IP address and a port, such as 127.0.0.1:4010, not {text:?}"))
    })
}
