//! What blocks replaced, as it is kept until they are too old to be undone.

use std::collections::{BTreeMap, BTreeSet};

use bourse_market::ledger::Before;
use bourse_market::{OrderParts, OrderState};
use bourse_wire::{Address, Amount, Marketplace, OrderFacts, OrderKey, OrderSide, TokenId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::StoreError;
use crate::columns::record;
use crate::order_parts::KnownOrder;
use crate::row_values::{from_values, to_values};

record! {
    pub(super) struct UndoRow: "chain_undo" ("collection_id, number") {
        number: u64,
        before: Undo,
    }
}

/// Marketplace and order id, as they are written.
type Name = (u8, String);

/// Marketplace, order id, and the values of the order's columns, in the order of their declaration.
type OrderRow = (u8, String, Option<Vec<Value>>);

/// What one block replaced, as JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Undo {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    balances: Vec<(TokenId, Address, Option<Amount>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tokens: Vec<TokenId>,
    /// Whole orders, as older versions kept them: without who said what of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    orders: Vec<OrderRow>,
    /// Orders as the chain had them; nothing for those that it had not told of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stated: Vec<OrderRow>,
    /// Those of them that only others had told of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unstated: Vec<Name>,
    /// Signed orders of which the chain was asked what had become of them by then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asked: Vec<Name>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    approvals: Vec<(Address, Address, Option<bool>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    token_approvals: Vec<(TokenId, Option<Address>)>,
    /// The first and the last activity that it added, as older versions kept them.
    #[serde(skip_serializing_if = "Option::is_none")]
    activities: Option<(u64, u64)>,
    /// The names of what happened in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    happened: Vec<String>,
}

impl Undo {
    /// What a block replaced, of orders that were known like this before it.
    pub(super) fn of(
        before: Before,
        is_unstated: impl Fn(&OrderKey, &OrderFacts) -> bool,
    ) -> Result<Self, StoreError> {
        let mut undo = Self {
            balances: before
                .balances
                .into_iter()
                .map(|((token, account), held)| (token, account, held))
                .collect(),
            tokens: before.tokens,
            approvals: before.approvals.into_iter().map(|((owner, by), was)| (owner, by, was)).collect(),
            token_approvals: before.token_approvals.into_iter().collect(),
            happened: before.activities,
            ..Self::default()
        };
        for (key, order) in before.orders {
            let is_unstated = order.as_ref().is_some_and(|order| is_unstated(&key, order));
            undo.add_order(key, order.as_ref(), is_unstated)?;
        }
        Ok(undo)
    }

    /// The balances that the block changed.
    pub(super) fn changed_balances(&self) -> impl Iterator<Item = (TokenId, Address)> {
        self.balances.iter().map(|(token, account, _)| (*token, *account))
    }

    /// Adds what was known of a signed order before the chain was asked about it at the end of the block. Where a log of
    /// the block changed the order, that was before.
    pub(super) fn add_asked(&mut self, known: &KnownOrder) -> Result<(), StoreError> {
        let OrderKey { marketplace, order_id } = known.facts.key();
        let name = (marketplace.number(), order_id);
        if !self.stated.iter().any(|(number, id, _)| (*number, id) == (name.0, &name.1)) {
            let order = known.as_stated();
            self.add_order(known.facts.key(), Some(&order), known.parts.stated.is_none())?;
        }
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        Ok(())
    }

    fn add_order(
        &mut self,
        OrderKey { marketplace, order_id }: OrderKey,
        order: Option<&OrderFacts>,
        is_unstated: bool,
    ) -> Result<(), StoreError> {
        let values = order.map(to_values).transpose()?;
        if is_unstated {
            self.unstated.push((marketplace.number(), order_id.clone()));
        }
        self.stated.push((marketplace.number(), order_id, values));
        Ok(())
    }
}

/// What was known of an order before some blocks.
#[derive(Debug, PartialEq)]
pub(super) enum OrderBefore {
    /// The chain had not told of it.
    Untold,
    /// The chain had not told of it, but others had.
    Unstated(OrderFacts),
    /// What the chain had told of it.
    Stated(OrderFacts),
    /// Everything, whoever had told it.
    Whole(OrderFacts),
}

