//! Two skewed collections, the same in every run: single tokens, of which one account holds one in eleven, and stacks,
//! which many hold and for which very many orders are open.

use bourse_catalog::{Collection, Column, Identity, Loader, PreparedOrder, TokenPreparer};
use bourse_random::Random;
use bourse_wire::{Address, Amount, ChainId, CollectionNumbers, OrderSide, Timestamp, TokenId};
use serde_json::{Value, json};

use super::order::{CURRENCIES, MARKETPLACES, Order, Subject, currencies, currency_records};
use super::token::{Token, TokenSkews};
use super::{CHAIN_ID, CONTRACT, account, service};
use crate::skew::Skew;

const SEED: u64 = 0xc11f_f5ed;
/// Balances for each account, in the mean.
const BALANCES_PER_ACCOUNT: usize = 20;
/// Balances for each order.
const BALANCES_PER_ORDER: usize = 2;
/// One order of so many is an offer.
const OFFER_EVERY: usize = 5;
/// Holders of each stack, in the mean.
const STACK_HOLDERS: usize = 50;
/// Tokens, balances or orders that are handed over at once.
const BATCH: usize = 10_000;
/// When it is, in seconds since 1970: after everything.
const NOW_SECONDS: u64 = 1_800_000_000;

/// What the tokens are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Each is held by one account.
    Singles,
    /// Each is held by many.
    Stacks,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Singles => "singles",
            Self::Stacks => "stacks",
        }
    }
}

/// A collection, and what filters on it are drawn from.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) kind: Kind,
    pub(crate) tokens: Vec<Token>,
    /// Token to those who hold it.
    holders: Vec<Vec<usize>>,
    orders: Vec<Order>,
    /// How many accounts there are, the largest first.
    pub(crate) accounts: usize,
}

impl World {
    /// One with so many balances, which is how many single tokens there are.
    pub(crate) fn new(kind: Kind, balances: usize) -> Self {
        let mut random = Random::new(SEED);
        let accounts = (balances / BALANCES_PER_ACCOUNT).max(2);
        let tokens = if kind == Kind::Singles { balances } else { (balances / STACK_HOLDERS).max(2) };
        let (skews, account_skew) = (TokenSkews::new(), Skew::new(accounts));
        let tokens: Vec<Token> = (0..tokens).map(|_| Token::draw(&skews, &mut random)).collect();
        let mut holders = vec![Vec::new(); tokens.len()];
        for balance in 0..balances {
            let holder = account_skew.draw(&mut random);
            let held: &mut Vec<usize> = &mut holders[balance % tokens.len()];
            if !held.contains(&holder) {
                held.push(holder);
            }
        }
        let count = balances / BALANCES_PER_ORDER;
        let orders = draw_orders(kind, &holders, count, &account_skew, &mut random);
        Self { kind, tokens, holders, orders, accounts }
    }

    /// The collection in memory.
    pub(crate) fn collection(&self) -> Collection {
        let address: Address = CONTRACT.parse().unwrap_or(Address::ZERO);
        let chain = ChainId(CHAIN_ID);
        let identity = Identity { number: 1, chain, address, service: service() };
        let now = Timestamp::from_unix_seconds(NOW_SECONDS);
        let mut loader = Loader::new(&identity, now);
        let mut preparer = TokenPreparer::default();
        let numbered: Vec<(usize, &Token)> = self.tokens.iter().enumerate().collect();
        for batch in numbered.chunks(BATCH) {
            let prepare = |(index, token): &(usize, &Token)| {
                preparer.prepare(token_id(*index), token.metadata(*index).to_string())
            };
            loader.tokens(batch.iter().map(prepare).collect());
        }
        for (index, holders) in self.holders.iter().enumerate() {
            let balance = |holder: &usize| (token_id(index), account(*holder), Amount::from(3));
            loader.balances(&holders.iter().map(balance).collect::<Vec<_>>());
        }
        let numbers = CollectionNumbers::new(chain, address);
        for batch in self.orders.chunks(BATCH) {
            let prepare = |order: &Order| PreparedOrder::new(numbers, &order.facts());
            loader.orders(&batch.iter().map(prepare).collect::<Vec<_>>());
        }
        let mut collection = loader.finish(1, &currencies());
        for column in [Column::Name, Column::CreatedAt] {
            collection.make_ready(now, Some(column));
        }
        collection
    }

