//! The orders of a whole collection: every one that counts, filtered and sorted anew.

use std::cmp::Ordering;

use bourse_catalog::{BookQuery, Collection, Column, Key, Position, Start, TokenFilter};
use bourse_wire::{OrderFacts, OrderSide, TokenId};

use crate::answer::{Answers, RowsQuestion, sort_of_orders};
use crate::exact_price::ExactPrice;
use crate::generate::Generator;
use crate::model::has_order;
use crate::read::parse;

/// What an order of a collection ranks by.
#[derive(Clone, Debug)]
struct Ranked<'m> {
    side: OrderSide,
    price: ExactPrice,
    created_at: bourse_wire::Timestamp,
    token: Option<TokenId>,
    /// Marketplace and id as JSON.
    key: (u8, String),
    /// Nothing of a position.
    facts: Option<&'m OrderFacts>,
}

/// A question for the orders of a collection, from one for rows.
struct Question<'q> {
    asked: &'q RowsQuestion,
    descending: bool,
    by_creation: bool,
}

impl<'q> Question<'q> {
    fn new(asked: &'q RowsQuestion) -> Self {
        let sort = sort_of_orders(asked.ranking.sort);
        let by_creation = sort.is_some_and(|sort| sort.column == Column::CreatedAt);
        let descending = sort.map_or(asked.ranking.side == OrderSide::Offer, |sort| sort.descending);
        Self { asked, descending, by_creation }
    }

    fn query(&self, start: Start, limit: usize) -> BookQuery<'q> {
        let RowsQuestion { ranking, tokens, orders, .. } = self.asked;
        let sort = sort_of_orders(ranking.sort);
        BookQuery { side: ranking.side, tokens, orders, sort, start, limit }
    }

    /// Those without a rate come last, those of both sides listings first. Of one side what is dearer comes first, or what is
    /// cheaper; what is as dear as another has an order of its own, which turns around with the list of the side.
    fn compare(&self, a: &Ranked<'_>, b: &Ranked<'_>) -> Ordering {
        let turned =
            |ordering: Ordering, is_turned: bool| if is_turned { ordering.reverse() } else { ordering };
        if self.by_creation {
            return turned((a.created_at, &a.key).cmp(&(b.created_at, &b.key)), self.descending);
        }
        let classes = a.price.is_unpriced().cmp(&b.price.is_unpriced());
        let is_offer = |ranked: &Ranked<'_>| ranked.side == OrderSide::Offer;
        if classes.is_ne() {
            return classes;
        }
        if a.side == b.side {
            let ids = |ranked: &Ranked<'_>| (ranked.token.is_none(), ranked.token, ranked.key.clone());
            let natural = a.price.compare(&b.price, a.side).then_with(|| ids(a).cmp(&ids(b)));
            return turned(natural, self.descending != is_offer(a));
        }
        let sides = is_offer(a).cmp(&is_offer(b));
        if a.price.is_unpriced() {
            return sides;
        }
        turned(a.price.compare(&b.price, OrderSide::Listing), self.descending).then(sides)
    }

    fn position(&self, ranked: &Ranked<'_>) -> Position {
        let facts = ranked.facts.unwrap();
        let order = Some(ranked.key.clone());
        let key = if self.by_creation {
            Key::CreatedAt { at: facts.created_at, order }
        } else {
            Key::Price { currency: facts.currency, amount: facts.price_amount, order }
        };
        let group = match (ranked.side, ranked.token) {
            (OrderSide::Offer, Some(_)) => 1,
            (OrderSide::Offer, None) => 2,
            _ => 0,
        };
        Position { group, token: ranked.token.unwrap_or_default(), key }
    }
}

