//! Prometheus metrics, one set of series per operation, made once so that a request only adds to them.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use bourse_chain::{Phase, Snapshot};
use bourse_peers::PeerMetrics;
use bourse_store::{Store, Worker};
use bourse_wire::{Currency, Timestamp};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::door::RefusalCounters;
use crate::streams::StreamMetrics;
use crate::webhooks::WebhookMetrics;

/// Upper bounds of the latency buckets, in seconds: answers from memory take microseconds, writes milliseconds.
const LATENCY_SECONDS: [f64; 12] =
    [0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OperationLabels {
    service: &'static str,
    operation: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ErrorLabels {
    service: &'static str,
    operation: &'static str,
    code: i32,
}

/// The series of one operation.
#[derive(Clone)]
pub(crate) struct OperationMetrics {
    labels: OperationLabels,
    requests: Counter<u64, AtomicU64>,
    latency: Histogram,
}

/// All series.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<OperationLabels, Counter<u64, AtomicU64>>,
    errors: Family<ErrorLabels, Counter<u64, AtomicU64>>,
    latency: Family<OperationLabels, Histogram>,
    pub(crate) resident: ResidentMetrics,
    pub(crate) streams: StreamMetrics,
    pub(crate) webhooks: WebhookMetrics,
    chain: ChainMetrics,
    rate_told: Family<CurrencyLabels, Gauge<i64, AtomicI64>>,
    journal: Gauge<i64, AtomicI64>,
    away: Gauge<i64, AtomicI64>,
    node_up: Family<NodeLabels, Gauge<i64, AtomicI64>>,
}

/// The series of the resident collections.
#[derive(Clone)]
pub(crate) struct ResidentMetrics {
    /// How many there are.
    pub(crate) collections: Gauge<i64, AtomicI64>,
    /// Memory that they take.
    pub(crate) bytes: Gauge<i64, AtomicI64>,
    /// Time that loading a whole one takes.
    pub(crate) load_seconds: Histogram,
    /// Time that taking over changes takes.
    pub(crate) follow_seconds: Histogram,
    /// How many versions the one furthest behind the store still is.
    pub(crate) lag_versions: Gauge<i64, AtomicI64>,
    /// How often one could not be read or brought up to date.
    pub(crate) follow_failures: Counter<u64, AtomicU64>,
    /// Memory that what is counted of projects takes.
    pub(crate) charts: Gauge<i64, AtomicI64>,
    /// Memory that those take that are being loaded.
    pub(crate) promised: Gauge<i64, AtomicI64>,
    /// How many cannot be read, and are not served.
    pub(crate) stale: Gauge<i64, AtomicI64>,
    pub(crate) checks: CheckMetrics,
    /// Files of collections, by what came of them.
    kept: Family<OutcomeLabels, Counter<u64, AtomicU64>>,
    /// Loads, by where they came from.
    loads: Family<LoadLabels, Counter<u64, AtomicU64>>,
}

impl ResidentMetrics {
    pub(crate) fn note_load(&self, from: &'static str) {
        self.loads.get_or_create(&LoadLabels { from }).inc();
    }

    pub(crate) fn note_kept(&self, outcome: &'static str) {
        self.kept.get_or_create(&OutcomeLabels { outcome }).inc();
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct LoadLabels {
    from: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PartLabels {
    part: &'static str,
}

/// The series of comparing memory with the store.
#[derive(Clone, Default)]
pub(crate) struct CheckMetrics {
    outcomes: Family<OutcomeLabels, Counter<u64, AtomicU64>>,
    differences: Family<PartLabels, Counter<u64, AtomicU64>>,
}

impl CheckMetrics {
    fn register(registry: &mut Registry) -> Self {
        let checks = Self::default();
        let help = "Times that memory was compared with the store, by what came of it";
        registry.register("self_check_outcomes", help, checks.outcomes.clone());
        let help = "Times that memory said what the store does not, by the part of it";
        registry.register("self_check_differences", help, checks.differences.clone());
        checks
    }

    pub(crate) fn note(&self, outcome: &'static str) {
        self.outcomes.get_or_create(&OutcomeLabels { outcome }).inc();
    }

    pub(crate) fn note_difference(&self, part: &'static str) {
        self.differences.get_or_create(&PartLabels { part }).inc();
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct NodeLabels {
    node: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct NetworkLabels {
    network: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CurrencyLabels {
    network: String,
    currency: String,
}

/// The series of one kind for each network.
type PerNetwork<M> = Family<NetworkLabels, M>;

/// The series of followed chains.
#[derive(Clone, Default)]
struct ChainMetrics {
    head: PerNetwork<Gauge<i64, AtomicI64>>,
    checkpoint: PerNetwork<Gauge<i64, AtomicI64>>,
    lag: PerNetwork<Gauge<i64, AtomicI64>>,
    collections_behind: PerNetwork<Gauge<i64, AtomicI64>>,
    stopped: PerNetwork<Gauge<i64, AtomicI64>>,
    nodes_in_trouble: PerNetwork<Gauge<i64, AtomicI64>>,
    subscribed: PerNetwork<Gauge<i64, AtomicI64>>,
    errors: PerNetwork<Counter<u64, AtomicU64>>,
    reorganisations: PerNetwork<Counter<u64, AtomicU64>>,
    requests: PerNetwork<Counter<u64, AtomicU64>>,
}

impl ChainMetrics {
    fn register(registry: &mut Registry) -> Self {
        let chain = Self::default();
        let gauges = [
            ("chain_head", "Height of the newest block that a node told of", &chain.head),
            ("chain_checkpoint", "Height of the newest block that was followed", &chain.checkpoint),
            ("chain_lag_blocks", "Blocks between the two", &chain.lag),
            (
                "chain_collections_behind",
                "Collections whose history is still read",
                &chain.collections_behind,
            ),
            ("chain_stopped", "1 when somebody has to do something", &chain.stopped),
            (
                "chain_nodes_in_trouble",
                "Nodes that are left alone, or were in the last ten minutes",
                &chain.nodes_in_trouble,
            ),
            ("chain_subscribed", "1 while a node tells of new blocks, where one is to", &chain.subscribed),
        ];
        for (name, help, family) in gauges {
            registry.register(name, help, family.clone());
        }
        let counters = [
            ("chain_errors", "Times that following failed", &chain.errors),
            ("chain_reorganisations", "Times that the chain took blocks back", &chain.reorganisations),
            ("chain_requests", "Requests that nodes were sent", &chain.requests),
        ];
        for (name, help, family) in counters {
            registry.register(name, help, family.clone());
        }
        chain
    }
}

/// Upper bounds of the buckets for loading a collection, in seconds: a small one takes milliseconds.
const LOAD_SECONDS: [f64; 10] = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0];

impl ResidentMetrics {
    fn register(registry: &mut Registry) -> Self {
        let resident = Self {
            collections: Gauge::default(),
            bytes: Gauge::default(),
            load_seconds: Histogram::new(LOAD_SECONDS),
            follow_seconds: Histogram::new(LATENCY_SECONDS),
            lag_versions: Gauge::default(),
            checks: CheckMetrics::register(registry),
            follow_failures: Counter::default(),
            charts: Gauge::default(),
            promised: Gauge::default(),
            stale: Gauge::default(),
            kept: Family::default(),
            loads: Family::default(),
        };
        registry.register(
            "resident_collections",
            "Collections that are resident",
            resident.collections.clone(),
        );
        let help = "Memory that resident collections take";
        registry.register_with_unit("resident", help, Unit::Bytes, resident.bytes.clone());
        let help = "Time to load a whole collection";
        registry.register_with_unit("resident_load", help, Unit::Seconds, resident.load_seconds.clone());
        let help = "Time to take over changes of a resident collection";
        registry.register_with_unit("resident_follow", help, Unit::Seconds, resident.follow_seconds.clone());
        let help = "Versions that the resident collection furthest behind the store lacks";
        registry.register("resident_lag_versions", help, resident.lag_versions.clone());
        let help = "Times that a collection could not be read or brought up to date";
        registry.register("resident_follow_failures", help, resident.follow_failures.clone());
        let help = "Memory that what is counted of projects takes, for charts";
        registry.register_with_unit("charts", help, Unit::Bytes, resident.charts.clone());
        let help = "Memory that collections and charts take that are being loaded";
        registry.register_with_unit("resident_loading", help, Unit::Bytes, resident.promised.clone());
        let help = "Collections that cannot be read and are not served";
        registry.register("resident_stale_collections", help, resident.stale.clone());
        let help = "Files that collections are kept in, by what came of them";
        registry.register("resident_kept_files", help, resident.kept.clone());
        let help = "Collections that were loaded, by where from";
        registry.register("resident_loads", help, resident.loads.clone());
        resident
    }
}

impl Metrics {
    pub(crate) fn new(refusals: RefusalCounters, peers: Option<&PeerMetrics>) -> Self {
        let requests = Family::default();
        let errors = Family::default();
        let latency =
            Family::<OperationLabels, Histogram>::new_with_constructor(|| Histogram::new(LATENCY_SECONDS));
        let mut registry = Registry::with_prefix("bourse");
        registry.register("requests", "Requests answered", requests.clone());
        registry.register("errors", "Requests answered with an error, by its code", errors.clone());
        registry.register_with_unit("latency", "Time to answer", Unit::Seconds, latency.clone());
        let help = "Connections and requests that were not served, by kind";
        registry.register("refusals", help, refusals);
        if let Some(peers) = peers {
            peers.register(&mut registry);
        }
        let resident = ResidentMetrics::register(&mut registry);
        let streams = StreamMetrics::register(&mut registry);
        let webhooks = WebhookMetrics::register(&mut registry);
        let chain = ChainMetrics::register(&mut registry);
        let rate_told = Family::default();
        let help = "When the rate of a currency was told, in seconds since 1970";
        registry.register("currency_rate_told_timestamp_seconds", help, rate_told.clone());
        let journal = Gauge::default();
        let help = "Length of the journal of the embedded database";
        registry.register_with_unit("database_journal", help, Unit::Bytes, journal.clone());
        let (away, node_up) = (Gauge::default(), Family::default());
        let help = "How long nobody has heard of the database, while it is away";
        registry.register_with_unit("database_away", help, Unit::Seconds, away.clone());
        let help = "Whether a worker of the database's cluster can be reached";
        registry.register("database_node_up", help, node_up.clone());
        Self {
            registry,
            requests,
            errors,
            latency,
            resident,
            streams,
            webhooks,
            chain,
            rate_told,
            journal,
            away,
            node_up,
        }
    }

    /// Notes when the rates of currencies were told, with their networks; those that have none are left out.
    pub(crate) fn note_rates(&self, currencies: impl IntoIterator<Item = (String, Currency)>) {
        self.rate_told.clear();
        for (network, Currency { contract_address, rate, .. }) in currencies {
            let Some(told) = rate.filter(|told| told.at != Timestamp::ZERO) else { continue };
            let labels = CurrencyLabels { network, currency: contract_address.to_string() };
            self.rate_told.get_or_create(&labels).set(told.at.unix_seconds());
        }
    }

    /// Notes how the database is.
    pub(crate) async fn note_database(&self, store: &Store) {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.journal.set(number(store.journal_bytes().unwrap_or_default()));
        self.away.set(store.away_for().map_or(0, |away| number(away.as_secs().max(1))));
        let workers = store.workers().await.unwrap_or_default();
        self.node_up.clear();
        for Worker { name, answers, .. } in workers {
            self.node_up.get_or_create(&NodeLabels { node: name }).set(answers.into());
        }
    }

    /// Notes how following a chain goes.
    pub(crate) fn note_chain(&self, network: &str, status: &Snapshot) {
        let labels = NetworkLabels { network: network.to_owned() };
        let gauge = |family: &PerNetwork<Gauge<i64, AtomicI64>>, value: Option<u64>| {
            if let Some(value) = value {
                family.get_or_create(&labels).set(i64::try_from(value).unwrap_or(i64::MAX));
            }
        };
        let behind = status.collections.iter().filter(|collection| !collection.live).count();
        gauge(&self.chain.head, status.head.map(|block| block.number));
        gauge(&self.chain.checkpoint, status.checkpoint.map(|block| block.number));
        gauge(&self.chain.lag, status.lag());
        gauge(&self.chain.collections_behind, Some(behind as u64));
        gauge(&self.chain.nodes_in_trouble, Some(status.nodes.len() as u64));
        let is_told = status.subscription.as_ref().map(|subscription| u64::from(subscription.is_alive));
        gauge(&self.chain.subscribed, is_told);
        gauge(&self.chain.stopped, Some(u64::from(matches!(status.phase, Phase::Stopped { .. }))));
        for (family, value) in [
            (&self.chain.errors, status.errors),
            (&self.chain.reorganisations, status.reorgs),
            (&self.chain.requests, status.requests),
        ] {
            family.get_or_create(&labels).inner().store(value, Ordering::Relaxed);
        }
    }

    /// The series of an operation, made now and kept.
    pub(crate) fn operation(&self, service: &'static str, operation: &'static str) -> OperationMetrics {
        let labels = OperationLabels { service, operation };
        OperationMetrics {
            requests: self.requests.get_or_create_owned(&labels),
            latency: self.latency.get_or_create_owned(&labels),
            labels,
        }
    }

    /// Notes one answer.
    pub(crate) fn note(&self, operation: &OperationMetrics, took: Duration, error: Option<i32>) {
        operation.requests.inc();
        operation.latency.observe(took.as_secs_f64());
        if let Some(code) = error {
            let OperationLabels { service, operation } = operation.labels;
            self.errors.get_or_create(&ErrorLabels { service, operation, code }).inc();
        }
    }

    /// Everything in the text format.
    pub(crate) fn encode(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
