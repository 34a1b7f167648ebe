//! Whether the service tells what contracts say.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::Trader;
use super::orders::{Order, Ours, Theirs};
use super::rules::{Asked, Question, Rules};
use super::scene::Scene;
use crate::anvil::{Multi, alloy_address, ownerOfCall};
use crate::process::{POLL_INTERVAL, WAIT_MAX};

impl Trader {
    /// Waits until the service has followed the newest block, and tells of every order what its contract says. Orders that
    /// are over come back only where blocks are replaced; otherwise they are looked at now and then.
    pub(super) fn agree(&mut self, looks_at_all: bool) {
        self.scene.stage.catch_up();
        let started = Instant::now();
        let mut differences = self.look(|trader, id| looks_at_all || !trader.over.contains(id));
        // Those that agree are not looked at again while others are waited for.
        while !differences.is_empty() {
            give_up("the service and the contracts differ", started, differences.values());
            std::thread::sleep(POLL_INTERVAL);
            differences = self.look(|_, id| differences.contains_key(id));
        }
        self.refresh_held();
    }

    /// Waits until lists have the orders that are active, and holders are those that the contracts tell.
    pub(super) fn agree_on_lists(&mut self) {
        let started = Instant::now();
        loop {
            let mut differences: Vec<String> = self.look(|_, _| true).into_values().collect();
            differences.extend(self.look_at_lists());
            if differences.is_empty() {
                return;
            }
            give_up("lists and holders differ", started, &differences);
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// How the service differs from the contracts right now in some orders, by their names.
    fn look(&mut self, is_wanted: impl Fn(&Self, &str) -> bool) -> BTreeMap<String, String> {
        self.pass_time();
        self.read_logs();
        let (_, now) = self.scene.head();
        let wanted: Vec<Order> =
            self.orders.iter().filter(|order| is_wanted(self, &order.id)).cloned().collect();
        let told = self.scene.ours(&wanted);
        self.tally.looks += wanted.len();
        let found = look(&self.scene, self.rules.as_ref(), &wanted, (&told, now));
        for Order { id, .. } in &wanted {
            self.seen.remove(id);
            self.ahead.remove(id);
            self.over.remove(id);
        }
        self.seen.extend(told);
        self.ahead.extend(found.ahead);
        self.over.extend(found.over);
        found.differences
    }

    /// Makes a block where the time of an order is over that the newest block still lets be filled.
    fn pass_time(&self) {
        let ((_, then), now) = (self.scene.head(), super::now());
        if self.orders.iter().any(|order| order.expiry > then && order.expiry <= now) {
            self.scene.stage.market.anvil.mine(1);
        }
    }

    /// Reads the orders that logs since the last look state, where a contract keeps orders.
    fn read_logs(&mut self) {
        let Some(topic) = self.rules.order_topic() else { return };
        let (newest, _) = self.scene.head();
        if self.logs_from > newest {
            return;
        }
        let hex = |number: u64| format!("{number:#x}");
        let filter = json!([{ "address": self.scene.venue.contract, "topics": [topic],
            "fromBlock": hex(self.logs_from), "toBlock": hex(newest) }]);
        let logs = self.scene.stage.market.anvil.rpc("eth_getLogs", &filter);
        let made = logs.as_array().unwrap().iter().filter_map(|log| self.rules.read_log(log));
        self.orders.extend(made);
        self.logs_from = newest + 1;
    }

    /// Blocks were replaced: what logs state is read anew.
    pub(super) fn forget_logs(&mut self) {
        self.logs_from = 0;
        self.orders.retain(|order| order.signed.is_some());
    }

    /// Every token that there may be.
    pub(super) fn tokens(&self) -> impl Iterator<Item = (Address, u64)> {
        self.scene.tokens(self.singles).into_iter()
    }

    /// Learns from the contracts who has what.
    fn refresh_held(&mut self) {
        let tokens: Vec<_> = self.tokens().collect();
        let mut questions = Vec::new();
        for (collection, token) in &tokens {
            let id = U256::from(*token);
            for who in self.scene.traders {
                questions.push(if self.scene.is_many(*collection) {
                    let owner = alloy_address(who);
                    Question::new(*collection, &Multi::balanceOfCall { owner, tokenId: id })
                } else {
                    Question::new(*collection, &ownerOfCall { tokenId: id })
                });
            }
        }
        let mut answers = self.scene.ask(&questions).into_iter();
        self.held.clear();
        for (collection, token) in tokens {
            for who in self.scene.traders {
                let answer = answers.next().flatten().map(|answer| U256::from_be_slice(&answer));
                let answer = answer.unwrap_or_default();
                let owner = U256::from_be_slice(who.bytes());
                let is_many = self.scene.is_many(collection);
                let units = if is_many { answer.to() } else { u64::from(answer == owner) };
                self.held.insert((who, collection, token), units);
            }
        }
    }

    /// How lists and holders differ right now.
    fn look_at_lists(&mut self) -> Vec<String> {
        self.refresh_held();
        let of_tokens = |order: &&Order| order.token.is_some();
        let active = self.orders.iter().filter(of_tokens).map(|order| &order.id);
        let active = active.filter(|id| self.seen.get(*id).is_some_and(Ours::is_active));
        let active: BTreeSet<String> = active.cloned().collect();
        let listed = self.tokens().flat_map(|token| self.scene.lists(token));
        let of_any: BTreeSet<&String> =
            self.orders.iter().filter(|order| order.token.is_none()).map(|order| &order.id).collect();
        let listed: BTreeSet<String> = listed
            .map(|order: Value| order["orderId"].as_str().unwrap().to_owned())
            .filter(|id| !of_any.contains(id))
            .collect();
        let differing = active.symmetric_difference(&listed).map(|id| format!("listed or active only: {id}"));
        let mut differences: Vec<String> = differing.collect();
        for collection in [self.scene.singles, self.scene.multiples] {
            for who in self.scene.traders {
                let theirs: Vec<u64> = self
                    .held
                    .iter()
                    .filter(|(held, units)| (held.0, held.1) == (who, collection) && **units > 0)
                    .map(|(held, _)| held.2)
                    .collect();
                let ours = self.scene.held(collection, who);
                if ours != theirs {
                    differences.push(format!("{who} holds {theirs:?} of {collection}, not {ours:?}"));
                }
            }
        }
        differences
    }
}

/// A test that waits for too long for a server fails.
fn give_up<'a>(what: &str, started: Instant, differences: impl IntoIterator<Item = &'a String>) {
    let is_early = started.elapsed() < WAIT_MAX;
    assert!(is_early, "{what}: {:#?}", differences.into_iter().collect::<Vec<_>>());
}

/// What is found when a server and contracts are compared.
#[derive(Default)]
pub(super) struct Look {
    /// How they differ, by the names of orders.
    pub(super) differences: BTreeMap<String, String>,
    /// The orders that have numbers which their makers have not come to.
    pub(super) ahead: BTreeSet<String>,
    /// The orders that are over by the word of their contract.
    pub(super) over: BTreeSet<String>,
}

/// Compares what a server tells of orders with what contracts say, at the time of the newest block.
pub(super) fn look(
    scene: &Scene,
    rules: &dyn Rules,
    orders: &[Order],
    (told, now): (&BTreeMap<String, Ours>, u64),
) -> Look {
    let mut questions = Vec::new();
    let mut places = Vec::new();
    for order in orders {
        let asked = rules.questions(scene, order, told.get(&order.id));
        places.push(questions.len()..questions.len() + asked.len());
        questions.extend(asked);
    }
    let answers = scene.ask(&questions);
    let mut found = Look::default();
    for (order, places) in orders.iter().zip(places) {
        let ours = told.get(&order.id);
        let asked = Asked { scene, order, ours, now, answers: &answers[places] };
        let theirs = rules.theirs(&asked);
        match theirs {
            Theirs::Ahead => found.ahead.insert(order.id.clone()),
            Theirs::Over(_) => found.over.insert(order.id.clone()),
            Theirs::Standing { .. } | Theirs::Unknown => false,
        };
        if let Some(difference) = theirs.difference(ours) {
            found.differences.insert(order.id.clone(), format!("{difference}: {order:?}"));
        }
    }
    found
}
