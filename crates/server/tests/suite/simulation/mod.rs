//! The whole service from a seed: a chain that goes back, two servers on one database, clients that give up and send again,
//! restarts, and a clock that steps. Whatever happens, each server says what one says that starts anew, and what the simplest
//! model says.
//!
//! `BOURSE_TEST_SEED=n` shows a failure again, made as small as it gets; `BOURSE_SIM_SEEDS=n` runs so many.

mod chain;
mod model;
mod servers;
mod signed;
mod step;

use bourse_simulation::{CHAIN, seeds};
use proptest::collection::vec;
use proptest::prelude::any;
use serde_json::json;

use self::chain::SimChain;
use self::model::{Model, ModelOrder};
use self::servers::{SERVERS, Servers};
use self::signed::{SIGNED, Way};
use self::step::{CANCEL, Step, step};
use crate::support::random::{check_from, chosen_seed};
use crate::support::seed::RELICS;

/// What is run always is the same each time, so that what fails is what was changed. Others are tried by
/// `BOURSE_TEST_SEED`.
const USUAL_SEED: u64 = 2;

/// Tokens that are traded.
const TOKENS: u64 = 4;

#[test]
fn whatever_happens_servers_say_what_the_store_and_the_model_say() {
    let cases = u32::try_from(seeds(6).len()).unwrap();
    check_from(
        chosen_seed().unwrap_or(USUAL_SEED),
        cases,
        &(any::<u64>(), vec(step(), 1..40)),
        |(seed, steps)| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(simulate(seed, &steps));
        },
    );
}

async fn simulate(seed: u64, steps: &[Step]) {
    let chain = SimChain::new(seed);
    let servers = Servers::start(chain.nodes()).await;
    let mut sim = Simulation { servers, chain, model: Model::default() };
    for step in steps {
        sim.take(step).await;
        sim.servers.check_market(&sim.model).await;
    }
    sim.settle().await;
    sim.servers.check_everything(&sim.model).await;
}

/// All that there is.
struct Simulation {
    servers: Servers,
    chain: SimChain,
    model: Model,
}

impl Simulation {
    async fn take(&mut self, step: &Step) {
        match step {
            Step::Mine(blocks) => self.chain.mine(*blocks),
            Step::Reorganise => self.chain.reorganise(),
            Step::Follow { turns, failures } => {
                self.chain.follow(&self.servers.app.store, *turns, *failures).await;
            }
            Step::RestartFollower => self.chain.restart(),
            Step::Look { failures } => {
                let now = self.servers.app.now();
                self.chain.look(&self.servers.app.store, now, *failures).await;
            }
            Step::Settle => self.settle().await,
            Step::PutSigned { server, number, way, is_node_down, polls } => {
                self.put_signed((*server, *polls), *number, *way, *is_node_down).await;
            }
            Step::EndSigned { server, number, operation, polls } => {
                self.end_signed(*server, *number, *polls, operation).await;
            }
            Step::PutBalance { server, token, maker, balance, polls } => {
                let account = step::maker(*maker);
                let record = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": token.to_string(),
                    "account": account, "balance": balance.to_string() });
                self.servers.write(*server, *polls, "PutBalances", json!({ "balances": [record] })).await;
                self.model.balances.insert((*token, account), *balance);
            }
            Step::PutOrder { server, id, order, polls } => self.put_order(*server, *id, order, *polls).await,
            Step::End { server, id, operation, polls } => self.end(*server, *id, *polls, operation).await,
            Step::SetRate { server, rate } => {
                let body = json!({ "currencies": step::coins(*rate) });
                self.servers.write(*server, None, "PutCurrencies", body).await;
                self.model.is_coin_known = true;
            }
            Step::Track { server, batch, wallets, polls } => {
                let events = || wallets.iter().map(|(wallet, day)| step::event(*wallet, *day)).collect();
                let events = self.model.batches.entry(*batch).or_insert_with(events).clone();
                let body = json!({ "batchId": batch.to_string(), "events": events });
                self.servers.write(*server, *polls, "TrackEvents", body).await;
            }
            Step::Wait(seconds) => self.servers.app.clock.step(*seconds),
            Step::TurnBack => self.servers.app.clock.set(crate::support::START),
            Step::Restart { server, is_killed } => self.servers.restart(*server, *is_killed).await,
        }
    }

    /// Puts an order, anew or again as long as it is not over: what is over is another test's business.
    async fn put_order(&mut self, server: usize, id: u8, order: &ModelOrder, polls: Option<u32>) {
        let is_expired = order.valid_until <= self.servers.app.now().unix_seconds();
        let is_elsewhere = |known: &ModelOrder| known.collection != order.collection;
        if is_expired || self.model.is_over(id) || self.model.orders.get(&id).is_some_and(is_elsewhere) {
            return;
        }
        let body = json!({ "orders": [order.record(id)] });
        self.servers.write(server, polls, "PutOrders", body).await;
        self.model.orders.insert(id, order.clone());
    }

    async fn end(&mut self, server: usize, id: u8, polls: Option<u32>, operation: &str) {
        if let Some(order) = self.model.orders.get(&id) {
            let key = json!({ "chainId": order.collection.chain(), "marketplace": "opensea",
                "collectionContractAddress": order.collection.address(), "orderId": id.to_string() });
            self.servers.write(server, polls, operation, json!({ "orders": [key] })).await;
            self.model.end(id, status_after(operation));
        }
    }

    /// Sends a signed order while it lasts; one that cannot be filled is refused where somebody can be asked.
    async fn put_signed(
        &mut self,
        (server, polls): (usize, Option<u32>),
        number: usize,
        way: Way,
        is_node_down: bool,
    ) {
        let signed = &SIGNED[number];
        let is_known = |order: &ModelOrder| order.collection.address() == signed.order.collection;
        let is_collection_known = self.chain.is_asked_for()
            || self.model.orders.values().any(is_known)
            || self
                .model
                .signed
                .keys()
                .any(|known| SIGNED[*known].order.collection == signed.order.collection);
        let is_over = signed.valid_until <= self.servers.app.now().unix_seconds();
        if is_over || way == Way::Execute && !is_collection_known {
            return;
        }
        self.chain.fail(if is_node_down { 1000 } else { 0 });
        let is_taken = self.servers.put_signed(server, polls, signed, way).await;
        self.chain.fail(0);
        let can_be_filled = signed.can_be_filled(&self.chain.facts().signed);
        assert_eq!(is_taken, is_node_down || can_be_filled, "signed order {number}");
        if is_taken {
            self.model.put_signed(number);
        }
    }

    async fn end_signed(&mut self, server: usize, number: usize, polls: Option<u32>, operation: &str) {
        if self.model.signed.contains_key(&number) {
            let signed = &SIGNED[number];
            let key = json!({ "chainId": CHAIN.0, "marketplace": "opensea", "orderId": signed.id(),
                "collectionContractAddress": signed.order.collection });
            self.servers.write(server, polls, operation, json!({ "orders": [key] })).await;
            self.model.end_signed(number, status_after(operation));
        }
    }

    /// Follows to the end of the chain, where each server must know what is so.
    async fn settle(&mut self) {
        self.chain.settle(&self.servers.app.store, self.servers.app.now()).await;
        self.servers.check_followed(&self.model, &self.chain.facts()).await;
    }
}

/// The status of an order that an operation ended.
fn status_after(operation: &str) -> &'static str {
    if operation == CANCEL { "cancelled" } else { "inactive" }
}
