//! What the model answers: everything is filtered and sorted anew.

use std::collections::{BTreeMap, BTreeSet};

use bourse_catalog::{Column, Facet, FacetKind, OrderFilter, Sort, TokenFilter, Value};
use bourse_wire::{OrderFacts, OrderSide, OrderStatus, TokenId};

use crate::exact_price::ExactPrice;
use crate::model::{Model, has_order};
use crate::row_rank::{EMPTY, Ranking, RowRank};
use crate::token::Token;

/// A question for rows.
#[derive(Clone, Debug)]
pub(crate) struct RowsQuestion {
    pub(crate) ranking: Ranking,
    pub(crate) tokens: TokenFilter,
    pub(crate) orders: OrderFilter,
    pub(crate) include_empty: bool,
}

/// A question for the orders of a token.
#[derive(Clone, Debug)]
pub(crate) struct OrdersQuestion {
    pub(crate) token: TokenId,
    pub(crate) ranking: Ranking,
    pub(crate) orders: OrderFilter,
}

pub(crate) struct Row<'m> {
    pub(crate) rank: RowRank,
    pub(crate) listing: Option<&'m OrderFacts>,
    pub(crate) offer: Option<&'m OrderFacts>,
    pub(crate) order: Option<&'m OrderFacts>,
}

/// An order that counts.
pub(crate) struct ActiveOrder<'m> {
    pub(crate) facts: &'m OrderFacts,
    pub(crate) price: ExactPrice,
    /// Marketplace and id as JSON, which tell apart what is equal otherwise.
    key: (u8, String),
}

impl<'m> ActiveOrder<'m> {
    fn new(model: &Model, facts: &'m OrderFacts) -> Self {
        let key = (facts.marketplace.number(), serde_json::to_string(&facts.order_id).unwrap());
        Self { facts, price: model.exact_price(facts.currency, facts.price_amount), key }
    }
}

/// The model with the orders that count now.
pub(crate) struct Answers<'m> {
    pub(crate) model: &'m Model,
    active: BTreeMap<TokenId, Vec<ActiveOrder<'m>>>,
    /// Those that buy any token.
    collection_offers: Vec<ActiveOrder<'m>>,
}

