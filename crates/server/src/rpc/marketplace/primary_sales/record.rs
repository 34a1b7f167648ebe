//! An item of a sale, as it is answered.

use bourse_catalog::{Collection, write_token_of_nobody};
use bourse_market::Rate;
use bourse_protocols::primary_sale::SaleTerms;
use bourse_wire::{Address, Amount, Currency, Timestamp, TokenId, TokenMetadata};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::{Offered, OpenSale};
use crate::failure::Failure;

/// Nobody counts so many down: a contract that says as much as this is left means that it never ends.
const UNLIMITED_FROM_BITS: usize = 255;

/// A token that is for sale.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct CollectiblePrimarySaleItem {
    /// What is known of the token; its id alone when nothing is.
    metadata: TokenMetadata,
    /// On which terms it is sold.
    primary_sale_item: PrimarySaleItem,
}

/// Where terms come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PrimarySaleItemType")]
pub(crate) enum ItemType {
    /// Neither.
    Unknown,
    /// They hold for all tokens of a range that have none of their own.
    Global,
    /// They are the token's own.
    Individual,
}

/// On which terms a token is sold.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrimarySaleItem {
    /// Contract of the collection.
    item_address: Address,
    /// `ERC721` or `ERC1155`.
    contract_type: &'static str,
    /// The token.
    token_id: TokenId,
    /// Where the terms come from.
    item_type: ItemType,
    /// From when on it can be bought.
    start_date: Timestamp,
    /// Until when.
    end_date: Timestamp,
    /// The currency; the zero address is the chain's own.
    currency_address: Address,
    /// Decimals of the currency; 0 when it is not known.
    price_decimals: u8,
    /// What one costs, in base units.
    price_amount: Amount,
    /// The same in whole units.
    price_amount_formatted: String,
    /// The same in US dollars; 0 when no rate is known.
    #[schemars(with = "f64")]
    price_usd: Number,
    /// The same for people.
    price_usd_formatted: String,
    /// How many are left. Of a range that is all that is left of it, or the one that there can be of an ERC-721 token.
    supply: Amount,
    /// How many there were to begin with, as far as the contract counts.
    supply_cap: Amount,
    /// Whether it never runs out.
    unlimited_supply: bool,
    /// When it first had terms; the zero time when they are those of a range.
    created_at: Timestamp,
    /// When its terms last changed; likewise.
    updated_at: Timestamp,
    /// Always null.
    deleted_at: Option<Timestamp>,
}

/// Writes items of a sale.
pub(crate) struct ItemWriter<'s> {
    open: &'s OpenSale,
    currency: Option<&'s Currency>,
    rate: Option<Rate>,
}

impl<'s> ItemWriter<'s> {
    pub(crate) fn new(open: &'s OpenSale) -> Self {
        let address = open.sale.head.currency;
        let currency = open.currencies.iter().find(|currency| currency.contract_address == address);
        let rate = currency.and_then(|currency| Rate::new(&currency.rate.as_ref()?.rate, currency.decimals));
        Self { open, currency, rate }
    }

    /// Appends `{"metadata":…,"primarySaleItem":…}`.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        offered: &Offered<'_>,
        collection: Option<&Collection>,
    ) -> Result<(), Failure> {
        out.extend_from_slice(br#"{"metadata":"#);
        if !collection.is_some_and(|collection| collection.write_whole_token(out, offered.token)) {
            write_token_of_nobody(out, offered.token);
        }
        out.extend_from_slice(br#","primarySaleItem":"#);
        serde_json::to_writer(&mut *out, &self.record(offered)?)?;
        out.push(b'}');
        Ok(())
    }

    fn record(&self, offered: &Offered<'_>) -> Result<PrimarySaleItem, Failure> {
        let head = &self.open.sale.head;
        let (terms, own) = (&offered.terms, offered.own);
        let (price_decimals, price_amount_formatted) = self.formatted(terms.cost);
        let (price_usd, price_usd_formatted) = self.dollars(terms.cost)?;
        let supply = self.supply(terms);
        let sold = own.map_or(Amount::ZERO, |item| item.sold);
        Ok(PrimarySaleItem {
            item_address: head.collection,
            contract_type: if head.is_erc1155 { "ERC1155" } else { "ERC721" },
            token_id: offered.token,
            item_type: if own.is_some() { ItemType::Individual } else { ItemType::Global },
            start_date: terms.starts,
            end_date: terms.ends,
            currency_address: head.currency,
            price_decimals,
            price_amount: terms.cost,
            price_amount_formatted,
            price_usd,
            price_usd_formatted,
            supply,
            supply_cap: supply.value().saturating_add(sold.value()).into(),
            unlimited_supply: head.is_erc1155 && terms.remaining.value().bit_len() > UNLIMITED_FROM_BITS,
            created_at: own.map(|item| item.created_at).unwrap_or_default(),
            updated_at: own.map(|item| item.updated_at).unwrap_or_default(),
            deleted_at: None,
        })
    }

    /// Of an ERC-721 token there is one at most.
    fn supply(&self, terms: &SaleTerms) -> Amount {
        if self.open.sale.head.is_erc1155 { terms.remaining } else { terms.remaining.min(Amount::from(1)) }
    }

    fn formatted(&self, amount: Amount) -> (u8, String) {
        let decimals = self.currency.map_or(0, |currency| currency.decimals);
        let mut text = Vec::new();
        bourse_market::write_formatted(&mut text, amount.to_string().as_bytes(), decimals);
        (decimals, String::from_utf8_lossy(&text).into_owned())
    }

    fn dollars(&self, amount: Amount) -> Result<(Number, String), Failure> {
        let Some(rate) = &self.rate else { return Ok((Number::from(0), String::new())) };
        let dollars = rate.dollars(amount);
        let (mut number, mut formatted) = (Vec::new(), Vec::new());
        dollars.write(&mut number);
        dollars.write_formatted(&mut formatted);
        Ok((serde_json::from_slice(&number)?, String::from_utf8_lossy(&formatted).into_owned()))
    }
}
