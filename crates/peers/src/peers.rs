//! What a server knows of the others, and its way to ask them.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bourse_store::{CollectionKey, Migration, ServerRow, Store, StoreError};
use hyper::header::{HeaderMap, HeaderValue};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use tokio::sync::watch;

use crate::client::{AskError, Client, Question, Reply};
use crate::heat::Heat;
use crate::membership::{BEAT_INTERVAL, Membership, Sighting};
use crate::proof::{Admission, Receiver, Seal};
use crate::rank;
use crate::server::{Build, PeerState, Server, ServerId, Trouble};

/// How long to wait, when this server leaves, until the others can know.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// The version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The servers that share collections, as this one sees them.
pub struct Peers {
    me: Server,
    build: Build,
    /// The counter of this server: what the database has of it, or will have in a moment.
    beat: AtomicU64,
    seal: Seal,
    client: Client,
    members: Mutex<Membership>,
    /// The others that are alive.
    alive: watch::Sender<Arc<[Server]>>,
    heat: Heat,
    stage: watch::Sender<Stage>,
    began: Instant,
    metrics: PeerMetrics,
}

/// How far this server is with telling others that it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Beating,
    Leaving,
    Gone,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct TroubleLabels {
    trouble: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PeerLabels {
    peer: String,
}

/// The series of sharing.
#[derive(Clone, Default)]
pub struct PeerMetrics {
    alive: Gauge<i64, AtomicI64>,
    troubled: Family<TroubleLabels, Gauge<i64, AtomicI64>>,
    seen: Family<PeerLabels, Gauge<i64, AtomicI64>>,
    forwarded: Family<OutcomeLabels, Counter>,
}

impl PeerMetrics {
    /// Adds them to a registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Servers that share collections and are alive, this one included";
        registry.register("peers_alive", help, self.alive.clone());
        let help = "Servers that are known and not asked, by what is wrong with them";
        registry.register("peers_troubled", help, self.troubled.clone());
        let help = "How long ago another server was seen to be alive";
        registry.register_with_unit("peer_seen", help, Unit::Seconds, self.seen.clone());
        let help = "Requests that were sent on to the server that holds their collection, by what came of it";
        registry.register("forwarded_requests", help, self.forwarded.clone());
    }

    fn note_states(&self, states: &[PeerState]) {
        for trouble in Trouble::ALL {
            let count = states.iter().filter(|state| state.trouble == Some(trouble)).count();
            let gauge = self.troubled.get_or_create(&TroubleLabels { trouble: trouble.word() });
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.seen.clear();
        for PeerState { server, seen, .. } in states {
            let labels = PeerLabels { peer: server.address.to_string() };
            self.seen.get_or_create(&labels).set(i64::try_from(seen.as_secs()).unwrap_or(i64::MAX));
        }
    }

    fn note(&self, outcome: &'static str) {
        self.forwarded.get_or_create(&OutcomeLabels { outcome }).inc();
    }
}

impl Peers {
    /// This server with its id and its address, alone as yet. A connection to another is kept for so long while nobody uses
    /// it.
    pub fn new(me: Server, seal: Seal, idle: Duration) -> Self {
        let metrics = PeerMetrics::default();
        metrics.alive.set(1);
        let (version, schema) = (VERSION.to_owned(), Migration::newest().to_string());
        let build = Build { version, schema, secret: seal.fingerprint() };
        Self {
            members: Mutex::new(Membership::of(me.clone(), build.clone())),
            me,
            build,
            beat: AtomicU64::new(1),
            client: Client::new(seal.clone(), idle),
            seal,
            alive: watch::Sender::new(Arc::new([])),
            heat: Heat::default(),
            stage: watch::Sender::new(Stage::Beating),
            began: Instant::now(),
            metrics,
        }
    }

    /// The series of sharing.
    pub fn metrics(&self) -> &PeerMetrics {
        &self.metrics
    }

    /// This server.
    pub fn me(&self) -> &Server {
        &self.me
    }

    /// What is known of the others.
    pub fn states(&self) -> Vec<PeerState> {
        self.members().states(self.began.elapsed())
    }

    /// Brings the series up to date that change by themselves.
    pub fn measure(&self) {
        self.metrics.note_states(&self.states());
    }

    /// Tells the others again and again that this server is there, and learns who else is, until `stop` is over. Once this
    /// server [leaves](Self::leave) its row goes, so that nobody asks it any more; it goes on to learn of others, as it has
    /// requests to answer for a while.
    pub async fn keep(&self, store: &Store, stop: impl Future<Output = ()>) {
        let mut stage = self.stage.subscribe();
        let mut stop = std::pin::pin!(stop);
        let mut is_over = false;
        loop {
            self.beat(store).await;
            tokio::select! {
                () = tokio::time::sleep(BEAT_INTERVAL) => {}
                // An error cannot be: this server has the sender.
                _ = stage.wait_for(|stage| *stage != Stage::Beating) => break,
                () = &mut stop => {
                    is_over = true;
                    break;
                }
            }
        }
        if let Err(error) = store.remove_server(self.me.id.to_string()).await {
            error.log("telling other servers that this one leaves");
        }
        self.stage.send_replace(Stage::Gone);
        while !is_over {
            self.learn(store.servers().await);
            tokio::select! {
                () = tokio::time::sleep(BEAT_INTERVAL) => {}
                () = &mut stop => is_over = true,
            }
        }
    }

    /// Tells the others that this server leaves, and waits a moment until they can know.
    pub async fn leave(&self) {
        let mut stage = self.stage.subscribe();
        self.stage.send_if_modified(|stage| {
            let was_beating = *stage == Stage::Beating;
            if was_beating {
                *stage = Stage::Leaving;
            }
            was_beating
        });
        // Who does not hear of it finds the door closed, and goes on to another.
        let _ = tokio::time::timeout(LEAVE_TIMEOUT, stage.wait_for(|stage| *stage == Stage::Gone)).await;
    }

    async fn beat(&self, store: &Store) {
        let row = ServerRow {
            id: self.me.id.to_string(),
            address: self.me.address.to_string(),
            beat: self.beat.load(Ordering::Relaxed),
            version: self.build.to_string(),
        };
        let gone = self.members().gone().into_iter().map(|(id, beat)| (id.to_string(), beat)).collect();
        let rows = store.beat(row, gone).await;
        if rows.is_ok() {
            // While the database is away it stands still, as it does for whoever looks there.
            self.beat.fetch_add(1, Ordering::Relaxed);
        }
        self.learn(rows);
    }

    /// Takes over who is there; nothing where the database could not be asked.
    fn learn(&self, rows: Result<Vec<ServerRow>, StoreError>) {
        match rows {
            Ok(rows) => self.observe(rows),
            Err(error) => error.log("learning which servers share collections"),
        }
    }

    fn observe(&self, rows: Vec<ServerRow>) {
        let sighting = |row: ServerRow| {
            let server = Server { id: row.id.parse().ok()?, address: row.address.into() };
            Some(Sighting { server, beat: row.beat, build: Build::read(&row.version) })
        };
        let at = self.began.elapsed();
        let (alive, states): (Arc<[Server]>, _) = {
            let mut members = self.members();
            let before = members.states(at);
            members.observe(rows.into_iter().filter_map(sighting).collect(), at);
            let mut states = members.states(at);
            states.retain(|state| !before.iter().any(|old| old.is_in_the_trouble_of(state)));
            (members.alive().into(), states)
        };
        for PeerState { server: Server { id, address }, trouble, .. } in states {
            match trouble.map(|trouble| (trouble.is_lasting(), trouble.advice())) {
                Some((true, advice)) => tracing::warn!(server = %id, %address, "another server {advice}"),
                Some((false, advice)) => tracing::info!(server = %id, %address, "another server {advice}"),
                None => {}
            }
        }
        self.metrics.alive.set(i64::try_from(alive.len()).unwrap_or(i64::MAX).saturating_add(1));
        let before = Arc::clone(&self.alive.borrow());
        if before == alive {
            return;
        }
        for Server { id, address } in alive.iter().filter(|server| !before.contains(server)) {
            tracing::info!(server = %id, %address, "another server shares collections");
        }
        for Server { id, address } in before.iter().filter(|server| !alive.contains(server)) {
            tracing::info!(server = %id, %address, "a server shares collections no more");
        }
        self.alive.send_replace(alive);
    }

    /// The other server that ranks first for a collection, of those that were not tried; `None` when this one does.
    pub fn holder(&self, key: CollectionKey, tried: &[ServerId]) -> Option<Server> {
        let alive = Arc::clone(&self.alive.borrow());
        let members = self.members();
        let good =
            alive.iter().filter(|server| !tried.contains(&server.id) && !members.is_left_out(server.id));
        let first = rank::first(good.map(|server| server.id).chain([self.me.id]), key)?;
        alive.iter().find(|server| server.id == first).cloned()
    }

    /// Notes that another server is asked for a collection; tells whether that is so often that this one had better hold it
    /// too.
    pub fn note_asked(&self, key: CollectionKey) -> bool {
        self.heat.note(key, self.began.elapsed())
    }

    /// Asks the server that holds a collection, and when that is lost the next one; `None` when this server is next.
    ///
    /// The question may be asked more than once, so that it must change nothing.
    pub async fn ask(&self, key: CollectionKey, question: &Question) -> Option<Reply> {
        let mut tried = Vec::new();
        while let Some(server) = self.holder(key, &tried) {
            match self.ask_one(&server, question).await {
                Ok(reply) => {
                    self.metrics.note("answered");
                    self.members().note_answer(server.id);
                    return Some(reply);
                }
                Err(error) => self.note_failure(&server, &error),
            }
            tried.push(server.id);
        }
        self.metrics.note("here");
        None
    }

    /// Asks a server for as long as it is alive.
    async fn ask_one(&self, server: &Server, question: &Question) -> Result<Reply, AskError> {
        let mut alive = self.alive.subscribe();
        // Who is not known any more is dead.
        let beat = self.members().beat_of(server.id).ok_or(AskError::Dead)?;
        tokio::select! {
            answered = self.client.ask(server, beat, question) => answered,
            // An error cannot be: this server has the sender.
            _ = alive.wait_for(|alive| !alive.contains(server)) => Err(AskError::Dead),
        }
    }

    /// A connection that ends under a request is that request's trouble; where nobody lets us in others need not try.
    fn note_failure(&self, server: &Server, error: &AskError) {
        self.metrics.note(error.word());
        let Server { id, address } = server;
        match error {
            AskError::Unreachable(_) | AskError::Stranger { .. } => {
                let mut members = self.members();
                if !members.is_left_out(*id) {
                    tracing::warn!(server = %id, %address, %error, "a server that shares collections does not answer");
                }
                members.note_unreachable(*id);
            }
            AskError::Broken(_) | AskError::Dead => {
                tracing::debug!(server = %id, %address, %error, "a request goes on to another server");
            }
        }
    }

    /// Believes that another server of this installation sent a request to this one; `None` where none of them did.
    pub fn admit(&self, path: &str, headers: &HeaderMap) -> Option<Admission> {
        let now = Receiver { id: self.me.id, beat: self.beat.load(Ordering::Relaxed) };
        self.seal.admit(now, path, headers)
    }

    /// The proof that an answer is this server's.
    pub fn prove(
        &self,
        to: &Admission,
        status: u16,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<HeaderValue> {
        self.seal.answered(to, status, headers, body)
    }

    fn members(&self) -> MutexGuard<'_, Membership> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
