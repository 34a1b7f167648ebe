//! What the operations answer, as far as pages show it.

use std::collections::HashMap;

use bourse_wire::{ActivityAction, Address, Amount, FeeEntry, Timestamp, TokenId, TokenMetadata};
use serde::Deserialize;
use serde_json::{Number, Value};

/// A token with its best orders.
#[derive(Deserialize)]
pub struct Collectible {
    /// What it is.
    pub metadata: TokenMetadata,
    /// The best listing.
    pub listing: Option<Order>,
    /// The best offer.
    pub offer: Option<Order>,
}

/// A listing or an offer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// Its id on its marketplace.
    pub order_id: String,
    /// Where it is.
    pub marketplace: String,
    /// Who made it.
    pub created_by: Address,
    /// The price of one unit, in base units of its currency.
    pub price_amount: Amount,
    /// The same with decimals.
    pub price_amount_formatted: String,
    /// The currency.
    pub price_currency_address: Address,
    /// The price in US dollars, exactly.
    #[serde(rename = "priceUSD")]
    pub price_usd: Number,
    /// The same as people read it; empty where there is no rate.
    #[serde(rename = "priceUSDFormatted")]
    pub price_usd_formatted: String,
    /// Units that can be had.
    pub quantity_available: Amount,
    /// The same with decimals.
    pub quantity_available_formatted: String,
    /// Fees in basis points.
    pub fee_bps: i64,
    /// Who gets them.
    pub fee_breakdown: Vec<FeeEntry>,
    /// When it ends.
    pub valid_until: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Something that happened.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// The token; none of an offer for any token of its collection.
    pub token_id: Option<TokenId>,
    /// What.
    pub action: ActivityAction,
    /// The transaction; empty where there is none.
    pub tx_hash: String,
    /// Who tells of it.
    pub source: String,
    /// Whose the token was.
    pub from: Address,
    /// Whose it is now.
    pub to: Option<Address>,
    /// Units.
    pub quantity: Amount,
    /// The price of one unit, in base units of its currency.
    pub price_amount: Option<Amount>,
    /// The same with decimals.
    pub price_amount_formatted: Option<String>,
    /// The currency.
    pub price_currency_address: Option<Address>,
    /// When.
    pub activity_created_at: Timestamp,
}

/// A page as answered.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// Its number.
    pub page: u64,
    /// Rows on a page.
    pub page_size: u64,
    /// Whether there is another one behind it.
    pub more: bool,
    /// Where the next one begins.
    pub after: Option<String>,
}

/// How many there are.
#[derive(Deserialize)]
pub struct Count {
    /// How many.
    pub count: u64,
}

/// A property of a collection's tokens.
#[derive(Deserialize)]
pub struct Facet {
    /// What it is called.
    pub name: String,
    /// The lowest and the highest value, of whole numbers.
    pub min: Option<i64>,
    /// The highest.
    pub max: Option<i64>,
    /// How many tokens have each value.
    #[serde(default)]
    pub counts: Vec<ValueCount>,
}

/// How many tokens have a value.
#[derive(Deserialize)]
pub struct ValueCount {
    /// The value.
    pub value: Value,
    /// How many.
    pub count: u64,
}

/// Money of a chain.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Currency {
    /// Its contract; zero for the coin of the chain.
    pub contract_address: Address,
    /// Its symbol.
    pub symbol: String,
    /// What it is called.
    pub name: String,
    /// Digits after the point.
    pub decimals: u8,
}

/// The currencies of a chain.
pub struct Currencies {
    /// All of them.
    pub all: Vec<Currency>,
    indexes: HashMap<Address, usize>,
}

impl Currencies {
    /// These.
    pub fn new(all: Vec<Currency>) -> Self {
        let indexes = all.iter().enumerate().map(|(index, known)| (known.contract_address, index)).collect();
        Self { all, indexes }
    }

    /// The one at an address.
    pub fn get(&self, address: Address) -> Option<&Currency> {
        self.indexes.get(&address).and_then(|index| self.all.get(*index))
    }
}
