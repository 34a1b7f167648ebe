//! Looking at royalties beside a follower: they change without a word where a collection tells them itself, and by a log
//! where a marketplace does.

use std::collections::BTreeSet;
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
        let asked: BTreeSet<Sold> = pieces
            .iter()
            .flat_map(|(piece, orders)| orders.iter().filter_map(|order| sold(piece.collection, order)))
            .collect();
        let due = self.royalties.of(node, &asked, Some(at.block.hash)).await?;
        let mut payers = Vec::new();
        for (piece, orders) in pieces {
            let sold_due = |order: &OrderFacts| due.get(&sold(piece.collection, order)?);
            let fees = |order: &OrderFacts| {
                let fees = sold_due(order)?.fees(order.price_amount);
                (fees != order.fee_breakdown).then(|| OrderFees { key: order.key(), fees })
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
