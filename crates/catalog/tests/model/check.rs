//! Every question, asked of the catalog and of the model.

use bourse_catalog::{Collection, OrdersQuery, Position, Query, Start, TokensQuery};
use bourse_wire::{OrderFacts, OrderSide};

use crate::answer::{Answers, OrdersQuestion, Row, RowsQuestion};
use crate::generate::Generator;
use crate::read::{ids, parse};
use crate::row_rank::RowRank;

/// Rows whose orders are compared when there are very many; of the others the tokens are.
const WRITTEN_MAX: usize = 40;

struct PageRequest {
    start: Start,
    limit: usize,
}

fn query(question: &RowsQuestion, start: Start, limit: usize) -> Query<'_> {
    let (side, sort) = (question.ranking.side, question.ranking.sort);
    let (tokens, orders, include_empty) = (&question.tokens, &question.orders, question.include_empty);
    Query { side, tokens, orders, include_empty, sort, start, limit }
}

fn orders_query(question: &OrdersQuestion, start: Start, limit: usize) -> OrdersQuery<'_> {
    let (side, sort) = (question.ranking.side, question.ranking.sort);
    OrdersQuery { token: question.token, side, filter: &question.orders, sort, start, limit }
}

fn position(row: &Row<'_>) -> Position {
    row.rank.position(row.order)
}

/// What a page is, cut from all rows, and whether there are more.
fn cut<R>(rows: &[R], skip: u64, limit: usize) -> (&[R], bool) {
    let begin = usize::try_from(skip).unwrap().min(rows.len());
    let end = begin.saturating_add(limit).min(rows.len());
    (&rows[begin..end], end < rows.len())
}

