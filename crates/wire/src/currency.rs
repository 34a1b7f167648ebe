//! Currencies that orders are priced in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Address, ChainId, ExchangeRate};

/// A currency of a chain; the zero address is the native one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Currency {
    /// Chain.
    pub chain_id: ChainId,
    /// Contract address, zero for the native currency.
    pub contract_address: Address,
    /// Name.
    pub name: String,
    /// Symbol.
    pub symbol: String,
    /// Decimals of its base unit.
    pub decimals: u8,
    /// Link to its logo.
    #[serde(default)]
    pub image_url: String,
    /// US dollars a whole unit, when known.
    pub exchange_rate: Option<ExchangeRate>,
}

impl Currency {
    /// The most decimals: ten to that power still fits the 256 bits of an amount, so a whole unit can be paid.
    pub const DECIMALS_MAX: u8 = 77;
}
