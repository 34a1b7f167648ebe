//! The currencies of a chain, numbered as orders name them, and what prices in them are worth.

use std::cmp::Ordering;

use bourse_market::{Rate, compare_usd};
use bourse_wire::{Address, Amount, Currency};
use hashbrown::HashMap;

use crate::book::currency_members;
use crate::digest::hash;

/// How far apart two estimates must be, relatively, to decide which price is higher.
const CLEARLY_APART: f64 = 1e-9;

/// A price of one unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Price {
    pub(crate) amount: Amount,
    /// The number of its currency.
    pub(crate) currency: u32,
    /// What it is worth, nearly; not a number when nobody knows.
    usd: f64,
}

impl Price {
    /// What it is worth, nearly, for comparing it with another.
    pub(crate) fn usd_bits(&self) -> u64 {
        self.usd.to_bits()
    }

    /// Ranks it roughly among prices in the same order: those of the same class only, and none where nobody knows what
    /// it is worth.
    pub(crate) fn hint(&self, direction: Direction) -> f64 {
        match direction {
            _ if self.usd.is_nan() => 0.0,
            Direction::Up => self.usd,
            Direction::Down => -self.usd,
        }
    }
}

/// The currencies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Currencies {
    numbers: HashMap<Address, u32>,
    entries: Vec<Entry>,
}

/// A currency: one that is known, or one that only orders name.
#[derive(Clone, Debug)]
struct Entry {
    address: Address,
    quote: Option<Quote>,
    /// What orders say about it.
    members: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Quote {
    decimals: u8,
    rate: Option<Rate>,
}

impl Currencies {
    /// The number of a currency, which is new when it had none.
    pub(crate) fn number(&mut self, address: Address) -> u32 {
        let next = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(address).or_insert_with(|| {
            self.entries.push(Entry { address, quote: None, members: currency_members(&address, 0) });
            next
        })
    }

    pub(crate) fn find(&self, address: &Address) -> Option<u32> {
        self.numbers.get(address).copied()
    }

    pub(crate) fn address(&self, number: u32) -> &Address {
        &self.entries[number as usize].address
    }

    /// The addresses, by number.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.entries.iter().map(|entry| &entry.address)
    }

    /// What orders say about a currency, as JSON members.
    pub(crate) fn members(&self, number: u32) -> &str {
        &self.entries[number as usize].members
    }

    /// Takes over what is known of a currency; whether that changes anything.
    pub(crate) fn put(&mut self, currency: &Currency) -> bool {
        let number = self.number(currency.contract_address);
        let rate = currency.rate.as_ref().and_then(|told| Rate::new(&told.rate, currency.decimals));
        let quote = Some(Quote { decimals: currency.decimals, rate });
        let entry = &mut self.entries[number as usize];
        let changed = entry.quote != quote;
        entry.quote = quote;
        entry.members = currency_members(&entry.address, currency.decimals);
        changed
    }

    fn quote(&self, number: u32) -> Option<&Quote> {
        self.entries.get(number as usize).and_then(|entry| entry.quote.as_ref())
    }

    pub(crate) fn is_known(&self, number: u32) -> bool {
        self.quote(number).is_some()
    }

    pub(crate) fn decimals(&self, number: u32) -> u8 {
        self.quote(number).map_or(0, |quote| quote.decimals)
    }

    pub(crate) fn rate(&self, number: u32) -> Option<&Rate> {
        self.quote(number).and_then(|quote| quote.rate.as_ref())
    }

    /// The known currencies.
    pub(crate) fn known_addresses(&self) -> impl Iterator<Item = &Address> {
        self.entries.iter().filter(|entry| entry.quote.is_some()).map(|entry| &entry.address)
    }

    /// What is said of each known currency.
    pub(crate) fn digests(&self) -> impl Iterator<Item = u64> {
        let known = self.entries.iter().filter(|entry| entry.quote.is_some());
        known.map(|entry| hash(&(&entry.address, &entry.quote, &entry.members)))
    }

    pub(crate) fn price(&self, currency: u32, amount: Amount) -> Price {
        let usd = self.rate(currency).map_or(f64::NAN, |rate| rate.estimate(amount));
        Price { amount, currency, usd }
    }

    /// Orders prices: those that are worth something to anybody's knowledge first, the rest by currency; within, the
    /// way that `direction` says, exactly.
    pub(crate) fn compare(&self, a: &Price, b: &Price, direction: Direction) -> Ordering {
        if a.currency == b.currency {
            return direction.of(a.amount.cmp(&b.amount));
        }
        match (self.rate(a.currency), self.rate(b.currency)) {
            (Some(rate), Some(other)) => {
                if (a.usd - b.usd).abs() > a.usd.max(b.usd) * CLEARLY_APART {
                    direction.of(a.usd.total_cmp(&b.usd))
                } else {
                    direction.of(compare_usd((a.amount, rate), (b.amount, other)))
                }
            }
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.address(a.currency).cmp(self.address(b.currency)),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.numbers.capacity() * size_of::<(Address, u32)>()
    }
}

/// Which prices come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

impl Direction {
    pub(crate) fn of(self, ordering: Ordering) -> Ordering {
        match self {
            Self::Up => ordering,
            Self::Down => ordering.reverse(),
        }
    }
}
