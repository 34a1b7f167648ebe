//! What blocks replaced, as it is kept until they are too old to be undone.

use std::collections::{BTreeMap, BTreeSet};

use bourse_market::ledger::Before;
use bourse_wire::{Address, Amount, TokenId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::orders::order_row;
use crate::StoreError;
use crate::args::Arg;
use crate::collections::CollectionId;
use crate::orders::OrderKey;

/// What one block replaced, as JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Undo {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    balances: Vec<(TokenId, Address, Option<Amount>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tokens: Vec<TokenId>,
    /// Marketplace, order id, and the row without its collection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    orders: Vec<(u8, String, Option<Vec<Value>>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    approvals: Vec<(Address, Address, Option<bool>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    token_approvals: Vec<(TokenId, Option<Address>)>,
    /// The first and the last activity that it added.
    #[serde(skip_serializing_if = "Option::is_none")]
    activities: Option<(u64, u64)>,
}

impl Undo {
    /// What a block replaced, whose activities have numbers from one on.
    pub(super) fn of(id: CollectionId, before: Before, first_activity: u64) -> Result<Self, StoreError> {
        let added = before.activities as u64;
        let mut orders = Vec::with_capacity(before.orders.len());
        for ((marketplace, order_id), order) in before.orders {
            let row = order.map(|order| order_row(id, &order)).transpose()?;
            let record = row.map(|row| row.into_iter().skip(1).map(to_json).collect());
            orders.push((marketplace.number(), order_id, record));
        }
        Ok(Self {
            balances: before
                .balances
                .into_iter()
                .map(|((token, account), held)| (token, account, held))
                .collect(),
            tokens: before.tokens,
            orders,
            approvals: before.approvals.into_iter().map(|((owner, by), was)| (owner, by, was)).collect(),
            token_approvals: before.token_approvals.into_iter().collect(),
            activities: (added > 0).then(|| (first_activity, first_activity + added - 1)),
        })
    }

    pub(super) fn to_text(&self) -> Result<String, StoreError> {
        serde_json::to_string(self).map_err(|error| StoreError::corrupt("undo", error))
    }
}

/// What several blocks replaced together.
#[derive(Default)]
pub(super) struct Undone {
    pub(super) balances: BTreeMap<(TokenId, Address), Option<Amount>>,
    pub(super) tokens: BTreeSet<TokenId>,
    /// The rows without their collection.
    pub(super) orders: BTreeMap<OrderKey, Option<Vec<Arg>>>,
    pub(super) approvals: BTreeMap<(Address, Address), Option<bool>>,
    pub(super) token_approvals: BTreeMap<TokenId, Option<Address>>,
    pub(super) activities: Vec<(u64, u64)>,
}

impl Undone {
    /// Adds what an older block replaced, which is what counts.
    pub(super) fn add(&mut self, older: Undo) {
        self.balances
            .extend(older.balances.into_iter().map(|(token, account, held)| ((token, account), held)));
        self.tokens.extend(older.tokens);
        let orders = older.orders.into_iter().map(|(marketplace, order_id, record)| {
            ((marketplace, order_id), record.map(|record| record.into_iter().map(from_json).collect()))
        });
        self.orders.extend(orders);
        self.approvals.extend(older.approvals.into_iter().map(|(owner, by, was)| ((owner, by), was)));
        self.token_approvals.extend(older.token_approvals);
        self.activities.extend(older.activities);
    }
}

/// A column of an order: a number or a text.
fn to_json(arg: Arg) -> Value {
    match arg {
        Arg::Int(number) => number.into(),
        Arg::Text(text) => text.into(),
        Arg::Bool(flag) => flag.into(),
        Arg::Bytes(bytes) => bytes.into(),
    }
}

/// What orders may lack are texts.
fn from_json(value: Value) -> Arg {
    match value {
        Value::String(text) => Arg::Text(Some(text)),
        Value::Number(number) => Arg::Int(number.as_i64()),
        Value::Bool(flag) => Arg::Bool(flag),
        Value::Null | Value::Array(_) | Value::Object(_) => Arg::Text(None),
    }
}
