//! Where rows come: the total order of every list.

use std::cmp::Ordering;

use bourse_catalog::{Column, Key, Position, Sort};
use bourse_wire::{OrderFacts, OrderSide, Timestamp, TokenId};

use crate::answer::ActiveOrder;
use crate::exact_price::ExactPrice;
use crate::model::Model;
use crate::token::Token;

/// The group of rows without an order.
pub(crate) const EMPTY: u8 = 2;

/// What a row ranks by.
#[derive(Clone, Debug)]
pub(crate) struct RowRank {
    /// 0 the side asked for, 1 the offers when either will do, 2 no order.
    pub(crate) group: u8,
    pub(crate) measure: Measure,
    pub(crate) token: TokenId,
    /// Where a token's orders are listed: marketplace and id as JSON.
    pub(crate) order: Option<(u8, String)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Measure {
    Nothing,
    Price(ExactPrice),
    CreatedAt(Timestamp),
    Name(String),
}

/// How a list is sorted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking {
    pub(crate) side: OrderSide,
    pub(crate) sort: Option<Sort>,
}

impl Ranking {
    pub(crate) fn column(self) -> Column {
        self.sort.map_or(Column::Price, |sort| sort.column)
    }

    fn side_of(self, group: u8) -> OrderSide {
        match (self.side, group) {
            (OrderSide::Unknown, 0) => OrderSide::Listing,
            (OrderSide::Unknown, _) => OrderSide::Offer,
            (side, _) => side,
        }
    }

    /// Whether what is asked for is the reverse of the natural order: best price, oldest, lowest id, first name first.
    fn is_reversed(self, group: u8) -> bool {
        let naturally_descending = self.column() == Column::Price && self.side_of(group) == OrderSide::Offer;
        self.sort.is_some_and(|sort| sort.descending != naturally_descending) && group != EMPTY
    }

    /// Whether rows of listings and of offers are one list: where either will do, and their order was asked for.
    fn is_of_both_sides(self) -> bool {
        let is_of_orders = |sort: Sort| matches!(sort.column, Column::Price | Column::CreatedAt);
        self.side == OrderSide::Unknown && self.sort.is_some_and(is_of_orders)
    }

    pub(crate) fn compare(self, a: &RowRank, b: &RowRank) -> Ordering {
        let class = |rank: &RowRank| match &rank.measure {
            Measure::Price(price) if price.is_unpriced() => (rank.group, true),
            _ => (rank.group, false),
        };
        let are_one_list = |rank: &RowRank| rank.group != EMPTY && !class(rank).1;
        if self.is_of_both_sides() {
            if are_one_list(a) != are_one_list(b) {
                return are_one_list(b).cmp(&are_one_list(a));
            }
            if are_one_list(a) && a.group != b.group {
                let measures = match (&a.measure, &b.measure) {
                    (Measure::Price(a), Measure::Price(b)) => a.compare(b, OrderSide::Listing),
                    (Measure::CreatedAt(a), Measure::CreatedAt(b)) => a.cmp(b),
                    _ => Ordering::Equal,
                };
                let descending = self.sort.is_some_and(|sort| sort.descending);
                return if descending { measures.reverse() } else { measures }.then(a.group.cmp(&b.group));
            }
        }
        let measures = match (&a.measure, &b.measure) {
            (Measure::Price(a_worth), Measure::Price(b_worth)) => {
                a_worth.compare(b_worth, self.side_of(a.group))
            }
            (Measure::CreatedAt(a), Measure::CreatedAt(b)) => a.cmp(b),
            (Measure::Name(a), Measure::Name(b)) => a.cmp(b),
            _ => Ordering::Equal,
        };
        let natural = measures.then_with(|| (a.token, &a.order).cmp(&(b.token, &b.order)));
        let within = if self.is_reversed(a.group) { natural.reverse() } else { natural };
        class(a).cmp(&class(b)).then(within)
    }

    pub(crate) fn measure(self, token: &Token, order: Option<&ActiveOrder<'_>>) -> Measure {
        match (self.column(), order) {
            (Column::Name, _) => Measure::Name(token.folded.clone()),
            (Column::Price, Some(order)) => Measure::Price(order.price.clone()),
            (Column::CreatedAt, Some(order)) => Measure::CreatedAt(order.facts.created_at),
            _ => Measure::Nothing,
        }
    }
}

impl RowRank {
    /// Where a position is by now, which rates may have changed.
    pub(crate) fn of(position: &Position, model: &Model) -> Self {
        let (measure, order) = match &position.key {
            Key::Token => (Measure::Nothing, None),
            Key::Price { currency, amount, order } => {
                (Measure::Price(model.exact_price(*currency, *amount)), order.clone())
            }
            Key::CreatedAt { at, order } => (Measure::CreatedAt(*at), order.clone()),
            Key::Name(name) => (Measure::Name(name.clone()), None),
        };
        Self { group: position.group, measure, token: position.token, order }
    }

    /// The position that a client gets for a row at this place with this order.
    pub(crate) fn position(&self, facts: Option<&OrderFacts>) -> Position {
        let order = self.order.clone();
        let key = match (&self.measure, facts) {
            (Measure::Price(_), Some(facts)) => {
                Key::Price { currency: facts.currency, amount: facts.price_amount, order }
            }
            (Measure::CreatedAt(at), _) => Key::CreatedAt { at: *at, order },
            (Measure::Name(name), _) => Key::Name(name.clone()),
            _ => Key::Token,
        };
        Position { group: self.group, token: self.token, key }
    }
}
