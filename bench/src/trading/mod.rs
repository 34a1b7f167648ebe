//! The traded collection: one large collection with its owners and its order book, the same in every run. All that
//! is served follows from it, so it also knows what the right answers are.

mod account;
mod currency;
mod filter;
mod model;
mod order;
mod property;
mod records;
mod token;
pub(crate) mod words;

use std::collections::HashSet;

pub(crate) use account::account;
pub(crate) use filter::Filter;
pub(crate) use order::{Order, Side};
pub(crate) use property::{Number, Text};
use token::TokenSkews;
pub(crate) use token::{Token, token_id};

use bourse_random::Random;

/// The chain of the collection.
pub(crate) const CHAIN_ID: u64 = 137;

/// The address of the collection, in the spelling in which requests name it.
pub(crate) const CONTRACT: &str = "0xf100240000000000000000000000000000f10024";

const SEED: u64 = 0xf100_24ed;

/// Tokens for each account, in the mean.
const TOKENS_PER_OWNER: usize = 20;
/// Tokens for each order.
const TOKENS_PER_ORDER: usize = 2;
/// One order of so many is an offer.
const OFFER_EVERY: usize = 5;
/// One listing of so many is for a token that is listed already.
const REPEAT_EVERY: usize = 20;

/// The collection and its order book.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TradedCollection {
    /// All tokens, by their place.
    pub(crate) tokens: Vec<Token>,
    /// All orders.
    pub(crate) orders: Vec<Order>,
}

impl TradedCollection {
    /// A collection of so many tokens.
    pub(crate) fn new(token_count: usize) -> Self {
        let mut random = Random::new(SEED);
        let owners = (token_count / TOKENS_PER_OWNER).max(2);
        let skews = TokenSkews::new(owners);
        let tokens: Vec<Token> = (0..token_count).map(|_| Token::draw(&skews, &mut random)).collect();
        let orders = draw_orders(&tokens, owners, &mut random);
        Self { tokens, orders }
    }
}

fn draw_orders(tokens: &[Token], owners: usize, random: &mut Random) -> Vec<Order> {
    let count = tokens.len() / TOKENS_PER_ORDER;
    let mut unlisted = random.shuffled(tokens.len());
    let mut listed = Vec::with_capacity(count);
    let mut prices = HashSet::with_capacity(count);
    let mut draw = |number: usize| {
        let mut order = if number % OFFER_EVERY == OFFER_EVERY - 1 {
            let index = random.index(tokens.len());
            // Nobody makes an offer for a token of their own.
            let maker = (tokens[index].owner + 1 + random.index(owners - 1)) % owners;
            Order::offer(number, index, &tokens[index], maker, random)
        } else {
            let repeats = number % REPEAT_EVERY == REPEAT_EVERY - 2;
            let fresh = if repeats { None } else { unlisted.pop() };
            let index = fresh.unwrap_or_else(|| listed[random.index(listed.len())]);
            listed.push(index);
            Order::listing(number, index, &tokens[index], random)
        };
        while !prices.insert(order.price_micros) {
            order.price_micros += 1;
        }
        order
    };
    (0..count).map(&mut draw).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Order, Side, TradedCollection};

    #[test]
    fn the_collection_is_the_same_every_time() {
        assert_eq!(TradedCollection::new(2_000), TradedCollection::new(2_000));
    }

    #[test]
    fn orders_are_half_as_many_as_tokens_and_four_of_five_are_listings_by_holders() {
        let collection = TradedCollection::new(2_000);
        assert_eq!(collection.orders.len(), 1_000);
        let listings: Vec<_> = collection.orders.iter().filter(|order| order.side == Side::Listing).collect();
        assert_eq!(listings.len(), 800);
        assert!(listings.iter().all(|order| order.maker == collection.tokens[order.token].owner));
        let listed: HashSet<usize> = listings.iter().map(|order| order.token).collect();
        assert!((720..=760).contains(&listed.len()), "{}", listed.len());
        let active = listings.iter().filter(|order| order.is_active()).count();
        assert!((730..=790).contains(&active), "{active}");
    }

    #[test]
    fn one_account_holds_far_more_than_most() {
        let collection = TradedCollection::new(20_000);
        let mut held = vec![0_usize; 1_000];
        for token in &collection.tokens {
            held[token.owner] += 1;
        }
        held.sort_unstable();
        // One in 7.485 by the law, and the middle account a five hundredth of that.
        assert!(held[999].abs_diff(2_672) < 300, "{}", held[999]);
        assert!((1..=12).contains(&held[500]), "{}", held[500]);
    }

    #[test]
    fn offers_are_made_by_others() {
        let collection = TradedCollection::new(2_000);
        let mut offers = collection.orders.iter().filter(|order| order.side == Side::Offer);
        assert!(offers.all(|order| order.maker != collection.tokens[order.token].owner));
    }

    #[test]
    fn no_two_prices_and_no_two_orders_are_the_same() {
        let collection = TradedCollection::new(20_000);
        let prices: HashSet<u64> = collection.orders.iter().map(|order| order.price_micros).collect();
        let ids: HashSet<String> = collection.orders.iter().map(Order::order_id).collect();
        assert_eq!((prices.len(), ids.len()), (10_000, 10_000));
    }
}
