//! What blocks replaced, as it is kept until they are too old to be undone.

use std::collections::{BTreeMap, BTreeSet};

use bourse_market::ledger::Before;
use bourse_wire::{Address, Amount, Marketplace, OrderFacts, OrderKey, TokenId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::StoreError;
use crate::args::Arg;
use crate::columns::{self, Declared as _};
use crate::orders::values_of;
use crate::row::{Row, RowCopy};

/// What one block replaced, as JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Undo {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    balances: Vec<(TokenId, Address, Option<Amount>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tokens: Vec<TokenId>,
    /// Marketplace, order id, and the values of the order's columns, in the order of their declaration.
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
    pub(super) fn of(before: Before, first_activity: u64) -> Result<Self, StoreError> {
        let added = before.activities as u64;
        let mut orders = Vec::with_capacity(before.orders.len());
        for (key, order) in before.orders {
            let values = order.map(|order| values_of(&order)).transpose()?;
            let values = values.map(|values| values.into_iter().map(to_json).collect());
            orders.push((key.marketplace.number(), key.order_id, values));
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
}

/// What several blocks replaced together.
#[derive(Default)]
pub(super) struct Undone {
    pub(super) balances: BTreeMap<(TokenId, Address), Option<Amount>>,
    pub(super) tokens: BTreeSet<TokenId>,
    pub(super) orders: BTreeMap<OrderKey, Option<OrderFacts>>,
    pub(super) approvals: BTreeMap<(Address, Address), Option<bool>>,
    pub(super) token_approvals: BTreeMap<TokenId, Option<Address>>,
    pub(super) activities: Vec<(u64, u64)>,
}

impl Undone {
    /// Adds what an older block replaced, which is what counts.
    pub(super) fn add(&mut self, older: Undo) -> Result<(), StoreError> {
        self.balances
            .extend(older.balances.into_iter().map(|(token, account, held)| ((token, account), held)));
        self.tokens.extend(older.tokens);
        for (number, order_id, values) in older.orders {
            let unknown = || StoreError::corrupt("undo", format_args!("marketplace {number} is not known"));
            let marketplace = Marketplace::from_number(number).ok_or_else(unknown)?;
            let order = values.map(order_of).transpose()?;
            self.orders.insert(OrderKey { marketplace, order_id }, order);
        }
        self.approvals.extend(older.approvals.into_iter().map(|(owner, by, was)| ((owner, by), was)));
        self.token_approvals.extend(older.token_approvals);
        self.activities.extend(older.activities);
        Ok(())
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

/// An order of the values of its columns. Those that came after a block was written are missing, and empty.
fn order_of(values: Vec<Value>) -> Result<OrderFacts, StoreError> {
    let columns = OrderFacts::COLUMNS.len();
    if values.len() > columns {
        return Err(StoreError::corrupt(
            "undo",
            format_args!("{} values for {columns} columns", values.len()),
        ));
    }
    let missing = columns - values.len();
    let mut row = RowCopy::default();
    for value in values.into_iter().chain(std::iter::repeat_n(Value::Null, missing)) {
        match value {
            Value::String(text) => row.push_text(&text),
            Value::Number(number) => match number.as_i64() {
                Some(number) => row.push_int(number),
                None => row.push_null(),
            },
            Value::Bool(flag) => row.push_int(flag.into()),
            Value::Null | Value::Array(_) | Value::Object(_) => row.push_null(),
        }
    }
    columns::read(&Row::Sqlite(row))
}

#[cfg(test)]
mod tests {
    use bourse_wire::{FeeEntry, OrderSide, Timestamp};

    use super::*;

    /// As it lies in databases.
    const KEPT: &str = r#"[[2,"7",[2,"7",1,1,"origin","5","0x0101010101010101010101010101010101010101","1000",
        "0x0202020202020202020202020202020202020202","3","2",4,250,
        "[{\"kind\":\"royalty\",\"recipientAddress\":\"0x0303030303030303030303030303030303030303\",\"bps\":250}]",
        "2026-01-01T00:00:01Z","2026-01-01T00:00:02Z",9,"2026-01-01T00:00:03Z","2026-01-01T00:00:04Z",
        "2026-01-01T00:00:05Z","2026-01-01T00:00:06Z","0x0404040404040404040404040404040404040404",null]]]"#;

    fn kept() -> OrderFacts {
        let at = |second: i128| Timestamp::from_unix_nanos((1_767_225_600 + second) * 1_000_000_000);
        let fee = FeeEntry {
            kind: "royalty".to_owned(),
            recipient_address: Address::from_bytes([3; 20]),
            bps: 250,
        };
        OrderFacts {
            side: OrderSide::Listing,
            origin_name: "origin".to_owned(),
            token_id: Some(5.into()),
            maker: Address::from_bytes([1; 20]),
            price_amount: 1000.into(),
            currency: Address::from_bytes([2; 20]),
            quantity_initial: 3.into(),
            quantity_remaining: 2.into(),
            quantity_decimals: 4,
            fee_bps: 250,
            fee_breakdown: vec![fee],
            valid_from: at(1),
            valid_until: at(2),
            block_number: 9,
            order_created_at: at(3),
            order_updated_at: at(4),
            created_at: at(5),
            updated_at: at(6),
            operator: Some(Address::from_bytes([4; 20])),
            ..OrderFacts::sample("7")
        }
    }

    #[test]
    fn what_older_versions_kept_is_read_column_by_column() {
        let undo: Undo = serde_json::from_str(&format!(r#"{{"orders":{KEPT}}}"#)).unwrap();
        let mut undone = Undone::default();
        undone.add(undo).unwrap();
        assert_eq!(undone.orders, BTreeMap::from([(kept().key(), Some(kept()))]));
    }

    #[test]
    fn it_is_still_kept_like_that() {
        let orders = BTreeMap::from([(kept().key(), Some(kept()))]);
        let undo = Undo::of(Before { orders, ..Before::default() }, 1).unwrap();
        let expected: Value = serde_json::from_str(KEPT).unwrap();
        let values = serde_json::to_value(&undo).unwrap();
        assert_eq!(values["orders"][0][2].as_array().unwrap()[..23], expected[0][2].as_array().unwrap()[..]);
    }
}
