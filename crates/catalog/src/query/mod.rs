//! Finding tokens and orders, page by page.

mod beside;
mod book_orders;
mod both_sides;
mod candidates;
mod cheapest;
mod described;
mod filtered;
mod gather;
mod matches;
mod merge;
mod merged_orders;
mod orders;
mod position;
mod rows;
mod top_orders;
mod walk;

use alloy_primitives::U256;
use bourse_wire::TokenId;

pub use book_orders::BookQuery;
pub use orders::OrdersQuery;
pub use position::{Key, Position};
pub use rows::{Query, Row, Rows, TokensQuery};

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// The price of the row's order.
    Price,
    /// When the row's order was first seen.
    CreatedAt,
    /// The token's id.
    TokenId,
    /// The token's name.
    Name,
}

/// How rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub column: Column,
    /// Whether the highest comes first.
    pub descending: bool,
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// After so many rows.
    Skip(u64),
    /// After the row that was at this position, whether it is still there or not.
    After(Position),
}

impl Start {
    /// At a token, or at the one that comes next where that is not there, in rows that are sorted by token id.
    pub fn at_token(token: TokenId) -> Self {
        match token.value().checked_sub(U256::from(1)) {
            Some(last) => Self::After(Position { group: 0, token: last.into(), key: Key::Token }),
            None => Self::Skip(0),
        }
    }

    /// How many rows are left out by number.
    pub(crate) fn skipped(&self) -> usize {
        match self {
            Self::Skip(count) => usize::try_from(*count).unwrap_or(usize::MAX),
            Self::After(_) => 0,
        }
    }
}