impl<'m> Answers<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        let mut active: BTreeMap<TokenId, Vec<ActiveOrder<'_>>> = BTreeMap::new();
        let mut collection_offers = Vec::new();
        for facts in model.orders.values().filter(|facts| model.status(facts) == OrderStatus::Active) {
            let order = ActiveOrder::new(model, facts);
            match facts.token_id {
                Some(token) => active.entry(token).or_default().push(order),
                None => collection_offers.push(order),
            }
        }
        Self { model, active, collection_offers }
    }

    /// Every order that counts.
    pub(crate) fn active(&self) -> impl Iterator<Item = &'m OrderFacts> {
        let all = self.active.values().flatten().chain(&self.collection_offers);
        all.map(|active| active.facts)
    }

    fn of_token(&self, token: TokenId, side: OrderSide, filter: &OrderFilter) -> Vec<&ActiveOrder<'m>> {
        let active = self.active.get(&token).into_iter().flatten().chain(&self.collection_offers);
        active.filter(|active| active.facts.side == side && has_order(filter, active.facts)).collect()
    }

    /// A token's orders, sorted.
    pub(crate) fn orders(&self, question: &OrdersQuestion) -> Vec<(RowRank, &'m OrderFacts)> {
        let nameless = Token::default();
        let token = self.model.tokens.get(&question.token).unwrap_or(&nameless);
        let placed = |active: &ActiveOrder<'m>| {
            let (measure, order) = (question.ranking.measure(token, Some(active)), Some(active.key.clone()));
            (RowRank { group: 0, measure, token: question.token, order }, active.facts)
        };
        let active = self.of_token(question.token, question.ranking.side, &question.orders);
        let mut orders: Vec<_> = active.into_iter().map(placed).collect();
        orders.sort_by(|(a, _), (b, _)| question.ranking.compare(a, b));
        orders
    }

    fn best(&self, token: TokenId, side: OrderSide, filter: &OrderFilter) -> Option<&ActiveOrder<'m>> {
        let orders = self.of_token(token, side, filter).into_iter();
        orders.min_by(|a, b| a.price.compare(&b.price, side).then_with(|| a.key.cmp(&b.key)))
    }

    fn row(&self, question: &RowsQuestion, token: TokenId) -> Row<'m> {
        let listing = self.best(token, OrderSide::Listing, &question.orders);
        let offer = self.best(token, OrderSide::Offer, &question.orders);
        let order = match question.ranking.side {
            OrderSide::Listing => listing,
            OrderSide::Offer => offer,
            OrderSide::Unknown => listing.or(offer),
        };
        let group = match question.ranking.column() {
            Column::TokenId | Column::Name => 0,
            Column::Price | Column::CreatedAt if order.is_none() => EMPTY,
            _ => u8::from(question.ranking.side == OrderSide::Unknown && listing.is_none()),
        };
        let measure = question.ranking.measure(&self.model.tokens[&token], order);
        let [listing, offer, order] = [listing, offer, order].map(|best| best.map(|active| active.facts));
        Row { rank: RowRank { group, measure, token, order: None }, listing, offer, order }
    }

    pub(crate) fn tokens(&self, filter: &TokenFilter) -> Vec<TokenId> {
        let all = self.model.tokens.iter();
        all.filter(|(id, token)| self.model.has_token(filter, **id, token)).map(|(id, _)| *id).collect()
    }

    /// All rows, sorted.
    pub(crate) fn rows(&self, question: &RowsQuestion) -> Vec<Row<'m>> {
        let tokens = self.tokens(&question.tokens).into_iter();
        let mut rows: Vec<Row<'m>> = tokens
            .map(|token| self.row(question, token))
            .filter(|row| question.include_empty || row.order.is_some())
            .collect();
        rows.sort_by(|a, b| question.ranking.compare(&a.rank, &b.rank));
        rows
    }

    /// The cheapest listing. One without a rate is none, unless its currency is the only one that the filter allows.
    pub(crate) fn listing_floor(&self, tokens: &TokenFilter, orders: &OrderFilter) -> Option<Row<'m>> {
        let ranking = Ranking { side: OrderSide::Listing, sort: None };
        let question =
            RowsQuestion { ranking, tokens: tokens.clone(), orders: orders.clone(), include_empty: false };
        let row = self.rows(&question).into_iter().next()?;
        let facts = row.listing?;
        let could_be_in = |currency: &&bourse_wire::Address| {
            let any_amount = OrderFilter {
                currencies: orders.currencies.clone(),
                not_currencies: orders.not_currencies.clone(),
                ..OrderFilter::default()
            };
            has_order(&any_amount, &OrderFacts { currency: **currency, ..facts.clone() })
                && (orders.prices.is_empty()
                    || orders.prices.iter().any(|range| range.currency == **currency))
        };
        let is_priced = !self.model.exact_price(facts.currency, facts.price_amount).is_unpriced();
        (is_priced || self.model.currencies.keys().filter(could_be_in).count() == 1).then_some(row)
    }

    pub(crate) fn facets(&self, filter: &TokenFilter) -> Vec<Facet> {
        let chosen: BTreeSet<TokenId> = self.tokens(filter).into_iter().collect();
        let mut found: BTreeMap<&str, (Vec<bool>, BTreeMap<&Value, usize>)> = BTreeMap::new();
        for (id, token) in &self.model.tokens {
            for had in &token.values {
                let (shapes, counts) = found.entry(&had.property).or_default();
                shapes.push(had.listed);
                *counts.entry(&had.value).or_default() += usize::from(chosen.contains(id));
            }
        }
        found.into_iter().map(|(name, (shapes, counts))| facet(name, &shapes, &counts)).collect()
    }
}

fn facet(name: &str, shapes: &[bool], counts: &BTreeMap<&Value, usize>) -> Facet {
    let single = !shapes.contains(&true);
    let kind = match () {
        () if !shapes.contains(&false) => FacetKind::List,
        () if single && counts.keys().all(|value| matches!(value, Value::Int(_))) => FacetKind::Int,
        () if single && counts.keys().all(|value| matches!(value, Value::Text(_))) => FacetKind::Text,
        () => FacetKind::Mixed,
    };
    let ints = || {
        counts.keys().filter_map(|value| if let Value::Int(number) = value { Some(*number) } else { None })
    };
    let range = ints().min().zip(ints().max()).filter(|_| kind == FacetKind::Int);
    let lists_values = kind != FacetKind::Int && counts.len() <= Facet::VALUES_MAX;
    let values = counts.iter().filter(|_| lists_values).map(|(value, count)| ((*value).clone(), *count));
    Facet { name: name.to_owned(), kind, range, values: values.collect() }
}

/// A sort that only rows have is none for orders.
pub(crate) fn sort_of_orders(sort: Option<Sort>) -> Option<Sort> {
    sort.filter(|sort| matches!(sort.column, Column::Price | Column::CreatedAt))
}
