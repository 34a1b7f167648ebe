//! What became of signed orders before they were known here: contracts are asked, at the block that a chain is followed to.

use bourse_market::protocols::venues::Floor;
use bourse_market::protocols::{Kept, Protocol};
use bourse_store::{Purse, Settled, Store, Unsettled};
use bourse_wire::{Marketplace, OrderSide};

use crate::calls::Caller;
use crate::node::{Call, Node};
use crate::offers::{Followed, OffersError, purse_of};

/// The most orders that are asked about at once.
const ORDERS_AT_ONCE: u64 = 200;

/// Asks what became of signed orders.
pub struct Standings {
    caller: Caller,
    floors: Vec<(Marketplace, Floor)>,
}

impl Standings {
    /// Asks through `caller` about orders of these marketplaces.
    pub fn new(caller: Caller, floors: Vec<(Marketplace, Floor)>) -> Self {
        Self { caller, floors }
    }

    /// Asks about some of the orders that were never asked about, and stores what is said. Tells whose money stands
    /// behind the offers among them.
    pub async fn look<N: Node>(
        &self,
        node: &N,
        store: &Store,
        at: &Followed,
    ) -> Result<Vec<Purse>, OffersError> {
        let orders = store.unsettled_orders(at.chain, ORDERS_AT_ONCE).await?;
        if orders.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Vec<Vec<Call>> = orders.iter().map(|order| self.questions(order)).collect();
        let calls: Vec<Call> = asked.iter().flatten().cloned().collect();
        let answers = self.caller.call(node, &calls, Some(at.block.hash)).await?;
        let answers: Vec<_> = answers.into_iter().map(Result::ok).collect();
        let mut rest = answers.as_slice();
        let mut settled = Vec::with_capacity(orders.len());
        for (order, asked) in orders.iter().zip(&asked) {
            let (own, others) = rest.split_at(asked.len().min(rest.len()));
            rest = others;
            let protocol = self.protocol(order);
            let standing = protocol.and_then(|protocol| protocol.standing(kept(order), own));
            settled.push(Settled {
                collection: order.collection,
                marketplace: order.facts.marketplace,
                order_id: order.facts.order_id.clone(),
                standing,
            });
        }
        if !store.settle_orders(at.chain, at.block, settled).await? {
            return Ok(Vec::new());
        }
        let offers = orders.iter().map(|order| &order.facts).filter(|order| order.side == OrderSide::Offer);
        Ok(offers.filter_map(purse_of).collect())
    }

    fn protocol(&self, order: &Unsettled) -> Option<&(dyn Protocol + Send + Sync)> {
        let (_, floor) = self.floors.iter().find(|(of, _)| *of == order.facts.marketplace)?;
        floor.protocol_of(kept(order))
    }

    fn questions(&self, order: &Unsettled) -> Vec<Call> {
        let inquiries = self.protocol(order).and_then(|protocol| protocol.inquiries(kept(order)).ok());
        let inquiries = inquiries.unwrap_or_default().into_iter();
        inquiries.map(|inquiry| Call { to: inquiry.to, data: inquiry.data }).collect()
    }
}

fn kept(order: &Unsettled) -> Kept<'_> {
    Kept { order: &order.facts, native: Some(&order.native) }
}
