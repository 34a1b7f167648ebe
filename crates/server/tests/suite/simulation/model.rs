//! What is so, the simplest way.

use std::collections::BTreeMap;

use bourse_simulation::{CHAIN, COLLECTIONS, Facts};
use bourse_wire::{Address, Timestamp};
use serde_json::{Value, json};

use crate::support::orders::COIN;
use crate::support::seed::RELICS;

/// A collection that is traded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Traded {
    /// Its balances are put.
    Put,
    /// The made-up chain tells its balances.
    Followed(usize),
}

impl Traded {
    pub(super) fn chain(self) -> u64 {
        if self == Self::Put { 137 } else { CHAIN.0 }
    }

    pub(super) fn address(self) -> Address {
        match self {
            Self::Put => RELICS.parse().unwrap(),
            Self::Followed(number) => COLLECTIONS[number],
        }
    }
}

/// An order of the market.
#[derive(Clone, Debug)]
pub(super) struct ModelOrder {
    pub(super) collection: Traded,
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
            "chainId": self.collection.chain(), "collectionContractAddress": self.collection.address(),
            "orderId": id.to_string(),
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
    /// The orders of a token that can be filled, with how much of each; the chain's balances as these facts have them.
    pub(super) fn active(
        &self,
        (collection, token): (Traded, u64),
        is_listing: bool,
        now: i64,
        chain: &Facts,
    ) -> BTreeMap<String, String> {
        let is_meant = |order: &ModelOrder| {
            (order.collection, order.token, order.is_listing) == (collection, token, is_listing)
        };
        let of_it = self.orders.iter().filter(|(_, order)| is_meant(order));
        let available = of_it.map(|(id, order)| (id.to_string(), self.available(order, now, chain)));
        available.filter(|(_, units)| *units > 0).map(|(id, units)| (id, units.to_string())).collect()
    }

    fn available(&self, order: &ModelOrder, now: i64, chain: &Facts) -> u64 {
        if order.status != "active" || order.valid_until <= now || !self.is_coin_known {
            return 0;
        }
        let (held, is_anybody_known) = match order.collection {
            Traded::Put => {
                (self.balances.get(&(order.token, order.maker.clone())), !self.balances.is_empty())
            }
            Traded::Followed(_) => {
                let collection = order.collection.address();
                let key = (collection, order.token, order.maker.parse().unwrap());
                (chain.balances.get(&key), chain.tokens.iter().any(|(of, _)| *of == collection))
            }
        };
        // Nobody lacks what nobody was said to have.
        let is_bounded = order.is_listing && is_anybody_known;
        if is_bounded { order.quantity.min(held.copied().unwrap_or(0)) } else { order.quantity }
    }

    /// Whether it is over for good, whatever a chain says and takes back.
    pub(super) fn is_over(&self, id: u8) -> bool {
        self.orders.get(&id).is_some_and(|order| order.status != "active")
    }

    /// Ends an order, unless it is over. That its time is over is no more than what a clock says.
    pub(super) fn end(&mut self, id: u8, status: &'static str) {
        let Some(order) = self.orders.get_mut(&id) else { return };
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
        days.into_iter().map(|(day, count)| json!({ "label": day, "value": count.to_string() })).collect()
    }
}
