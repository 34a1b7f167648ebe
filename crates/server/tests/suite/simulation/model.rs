//! What is so, the simplest way.

use std::collections::BTreeMap;

use bourse_simulation::{CHAIN, COLLECTIONS, Facts, SEAPORT};
use bourse_wire::{Address, Timestamp};
use serde_json::{Value, json};

use super::charts::Tracked;
use super::signed::{SIGNED, Signed};
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

/// Orders by name, with how much of each can be filled, and its price in cents.
pub(super) type Available = BTreeMap<String, (String, u64)>;

/// An order of the market.
#[derive(Clone, Debug)]
pub(super) struct ModelOrder {
    pub(super) collection: Traded,
    pub(super) is_listing: bool,
    /// Nothing of an offer for any token.
    pub(super) token: Option<u64>,
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
            "tokenId": self.token.map(|token| token.to_string()), "createdBy": self.maker, "priceAmount": self.price.to_string(),
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
    /// What was said of signed orders, by number.
    pub(super) signed: BTreeMap<usize, &'static str>,
    /// What the currency of all orders is worth, once that is known.
    pub(super) rate: Option<u64>,
    pub(super) tracked: Tracked,
}

impl Model {
    /// The orders of a token that can be filled, with how much of each at which price in cents; the chain's balances as these
    /// facts have them.
    pub(super) fn active(
        &self,
        (collection, token): (Traded, u64),
        is_listing: bool,
        now: i64,
        chain: &Facts,
    ) -> Available {
        let is_meant = |order: &ModelOrder| {
            (order.collection, order.is_listing) == (collection, is_listing)
                && order.token.is_none_or(|of| of == token)
        };
        let of_it = self.orders.iter().filter(|(_, order)| is_meant(order));
        let plain =
            of_it.map(|(id, order)| (id.to_string(), self.available(order, token, now, chain), order.price));
        let signed = self.signed.iter().map(|(number, status)| (&SIGNED[*number], *status));
        let of_it = signed.filter(|(signed, _)| signed.is_of((collection.address(), token), is_listing));
        let signed = of_it.map(|(signed, status)| {
            (signed.id(), self.available_signed(signed, status, now, chain), signed.order.price)
        });
        let rate = self.rate.unwrap_or(0);
        let available = plain.chain(signed).filter(|(_, units, _)| *units > 0);
        available.map(|(id, units, price)| (id, (units.to_string(), price * rate))).collect()
    }

    fn available(&self, order: &ModelOrder, token: u64, now: i64, chain: &Facts) -> u64 {
        if order.status != "active" || order.valid_until <= now || self.rate.is_none() {
            return 0;
        }
        // Nobody lacks what nobody was said to have.
        let (held, is_anybody_known) = match order.collection {
            Traded::Put => (self.balances.get(&(token, order.maker.clone())), !self.balances.is_empty()),
            Traded::Followed(_) => {
                let collection = order.collection.address();
                let key = (collection, token, order.maker.parse().unwrap());
                (chain.balances.get(&key), is_anybody_known(chain, collection))
            }
        };
        let is_bounded = order.is_listing && is_anybody_known;
        if is_bounded { order.quantity.min(held.copied().unwrap_or(0)) } else { order.quantity }
    }

    fn available_signed(&self, signed: &Signed, status: &str, now: i64, chain: &Facts) -> u64 {
        let (order, facts) = (&signed.order, &chain.signed);
        let is_its_time = (signed.valid_from..signed.valid_until).contains(&now);
        if status != "active" || !is_its_time || self.rate.is_none() || !signed.can_be_filled(facts) {
            return 0;
        }
        let (remaining, maker) = (facts.remaining(order), order.maker);
        if !order.is_listing {
            return remaining.min(facts.funds(maker) / order.price);
        }
        let held = chain.balances.get(&(order.collection, order.token, maker)).copied().unwrap_or(0);
        let held = if is_anybody_known(chain, order.collection) { held } else { u64::MAX };
        let may_move = facts.may_move(order.collection, order.token, (maker, SEAPORT));
        if may_move { remaining.min(held) } else { 0 }
    }

    /// Takes that a signed order was put: that is good again of which somebody said that it cannot be filled.
    pub(super) fn put_signed(&mut self, number: usize) {
        let status = self.signed.entry(number).or_insert("active");
        if *status == "inactive" {
            *status = "active";
        }
    }

    /// Whether it is over for good, whatever a chain says and takes back.
    pub(super) fn is_over(&self, id: u8) -> bool {
        self.orders.get(&id).is_some_and(|order| order.status != "active")
    }

    /// Ends an order, unless it is over. That its time is over is no more than what a clock says.
    pub(super) fn end(&mut self, id: u8, status: &'static str) {
        if let Some(order) = self.orders.get_mut(&id) {
            end(&mut order.status, status);
        }
    }

    /// The same of a signed order.
    pub(super) fn end_signed(&mut self, number: usize, status: &'static str) {
        if let Some(said) = self.signed.get_mut(&number) {
            end(said, status);
        }
    }
}

/// Says that something is over, of which nobody said so for good.
fn end(said: &mut &'static str, status: &'static str) {
    if *said == "active" || (*said, status) == ("inactive", "cancelled") {
        *said = status;
    }
}

/// Whether a chain ever said of anybody that they hold something of a collection.
fn is_anybody_known(chain: &Facts, collection: Address) -> bool {
    chain.tokens.iter().any(|(of, _)| *of == collection)
}
