//! Where a row was, so that a later page goes on there whatever changed in between.

use bourse_wire::{Address, Amount, Timestamp, TokenId};
use serde::{Deserialize, Serialize};

use super::Column;

/// The group of tokens without an order.
pub(super) const EMPTY: u8 = 2;

/// The position of a row: enough to compare any row with it. It has a short form, to travel with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// Rows come in groups: 0 those with an order of the side, 1 those with only an offer when either side will do,
    /// 2 those without an order.
    #[serde(rename = "g")]
    pub group: u8,
    /// The row's token.
    #[serde(rename = "t")]
    pub token: TokenId,
    /// What the row was sorted by.
    #[serde(rename = "k")]
    pub key: Key,
}

impl Position {
    /// That of a token among tokens by id.
    pub fn of_token(token: TokenId) -> Self {
        Self { group: 0, token, key: Key::Token }
    }

    /// Whether it is a position among rows that are sorted by a column. Rows without an order come by token id, whatever
    /// the others are sorted by.
    pub fn is_of_row(&self, column: Column) -> bool {
        match &self.key {
            Key::Token => column == Column::TokenId || self.group == EMPTY,
            Key::Price { order, .. } => column == Column::Price && order.is_none(),
            Key::CreatedAt { order, .. } => column == Column::CreatedAt && order.is_none(),
            Key::Name(_) => column == Column::Name,
        }
    }

    /// Whether it is a position among the orders of a token.
    pub fn is_of_order(&self, column: Column) -> bool {
        match &self.key {
            Key::Price { order, .. } => column == Column::Price && order.is_some(),
            Key::CreatedAt { order, .. } => column == Column::CreatedAt && order.is_some(),
            Key::Token | Key::Name(_) => false,
        }
    }
}

/// What a row was sorted by, beside its token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Key {
    /// Nothing.
    #[serde(rename = "t")]
    Token,
    /// The price of its order.
    #[serde(rename = "p")]
    Price {
        /// Currency.
        currency: Address,
        /// Amount of one unit.
        amount: Amount,
        /// The order's id, as JSON, and its marketplace's number, where a token's orders are listed.
        order: Option<(u8, String)>,
    },
    /// When its order was first seen.
    #[serde(rename = "c")]
    CreatedAt {
        /// The instant.
        at: Timestamp,
        /// As for prices.
        order: Option<(u8, String)>,
    },
    /// Its name.
    #[serde(rename = "n")]
    Name(String),
}
