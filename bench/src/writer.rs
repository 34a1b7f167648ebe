//! Sends order changes at a fixed rate: new prices for listings, in batches.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::client::{Connection, post};
use crate::error::{Context, Error};
use crate::report::WRITES_PER_SECOND;
use crate::trading::{Order, TradedCollection};
use bourse_random::Random;

/// The path that changes are posted to.
pub(crate) const PATH: &str = "/rpc/Ingest/PutOrders";

/// Changes in one request.
const BATCH: u16 = 250;

/// Requests that may be under way at once; each waits for its answer.
const CONNECTIONS: usize = 4;

/// Orders that are changed in turn, at most: batches are made before they are sent.
const ORDERS: usize = 40_000;

/// The price of an order becomes one of these shares of its first one, and then the other, so that no write
/// repeats what is there already.
const PERCENTS: [u64; 2] = [90, 110];

const SEED: u64 = 107;

/// How long the last answers may take after the end of a round.
const GRACE: Duration = Duration::from_secs(15);

/// A sender of order changes.
#[derive(Debug)]
pub(crate) struct Writer {
    address: SocketAddr,
    batches: Arc<[Vec<u8>]>,
    /// Batches that were sent, in all rounds.
    sent: Arc<AtomicUsize>,
}

impl Writer {
    /// A sender to the server at `address`, with the secret token of a project.
    pub(crate) fn new(collection: &TradedCollection, address: SocketAddr, secret_token: &str) -> Self {
        let authorization = format!("Bearer {secret_token}");
        let headers = [("Authorization", authorization.as_str())];
        let request = |orders: &Vec<Order>| post(address, PATH, &headers, &body(orders));
        Self { address, batches: batches(collection).iter().map(request).collect(), sent: Arc::default() }
    }

    /// Sends one batch, and returns the orders as they are now.
    pub(crate) async fn write_one(&self, collection: &TradedCollection) -> Result<Vec<Order>, Error> {
        let mut connection = Connection::open(self.address).await?;
        let place = next_place(&self.sent, &self.batches);
        connection.exchange(&self.batches[place]).await.context(|| "writing".to_owned())?;
        Ok(batches(collection).swap_remove(place))
    }

    /// Sends changes for `length`, and returns how many were acknowledged in a second.
    pub(crate) async fn write_for(&self, length: Duration) -> Result<f64, Error> {
        let round = timeout(length + GRACE, self.round(length)).await;
        let round = round.unwrap_or_else(|_| Err(Error::new("the server stopped answering")));
        round.context(|| "writing".to_owned())
    }

    async fn round(&self, length: Duration) -> Result<f64, Error> {
        let started = Instant::now();
        let schedule = Arc::new(Schedule { started, deadline: started + length, taken: AtomicU32::new(0) });
        let mut tasks = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let connection = Connection::open(self.address).await?;
            let (batches, sent) = (Arc::clone(&self.batches), Arc::clone(&self.sent));
            tasks.spawn(send(connection, batches, sent, Arc::clone(&schedule)));
        }
        let mut acknowledged = 0;
        while let Some(joined) = tasks.join_next().await {
            acknowledged += joined.context(|| "a connection stopped".to_owned())??;
        }
        // A round is at least as long as it was meant to be, even if its last batch is answered earlier.
        let elapsed = started.elapsed().max(length);
        Ok(f64::from(acknowledged) * f64::from(BATCH) / elapsed.as_secs_f64())
    }
}

/// When batches are due. A connection that is free takes the next, so a late answer delays no other batch.
#[derive(Debug)]
struct Schedule {
    started: Instant,
    deadline: Instant,
    taken: AtomicU32,
}

impl Schedule {
    /// When the next batch is due: in the past when the server falls behind, nothing at the end of the round.
    fn take(&self) -> Option<Instant> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let due = self.started + Duration::from_secs(1) * u32::from(BATCH) * number / WRITES_PER_SECOND;
        (due < self.deadline && Instant::now() < self.deadline).then_some(due)
    }
}

/// Sends batches as they are due, and returns how many were acknowledged.
async fn send(
    mut connection: Connection,
    batches: Arc<[Vec<u8>]>,
    sent: Arc<AtomicUsize>,
    schedule: Arc<Schedule>,
) -> Result<u32, Error> {
    let mut acknowledged = 0;
    while let Some(due) = schedule.take() {
        sleep_until(due).await;
        connection.exchange(&batches[next_place(&sent, &batches)]).await?;
        acknowledged += 1;
    }
    Ok(acknowledged)
}

fn next_place(sent: &AtomicUsize, batches: &[Vec<u8>]) -> usize {
    sent.fetch_add(1, Ordering::Relaxed) % batches.len()
}

/// Full batches of listings with new prices: all of them with the first share, then all with the second.
fn batches(collection: &TradedCollection) -> Vec<Vec<Order>> {
    let listings: Vec<&Order> = collection.active_listings().collect();
    let mut chosen = Random::new(SEED).shuffled(listings.len());
    chosen.truncate(ORDERS);
    let mut batches = Vec::new();
    for percent in PERCENTS {
        let repriced = |place: &usize| listings[*place].repriced(percent);
        let full = chosen.chunks_exact(usize::from(BATCH));
        batches.extend(full.map(|places| places.iter().map(repriced).collect::<Vec<_>>()));
    }
    batches
}

fn body(orders: &[Order]) -> String {
    let orders: Vec<Value> = orders.iter().map(Order::record).collect();
    json!({ "orders": orders }).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    use serde_json::Value;
    use tokio::time::Instant;

    use super::{Schedule, batches, body};
    use crate::trading::{Order, TradedCollection};

    #[test]
    fn every_write_changes_a_price() {
        let collection = TradedCollection::new(4_000);
        let batches = batches(&collection);
        assert!(batches.len() > 2 && batches.iter().all(|batch| batch.len() == 250));
        let writes: Vec<(String, String)> =
            batches.iter().flatten().map(|order| (order.order_id(), order.price_amount())).collect();
        let known: HashSet<(String, String)> =
            collection.orders.iter().map(|order| (order.order_id(), order.price_amount())).collect();
        assert!(writes.iter().all(|write| !known.contains(write)));
        assert_eq!(writes.iter().collect::<HashSet<_>>().len(), writes.len());
        assert!(batches.iter().flatten().all(Order::is_active));
    }

    #[test]
    fn a_batch_is_a_list_of_orders() {
        let batch = batches(&TradedCollection::new(4_000)).swap_remove(0);
        let body: Value = serde_json::from_str(&body(&batch)).unwrap();
        assert_eq!(body["orders"].as_array().unwrap().len(), 250);
        assert_eq!(body["orders"][0]["priceAmount"], batch[0].price_amount().as_str());
        assert!(body["orders"][0].get("type").is_none());
    }

    #[test]
    fn batches_are_due_80_times_a_second_until_the_end() {
        let started = Instant::now();
        let deadline = started + Duration::from_mins(1);
        let schedule = Schedule { started, deadline, taken: AtomicU32::new(0) };
        let due: Vec<Instant> = std::iter::from_fn(|| schedule.take()).collect();
        assert_eq!(due.len(), 60 * 80);
        assert_eq!(due[80] - started, Duration::from_secs(1));
    }
}
