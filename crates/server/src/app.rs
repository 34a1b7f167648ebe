//! The state that all requests share.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bourse_budget::Budget;
use bourse_chain::fetch::GetError;
use bourse_counting::MarketMembers;
use bourse_peers::{Peers, Seal, Server, ServerId};
use bourse_protocols::venues::Registry;
use bourse_store::{Actor, OpenOptions, Replica, Store, StoreError};
use bourse_wire::{Currency, ServiceName, Timestamp};

use crate::audience_counts::AudienceCounts;
use crate::auth::{Credentials, TokenSigner};
use crate::chains::{Chains, Nodes, NodesError};
use crate::clock::Clock;
use crate::consents::Consents;
use crate::counting::{CountingHouse, retention, surroundings};
use crate::dispatch::Side;
use crate::door::Refusals;
use crate::entropy;
use crate::files::Files;
use crate::followed::FollowedCollections;
use crate::limits::RateLimiter;
use crate::meter::Meter;
use crate::metrics::Metrics;
use crate::openapi;
use crate::outcomes::Outcomes;
use crate::resident::{KeptFiles, MemoryLimits, Resident};
use crate::router::Routes;
use crate::sales::Sales;
use crate::settings::Settings;
use crate::shares::Shares;
use crate::sources::Sources;
use crate::static_answer::StaticAnswer;
use crate::storefronts::Storefronts;
use crate::streams::Streams;
use crate::trial::Trial;
use crate::webhooks::Webhooks;

/// How long the database is waited for at least, however little time requests have.
const TURN_TIMEOUT_MIN: Duration = Duration::from_secs(2);

/// Requests that wait for something on a chain: each asks a node every second. A quarter of them is for one project.
const WAITS_MAX: usize = 128;

