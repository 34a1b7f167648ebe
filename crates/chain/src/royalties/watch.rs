//! Looking at royalties beside a follower: they change without a word where a collection tells them itself, and by a log
//! where a marketplace does.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use bourse_market::RoyaltyDue;
use bourse_market::facts::Block;
use bourse_store::{CollectionKey, OrderFees, OwnOrders, Payer, Store};
use bourse_wire::{Address, OrderFacts, OrderSide, Timestamp};

use super::walks::{Piece, Taken, Walks};
use super::{Royalties, Sold, SoldToken};
use crate::calls::Caller;
use crate::node::Node;
use crate::offers::{FollowedChain, OffersError, payer_of};

/// The most orders of one collection, of all, and the most collections that are asked about at once.
const ORDERS_OF_PIECE: u64 = 200;
const ORDERS_AT_ONCE: usize = 400;
const COLLECTIONS_AT_ONCE: usize = 50;

/// Looks at the royalties of orders that contracts of our own keep.
#[derive(Debug)]
pub struct RoyaltyWatch {
    royalties: Royalties,
    walks: Walks,
    /// How often the chain had taken blocks back at the last look.
    reorgs: Option<u64>,
}

impl RoyaltyWatch {
    /// Asks through `caller`, after so long where no log tells anything.
    pub fn new(caller: Caller, interval: Duration) -> Self {
        Self { royalties: Royalties::new(caller), walks: Walks::new(interval), reorgs: None }
    }

    /// Forgets what was asked, when somebody else goes on.
    pub fn forget(&mut self) {
        self.walks.clear();
        self.reorgs = None;
    }

    /// Takes that a collection has a new order.
    pub fn order_made(&mut self, collection: Address, now: Timestamp) {
        self.walks.wake(collection, now);
    }

    /// Takes that a log says that the royalties of a collection are others.
    pub fn changed(&mut self, collection: Address, now: Timestamp) {
        self.walks.change(collection, now);
    }

    /// Whether there are more to look at than one look had room for.
    pub fn has_more(&self, now: Timestamp) -> bool {
        self.walks.has_more(now)
    }

    /// Looks at some orders at the end of the block that the chain is followed to, and stores what goes to others out of
    /// their prices. Tells whose money stands behind the offers that may cost something else now.
    pub async fn look<N: Node>(
        &mut self,
        node: &N,
        store: &Store,
        at: &FollowedChain,
        now: Timestamp,
    ) -> Result<Vec<Payer>, OffersError> {
        self.walks.keep(&at.live, now);
        if self.reorgs.replace(at.reorgs).is_some_and(|reorgs| reorgs != at.reorgs) {
            self.walks.rewind(now);
        }
        let pieces = self.read(store, at, now).await?;
        let due = self.ask(node, &pieces, at.block).await?;
        let mut payers = Vec::new();
        for (piece, orders) in pieces {
            let sold_due = |order: &OrderFacts| due.get(&sold(piece.collection, order)?);
            let fees = |order: &OrderFacts| {
                let due = sold_due(order).filter(|due| is_other(order, due))?;
                Some(OrderFees { key: order.key(), fees: due.fees(order.price_amount) })
            };
            let changed: Vec<OrderFees> = orders.iter().filter_map(fees).collect();
            // What an offer is held to is shown, and what holds counts too for a part of it.
            let costs_otherwise =
                |order: &&OrderFacts| fees(order).is_some() || held(order, sold_due(order)) != 0;
            let offers = orders.iter().filter(|order| order.side == OrderSide::Offer);
            payers.extend(offers.filter(costs_otherwise).filter_map(payer_of));
            let is_full = orders.len() as u64 >= ORDERS_OF_PIECE;
            let taken = Taken {
                last: orders.last().filter(|_| is_full).map(OrderFacts::key),
                orders: orders.len() as u64,
                has_changed: !changed.is_empty(),
                held: orders.iter().fold(0, |mark, order| mark ^ held(order, sold_due(order))),
            };
            write(store, CollectionKey { chain: at.chain, address: piece.collection }, at.block, changed)
                .await?;
            self.walks.took(piece.collection, taken, now);
        }
        Ok(payers)
    }

    /// What filling orders would cost at the end of a block. What would change an order is asked twice, and the second answer
    /// counts: while a node makes the next block it may answer from the state of that one, and whoever then looks at the
    /// funds behind an offer would find them for the royalty of before.
    async fn ask<N: Node>(
        &self,
        node: &N,
        pieces: &[(Piece, Vec<OrderFacts>)],
        at: Block,
    ) -> Result<BTreeMap<Sold, RoyaltyDue>, OffersError> {
        let mut orders: BTreeMap<Sold, &OrderFacts> = BTreeMap::new();
        for (piece, of_piece) in pieces {
            orders.extend(of_piece.iter().filter_map(|order| Some((sold(piece.collection, order)?, order))));
        }
        let mut due = self.royalties.of(node, &orders.keys().copied().collect(), Some(at.hash)).await?;
        let changes =
            |(sold, order): &(&Sold, &&OrderFacts)| due.get(*sold).is_some_and(|due| is_other(order, due));
        let again: BTreeSet<Sold> = orders.iter().filter(changes).map(|(sold, _)| *sold).collect();
        due.extend(self.royalties.of(node, &again, Some(at.hash)).await?);
        Ok(due)
    }

    /// Reads the orders that are asked about next.
    async fn read(
        &self,
        store: &Store,
        at: &FollowedChain,
        now: Timestamp,
    ) -> Result<Vec<(Piece, Vec<OrderFacts>)>, OffersError> {
        let (mut pieces, mut count) = (Vec::new(), 0);
        for piece in self.walks.next(COLLECTIONS_AT_ONCE, now) {
            let key = CollectionKey { chain: at.chain, address: piece.collection };
            let asked = OwnOrders {
                after: piece.after.clone(),
                open_at: (!piece.is_whole).then_some(now),
                most: ORDERS_OF_PIECE,
            };
            let orders = store.own_orders(key, asked).await?;
            count += orders.len();
            pieces.push((piece, orders));
            if count >= ORDERS_AT_ONCE {
                break;
            }
        }
        Ok(pieces)
    }
}

async fn write(
    store: &Store,
    collection: CollectionKey,
    at: Block,
    changed: Vec<OrderFees>,
) -> Result<(), OffersError> {
    // Mostly nothing changed, and nothing has to be written.
    if !changed.is_empty() {
        store.set_order_fees(collection, at, changed).await?;
    }
    Ok(())
}

/// Whether an order shows something else than what filling it would cost.
fn is_other(order: &OrderFacts, due: &RoyaltyDue) -> bool {
    due.fees(order.price_amount) != order.fee_breakdown
}

/// A mark of an order that is held to less than what holds for its token, and of what that is; 0 for all others.
fn held(order: &OrderFacts, due: Option<&RoyaltyDue>) -> u64 {
    let Some(above) = due.and_then(|due| due.above_cap(order.price_amount)) else { return 0 };
    let mut hasher = DefaultHasher::new();
    (order.marketplace.number(), &order.order_id, above).hash(&mut hasher);
    hasher.finish()
}

/// What an order sells, if it is one that a contract of our own keeps.
pub(crate) fn sold(collection: Address, order: &OrderFacts) -> Option<Sold> {
    let market = order.operator.filter(|_| order.marketplace.is_own())?;
    let token = SoldToken { market, collection, token_id: order.token_id? };
    Some(Sold { token, order: order.order_id.parse().ok()? })
}
