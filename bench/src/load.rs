//! One round of load: every connection sends its next request as soon as it has the answer to the last, or a while later.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::client::Connection;
use crate::error::Error;
use crate::process::Running;
use crate::stats::{Figures, Samples};

/// How long the last answers may take after the end of a round.
const GRACE: Duration = Duration::from_secs(15);

/// A server and the requests for it.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    /// The process that serves.
    pub(crate) process: &'a Running,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Whole requests, sent in turn.
    pub(crate) requests: Arc<[Vec<u8>]>,
    /// How long a connection waits after an answer.
    pub(crate) pause: Duration,
}

impl Target<'_> {
    /// Loads the server for `length` over so many connections.
    pub(crate) async fn load(&self, connections: u16, length: Duration) -> Result<Figures, Error> {
        let round = timeout(length + GRACE, self.round(connections, length));
        let round = round.await.unwrap_or_else(|_| Err(Error::new("it stopped answering")));
        round.map_err(|error| self.process.failure(&format!("failed under load: {error}")))
    }

    async fn round(&self, connections: u16, length: Duration) -> Result<Figures, Error> {
        let mut opened = Vec::with_capacity(connections.into());
        for _ in 0..connections {
            opened.push(Connection::open(self.address).await?);
        }
        let cpu_before = self.process.cpu_time();
        let started = Instant::now();
        // A JoinSet, because it stops its tasks when a round is given up.
        let mut tasks = JoinSet::new();
        for (index, connection) in opened.into_iter().enumerate() {
            // Connections start at different requests, so that they do not ask for the same in step.
            let first = index * self.requests.len() / usize::from(connections);
            let turns = Turns { requests: Arc::clone(&self.requests), first, pause: self.pause };
            tasks.spawn(turns.send_until(connection, started + length));
        }
        let samples = Samples::gather(tasks).await?;
        // Every request that was begun is waited for and counted, so slow ones are not left out.
        let elapsed = started.elapsed();
        let cpu_time = cpu_before.and_then(|before| self.process.cpu_time()?.checked_sub(before));
        samples.figures(elapsed, cpu_time).ok_or_else(|| Error::new("no request was answered"))
    }
}

/// The requests of one connection.
#[derive(Debug)]
struct Turns {
    requests: Arc<[Vec<u8>]>,
    first: usize,
    pause: Duration,
}

impl Turns {
    async fn send_until(self, mut connection: Connection, deadline: Instant) -> Result<Samples, Error> {
        let mut samples = Samples::default();
        for request in self.requests.iter().cycle().skip(self.first) {
            let sent = Instant::now();
            if sent >= deadline {
                break;
            }
            let body = connection.exchange(request).await?;
            samples.body_bytes += u64::try_from(body.len()).unwrap_or(u64::MAX);
            samples.latencies.push(sent.elapsed());
            if !self.pause.is_zero() {
                sleep(self.pause).await;
            }
        }
        Ok(samples)
    }
}
