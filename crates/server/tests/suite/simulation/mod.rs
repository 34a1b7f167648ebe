//! The whole service from a seed: a chain that goes back, nodes that fail, two servers on one database, clients that give up
//! and send again, wallets that sign orders, sources of rates that say anything, an operator who imports, restarts, and a
//! clock that steps. Whatever happens, each server says what one says that starts anew, and what the simplest model says.
//!
//! Seeds are others each time. `BOURSE_TEST_SEED=n` begins with one, and shows a failure again, made as small as it gets;
//! `BOURSE_SIM_SEEDS=n` runs so many from there on.

mod chain;
mod charts;
mod import;
mod model;
mod rates;
mod servers;
mod signed;
mod step;

use bourse_simulation::{CHAIN, Weather, seeds};
use proptest::collection::vec;
use proptest::prelude::any;
use serde_json::{Value, json};

use self::chain::{CALM, DOWN, ROUGH, SimChain};
use self::model::{Model, ModelOrder, Traded};
use self::rates::{RateDesk, Telling};
use self::servers::{SERVERS, Servers};
use self::signed::SIGNED;
use self::step::{CANCEL, Step, Writer, step};
use crate::support::random::{another_seed, check_from, chosen_seed};
use crate::support::seed::RELICS;

/// Tokens that are traded.
const TOKENS: u64 = 4;

#[test]
fn whatever_happens_servers_say_what_the_store_and_the_model_say() {
    let steps = (any::<u64>(), vec(step(), 1..40));
    let first = chosen_seed().unwrap_or_else(another_seed);
    // Each case has a seed of its own, so that one that fails is shown again alone.
    for seed in (first..).take(seeds(3).len()) {
        check_from(seed, 1, &steps, |(seed, steps)| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(simulate(seed, &steps));
        });
    }
}

async fn simulate(seed: u64, steps: &[Step]) {
    let chain = SimChain::new(seed);
    let servers = Servers::start(chain.nodes()).await;
    let mut sim = Simulation { servers, chain, rates: RateDesk::open().await, model: Model::default() };
    // Mostly the currencies are known before anything else, as nothing can be filled before.
    if !seed.is_multiple_of(4) {
        sim.take(&Step::SetRate { by: Writer::Importer, rate: 2 }).await;
    }
    for step in steps {
        sim.take(step).await;
        sim.servers.check_market(&sim.model).await;
        sim.servers.check_memory(Traded::Put).await;
    }
    sim.settle().await;
    sim.servers.check_everything(&sim.model).await;
}

/// All that there is.
struct Simulation {
    servers: Servers,
    chain: SimChain,
    rates: RateDesk,
    model: Model,
}

