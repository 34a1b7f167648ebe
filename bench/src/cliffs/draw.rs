//! Questions of every shape that callers may think of.

use crate::skew::Skew;
use bourse_catalog::{
    Collection, Column, Condition, OrderFilter, PriceRange, PropertyFilter, Sort, Start, TokenFilter, Value,
};
use bourse_random::Random;
use bourse_wire::{Address, OrderSide};

use super::account;
use super::order::{CURRENCIES, MARKETPLACES, amount, currency};
use super::question::{Operation, Question};
use super::token::{
    BACKGROUNDS, BONUS_MAX, FAMILIES, KILLS_MAX, LEVEL_MAX, RARE_WORDS, SCORE_MAX, background, family,
};
use super::world::{World, token_id};
use crate::trading::words;

/// Values that one list of a filter may have, over HTTP.
const VALUES_MAX: usize = 200;

/// Texts that very many names have, or none, or whose every three characters many have.
const ODD_TEXTS: [&str; 8] = ["er er", "nothing has this", "#", "#1", "12", " ", "e", "er"];

/// Draws questions.
pub(crate) struct Drawer<'w> {
    random: Random,
    world: &'w World,
    collection: &'w Collection,
    tokens: Skew,
}

impl<'w> Drawer<'w> {
    pub(crate) fn new(seed: u64, world: &'w World, collection: &'w Collection) -> Self {
        let tokens = Skew::new(world.tokens.len());
        Self { random: Random::new(seed), world, collection, tokens }
    }

    pub(crate) fn question(&mut self, operation: Operation) -> Question {
        let mut question = Question {
            operation,
            side: self.side(operation),
            tokens: TokenFilter::default(),
            orders: OrderFilter::default(),
            include_empty: false,
            sort: None,
            start: Start::Skip(0),
            limit: *self.random.pick(&[30, 30, 30, 1, 200]),
            token: token_id(self.tokens.draw(&mut self.random)),
        };
        self.restrict(&mut question);
        self.page(&mut question);
        question
    }

    fn side(&mut self, operation: Operation) -> OrderSide {
        match operation {
            Operation::LowestListings | Operation::Floor | Operation::Search | Operation::Facets => {
                OrderSide::Listing
            }
            Operation::HighestOffers => OrderSide::Offer,
            Operation::OrdersOfToken => *self.random.pick(&[OrderSide::Listing, OrderSide::Offer]),
            _ => *self.random.pick(&[OrderSide::Listing, OrderSide::Offer, OrderSide::Unknown]),
        }
    }

    /// One to three restrictions, in addition to what the operation is about.
    fn restrict(&mut self, question: &mut Question) {
        match question.operation {
            Operation::Owned => question.tokens.in_accounts = self.accounts(),
            Operation::OfMaker => question.orders.makers = self.accounts(),
            Operation::Search => question.tokens.text = self.text(),
            _ => {}
        }
        let of_tokens = matches!(question.operation, Operation::Search | Operation::Facets);
        let of_orders = question.operation == Operation::OrdersOfToken;
        for _ in 0..self.random.weighted(&[15, 35, 30, 20]) {
            if of_tokens || (!of_orders && self.random.one_in(2)) {
                self.restrict_tokens(&mut question.tokens);
            } else {
                self.restrict_orders(&mut question.orders);
            }
        }
        question.include_empty = !of_orders && self.random.one_in(3);
        let columns: &[Column] = match question.operation {
            Operation::OrdersOfToken => &[Column::Price, Column::CreatedAt],
            Operation::Search | Operation::Facets | Operation::Count | Operation::Floor => return,
            _ => &[Column::Price, Column::CreatedAt, Column::TokenId, Column::Name],
        };
        if self.random.one_in(2) {
            let (column, descending) = (*self.random.pick(columns), self.random.one_in(2));
            question.sort = Some(Sort { column, descending });
        }
    }

    /// The first page mostly, else any other, by number or by position.
    fn page(&mut self, question: &mut Question) {
        let has_pages =
            !matches!(question.operation, Operation::Count | Operation::Floor | Operation::Facets);
        if !has_pages || !self.random.one_in(3) {
            return;
        }
        let rows = question.rows(self.collection);
        question.start = Start::Skip(self.random.below(rows as u64));
        if self.random.one_in(2)
            && let Some(position) = question.ask(self.collection, &mut Vec::new())
        {
            question.start = Start::After(position);
        }
    }

    fn restrict_tokens(&mut self, tokens: &mut TokenFilter) {
        match self.random.below(6) {
            0 | 1 => tokens.text = self.text(),
            2 | 3 => tokens.properties.push(self.property()),
            4 => tokens.in_accounts = self.accounts(),
            _ => tokens.not_in_accounts = self.accounts(),
        }
    }

