//! What must be in the books when all logs were read, as lines that every program under test can write.

use std::collections::BTreeSet;

use super::event::Request;
use super::hex::{self, Address};
use crate::error::Error;

/// How many differences are shown.
const SHOWN: usize = 5;

/// What happened, numbered as Bourse numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    Listing = 1,
    Offer = 2,
    Mint = 3,
    Sale = 4,
    ListingCancel = 5,
    OfferCancel = 6,
    Transfer = 7,
}

/// Balances, orders and how often what happened, as lines:
/// `balance CONTRACT TOKEN ACCOUNT QUANTITY`, `order ID open|cancelled REMAINING` and `activities ACTION COUNT`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Books(BTreeSet<String>);

impl Books {
    /// Reads lines, in any order.
    pub(super) fn read(text: &str) -> Self {
        Self(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect())
    }

    /// Adds what somebody holds.
    pub(super) fn add_balance(&mut self, contract: Address, token: u64, account: Address, quantity: u64) {
        let (contract, account) = (hex::data(&contract), hex::data(&account));
        self.0.insert(format!("balance {contract} {token} {account} {quantity}"));
    }

    /// Adds an order.
    pub(super) fn add_order(&mut self, request: &Request, remaining: u64, is_cancelled: bool) {
        let state = if is_cancelled { "cancelled" } else { "open" };
        self.0.insert(format!("order {} {state} {remaining}", request.id));
    }

    /// Adds how often something happened.
    pub(super) fn add_activities(&mut self, action: usize, count: u64) {
        if count > 0 {
            self.0.insert(format!("activities {action} {count}"));
        }
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether `other`, which `name` wrote, says the same; the error names some of what differs.
    pub(super) fn check(&self, other: &Self, name: &str) -> Result<(), Error> {
        let missing = self.0.difference(&other.0).map(|line| format!("\n  missing: {line}"));
        let extra = other.0.difference(&self.0).map(|line| format!("\n  not expected: {line}"));
        let count = self.0.symmetric_difference(&other.0).count();
        if count == 0 {
            return Ok(());
        }
        let shown: String = missing.take(SHOWN).chain(extra.take(SHOWN)).collect();
        Err(Error::new(format!("{count} lines of the books of {name} are not what the logs say:{shown}")))
    }
}

#[cfg(test)]
mod tests {
    use super::Books;

    #[test]
    fn books_differ_by_any_line() {
        let books = Books::read("order 1 open 2\nactivities 1 7\n");
        books.check(&Books::read("activities 1 7\n\norder 1 open 2"), "it").unwrap();
        let error =
            books.check(&Books::read("order 1 open 3\nactivities 1 7"), "it").unwrap_err().to_string();
        assert!(error.contains("missing: order 1 open 2"), "{error}");
        assert!(error.contains("not expected: order 1 open 3"), "{error}");
    }
}