impl Answers<'_> {
    /// Asks for rows in every way; a position to go on from later.
    pub(crate) fn check_rows(
        &self,
        collection: &Collection,
        question: &RowsQuestion,
        generator: &mut Generator,
    ) -> Option<Position> {
        let rows = self.rows(question);
        let count = collection.count(
            question.ranking.side,
            &question.tokens,
            &question.orders,
            question.include_empty,
        );
        assert_eq!(count, rows.len(), "count");
        let whole = collection.query(&query(question, Start::Skip(0), rows.len()));
        let expected: Vec<_> = rows.iter().map(|row| row.rank.token).collect();
        assert_eq!(ids(collection, &whole), expected, "tokens of all rows");
        assert_eq!(whole.next, None, "nothing comes after all rows");
        let limit = 1 + generator.random.index(WRITTEN_MAX);
        let page = PageRequest { start: generator.skip(rows.len()), limit };
        self.check_page(collection, question, &rows, page);
        walk_pages(collection, question, &rows, limit);
        rows.get(generator.random.index(rows.len().max(1))).map(position)
    }

    fn check_page(
        &self,
        collection: &Collection,
        question: &RowsQuestion,
        rows: &[Row<'_>],
        PageRequest { start, limit }: PageRequest,
    ) {
        let Start::Skip(skip) = start else { return };
        let (expected, more) = cut(rows, skip, limit);
        let page = collection.query(&query(question, start, limit));
        self.assert_rows(collection, &page, expected);
        assert_eq!(page.next, expected.last().filter(|_| more).map(position), "where the next page begins");
    }

    /// The rows that come after a position by now.
    pub(crate) fn check_after(
        &self,
        collection: &Collection,
        question: &RowsQuestion,
        position: &Position,
        limit: usize,
    ) {
        let rank = RowRank::of(position, self.model);
        let rows: Vec<Row<'_>> = self
            .rows(question)
            .into_iter()
            .filter(|row| question.ranking.compare(&row.rank, &rank).is_gt())
            .collect();
        let (expected, more) = cut(&rows, 0, limit);
        let page = collection.query(&query(question, Start::After(position.clone()), limit));
        self.assert_rows(collection, &page, expected);
        assert_eq!(page.next, expected.last().filter(|_| more).map(self::position), "where it goes on");
    }

    pub(crate) fn check_listing_floor(&self, collection: &Collection, question: &RowsQuestion) {
        let found = collection.listing_floor(&question.tokens, &question.orders).map(|row| {
            let mut json = Vec::new();
            collection.write_row(&mut json, row);
            json
        });
        match (found, self.listing_floor(&question.tokens, &question.orders)) {
            (Some(json), Some(expected)) => {
                self.assert_row(&serde_json::from_slice(&json).unwrap(), &expected);
            }
            (found, expected) => {
                assert_eq!(found.is_some(), expected.is_some(), "whether there is a floor");
            }
        }
    }

    pub(crate) fn check_search(
        &self,
        collection: &Collection,
        question: &RowsQuestion,
        generator: &mut Generator,
    ) {
        let (facets, expected) = (collection.facets(&question.tokens), self.facets(&question.tokens));
        assert_eq!(facets.len(), expected.len(), "properties to choose from");
        for (facet, expected) in facets.iter().zip(&expected) {
            assert_eq!(facet, expected, "facet");
        }
        let tokens = self.tokens(&question.tokens);
        let (start, limit) = (generator.skip(tokens.len()), 1 + generator.random.index(WRITTEN_MAX));
        let Start::Skip(skip) = start else { return };
        let (expected, more) = cut(&tokens, skip, limit);
        let page = collection.search(&TokensQuery { tokens: &question.tokens, start, limit });
        let mut json = Vec::new();
        collection.write_metadata(&mut json, &page);
        let found = parse(&json);
        assert_eq!(ids(collection, &page), expected, "tokens found");
        assert_eq!(page.next.is_some(), more, "whether more tokens are found");
        for (metadata, token) in found.iter().zip(expected) {
            self.assert_metadata(metadata, *token);
        }
        if let Some(next) = page.next {
            let start = Start::After(next);
            let page = collection.search(&TokensQuery { tokens: &question.tokens, start, limit });
            let (expected, _) = cut(&tokens, skip + limit as u64, limit);
            assert_eq!(ids(collection, &page), expected, "tokens found on the next page");
        }
    }

    /// The orders of a token; a position to go on from later.
    pub(crate) fn check_orders(
        &self,
        collection: &Collection,
        question: &OrdersQuestion,
        after: Option<&Position>,
        limit: usize,
    ) -> Option<Position> {
        let all = self.orders(question);
        assert_eq!(
            collection.count_orders(question.token, question.ranking.side, &question.orders),
            all.len()
        );
        let rank = after.map(|position| RowRank::of(position, self.model));
        let follows = |(other, _): &&(RowRank, &OrderFacts)| {
            rank.as_ref().is_none_or(|rank| question.ranking.compare(other, rank).is_gt())
        };
        let rest: Vec<_> = all.iter().filter(follows).collect();
        let (expected, more) = cut(&rest, 0, limit);
        let start = after.map_or(Start::Skip(0), |position| Start::After(position.clone()));
        let mut json = Vec::new();
        let next = collection.write_orders(&mut json, &orders_query(question, start, limit));
        let found = parse(&json);
        assert_eq!(found.len(), expected.len(), "orders of {}", question.token);
        for (order, (_, facts)) in found.iter().zip(expected) {
            self.assert_order(order, facts);
        }
        let last = expected.last().map(|(rank, facts)| rank.position(Some(facts)));
        assert_eq!(next, last.filter(|_| more), "where the next orders begin");
        next
    }

    /// Any order as it is now, over or not.
    pub(crate) fn check_facts(&self, collection: &Collection, facts: &OrderFacts) {
        let mut json = Vec::new();
        collection.write_facts(&mut json, facts, self.model.now);
        let order = serde_json::from_slice(&json).unwrap();
        self.assert_order(&order, facts);
        assert_eq!(order["status"], self.model.status(facts).word());
        assert_ne!(facts.side, OrderSide::Unknown);
    }
}

/// From page to page by `next`: exactly the whole list, for a while.
fn walk_pages(collection: &Collection, question: &RowsQuestion, rows: &[Row<'_>], limit: usize) {
    let mut start = Start::Skip(0);
    for expected in rows.chunks(limit).take(8) {
        let page = collection.query(&query(question, start, limit));
        let tokens: Vec<_> = expected.iter().map(|row| row.rank.token).collect();
        assert_eq!(ids(collection, &page), tokens, "tokens of a page after a page");
        match page.next {
            Some(next) => start = Start::After(next),
            None => return,
        }
    }
}
