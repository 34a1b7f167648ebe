//! A server on one of the databases.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::kinds::{CONTACTS, Kind, PROJECTS, TOKENS, account, hosted_token};
use crate::client::{Connection, post};
use crate::error::Error;
use crate::report::Import;
use crate::stage::{Project, Server, Stage};
use crate::stats::{Figures, Samples};
use crate::trading::TradedCollection;

/// Tokens of the market that is imported first.
const MARKET_TOKENS: usize = 30_000;
/// How long the last answers may take after the end of a round.
const GRACE: Duration = Duration::from_secs(15);

/// One of the databases, with a server and what the calls need.
pub(super) struct Place {
    pub(super) name: String,
    pub(super) import: Import,
    server: Server,
    callers: Arc<Callers>,
}

/// What all connections to a server share.
struct Callers {
    address: SocketAddr,
    /// For each project, what opens it.
    authorizations: Vec<String>,
    /// How many calls were made, of all kinds.
    made: AtomicU64,
}

impl Place {
    /// `sqlite`, or `name=URL` of an empty database.
    pub(super) async fn open(named: &str, bourse: &Path, parent: &Path) -> Result<Self, Error> {
        let (name, url) = named.split_once('=').unwrap_or((named, ""));
        let mut stage = Stage::new(bourse, parent, &format!("calls-{name}"))?;
        if !url.is_empty() {
            stage = stage.with_database(url.to_owned());
        }
        let import = stage.import(TradedCollection::new(MARKET_TOKENS).records()).await?;
        let mut authorizations = Vec::new();
        for _ in 0..PROJECTS {
            let Project { secret_token, .. } = stage.create_project().await?;
            authorizations.push(format!("Bearer {secret_token}"));
        }
        let server = stage.serve().await?;
        let callers = Callers { address: server.address, authorizations, made: AtomicU64::new(0) };
        let place = Self { name: name.to_owned(), import, server, callers: Arc::new(callers) };
        let failed = |error: Error| place.server.process.failure(&format!("could not be filled: {error}"));
        place.fill().await.map_err(failed)?;
        Ok(place)
    }

    pub(super) async fn close(self) -> Result<(), Error> {
        self.server.stop().await
    }

    /// Has every project host a collection with tokens, and an audience with contacts.
    async fn fill(&self) -> Result<(), Error> {
        let mut connection = Connection::open(self.server.address).await?;
        for project in 0..PROJECTS {
            let named = json!({ "metadata": { "name": "Relics" } });
            let mut bodies = vec![
                ("/rpc/Collections/CreateCollection", json!({ "collection": named })),
                ("/rpc/Builder/CreateAudience", json!({ "name": "Guests" })),
            ];
            let contact =
                |number| json!({ "address": account(number), "name": "Ada", "email": "ada@guests.example" });
            let contacts: Vec<Value> = (1..=CONTACTS).map(contact).collect();
            let contacts = json!({ "audienceId": project + 1, "contacts": contacts });
            bodies.push(("/rpc/Builder/AddAudienceContacts", contacts));
            let token = |place| ("/rpc/Collections/CreateToken", hosted_token(project, place));
            bodies.extend((0..TOKENS).map(token));
            for (path, body) in bodies {
                connection.exchange(&self.callers.request(path, project, &body)).await?;
            }
        }
        Ok(())
    }

    /// Calls for `length` over so many connections, each of which waits for its answer.
    pub(super) async fn load(
        &self,
        kind: &'static Kind,
        connections: u16,
        length: Duration,
    ) -> Result<Figures, Error> {
        let round = timeout(length + GRACE, self.round(kind, connections, length));
        let round = round.await.unwrap_or_else(|_| Err(Error::new("it stopped answering")));
        let failed = |error: Error| self.server.process.failure(&format!("failed at {}: {error}", kind.name));
        round.map_err(failed)
    }

    async fn round(&self, kind: &'static Kind, connections: u16, length: Duration) -> Result<Figures, Error> {
        let cpu_before = self.server.process.cpu_time();
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..connections {
            let connection = Connection::open(self.server.address).await?;
            tasks.spawn(Arc::clone(&self.callers).call(kind, connection, started + length));
        }
        let samples = Samples::gather(tasks).await?;
        let elapsed = started.elapsed();
        let cpu_time = cpu_before.and_then(|before| self.server.process.cpu_time()?.checked_sub(before));
        samples.figures(elapsed, cpu_time).ok_or_else(|| Error::new("no call was answered"))
    }
}

impl Callers {
    fn request(&self, path: &str, project: u64, body: &Value) -> Vec<u8> {
        let place = usize::try_from(project).unwrap_or_default();
        let authorization = self.authorizations.get(place).map_or("", String::as_str);
        post(self.address, path, &[("Authorization", authorization)], &body.to_string())
    }

    async fn call(
        self: Arc<Self>,
        kind: &'static Kind,
        mut connection: Connection,
        deadline: Instant,
    ) -> Result<Samples, Error> {
        let mut samples = Samples::default();
        loop {
            let number = self.made.fetch_add(1, Ordering::Relaxed);
            let project = if kind.is_of_market { 0 } else { number % PROJECTS };
            let request = self.request(kind.path, project, &(kind.body)(number));
            let sent = Instant::now();
            if sent >= deadline {
                return Ok(samples);
            }
            let body = connection.exchange(&request).await?;
            samples.body_bytes += u64::try_from(body.len()).unwrap_or(u64::MAX);
            samples.latencies.push(sent.elapsed());
        }
    }
}