impl OrderBefore {
    /// What is left of an order: what the chain had stated before, and what others say by now. `None` when that is nothing.
    pub(super) fn restore(self, known: Option<&KnownOrder>) -> Option<KnownOrder> {
        let said = known.and_then(|known| known.parts.said);
        match self {
            Self::Untold => KnownOrder::of(&known?.facts, OrderParts { said, stated: None }),
            Self::Unstated(order) => {
                KnownOrder::of(&restored(order, &known?.facts), OrderParts { said, stated: None })
            }
            Self::Stated(order) => {
                let stated = Some(OrderState::of(&order));
                let terms =
                    known.map_or_else(|| order.clone(), |known| restored(order.clone(), &known.facts));
                KnownOrder::of(&terms, OrderParts { said, stated })
            }
            Self::Whole(order) => {
                let stated = Some(OrderState::of(&order));
                KnownOrder::of(&order, OrderParts { said: None, stated })
            }
        }
    }
}

/// An order with what a chain states beside what became of it. What an order of others is, only others can say, and what
/// funds cover of an offer and which shares go to others is looked up.
fn restored(before: OrderFacts, known: &OrderFacts) -> OrderFacts {
    let backing = if before.side == OrderSide::Offer { known.backing } else { before.backing };
    let terms = if before.marketplace.is_own() { before } else { known.clone() };
    let (fee_bps, fee_breakdown) = (known.fee_bps, known.fee_breakdown.clone());
    OrderFacts { backing, fee_bps, fee_breakdown, ..terms }
}

/// What several blocks replaced together.
#[derive(Default)]
pub(super) struct Undone {
    pub(super) balances: BTreeMap<(TokenId, Address), Option<Amount>>,
    pub(super) tokens: BTreeSet<TokenId>,
    pub(super) orders: BTreeMap<OrderKey, OrderBefore>,
    pub(super) asked: BTreeSet<OrderKey>,
    pub(super) approvals: BTreeMap<(Address, Address), Option<bool>>,
    pub(super) token_approvals: BTreeMap<TokenId, Option<Address>>,
    pub(super) activities: Vec<(u64, u64)>,
    pub(super) happened: Vec<String>,
}

impl Undone {
    /// Adds what an older block replaced, which is what counts.
    pub(super) fn add(&mut self, older: Undo) -> Result<(), StoreError> {
        self.balances
            .extend(older.balances.into_iter().map(|(token, account, held)| ((token, account), held)));
        self.tokens.extend(older.tokens);
        for (number, order_id, values) in older.orders {
            let Some(key) = key_of(number, order_id) else { continue };
            let order = values.map(order_of).transpose()?;
            self.orders.insert(key, order.map_or(OrderBefore::Untold, OrderBefore::Whole));
        }
        let unstated: BTreeSet<Name> = older.unstated.into_iter().collect();
        for (number, order_id, values) in older.stated {
            let name = (number, order_id);
            let is_unstated = unstated.contains(&name);
            let Some(key) = key_of(name.0, name.1) else { continue };
            let before = match values.map(order_of).transpose()? {
                None => OrderBefore::Untold,
                Some(order) if is_unstated => OrderBefore::Unstated(order),
                Some(order) => OrderBefore::Stated(order),
            };
            self.orders.insert(key, before);
        }
        self.asked.extend(older.asked.into_iter().filter_map(|(number, order_id)| key_of(number, order_id)));
        self.approvals.extend(older.approvals.into_iter().map(|(owner, by, was)| ((owner, by), was)));
        self.token_approvals.extend(older.token_approvals);
        self.activities.extend(older.activities);
        self.happened.extend(older.happened);
        Ok(())
    }
}

/// `None` for an order of a marketplace that only a newer version of the program knows. It is left as it is: this version
/// could not tell what the blocks that come instead state of it either.
fn key_of(number: u8, order_id: String) -> Option<OrderKey> {
    let marketplace = Marketplace::from_number(number);
    if marketplace.is_none() {
        tracing::warn!(
            number,
            order_id,
            "an order of a marketplace that only a newer version knows is not taken back"
        );
    }
    Some(OrderKey { marketplace: marketplace?, order_id })
}

/// An order of the values of its columns. Those that came after a block was written are missing, and empty.
fn order_of(values: Vec<Value>) -> Result<OrderFacts, StoreError> {
    from_values("undo", values)
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
        assert_eq!(undone.orders, BTreeMap::from([(kept().key(), OrderBefore::Whole(kept()))]));
    }

    #[test]
    fn it_is_still_kept_like_that() {
        let orders = BTreeMap::from([(kept().key(), Some(kept()))]);
        let undo = Undo::of(Before { orders, ..Before::default() }, |_, _| false).unwrap();
        let expected: Value = serde_json::from_str(KEPT).unwrap();
        let values = serde_json::to_value(&undo).unwrap();
        assert_eq!(values["stated"][0][2].as_array().unwrap()[..23], expected[0][2].as_array().unwrap()[..]);
    }
}