/// The running service.
pub struct App {
    pub(crate) settings: Settings,
    pub(crate) service_name: ServiceName,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    /// The marketplaces on all networks.
    pub(crate) registry: Registry,
    /// Whom to ask what is not stored of a chain.
    pub(crate) nodes: Arc<Nodes>,
    pub(crate) chains: Arc<dyn Chains>,
    pub(crate) credentials: Credentials,
    pub(crate) signer: TokenSigner,
    pub(crate) limiter: RateLimiter,
    /// The key that everybody may try the service with, where there is one.
    pub(crate) trial: Option<Trial>,
    /// Bounds the signed orders that nobody vouches for.
    pub(crate) stranger_orders: RateLimiter,
    /// Bounds the proofs of wallets that sign themselves up.
    pub(crate) wallet_proofs: RateLimiter,
    pub(crate) audience_counts: AudienceCounts,
    pub(crate) meter: Meter,
    pub(crate) metrics: Metrics,
    pub(crate) outcomes: Outcomes,
    budget: Budget,
    pub(crate) resident: Resident,
    /// The servers that this one shares collections with, if it does.
    pub(crate) peers: Option<Arc<Peers>>,
    pub(crate) counting: CountingHouse,
    pub(crate) markets: MarketMembers,
    /// The own services of other marketplaces, and who has logged in there.
    pub(crate) sources: Sources,
    pub(crate) sales: Sales,
    pub(crate) consents: Consents,
    pub(crate) files: Files,
    pub(crate) followed: FollowedCollections,
    pub(crate) storefronts: Storefronts,
    pub(crate) routes: Routes,
    pub(crate) started_at: Timestamp,
    /// Requests at work.
    pub(crate) permits: Arc<Shares>,
    /// Of those that are of no project, those at each side.
    pub(crate) sides: Arc<Shares<Side>>,
    /// Requests that wait for something on a chain.
    pub(crate) waits: Arc<Shares>,
    /// Memory for bodies, in bytes.
    pub(crate) bodies: Arc<Shares>,
    /// Who is told what happens.
    pub(crate) streams: Streams,
    /// How what happens is sent to addresses of projects.
    pub(crate) webhooks: Webhooks,
    pub(crate) refusals: Refusals,
    /// The page at `/docs`, made at the first request for it.
    reference: OnceLock<StaticAnswer>,
    request_ids: RequestIds,
    is_stopping: AtomicBool,
}

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A network's nodes cannot be asked.
    #[error(transparent)]
    Nodes(#[from] NodesError),
    /// A service of a marketplace cannot be asked.
    #[error("{0}")]
    Sources(String),
    /// Nothing can be sent to addresses of projects.
    #[error("webhooks: {0}")]
    Webhooks(#[from] GetError),
    /// Uploaded files cannot be kept.
    #[error("uploaded files (storage.files): {0}")]
    Files(std::io::Error),
    /// The data directory cannot be used.
    #[error("data directory {path}: {source}")]
    Data {
        /// The directory.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
}

impl App {
    /// Opens everything that the settings name.
    pub async fn open(settings: Settings, clock: Clock) -> Result<Arc<Self>, StartError> {
        Self::open_with(settings, clock, None).await
    }

    /// Opens everything that the settings name; contracts may be asked through somebody else than the nodes.
    pub async fn open_with(
        settings: Settings,
        clock: Clock,
        chains: Option<Arc<dyn Chains>>,
    ) -> Result<Arc<Self>, StartError> {
        let (registry, limits) = (settings.networks.registry(), &settings.limits);
        let nodes = Arc::new(Nodes::open(&settings.networks, &registry, &clock)?);
        let data = settings.storage.data.clone();
        let unusable = |source| StartError::Data { path: data.display().to_string(), source };
        make_private_directory(&data).map_err(unusable)?;
        let signer = TokenSigner::open(&settings.auth.jwt_secret, &data).map_err(unusable)?;
        let files =
            Files::open(&settings.storage, &settings.s3, entropy::word).await.map_err(StartError::Files)?;
        let options = open_options(&settings);
        let store = open_store(&settings, options, clock.now()).await?;
        let (refusals, peers) = (Refusals::default(), peers(&settings, &signer));
        let metrics = Metrics::new(refusals.counters(), peers.as_ref().map(|peers| peers.metrics()));
        let service_name = ServiceName::new(&settings.service.name);
        let meter = Meter::new(settings.quotas.clone());
        meter.begin(&store, clock.now()).await;
        let budget = Budget::new(settings.storage.resident_bytes_max);
        Ok(Arc::new(Self {
            resident: Resident::open(
                memory_limits(&settings, options, budget.clone())?,
                store.clone(),
                clock.clone(),
                service_name.clone(),
                metrics.resident.clone(),
            )
            .await?,
            peers,
            service_name,
            credentials: Credentials::load(&store).await?,
            limiter: RateLimiter::new(settings.limits.rate_per_minute),
            trial: Trial::offered(&settings.trial),
            stranger_orders: RateLimiter::new(settings.limits.key_orders_per_minute),
            wallet_proofs: RateLimiter::new(settings.limits.wallet_proofs_per_minute),
            audience_counts: AudienceCounts::default(),
            meter,
            routes: Routes::new(&metrics),
            counting: CountingHouse::within(
                budget.clone(),
                surroundings(store.clone(), retention(&settings.analytics), clock.clone()),
            ),
            budget,
            markets: MarketMembers::default(),
            sources: Sources::open(&settings.sources).map_err(StartError::Sources)?,
            sales: Sales::new(&settings.networks),
            consents: Consents::default(),
            permits: Shares::new(limits.concurrent_requests_max, limits.project_requests_max),
            sides: Shares::new(limits.project_requests_max, limits.project_requests_max.div_ceil(2)),
            waits: Shares::new(WAITS_MAX, WAITS_MAX / 4),
            // Half for one project: whoever sends as much as they can leaves the other half.
            bodies: Shares::new(limits.bodies_bytes_max, limits.bodies_bytes_max / 2),
            streams: Streams::new(limits, metrics.streams.clone()),
            webhooks: Webhooks::open(&settings.webhooks, metrics.webhooks.clone())?,
            refusals,
            reference: OnceLock::new(),
            request_ids: RequestIds::new(),
            is_stopping: AtomicBool::new(false),
            started_at: clock.now(),
            metrics,
            outcomes: Outcomes::new(clock.now()),
            files,
            followed: FollowedCollections::default(),
            storefronts: Storefronts::default(),
            signer,
            clock,
            chains: chains.unwrap_or_else(|| Arc::<Nodes>::clone(&nodes)),
            nodes,
            registry,
            store,
            settings,
        }))
    }

    /// The page at `/docs`.
    pub(crate) fn reference(&self) -> &StaticAnswer {
        self.reference.get_or_init(|| {
            let trial = self.settings.trial.access_key.trim();
            let page =
                bourse_reference::render(openapi::document(), Some(trial).filter(|key| !key.is_empty()));
            StaticAnswer::new("text/html; charset=utf-8", page)
        })
    }

    /// The settings it runs with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Says from now on that the service will not be here for long, to other servers before this returns.
    pub async fn begin_to_stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.streams.end();
        if let Some(peers) = &self.peers {
            peers.leave().await;
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// The marketplaces on all networks.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The memory that collections and charts share.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The store it runs on.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The time by its clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The name that appears in enum values.
    pub fn service_name(&self) -> &ServiceName {
        &self.service_name
    }

    /// Stores currencies; tells how many are different now. Once this returns, whoever reads through this process
    /// sees them.
    pub(crate) async fn put_currencies(
        &self,
        currencies: Vec<Currency>,
        actor: Actor,
    ) -> Result<u64, StoreError> {
        let changed = self.store.put_currencies(currencies, actor).await?;
        self.resident.refresh_currencies().await?;
        Ok(changed)
    }

    /// Stores those of these currencies that nobody told of yet, likewise.
    pub async fn add_currencies(&self, currencies: Vec<Currency>) -> Result<(), StoreError> {
        self.store.add_currencies(currencies).await?;
        self.resident.refresh_currencies().await
    }

    /// A name for one request, by which its answer is found in the log.
    pub(crate) fn request_id(&self) -> String {
        self.request_ids.next()
    }
}

/// The database of a service that is at an address, which linked contracts are told of when it is another one than before.
async fn open_store(settings: &Settings, options: OpenOptions, now: Timestamp) -> Result<Store, StoreError> {
    let store = Store::open(&settings.database_url(), options, now).await?;
    let store = store.served_at(&settings.public_url());
    if store.note_public_url(now).await? {
        tracing::debug!("the service is at another address: linked contracts are told of it");
    }
    Ok(store)
}

/// How the database is opened: it is waited for less long than a request may take, so that its caller is told what there was none
/// of; but a start takes its time.
fn open_options(settings: &Settings) -> OpenOptions {
    let turn_timeout = Duration::from_millis(settings.limits.request_timeout_ms / 2).max(TURN_TIMEOUT_MIN);
    OpenOptions { turn_timeout, ..settings.open_options() }
}

/// What resident collections may take, and where they come from.
fn memory_limits(
    settings: &Settings,
    options: OpenOptions,
    budget: Budget,
) -> Result<MemoryLimits, StoreError> {
    Ok(MemoryLimits {
        budget,
        // Others need connections too.
        loads_max: settings.storage.connections_max as usize / 2,
        patience: settings.limits.load_patience(),
        kept: KeptFiles::open(&settings.storage),
        replica: settings.replica_url().map(|url| Replica::open(url, options)).transpose()?,
    })
}

/// The servers that this one shares collections with, when it has an address for them.
fn peers(settings: &Settings, signer: &TokenSigner) -> Option<Arc<Peers>> {
    let address = settings.server.peer_address.as_str();
    if address.is_empty() {
        return None;
    }
    let me = Server { id: ServerId(u64::from_be_bytes(entropy::bytes())), address: address.into() };
    // Half of what the others wait, who have the same settings: no connection is used that they are about to close.
    let idle = Duration::from_millis(settings.limits.idle_timeout_ms / 2);
    Some(Arc::new(Peers::new(me, Seal::new(signer.derive("peers")?), idle)))
}

/// Makes the data directory, for its owner only: it holds people's addresses. One that is there keeps its mode.
pub fn make_private_directory(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Names requests: a random start for each process, then a count.
struct RequestIds {
    process: u32,
    count: AtomicU64,
}

impl RequestIds {
    fn new() -> Self {
        Self { process: u32::from_be_bytes(entropy::bytes()), count: AtomicU64::new(0) }
    }

    fn next(&self) -> String {
        format!("{:08x}-{:x}", self.process, self.count.fetch_add(1, Ordering::Relaxed))
    }
}
