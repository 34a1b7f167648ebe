//! Events over HTTP.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::events::{Dataset, Kind};
use super::records::tracked;
use super::timing::{Asker, number};
use crate::client::{Connection, post};
use crate::error::{Context, Error};
use crate::report::Rate;
use crate::stage::{Project, Server};

/// The path that events are posted to.
pub(super) const PATH: &str = "/rpc/Ingest/TrackEvents";

/// Events in one request.
const BATCH: usize = 1_000;

/// Connections that send at the same time; each waits for its answer.
const CONNECTIONS: usize = 4;

const LIMIT: Duration = Duration::from_mins(10);

/// The first events of a data set, as the bodies of requests.
#[derive(Debug)]
pub(super) struct Batches {
    dataset: Dataset,
    bodies: Vec<String>,
    wallets: u64,
    transactions: u64,
}

impl Batches {
    /// Full batches of the first `events` events, which have ids if they should.
    pub(super) fn new(dataset: Dataset, events: usize, with_ids: bool) -> Self {
        let mut batches = Self { dataset, bodies: Vec::new(), wallets: 0, transactions: 0 };
        let (mut batch, mut wallets) = (Vec::with_capacity(BATCH), HashSet::new());
        let mut place = 0;
        for day in dataset.days() {
            for event in &day.events {
                if place == events / BATCH * BATCH {
                    batches.wallets = u64::try_from(wallets.len()).unwrap_or(u64::MAX);
                    return batches;
                }
                wallets.insert(event.wallet);
                batches.transactions += u64::from(event.kind == Kind::Transaction);
                batch.push(tracked(&day, event, with_ids.then_some(place)));
                place += 1;
                if batch.len() == BATCH {
                    batches.bodies.push(body(batches.bodies.len(), &batch));
                    batch.clear();
                }
            }
        }
        batches.wallets = u64::try_from(wallets.len()).unwrap_or(u64::MAX);
        batches
    }

    /// Sends them all. Each answer must say that all events of its batch were counted.
    pub(super) async fn send(&self, server: &Server, project: &Project) -> Result<Rate, Error> {
        let sent = timeout(LIMIT, self.send_all(server, project)).await;
        let sent = sent.context(|| format!("sending events for {} s", LIMIT.as_secs())).flatten();
        sent.map_err(|error| server.process.failure(&format!("did not take events: {error}")))
    }

    /// Asks a server whether all are counted.
    pub(super) async fn check(&self, server: &Server, project: &Project) -> Result<(), Error> {
        let asker = Asker::new(self.dataset, server, project);
        let mut connection = Connection::open(server.address).await?;
        for (chart, expected) in [("WalletsTotal", self.wallets), ("WalletsTxnSentTotal", self.transactions)]
        {
            let answer = connection.exchange(&asker.request(&format!("/rpc/Analytics/{chart}"))).await?;
            let counted = number(answer)?;
            if counted != expected {
                return Err(Error::new(format!("{chart} after sending is {counted}, not {expected}")));
            }
        }
        Ok(())
    }

    async fn send_all(&self, server: &Server, project: &Project) -> Result<Rate, Error> {
        let authorization = format!("Bearer {}", project.secret_token);
        let headers = [("Authorization", authorization.as_str())];
        let request = |body: &String| post(server.address, PATH, &headers, body);
        let requests: Arc<[Vec<u8>]> = self.bodies.iter().map(request).collect();
        let next = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        let started = Instant::now();
        for _ in 0..CONNECTIONS {
            let connection = Connection::open(server.address).await?;
            tasks.spawn(send(connection, Arc::clone(&requests), Arc::clone(&next)));
        }
        while let Some(joined) = tasks.join_next().await {
            joined.context(|| "a connection stopped".to_owned())??;
        }
        let events = u64::try_from(self.bodies.len() * BATCH).unwrap_or(u64::MAX);
        Ok(Rate { events, took: started.elapsed() })
    }
}

async fn send(
    mut connection: Connection,
    requests: Arc<[Vec<u8>]>,
    next: Arc<AtomicUsize>,
) -> Result<(), Error> {
    while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
        let answer = connection.exchange(request).await?;
        let answer: Value = serde_json::from_slice(answer).context(|| "reading an answer".to_owned())?;
        if answer != json!({ "accepted": BATCH, "known": 0, "rejected": [], "replayed": false }) {
            return Err(Error::new(format!("not all events of a batch were counted: {answer:.300}")));
        }
    }
    Ok(())
}

fn body(batch: usize, events: &[String]) -> String {
    format!("{{\"batchId\":\"batch-{batch}\",\"events\":[{}]}}", events.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::Batches;
    use crate::counting::events::TINY;

    #[test]
    fn batches_are_full_and_in_order() {
        let batches = Batches::new(TINY, 3_500, true);
        assert_eq!(batches.bodies.len(), 3);
        let read: Vec<Value> =
            batches.bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
        assert_eq!(read[2]["batchId"], "batch-2");
        assert_eq!(read[2]["events"].as_array().unwrap().len(), 1_000);
        assert_eq!(read[1]["events"][5]["id"], "event-1005");
        let all = read.iter().flat_map(|batch| batch["events"].as_array().unwrap());
        let sent = all.filter(|event| event["kind"] == "transaction").count();
        assert_eq!(batches.transactions, sent as u64);
        assert!(batches.wallets > 500 && batches.wallets < 3_000);
    }
}
