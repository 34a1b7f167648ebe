//! Random blocks, forks and answers of a chain, and between them what others say: an order is always what the blocks that
//! count and the last words of others make of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use alloy_primitives::keccak256;
use bourse_market::Standing;
use bourse_market::facts::{Fact, OrderPublished, OrderRef, StatedFact};
use bourse_store::testing::batch;
use bourse_store::{BlockFacts, Change, SignedOrder};
use bourse_wire::{Amount, OrderFacts, OrderStatus};
use proptest::prelude::Rng as _;
use proptest::test_runner::TestRunner;

use crate::random::{explain, runner, seed};
use crate::signed::{MARKET, filled, key, open, put, settle, signed, unsettled};
use crate::stage::{Stage, block_on, collection};

const STEPS: u64 = 80;
/// The last one nobody signed.
const ORDERS: [&str; 4] = ["a", "b", "c", "plain"];
const PLAIN: &str = ORDERS[3];
const WHOLE: u64 = 10;

/// What a log, or an answer as of the end of a block, says of an order.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Published,
    Filled(u64),
    Cancelled,
    Asked(Standing),
}

/// What others say of an order.
#[derive(Clone, Copy, Debug)]
struct Said {
    status: OrderStatus,
    remaining: u64,
}

/// An order by the simplest means: all that happened to it, gone through anew each time.
#[derive(Clone, Debug, Default)]
struct Model {
    said: Option<Said>,
    /// What remained when it was put.
    remaining: Option<u64>,
    /// With the numbers of their blocks, in their order.
    deeds: Vec<(u64, Deed)>,
    is_queued: bool,
}

impl Model {
    fn is_published(&self) -> bool {
        self.deeds.iter().any(|(_, deed)| matches!(deed, Deed::Published))
    }

    /// What the chain makes of the order.
    fn stated(&self) -> (OrderStatus, u64) {
        let (mut status, mut left) = (OrderStatus::Active, self.remaining.unwrap_or(WHOLE));
        for (_, deed) in &self.deeds {
            match deed {
                Deed::Filled(units) => left = left.saturating_sub(*units),
                Deed::Cancelled => status = OrderStatus::Cancelled,
                Deed::Asked(Standing::Open { remaining }) if status == OrderStatus::Active => {
                    left = remaining.to_string().parse().unwrap();
                }
                Deed::Asked(Standing::Cancelled) if left > 0 => status = OrderStatus::Cancelled,
                Deed::Published | Deed::Asked(_) => {}
            }
        }
        (status, left)
    }

    /// The order, if anybody tells of it.
    fn order(&self) -> Option<(OrderStatus, u64)> {
        let (status, left) = self.stated();
        match self.said {
            None => self.is_published().then_some((status, left)),
            Some(said) => {
                let is_over = status != OrderStatus::Active || left == 0;
                Some((if is_over { status } else { said.status }, left.min(said.remaining)))
            }
        }
    }

    fn is_active(&self) -> bool {
        self.order().is_some_and(|(status, _)| status == OrderStatus::Active)
    }

    /// Takes what a log says, as far as it is about an order that is known.
    fn take(&mut self, number: u64, deed: Deed, is_concerned: bool) {
        let is_taken = match deed {
            Deed::Published => self.order().is_none(),
            Deed::Cancelled => self.order().is_some() && is_concerned,
            Deed::Filled(_) | Deed::Asked(_) => self.order().is_some(),
        };
        if is_taken {
            self.is_queued |= matches!(deed, Deed::Published);
            self.deeds.push((number, deed));
        }
    }

    fn rewind(&mut self, to: u64) {
        let was_asked = |(number, deed): &(u64, Deed)| *number > to && matches!(deed, Deed::Asked(_));
        self.is_queued |= self.deeds.iter().any(was_asked);
        self.deeds.retain(|(number, _)| *number <= to);
        self.is_queued &= self.order().is_some();
    }

    fn end(&mut self, status: OrderStatus) {
        if self.order().is_none() {
            return;
        }
        let said = self.said.unwrap_or(Said { status: OrderStatus::Active, remaining: WHOLE });
        if said.status != OrderStatus::Cancelled {
            self.said = Some(Said { status, ..said });
        }
    }