impl<'m> Answers<'m> {
    fn book_orders(&self, question: &Question<'_>) -> Vec<Ranked<'m>> {
        let RowsQuestion { ranking, tokens, orders, .. } = question.asked;
        let found = self.tokens(tokens);
        let is_wanted = |token: Option<TokenId>| match token {
            Some(token) => found.binary_search(&token).is_ok(),
            None => *tokens == TokenFilter::default() || !found.is_empty(),
        };
        let sides = |side: OrderSide| ranking.side == OrderSide::Unknown || ranking.side == side;
        let active = self
            .active()
            .filter(|facts| sides(facts.side) && has_order(orders, facts) && is_wanted(facts.token_id));
        let mut ranked: Vec<Ranked<'m>> = active.map(|facts| self.ranked(facts)).collect();
        ranked.sort_by(|a, b| question.compare(a, b));
        ranked
    }

    fn ranked(&self, facts: &'m OrderFacts) -> Ranked<'m> {
        Ranked {
            side: facts.side,
            price: self.model.exact_price(facts.currency, facts.price_amount),
            created_at: facts.created_at,
            token: facts.token_id,
            key: (facts.marketplace.number(), serde_json::to_string(&facts.order_id).unwrap()),
            facts: Some(facts),
        }
    }

    /// Where a position is by now, which rates may have changed.
    fn ranked_position(&self, position: &Position) -> Ranked<'m> {
        let (price, created_at, order) = match &position.key {
            Key::Price { currency, amount, order } => {
                (self.model.exact_price(*currency, *amount), bourse_wire::Timestamp::ZERO, order)
            }
            Key::CreatedAt { at, order } => {
                (self.model.exact_price(bourse_wire::Address::ZERO, 0.into()), *at, order)
            }
            Key::Token | Key::Name(_) => unreachable!("no position of an order"),
        };
        let side = if position.group == 0 { OrderSide::Listing } else { OrderSide::Offer };
        let token = (position.group != 2).then_some(position.token);
        Ranked { side, price, created_at, token, key: order.clone().unwrap(), facts: None }
    }

    /// Asks for the orders of the collection in every way; a position to go on from later.
    pub(crate) fn check_book(
        &self,
        collection: &Collection,
        asked: &RowsQuestion,
        generator: &mut Generator,
    ) -> Option<Position> {
        let question = Question::new(asked);
        let expected = self.book_orders(&question);
        let count = collection.count_orders_of_all(asked.ranking.side, &asked.tokens, &asked.orders);
        assert_eq!(count, expected.len(), "orders of the collection");
        let limit = 1 + generator.random.index(40);
        let Start::Skip(skip) = generator.skip(expected.len()) else { return None };
        self.assert_page(collection, &question, &expected, (Start::Skip(skip), limit));
        let mut start = Start::Skip(0);
        for page in 0..6 {
            let next = self.assert_page(collection, &question, &expected[page * limit..], (start, limit));
            let Some(next) = next else { break };
            start = Start::After(next);
        }
        self.check_currencies(collection, asked.ranking.side);
        let last = expected.get(generator.random.index(expected.len().max(1)));
        last.map(|ranked| question.position(ranked))
    }

    /// The orders that come after a position by now.
    pub(crate) fn check_book_after(
        &self,
        collection: &Collection,
        asked: &RowsQuestion,
        position: &Position,
    ) {
        let question = Question::new(asked);
        let mut expected = self.book_orders(&question);
        let at = self.ranked_position(position);
        expected.retain(|ranked| question.compare(ranked, &at).is_gt());
        self.assert_page(collection, &question, &expected, (Start::After(position.clone()), 7));
    }

    /// A page of orders, of which these are the first that it may begin with.
    fn assert_page(
        &self,
        collection: &Collection,
        question: &Question<'_>,
        orders: &[Ranked<'_>],
        (start, limit): (Start, usize),
    ) -> Option<Position> {
        let skip = if let Start::Skip(skip) = start { usize::try_from(skip).unwrap() } else { 0 };
        let rest = &orders[skip.min(orders.len())..];
        let expected = &rest[..limit.min(rest.len())];
        let page = collection.query_orders(&question.query(start, limit));
        let (mut rows, mut orders) = (Vec::new(), Vec::new());
        collection.write_rows(&mut rows, &page);
        collection.write_orders_of(&mut orders, &page);
        let (rows, orders) = (parse(&rows), parse(&orders));
        assert_eq!((rows.len(), orders.len()), (expected.len(), expected.len()), "orders of a page");
        for ((row, order), ranked) in rows.iter().zip(&orders).zip(expected) {
            let facts = ranked.facts.unwrap();
            self.assert_order(order, facts);
            let of_side =
                |side: OrderSide| if ranked.side == side { order } else { &serde_json::Value::Null };
            assert_eq!((&row["order"], &row["listing"]), (order, of_side(OrderSide::Listing)));
            assert_eq!(&row["offer"], of_side(OrderSide::Offer));
            match ranked.token {
                Some(token) => self.assert_metadata(&row["metadata"], token),
                None => assert_eq!(row["metadata"]["tokenId"], "", "an order for any token names none"),
            }
        }
        let more = expected.len() < rest.len();
        let last = expected.last().filter(|_| more).map(|ranked| question.position(ranked));
        assert_eq!(page.next, last, "where more orders begin");
        page.next
    }

    fn check_currencies(&self, collection: &Collection, side: OrderSide) {
        let of_side = self.active().filter(|facts| facts.side == side);
        let expected: std::collections::BTreeSet<_> = of_side.map(|facts| facts.currency).collect();
        if side != OrderSide::Unknown {
            assert_eq!(collection.currencies_of_orders(side), expected, "currencies of orders");
        }
    }
}
