//! An order of the skewed collection, and what it is priced in.

use bourse_random::Random;
use bourse_wire::{
    Address, Amount, ChainId, Currency, DatedRate, Marketplace, OrderFacts, OrderKey, OrderSide, Timestamp,
    TokenId,
};
use serde_json::{Value, json};

use super::{CHAIN_ID, CONTRACT, account, service};

/// Currencies, the most frequent first; the rates of the last two are known to nobody.
pub(crate) const CURRENCIES: usize = 12;
const UNRATED: usize = 2;
/// Marketplaces, the most frequent first.
pub(crate) const MARKETPLACES: [Marketplace; 8] = [
    Marketplace::OwnV2,
    Marketplace::Opensea,
    Marketplace::MagicEden,
    Marketplace::Blur,
    Marketplace::LooksRare,
    Marketplace::X2y2,
    Marketplace::Alienswap,
    Marketplace::OwnV1,
];
/// What is asked for in the middle, in millionths of a dollar.
const PRICE_MICROS: u128 = 4_000_000;
/// When the first order was seen, in seconds since 1970.
const BEGIN_SECONDS: u64 = 1_735_689_600;

/// An order, as little of it as the rest follows from.
#[derive(Debug)]
pub(crate) struct Order {
    number: usize,
    side: OrderSide,
    token: usize,
    maker: usize,
    currency: usize,
    marketplace: usize,
    price_micros: u128,
    created_second: u64,
}

/// What an order is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) side: OrderSide,
    pub(crate) token: usize,
    pub(crate) maker: usize,
    pub(crate) currency: usize,
    pub(crate) marketplace: usize,
}

impl Order {
    pub(crate) fn draw(number: usize, subject: Subject, random: &mut Random) -> Self {
        let Subject { side, token, maker, currency, marketplace } = subject;
        // Factors that multiply make it log-normal without a logarithm.
        let drawn = (0..8).fold(PRICE_MICROS, |price, _| price * u128::from(random.between(50, 180)) / 100);
        let price_micros = if side == OrderSide::Offer { drawn / 2 } else { drawn };
        let created_second = random.below(30_000_000);
        Self { number, side, token, maker, currency, marketplace, price_micros, created_second }
    }

    /// The order as the catalog takes it.
    pub(crate) fn facts(&self) -> OrderFacts {
        let marketplace = MARKETPLACES[self.marketplace];
        let key = OrderKey { marketplace, order_id: self.number.to_string() };
        let created_at = Timestamp::from_unix_seconds(BEGIN_SECONDS + self.created_second);
        OrderFacts {
            token_id: Some(TokenId::from(self.token as u64 + 1)),
            maker: account(self.maker),
            price_amount: amount(self.currency, self.price_micros),
            currency: currency(self.currency),
            quantity_initial: Amount::from(1),
            quantity_remaining: Amount::from(1),
            created_at,
            ..OrderFacts::unstated(key, self.side)
        }
    }

    /// The record to import.
    pub(crate) fn record(&self) -> Value {
        let facts = self.facts();
        let side = if self.side == OrderSide::Offer { "offer" } else { "listing" };
        json!({
            "type": "order",
            "orderId": facts.order_id,
            "marketplace": facts.marketplace.word(&service()),
            "side": side,
            "status": "active",
            "chainId": CHAIN_ID,
            "collectionContractAddress": CONTRACT,
            "tokenId": (self.token + 1).to_string(),
            "createdBy": facts.maker.to_string(),
            "priceAmount": facts.price_amount.to_string(),
            "priceCurrencyAddress": facts.currency.to_string(),
            "quantityInitial": "1",
            "quantityRemaining": "1",
            "validUntil": Timestamp::MAX.to_string(),
            "createdAt": facts.created_at.to_string(),
            "updatedAt": facts.created_at.to_string(),
        })
    }
}

/// So many millionths of a dollar in a currency, whose units are worth 1, 2, 3 dollars and so on.
pub(crate) fn amount(currency: usize, micros: u128) -> Amount {
    let base_units = micros * 10_u128.pow(u32::from(decimals(currency)) - 6) / (currency as u128 + 1);
    // Beyond 64 bits there are no prices here.
    Amount::from(u64::try_from(base_units).unwrap_or(u64::MAX))
}

fn decimals(currency: usize) -> u8 {
    if currency.is_multiple_of(2) { 12 } else { 6 }
}

/// The address of a currency.
pub(crate) fn currency(number: usize) -> Address {
    let mut bytes = [0; 20];
    bytes[0] = 0xc0;
    bytes[19] = u8::try_from(number).unwrap_or(u8::MAX);
    Address::from_bytes(bytes)
}

fn rate(number: usize) -> Option<String> {
    (number < CURRENCIES - UNRATED).then(|| (number + 1).to_string())
}

/// The currencies as the catalog takes them.
pub(crate) fn currencies() -> Vec<Currency> {
    let dated = |rate: String| Some(DatedRate { rate: rate.parse().ok()?, at: Timestamp::ZERO });
    let known = |number: usize| Currency {
        chain_id: ChainId(CHAIN_ID),
        contract_address: currency(number),
        name: format!("Coin {number}"),
        symbol: format!("C{number}"),
        decimals: decimals(number),
        image_url: String::new(),
        rate: rate(number).and_then(dated),
    };
    (0..CURRENCIES).map(known).collect()
}

/// The same as records to import.
pub(crate) fn currency_records() -> impl Iterator<Item = Value> {
    (0..CURRENCIES).map(|number| {
        json!({
            "type": "currency",
            "chainId": CHAIN_ID,
            "contractAddress": currency(number).to_string(),
            "name": format!("Coin {number}"),
            "symbol": format!("C{number}"),
            "decimals": decimals(number),
            "exchangeRate": rate(number),
        })
    })
}
