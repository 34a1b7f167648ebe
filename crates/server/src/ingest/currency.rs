//! Currencies.

use bourse_wire::{
    Address, ChainRef, Currency, DatedRate, ExchangeRate, JsonObject, Text, Timestamp, from_value,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Reader, Rejection};

/// A currency of a chain. It replaces all that was known of it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CurrencyInput {
    /// Chain; may be left out where the request names it.
    chain_id: Option<ChainRef>,
    /// Contract, the zero address for the chain's own currency.
    contract_address: Address,
    /// Name.
    name: Text<256>,
    /// Symbol.
    symbol: Text<64>,
    /// Decimals of its base unit, at most 77.
    decimals: u8,
    /// Link to its logo.
    #[serde(default)]
    image_url: Text<8192>,
    /// US dollars for one whole unit; not known when left out.
    exchange_rate: Option<ExchangeRate>,
    /// When that was so; now when left out, or when later than now.
    exchange_rate_updated_at: Option<Timestamp>,
}

impl Reader<'_> {
    /// Reads a currency.
    pub fn currency(&self, members: JsonObject) -> Result<Currency, Rejection> {
        let input: CurrencyInput = from_value(Value::Object(members))?;
        let (decimals, decimals_max) = (input.decimals, Currency::DECIMALS_MAX);
        if decimals > decimals_max {
            let why = format!("{decimals} where at most {decimals_max} are allowed");
            return Err(Rejection::invalid("decimals", why));
        }
        let at = input.exchange_rate_updated_at.map_or(self.now, |at| at.min(self.now));
        Ok(Currency {
            chain_id: self.chain(input.chain_id.as_ref())?,
            contract_address: input.contract_address,
            name: input.name.into_string(),
            symbol: input.symbol.into_string(),
            decimals,
            image_url: input.image_url.into_string(),
            rate: input.exchange_rate.map(|rate| DatedRate { rate, at }),
        })
    }
}
