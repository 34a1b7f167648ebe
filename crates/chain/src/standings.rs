//! What became of signed orders before they were known here: contracts are asked, at the block that a chain is followed to.

use std::sync::Arc;

use alloy_primitives::{BlockHash, Bytes};
use bourse_market::Standing;
use bourse_protocols::native::{Inquiry, cover_inquiries, dealt, is_covered};
use bourse_protocols::venues::Venue;
use bourse_protocols::{Protocol, StoredOrder};
use bourse_store::{Payer, Settled, Store, Unsettled};
use bourse_wire::{ChainId, OrderSide};

use crate::calls::Caller;
use crate::node::{Call, Failure, Node};
use crate::offers::{OffersError, payer_of};

/// The most orders that are asked about at once.
const ORDERS_AT_ONCE: u64 = 200;

/// Asks what became of signed orders.
pub struct Standings {
    caller: Caller,
    venues: Vec<Arc<Venue>>,
}

impl Standings {
    /// Asks through `caller` about orders of these marketplaces.
    pub fn new(caller: Caller, venues: Vec<Arc<Venue>>) -> Self {
        Self { caller, venues }
    }

    /// Asks about some of the orders that are to be asked about, those that wait longest first, and stores what is said.
    /// Tells whose money stands behind the offers among them. However many blocks come meanwhile, what is said counts for
    /// orders that these leave alone.
    pub async fn look<N: Node>(
        &self,
        node: &N,
        store: &Store,
        chain: ChainId,
    ) -> Result<Vec<Payer>, OffersError> {
        // Holding the chain is a write, which is not worth it for nothing.
        if store.unsettled_orders(chain, 1).await?.is_empty() {
            return Ok(Vec::new());
        }
        let Some((at, orders)) = store.questions(chain, ORDERS_AT_ONCE).await? else { return Ok(Vec::new()) };
        let standings = self.standings(node, &orders, at.hash).await?;
        let covered_then = self.covered(node, &orders, Some(at.hash)).await?;
        let covered_now = self.covered(node, &orders, None).await?;
        let said = orders.iter().zip(standings).zip(covered_then.into_iter().zip(covered_now));
        let settled = said.map(|((order, standing), (then, now))| Settled {
            collection: order.collection,
            key: order.facts.key(),
            standing,
            covered: now.or(then),
            is_ahead: then.zip(now).is_some_and(|(then, now)| then != now),
        });
        let settled = settled.collect();
        if !store.settle_orders(chain, at, settled).await? {
            return Ok(Vec::new());
        }
        let offers = orders.iter().map(|order| &order.facts).filter(|order| order.side == OrderSide::Offer);
        Ok(offers.filter_map(payer_of).collect())
    }

    /// What became of orders up to a block. What would change an order is asked twice, and the second answer counts: while
    /// a node makes the next block it may answer from the state of that one, in which an order is filled whose fill is
    /// still to be read. To who asks again the block is one of the past.
    async fn standings<N: Node>(
        &self,
        node: &N,
        orders: &[Unsettled],
        at: BlockHash,
    ) -> Result<Vec<Option<Standing>>, Failure> {
        let all: Vec<&Unsettled> = orders.iter().collect();
        let mut standings = self.standings_once(node, &all, at).await?;
        let said = standings.iter().zip(orders);
        let different: Vec<usize> = said
            .enumerate()
            .filter(|(_, (said, order))| changes(**said, order))
            .map(|(place, _)| place)
            .collect();
        let again: Vec<&Unsettled> = different.iter().map(|place| &orders[*place]).collect();
        for (place, said) in different.iter().zip(self.standings_once(node, &again, at).await?) {
            standings[*place] = said;
        }
        Ok(standings)
    }

    async fn standings_once<N: Node>(
        &self,
        node: &N,
        orders: &[&Unsettled],
        at: BlockHash,
    ) -> Result<Vec<Option<Standing>>, Failure> {
        let questions = |order: &&Unsettled| {
            let inquiries =
                self.protocol(order).and_then(|protocol| protocol.standing_inquiries(stored(order)).ok());
            inquiries.unwrap_or_default()
        };
        let asked = orders.iter().map(questions).collect();
        let answers = self.ask(node, asked, Some(at)).await?;
        let standing = |(order, answers): (&&Unsettled, Vec<Option<Bytes>>)| {
            self.protocol(order)?.standing(stored(order), &answers)
        };
        Ok(orders.iter().zip(answers).map(standing).collect())
    }

    /// Whether the makers of listings let tokens be moved, at a block or by now. What is so by now counts, as who has just
    /// allowed it signs at once; where it is another than at the block that the chain is followed to, the blocks between say
    /// so, which may be taken back.
    async fn covered<N: Node>(
        &self,
        node: &N,
        orders: &[Unsettled],
        at: Option<BlockHash>,
    ) -> Result<Vec<Option<bool>>, Failure> {
        let questions = |order: &Unsettled| cover_inquiries(order.collection.address, &order.facts);
        let answers = self.ask(node, orders.iter().map(questions).collect(), at).await?;
        let covered = |(order, answers): (&Unsettled, Vec<Option<Bytes>>)| is_covered(&order.facts, &answers);
        Ok(orders.iter().zip(answers).map(covered).collect())
    }

    /// What contracts answer to the questions about each order.
    async fn ask<N: Node>(
        &self,
        node: &N,
        asked: Vec<Vec<Inquiry>>,
        at: Option<BlockHash>,
    ) -> Result<Vec<Vec<Option<Bytes>>>, Failure> {
        let calls: Vec<Call> = asked.iter().flatten().cloned().map(Call::from).collect();
        let answers = if calls.is_empty() { Vec::new() } else { self.caller.call(node, &calls, at).await? };
        Ok(dealt(&asked, answers.into_iter().map(Result::ok).collect()))
    }

    fn protocol(&self, order: &Unsettled) -> Option<&dyn Protocol> {
        let venue = self.venues.iter().find(|venue| venue.marketplace() == order.facts.marketplace)?;
        venue.protocol_of(stored(order))
    }
}

/// Whether what a chain says of an order would change it.
fn changes(said: Option<Standing>, order: &Unsettled) -> bool {
    match said {
        Some(Standing::Open { remaining }) => remaining != order.facts.quantity_remaining,
        Some(Standing::Filled | Standing::Cancelled) => true,
        Some(Standing::NotYet | Standing::Uncovered | Standing::Absent | Standing::Refused) | None => false,
    }
}

fn stored(order: &Unsettled) -> StoredOrder<'_> {
    StoredOrder { facts: &order.facts, native: Some(&order.native) }
}
