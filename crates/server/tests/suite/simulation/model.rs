//! What is so, the simplest way.

use std::collections::BTreeMap;

use bourse_wire::Timestamp;
use serde_json::{Value, json};

use crate::support::orders::COIN;
use crate::support::seed::RELICS;

/// An order of the market.
#[derive(Clone, Debug)]
pub(super) struct ModelOrder {
    pub(super) is_listing: bool,
    pub(super) token: u64,
    pub(super) maker: String,
    pub(super) price: u64,
    pub(super) quantity: u64,
    pub(super) valid_until: i64,
    pub(super) status: &'static str,
}

impl ModelOrder {
    /// The order as it is put.
    pub(super) fn record(&self, id: u8) -> Value {
        let valid_until = Timestamp::from_unix_nanos(i128::from(self.valid_until) * 1_000_000_000);
        json!({
            "chainId": 137, "collectionContractAddress": RELICS, "orderId": id.to_string(),
            "marketplace": "opensea", "side": if self.is_listing { "listing" } else { "offer" },
            "tokenId": self.token.to_string(), "createdBy": self.maker, "priceAmount": self.price.to_string(),
            "priceCurrencyAddress": COIN, "validUntil": valid_until.to_string(),
            "quantityInitial": self.quantity.to_string(),
        })
    }
}

/// A market and its wallets.
#[derive(Default)]
pub(super) struct Model {
    pub(super) balances: BTreeMap<(u64, String), u64>,
    pub(super) orders: BTreeMap<u8, ModelOrder>,
    pub(super) is_coin_known: bool,
    /// What was tracked, by the name of the batch.
    pub(super) batches: BTreeMap<u64, Vec<Value>>,
}

impl Model {
    /// The orders of a token that can be filled, with how much of each.
    pub(super) fn active(&self, token: u64, is_listing: bool, now: i64) -> BTreeMap<String, String> {
        let of_it =
            self.orders.iter().filter(|(_, order)| order.token == token && order.is_listing == is_listing);
        let available = of_it.map(|(id, order)| (id.to_string(), self.available(order, now)));
        available.filter(|(_, units)| *units > 0).map(|(id, units)| (id, units.to_string())).collect()
    }

    fn available(&self, order: &ModelOrder, now: i64) -> u64 {
        if order.status != "active" || order.valid_until <= now || !self.is_coin_known {
            return 0;
        }
        let held = self.balances.get(&(order.token, order.maker.clone())).copied().unwrap_or(0);
        // Nobody lacks what nobody was said to have.
        let is_bounded = order.is_listing && !self.balances.is_empty();
        if is_bounded { order.quantity.min(held) } else { order.quantity }
    }

    /// Ends an order, unless it is over.
    pub(super) fn end(&mut self, id: u8, status: &'static str, now: i64) {
        let Some(order) = self.orders.get_mut(&id) else { return };
        if order.valid_until <= now {
            return;
        }
        if order.status == "active" || (order.status, status) == ("inactive", "cancelled") {
            order.status = status;
        }
    }

    /// How many transactions were sent on each day: those of a batch once, however often it came.
    pub(super) fn transactions_daily(&self) -> Value {
        let mut days: BTreeMap<&str, u64> = BTreeMap::new();
        for event in self.batches.values().flatten() {
            let (day, _) = event["at"].as_str().unwrap().split_once('T').unwrap();
            *days.entry(day).or_default() += 1;
        }
        days.into_iter().map(|(day, count)| json!({ "label": day, "value": count })).collect()
    }
}