impl Simulation {
    async fn take(&mut self, step: &Step) {
        match step {
            Step::Mine(blocks) => self.chain.mine(*blocks),
            Step::Reorganise => self.chain.reorganise(),
            Step::Follow { turns, is_rough } => {
                self.chain.follow(&self.servers.app.store, *turns, weather(*is_rough)).await;
            }
            Step::RestartFollower => self.chain.restart(),
            Step::Look { is_rough } => {
                let now = self.servers.app.now();
                self.chain.look(&self.servers.app.store, now, weather(*is_rough)).await;
            }
            Step::Settle => self.settle().await,
            Step::PutSigned { by, number, is_executed, is_node_down } => {
                self.put_signed(*by, *number, *is_executed, *is_node_down).await;
            }
            Step::EndSigned { by, number, operation } => self.end_signed(*by, *number, operation).await,
            Step::PutBalance { by, token, maker, balance } => {
                let account = step::maker(*maker);
                let record = json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": token.to_string(),
                    "account": account, "balance": balance.to_string() });
                self.servers.write(*by, "PutBalances", json!({ "balances": [record] })).await;
                self.model.balances.insert((*token, account), *balance);
            }
            Step::PutOrder { by, id, order } => self.put_order(*by, *id, order).await,
            Step::End { by, id, operation } => self.end(*by, *id, operation).await,
            Step::SetRate { by, rate } => {
                self.servers.write(*by, "PutCurrencies", json!({ "currencies": step::coins(*rate) })).await;
                self.model.rate = Some(u64::from(*rate));
            }
            Step::AskRates { rate, telling } => {
                let app = &self.servers.app;
                // Nothing is known of a currency but by whoever names it.
                let is_told = self.rates.ask(&app.store, app.now(), *rate, *telling).await;
                assert_eq!(is_told, *telling == Telling::Rate && self.model.rate.is_some(), "{step:?}");
                if is_told {
                    self.model.rate = Some(u64::from(*rate));
                }
            }
            Step::Track { by, batch, events } => self.track(*by, *batch, events).await,
            Step::Wait(seconds) => {
                // What happened is counted while its time is believed.
                self.servers.check_market_events().await;
                self.servers.app.clock.step(*seconds);
            }
            Step::TurnBack => {
                self.servers.check_market_events().await;
                self.servers.app.clock.set(crate::support::START);
            }
            Step::Restart { server, is_killed } => self.servers.restart(*server, *is_killed).await,
        }
    }

    async fn track(&mut self, by: Writer, batch: u64, events: &[Value]) {
        let events = match by {
            Writer::Client { .. } => self.model.tracked.batch(batch, events.to_vec()),
            Writer::Importer => {
                self.model.tracked.import(events);
                events.to_vec()
            }
        };
        let body = json!({ "batchId": batch.to_string(), "events": events });
        self.servers.write(by, "TrackEvents", body).await;
        self.servers.check_charts(&self.model).await;
    }

    /// Puts an order, anew or again as long as it is not over: what is over is another test's business.
    async fn put_order(&mut self, by: Writer, id: u8, order: &ModelOrder) {
        let is_expired = order.valid_until <= self.servers.app.now().unix_seconds();
        let is_elsewhere = |known: &ModelOrder| known.collection != order.collection;
        if is_expired || self.model.is_over(id) || self.model.orders.get(&id).is_some_and(is_elsewhere) {
            return;
        }
        let body = json!({ "orders": [order.record(id)] });
        self.servers.write(by, "PutOrders", body).await;
        self.model.orders.insert(id, order.clone());
    }

    async fn end(&mut self, by: Writer, id: u8, operation: &str) {
        if let Some(order) = self.model.orders.get(&id) {
            let key = json!({ "chainId": order.collection.chain(), "marketplace": "opensea",
                "collectionContractAddress": order.collection.address(), "orderId": id.to_string() });
            self.servers.write(by, operation, json!({ "orders": [key] })).await;
            self.model.end(id, status_after(operation));
        }
    }

    /// Sends a signed order while it lasts; one that cannot be filled is refused where somebody can be asked.
    async fn put_signed(&mut self, by: Writer, number: usize, is_executed: bool, is_node_down: bool) {
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
        if is_over || is_executed && !is_collection_known {
            return;
        }
        self.chain.set_weather(if is_node_down { DOWN } else { CALM });
        let is_taken = self.servers.put_signed(by, signed, is_executed).await;
        self.chain.set_weather(CALM);
        let can_be_filled = signed.can_be_filled(&self.chain.facts().signed);
        let is_asked = !is_node_down && matches!(by, Writer::Client { .. });
        assert_eq!(is_taken, !is_asked || can_be_filled, "signed order {number}");
        if is_taken {
            self.model.put_signed(number);
        }
    }

    async fn end_signed(&mut self, by: Writer, number: usize, operation: &str) {
        if self.model.signed.contains_key(&number) {
            let signed = &SIGNED[number];
            let key = json!({ "chainId": CHAIN.0, "marketplace": "opensea", "orderId": signed.id(),
                "collectionContractAddress": signed.order.collection });
            self.servers.write(by, operation, json!({ "orders": [key] })).await;
            self.model.end_signed(number, status_after(operation));
        }
    }

    /// Follows to the end of the chain, where each server must know what is so.
    async fn settle(&mut self) {
        self.chain.settle(&self.servers.app.store, self.servers.app.now()).await;
        self.servers.check_followed(&self.model, &self.chain.facts()).await;
    }
}

fn weather(is_rough: bool) -> Weather {
    if is_rough { ROUGH } else { CALM }
}

/// The status of an order that an operation ended.
fn status_after(operation: &str) -> &'static str {
    if operation == CANCEL { "cancelled" } else { "inactive" }
}
