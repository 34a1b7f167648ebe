//! Currencies that orders are priced in.

use crate::{Address, ChainId, ExchangeRate, Timestamp};

/// A currency of a chain; the zero address is the native one.
#[derive(Clone, Debug, PartialEq)]
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
    pub image_url: String,
    /// What a whole unit is worth, when known.
    pub rate: Option<DatedRate>,
}

/// A rate, and when it was the rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatedRate {
    /// US dollars for one whole unit.
    pub rate: ExchangeRate,
    /// When somebody told it; the zero time when that is not known.
    pub at: Timestamp,
}

impl Currency {
    /// The most decimals: ten to that power still fits the 256 bits of an amount, so a whole unit can be paid.
    pub const DECIMALS_MAX: u8 = 77;
}
