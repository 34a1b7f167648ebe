//! Where a row was, so that a later page goes on there whatever changed in between.

use bourse_wire::{Address, Amount, Timestamp, TokenId};

/// The position of a row: enough to compare any row with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    /// Rows come in groups: 0 those with an order of the side, 1 those with only an offer when either side will do,
    /// 2 those without an order.
    pub group: u8,
    /// The row's token.
    pub token: TokenId,
    /// What the row was sorted by.
    pub key: Key,
}

/// What a row was sorted by, beside its token.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// Nothing.
    Token,
    /// The price of its order.
    Price {
        /// Currency.
        currency: Address,
        /// Amount of one unit.
        amount: Amount,
        /// The order's id, as JSON, and its marketplace's number, where a token's orders are listed.
        order: Option<(u8, String)>,
    },
    /// When its order was first seen.
    CreatedAt {
        /// The instant.
        at: Timestamp,
        /// As for prices.
        order: Option<(u8, String)>,
    },
    /// Its name.
    Name(String),
}
