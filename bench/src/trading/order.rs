//! A listing or an offer.

use serde_json::{Value, json};

use super::account::account;
use super::currency::{self, CURRENCIES, Currency};
use super::property::Text;
use super::token::{Token, token_id};
use super::{CHAIN_ID, CONTRACT};
use bourse_random::Random;

/// Marketplaces, and whether their order ids are hashes.
const MARKETPLACES: [(&str, bool); 4] =
    [("bourse_marketplace_v2", false), ("opensea", true), ("magic_eden", true), ("blur", true)];
const MARKETPLACE_SHARES: [u64; MARKETPLACES.len()] = [55, 25, 12, 8];

const STATES: [State; 5] = [State::Active, State::Lapsed, State::Expired, State::Cancelled, State::Filled];
const STATE_SHARES: [u64; STATES.len()] = [950, 10, 15, 15, 10];

/// What a common token is asked for in the middle, in millionths of a dollar.
const PRICE_MICROS: u64 = 4_000_000;
/// How much dearer each rarity is.
const RARITY_FACTORS: [u64; 5] = [1, 2, 5, 20, 80];

const ROYALTY_RECIPIENT: &str = "0x70a1700000000000000000000000000000000001";
const FEE_RECIPIENT: &str = "0xfee0000000000000000000000000000000000001";

/// Who made the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The holder, who wants to sell.
    Listing,
    /// Somebody who wants to buy.
    Offer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Active,
    /// Said to be active, but its time is over.
    Lapsed,
    Expired,
    Cancelled,
    Filled,
}

/// An order, as little of it as the rest follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    number: usize,
    /// Listing or offer.
    pub(crate) side: Side,
    state: State,
    /// The place of its token.
    pub(crate) token: usize,
    /// The account that made it.
    pub(crate) maker: usize,
    /// The place of its currency.
    pub(crate) currency: usize,
    marketplace: usize,
    /// What its price is worth. No two orders are worth the same, so every order of prices is known.
    pub(super) price_micros: u64,
}

impl Order {
    /// A listing of the token at `index` by its holder.
    pub(super) fn listing(number: usize, index: usize, token: &Token, random: &mut Random) -> Self {
        Self {
            number,
            side: Side::Listing,
            state: STATES[random.weighted(&STATE_SHARES)],
            token: index,
            maker: token.owner,
            currency: random.weighted(&currency::LISTING_SHARES),
            marketplace: random.weighted(&MARKETPLACE_SHARES),
            price_micros: draw_price(token, random),
        }
    }

    /// An offer of `maker` for the token at `index`.
    pub(super) fn offer(
        number: usize,
        index: usize,
        token: &Token,
        maker: usize,
        random: &mut Random,
    ) -> Self {
        Self {
            number,
            side: Side::Offer,
            state: STATES[random.weighted(&STATE_SHARES)],
            token: index,
            maker,
            currency: random.weighted(&currency::OFFER_SHARES),
            marketplace: random.weighted(&MARKETPLACE_SHARES),
            price_micros: draw_price(token, random) / 2,
        }
    }

    /// The same order at a price that is so many hundredths of the old one.
    pub(crate) fn repriced(&self, percent: u64) -> Self {
        Self { price_micros: self.price_micros * percent / 100, ..self.clone() }
    }

    /// Whether it can be filled.
    pub(crate) fn is_active(&self) -> bool {
        self.state == State::Active
    }

    /// Its currency.
    pub(crate) fn currency(&self) -> &'static Currency {
        &CURRENCIES[self.currency]
    }

    /// What sorts orders from cheap to dear, those without a rate at the end.
    pub(crate) fn rank(&self) -> (bool, u64) {
        (!self.currency().has_rate(), self.price_micros)
    }

    /// The marketplace's own name for it.
    pub(crate) fn order_id(&self) -> String {
        if !MARKETPLACES[self.marketplace].1 {
            return self.number.to_string();
        }
        let mut random = Random::new(u64::try_from(self.number).unwrap_or(u64::MAX));
        let [a, b, c, d] = std::array::from_fn(|_| random.next());
        format!("0x{a:016x}{b:016x}{c:016x}{d:016x}")
    }

    /// The price in base units of its currency.
    pub(crate) fn price_amount(&self) -> String {
        self.currency().amount(self.price_micros).to_string()
    }

    /// The record to import, but for the `type`, which requests leave out.
    pub(crate) fn record(&self) -> Value {
        let (status, valid_until, remaining) = match self.state {
            State::Active => ("active", "2095-01-01T00:00:00Z", "1"),
            State::Lapsed => ("active", "2025-02-01T00:00:00Z", "1"),
            State::Expired => ("expired", "2025-02-01T00:00:00Z", "1"),
            State::Cancelled => ("cancelled", "2095-01-01T00:00:00Z", "1"),
            State::Filled => ("filled", "2095-01-01T00:00:00Z", "0"),
        };
        let side = match self.side {
            Side::Listing => "listing",
            Side::Offer => "offer",
        };
        let created = january(self.number);
        json!({
            "orderId": self.order_id(),
            "marketplace": MARKETPLACES[self.marketplace].0,
            "side": side,
            "status": status,
            "chainId": CHAIN_ID,
            "collectionContractAddress": CONTRACT,
            "tokenId": token_id(self.token),
            "createdBy": account(self.maker),
            "priceAmount": self.price_amount(),
            "priceCurrencyAddress": self.currency().address,
            "quantityInitial": "1",
            "quantityRemaining": remaining,
            "feeBps": 500,
            "feeBreakdown": [
                { "kind": "royalty", "recipientAddress": ROYALTY_RECIPIENT, "bps": 300 },
                { "kind": "marketplace", "recipientAddress": FEE_RECIPIENT, "bps": 200 },
            ],
            "validFrom": created,
            "validUntil": valid_until,
            "blockNumber": 66_000_000 + self.number,
            "orderCreatedAt": created,
            "orderUpdatedAt": created,
            "createdAt": created,
            "updatedAt": created,
        })
    }
}

/// A price about what tokens of this rarity cost. Factors that multiply make it log-normal without a logarithm,
/// which not every machine rounds alike.
fn draw_price(token: &Token, random: &mut Random) -> u64 {
    let usual = PRICE_MICROS * RARITY_FACTORS[token.text(Text::Rarity)];
    (0..6).fold(usual, |price, _| price * random.between(55, 165) / 100)
}

/// A second of January 2025, one after the other.
fn january(number: usize) -> String {
    let (second, minute, hour) = (number % 60, number / 60 % 60, number / 3600 % 24);
    let day = 1 + number / 86_400 % 31;
    format!("2025-01-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