    fn restrict_orders(&mut self, orders: &mut OrderFilter) {
        match self.random.below(7) {
            0 => {
                let count = 1 + self.random.index(3);
                orders.marketplaces = (0..count).map(|_| *self.random.pick(&MARKETPLACES)).collect();
            }
            1 => orders.makers = self.accounts(),
            2 => orders.not_makers = self.accounts(),
            3 | 4 => orders.currencies = self.currencies(),
            5 => orders.not_currencies = self.currencies(),
            _ => {
                let range = self.price_range();
                orders.prices.push(range);
            }
        }
    }

    fn currencies(&mut self) -> Vec<Address> {
        let count = 1 + self.random.index(3);
        (0..count).map(|_| currency(self.random.index(CURRENCIES))).collect()
    }

    /// The largest, one of any size, many at once, or one that nobody knows.
    fn accounts(&mut self) -> Vec<Address> {
        let any = self.world.accounts;
        match self.random.below(8) {
            0 | 1 => vec![account(0)],
            2 => vec![account(self.random.index(10))],
            3 => vec![account(self.random.index(1_000.min(any)))],
            4 => vec![account(self.random.index(any))],
            5 => (0..VALUES_MAX).map(|_| account(self.random.index(any))).collect(),
            6 => (0..VALUES_MAX.min(any)).map(account).collect(),
            _ => vec![account(any + self.random.index(any))],
        }
    }

    fn text(&mut self) -> String {
        let index = self.random.index(self.world.tokens.len());
        let name = self.world.tokens[index].name(index);
        match self.random.below(9) {
            0 => self.part(&name, 1),
            1 => self.part(&name, 2),
            2 => self.part(&name, 3),
            3 => {
                let length = 4 + self.random.index(7);
                self.part(&name, length)
            }
            4 => name,
            // Both words, the one before the other or the other way round.
            5 => {
                let mut both = [*self.random.pick(&words::FIRST), *self.random.pick(&words::SECOND)];
                self.random.shuffle(&mut both);
                both.join(" ")
            }
            6 => (*self.random.pick(&words::SECOND)).to_owned(),
            7 => (*self.random.pick(&RARE_WORDS)).to_owned(),
            _ => (*self.random.pick(&ODD_TEXTS)).to_owned(),
        }
    }

    fn part(&mut self, name: &str, length: usize) -> String {
        let characters: Vec<char> = name.chars().collect();
        let start = self.random.index(characters.len().saturating_sub(length) + 1);
        characters.into_iter().skip(start).take(length).collect()
    }

    fn property(&mut self) -> PropertyFilter {
        let text = |text: String| Value::Text(text.into());
        let (name, condition) = match self.random.below(9) {
            0 => ("Family", Condition::OneOf(vec![text(family(self.random.index(FAMILIES)))])),
            1 => ("Family", Condition::OneOf((0..VALUES_MAX).map(|number| text(family(number))).collect())),
            2 => ("Background", Condition::OneOf(vec![text(background(self.random.index(BACKGROUNDS)))])),
            3 => (*self.random.pick(&["Family", "Bonus", "Score", "Absent"]), Condition::Any),
            4 => ("Bonus", self.range(BONUS_MAX)),
            5 => ("Level", self.range(LEVEL_MAX)),
            6 => ("Kills", self.range(KILLS_MAX as u64)),
            7 => {
                let value = |random: &mut Random| Value::Int(whole(random.below(SCORE_MAX)));
                let values = (0..VALUES_MAX).map(|_| value(&mut self.random)).collect();
                ("Score", Condition::OneOf(values))
            }
            _ => ("Score", self.range(SCORE_MAX)),
        };
        PropertyFilter { name: name.to_owned(), condition }
    }

    /// Nearly all numbers, nearly none, or some.
    fn range(&mut self, max: u64) -> Condition {
        let bound = |number: u64| Some(whole(number));
        match self.random.below(5) {
            0 => Condition::Within { min: bound(1 + self.random.below(3)), max: bound(max - 1) },
            1 => {
                let only = self.random.between(1, max);
                Condition::Within { min: bound(only), max: bound(only) }
            }
            2 => Condition::Within { min: bound(self.random.between(1, max)), max: None },
            3 => Condition::Within { min: None, max: bound(self.random.between(1, max)) },
            _ => {
                let (one, other) = (self.random.between(1, max), self.random.between(1, max));
                Condition::Within { min: bound(one.min(other)), max: bound(one.max(other)) }
            }
        }
    }

    /// Prices that nearly all orders have, nearly none, or some.
    fn price_range(&mut self) -> PriceRange {
        let number = self.random.index(CURRENCIES);
        let dollars = |dollars: u64| Some(amount(number, u128::from(dollars) * 1_000_000));
        let (min, max) = match self.random.below(4) {
            0 => (dollars(0), None),
            1 => (dollars(10_000), None),
            2 => (None, dollars(self.random.between(1, 10))),
            _ => (dollars(self.random.between(1, 5)), dollars(self.random.between(5, 10))),
        };
        PriceRange { currency: currency(number), min, max }
    }
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
