//! The right answers, found the slow and plain way.

use std::collections::{HashMap, HashSet};

use super::filter::Filter;
use super::order::{Order, Side};
use super::{Token, TradedCollection};

impl TradedCollection {
    /// The tokens that are for sale and pass, each as its cheapest listing that passes, cheapest first.
    pub(crate) fn listed(&self, filter: &Filter) -> Vec<&Order> {
        let mut cheapest: HashMap<usize, &Order> = HashMap::new();
        for order in self.passing(Side::Listing, filter) {
            let best = cheapest.entry(order.token).or_insert(order);
            if order.rank() < best.rank() {
                *best = order;
            }
        }
        let mut rows: Vec<&Order> = cheapest.into_values().collect();
        rows.sort_unstable_by_key(|order| order.rank());
        rows
    }

    /// Whether at least so many tokens are for sale and pass. It stops at that many.
    pub(crate) fn lists_at_least(&self, count: usize, filter: &Filter) -> bool {
        let mut seen = HashSet::with_capacity(count);
        self.passing(Side::Listing, filter).any(|order| seen.insert(order.token) && seen.len() >= count)
    }

    /// The active listings of a token, cheapest first.
    pub(crate) fn listings_of(&self, token: usize) -> Vec<&Order> {
        let mut listings: Vec<&Order> = self.active_listings().filter(|order| order.token == token).collect();
        listings.sort_unstable_by_key(|order| order.rank());
        listings
    }

    /// Every listing that can be bought.
    pub(crate) fn active_listings(&self) -> impl Iterator<Item = &Order> {
        self.active(Side::Listing)
    }

    fn active(&self, side: Side) -> impl Iterator<Item = &Order> {
        self.orders.iter().filter(move |order| order.side == side && order.is_active())
    }

    /// The orders of a side that can be filled and pass, each by itself: listings cheapest first, offers dearest first.
    pub(crate) fn orders_by_price(&self, side: Side, filter: &Filter) -> Vec<&Order> {
        let mut orders: Vec<&Order> = self.passing(side, filter).collect();
        orders.sort_unstable_by_key(|order| {
            let (has_no_rate, price) = order.rank();
            (has_no_rate, if side == Side::Offer { u64::MAX - price } else { price })
        });
        orders
    }

    /// Every name without its number, and how many tokens have it.
    pub(crate) fn names(&self) -> HashMap<String, usize> {
        let mut names = HashMap::new();
        for words in self.tokens.iter().map(Token::words) {
            *names.entry(words).or_default() += 1;
        }
        names
    }

    fn passing<'a>(&'a self, side: Side, filter: &Filter) -> impl Iterator<Item = &'a Order> {
        self.active(side)
            .filter(|order| filter.takes_order(order) && filter.takes_token(&self.tokens[order.token]))
    }
}

#[cfg(test)]
mod tests {
    use crate::trading::{Filter, Text, TradedCollection};

    #[test]
    fn each_token_for_sale_is_one_row_in_the_order_of_prices_with_unknown_rates_last() {
        let collection = TradedCollection::new(2_000);
        let rows = collection.listed(&Filter::default());
        let listed: std::collections::BTreeSet<usize> =
            collection.active_listings().map(|order| order.token).collect();
        assert_eq!(rows.len(), listed.len());
        assert!(rows.is_sorted_by_key(|order| order.rank()));
        assert!(rows.iter().all(|row| collection.listings_of(row.token)[0] == *row));
        assert!(rows[0].currency().has_rate() && !rows[rows.len() - 1].currency().has_rate());
    }

    #[test]
    fn values_of_a_property_part_the_tokens_for_sale() {
        let collection = TradedCollection::new(2_000);
        let with = |values| Filter { texts: vec![(Text::Rarity, values)], ..Filter::default() };
        let parts: usize = (0..5).map(|value| collection.listed(&with(vec![value])).len()).sum();
        let all = collection.listed(&with((0..5).collect())).len();
        assert_eq!((parts, all), (collection.listed(&Filter::default()).len(), parts));
        assert!(collection.lists_at_least(all, &Filter::default()));
        assert!(!collection.lists_at_least(all + 1, &Filter::default()));
    }

    #[test]
    fn every_token_has_a_name() {
        let names = TradedCollection::new(2_000).names();
        assert_eq!(names.values().sum::<usize>(), 2_000);
        assert!(names.keys().all(|name| name.split(' ').count() == 2));
    }
}