    /// The records to import, each after those that it is about.
    pub(crate) fn records(&self) -> impl Iterator<Item = Value> {
        let contract_type = if self.kind == Kind::Singles { "ERC721" } else { "ERC1155" };
        let contract = json!({
            "type": "contract",
            "chainId": CHAIN_ID,
            "address": CONTRACT,
            "contractType": contract_type,
            "name": "The Skewed",
            "symbol": "SKEW",
            "deployed": true,
        });
        let tokens = self.tokens.iter().enumerate().map(|(index, token)| {
            let mut record = token.metadata(index);
            record["type"] = json!("token");
            record["chainId"] = json!(CHAIN_ID);
            record["contractAddress"] = json!(CONTRACT);
            record
        });
        let held = self.holders.iter().enumerate();
        let balances = held.flat_map(|(index, holders)| {
            holders.iter().map(move |holder| {
                json!({
                    "type": "balance",
                    "chainId": CHAIN_ID,
                    "contractAddress": CONTRACT,
                    "tokenId": (index + 1).to_string(),
                    "account": account(*holder).to_string(),
                    "balance": "3",
                })
            })
        });
        let orders = self.orders.iter().map(Order::record);
        std::iter::once(contract).chain(currency_records()).chain(tokens).chain(balances).chain(orders)
    }
}

/// The id of the token at a place.
pub(crate) fn token_id(index: usize) -> TokenId {
    TokenId::from(index as u64 + 1)
}

fn draw_orders(
    kind: Kind,
    holders: &[Vec<usize>],
    count: usize,
    account_skew: &Skew,
    random: &mut Random,
) -> Vec<Order> {
    let token_skew = Skew::new(holders.len());
    let (currency_skew, marketplace_skew) = (Skew::new(CURRENCIES), Skew::new(MARKETPLACES.len()));
    let mut draw = |number: usize| {
        let token = match kind {
            Kind::Singles => random.index(holders.len()),
            // Half of the orders are spread, and half are for a few.
            Kind::Stacks if random.one_in(2) => random.index(holders.len()),
            Kind::Stacks => token_skew.draw(random),
        };
        let is_offer = number % OFFER_EVERY == OFFER_EVERY - 1;
        let maker = if is_offer { account_skew.draw(random) } else { *random.pick(&holders[token]) };
        let side = if is_offer { OrderSide::Offer } else { OrderSide::Listing };
        let (currency, marketplace) = (currency_skew.draw(random), marketplace_skew.draw(random));
        Order::draw(number, Subject { side, token, maker, currency, marketplace }, random)
    };
    (0..count).map(&mut draw).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, World};

    #[test]
    fn few_hold_much_and_stacks_are_held_by_many() {
        let singles = World::new(Kind::Singles, 20_000);
        let largest = singles.holders.iter().filter(|holders| holders.contains(&0)).count();
        // One in 7.48, which is the sum of 1, a half, a third and so on up to a thousandth.
        assert!(largest.abs_diff(2_672) < 250, "{largest}");
        assert!(singles.holders.iter().all(|holders| holders.len() == 1));
        let stacks = World::new(Kind::Stacks, 20_000);
        assert_eq!(stacks.tokens.len(), 400);
        assert!(stacks.holders.iter().all(|holders| holders.len() > 15));
    }

    #[test]
    fn every_record_is_of_the_collection() {
        let world = World::new(Kind::Singles, 2_000);
        assert_eq!(world.records().count(), 1 + 12 + 2_000 + 2_000 + 1_000);
        let collection = world.collection();
        assert_eq!(collection.len(), 2_000);
        assert!(collection.bytes() > 2_000 * 400);
    }
}
