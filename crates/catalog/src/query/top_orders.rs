//! The best order of each of some tokens.

use bourse_wire::{OrderKey, OrderSide, TokenId};

use super::{Column, OrdersQuery, Sort, Start};
use crate::collection::Collection;
use crate::filter::OrderFilter;

impl Collection {
    /// Of each token the active order of a side that comes first by price, in the order of their prices.
    pub fn top_orders(
        &self,
        tokens: &[TokenId],
        side: OrderSide,
        filter: &OrderFilter,
        descending: bool,
    ) -> Vec<OrderKey> {
        let sort = Some(Sort { column: Column::Price, descending });
        let query = |token| OrdersQuery { token, side, filter, sort, start: Start::Skip(0), limit: 1 };
        let first = |token: &TokenId| self.find_orders(&query(*token)).0.first().copied();
        let slots = tokens.iter().filter_map(first);
        let mut orders: Vec<_> = slots.filter_map(|slot| self.book.order(slot)).collect();
        let of_any = query(TokenId::ZERO);
        orders.sort_by(|a, b| self.compare_ranks(&of_any, &self.rank_of(a), &self.rank_of(b)));
        let key = |order: &crate::book::Order| {
            // The text of an order has its name as JSON.
            let order_id = serde_json::from_slice(self.book.text(order).order_id()).ok()?;
            Some(OrderKey { marketplace: order.marketplace, order_id })
        };
        orders.into_iter().filter_map(key).collect()
    }
}