    fn put(&mut self, remaining: u64) {
        let is_new = self.order().is_none();
        if is_new {
            self.remaining = Some(remaining);
        }
        match self.said.map(|said| said.status) {
            None => self.is_queued |= is_new,
            Some(OrderStatus::Inactive) => self.is_queued = true,
            Some(_) => return,
        }
        self.said = Some(Said { status: OrderStatus::Active, remaining: WHOLE });
    }
}

struct Play {
    random: TestRunner,
    stage: Stage,
    models: BTreeMap<&'static str, Model>,
    forks: u64,
    transactions: u64,
}

impl Play {
    async fn new(seed: u64) -> Self {
        let models = ORDERS.into_iter().map(|id| (id, Model::default())).collect();
        Self { random: runner(seed, 1), stage: Stage::new().await, models, forks: 0, transactions: 0 }
    }

    fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.random.rng().next_u32()) % bound
    }

    fn any(&mut self, of: u64) -> &'static str {
        ORDERS[usize::try_from(self.below(of)).unwrap()]
    }

    fn log(&mut self) -> StatedFact {
        let fact = match self.below(6) {
            0 | 1 => {
                let SignedOrder { facts, native, nonces } = signed(self.any(3));
                Fact::OrderPublished(Box::new(OrderPublished { facts, native, nonces }))
            }
            2 => Fact::OrderCancelled { marketplace: MARKET, order_id: self.any(3).to_owned() },
            _ => filled(self.any(4), 1 + self.below(4)),
        };
        self.transactions += 1;
        let tx_hash = keccak256(self.transactions.to_string());
        StatedFact { collection: collection(0).address, tx_hash, log_index: 0, part: 0, fact }
    }

    /// The next blocks, after undoing some at times. Some of the logs that were undone are in them again, elsewhere.
    async fn blocks(&mut self) {
        let newest = self.stage.newest().number;
        let kept =
            self.stage.store.chain_state(crate::stage::CHAIN).await.unwrap().unwrap().window.len() as u64 - 1;
        let depth = if kept > 0 && self.below(2) == 0 { 1 + self.below(kept) } else { 0 };
        let to = newest - depth;
        let undone = self.stage.chain.iter().filter(|facts| facts.block.number > to);
        let mut undone: VecDeque<StatedFact> = undone.flat_map(|facts| facts.facts.clone()).collect();
        let mut parent = self.stage.at(to).block;
        self.forks += 1;
        let mut blocks = Vec::new();
        for _ in 0..self.below(4) {
            let block = block_on(&parent, self.forks);
            let mut facts = Vec::new();
            for index in 0..self.below(5) {
                let again = if self.below(2) == 0 { undone.pop_front() } else { None };
                let log = again.unwrap_or_else(|| self.log());
                facts.push(StatedFact { log_index: index * 3 + self.below(3), ..log });
            }
            blocks.push(BlockFacts { block, facts });
            parent = block;
        }
        self.stage.commit((depth > 0).then_some(to), blocks.clone()).await.unwrap();
        self.take(to, &blocks);
    }

    fn take(&mut self, to: u64, blocks: &[BlockFacts]) {
        for model in self.models.values_mut() {
            model.rewind(to);
        }
        let deeds: Vec<(u64, String, Deed)> = blocks
            .iter()
            .flat_map(|facts| facts.facts.iter().map(|stated| (facts.block.number, &stated.fact)))
            .map(|(number, fact)| {
                let (id, deed) = deed_of(fact);
                (number, id, deed)
            })
            .collect();
        // Who takes an order back names no collection: those are concerned that have it when the blocks come, or by them.
        let published = deeds.iter().filter(|(_, _, deed)| matches!(deed, Deed::Published));
        let mut concerned: BTreeSet<String> = published.map(|(_, id, _)| id.clone()).collect();
        let active = self.models.iter().filter(|(_, model)| model.is_active());
        concerned.extend(active.map(|(id, _)| (*id).to_owned()));
        for (number, id, deed) in deeds {
            let is_concerned = concerned.contains(&id);
            self.models.get_mut(id.as_str()).unwrap().take(number, deed, is_concerned);
        }
    }

    /// Somebody puts an order, or imports one that nobody signed.
    async fn put(&mut self) {
        let (id, remaining) = (self.any(4), 1 + self.below(WHOLE));
        let model = self.models.get_mut(id).unwrap();
        if id == PLAIN {
            let status = if remaining == 1 { OrderStatus::Cancelled } else { OrderStatus::Active };
            model.said = Some(Said { status, remaining });
            let facts = OrderFacts {
                status,
                quantity_remaining: remaining.into(),
                operator: None,
                ..signed(id).facts
            };
            let changes = vec![Change::Order(Box::new(facts))];
            self.stage.store.commit(batch(collection(0), changes)).await.unwrap();
            return;
        }
        // Who puts it again found that nothing of it is filled.
        let remaining = if model.order().is_none() { remaining } else { WHOLE };
        model.put(remaining);
        let mut order = signed(id);
        order.facts.quantity_remaining = remaining.into();
        put(&self.stage, order).await;
    }

    async fn end(&mut self) {
        let id = self.any(4);
        let status = if self.below(2) == 0 { OrderStatus::Cancelled } else { OrderStatus::Inactive };
        self.models.get_mut(id).unwrap().end(status);
        let change = Change::OrderEnded { key: key(id), status };
        self.stage.store.commit(batch(collection(0), vec![change])).await.unwrap();
    }

    /// The chain answers what became of an order.
    async fn ask(&mut self) {
        let (id, remaining) = (self.any(3), self.below(WHOLE));
        let at = self.stage.newest();
        let standing = if remaining == 0 { Standing::Cancelled } else { open(remaining) };
        let model = self.models.get_mut(id).unwrap();
        if model.is_queued {
            model.take(at.number, Deed::Asked(standing), true);
            model.is_queued = false;
            assert!(settle(&self.stage, at, id, standing).await);
        }
    }

    async fn check(&self, why: &str) {
        let keys = ORDERS.into_iter().map(key).collect();
        let found = self.stage.store.orders_by_key(self.stage.id, keys).await.unwrap();
        let found: BTreeMap<String, (OrderStatus, Amount)> = found
            .into_iter()
            .map(|order| (order.order_id, (order.status, order.quantity_remaining)))
            .collect();
        let expected: BTreeMap<String, (OrderStatus, Amount)> = self
            .models
            .iter()
            .filter_map(|(id, model)| {
                model.order().map(|(status, left)| (id.to_string(), (status, left.into())))
            })
            .collect();
        assert_eq!(found, expected, "{why}: {:#?}", self.models);
        let queued = self.models.iter().filter(|(_, model)| model.is_queued).map(|(id, _)| (*id).to_owned());
        assert_eq!(unsettled(&self.stage).await, queued.collect::<Vec<_>>(), "{why}: {:#?}", self.models);
        let happened = self.stage.store.activities(self.stage.id, None, None, 10_000).await.unwrap();
        let of_chain = happened.iter().filter(|activity| !activity.facts.tx_hash.is_empty()).count();
        let deeds = self.models.values().flat_map(|model| &model.deeds);
        let deeds = deeds.filter(|(_, deed)| !matches!(deed, Deed::Asked(_))).count();
        assert_eq!(of_chain, deeds, "{why}: what happened is told once");
    }
}

fn deed_of(fact: &Fact) -> (String, Deed) {
    match fact {
        Fact::OrderPublished(order) => (order.facts.order_id.clone(), Deed::Published),
        Fact::OrderCancelled { order_id, .. } => (order_id.clone(), Deed::Cancelled),
        Fact::OrderFilled(filled) => {
            let OrderRef::Id(order_id) = &filled.order_ref else { panic!("{filled:?}") };
            (order_id.clone(), Deed::Filled(filled.quantity.to_string().parse().unwrap()))
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_order_is_what_its_chain_states_and_what_others_say() {
    let seed = seed();
    let mut play = Play::new(seed).await;
    for step in 0..STEPS {
        match play.below(10) {
            0..=4 => play.blocks().await,
            5 | 6 => play.put().await,
            7 => play.end().await,
            _ => play.ask().await,
        }
        play.check(&explain(seed, format!("step {step}"))).await;
    }
}
