//! The currencies that orders are priced in.

use serde_json::{Value, json};

use super::CHAIN_ID;

/// A currency.
#[derive(Debug)]
pub(crate) struct Currency {
    /// Its contract; the zero address for the chain's own.
    pub(crate) address: &'static str,
    name: &'static str,
    symbol: &'static str,
    decimals: u8,
    /// US dollars for one, as the server is told; none for one that no source knows a rate of.
    rate: Option<&'static str>,
    /// Base units for so many millionths of a dollar: units, millionths.
    base_units: (u128, u128),
}

/// All currencies. The last has no rate; it is the only one, so that the order of all prices is known.
pub(crate) const CURRENCIES: [Currency; 4] = [
    Currency {
        address: "0x0000000000000000000000000000000000000000",
        name: "POL",
        symbol: "POL",
        decimals: 18,
        rate: Some("0.24"),
        base_units: (10_u128.pow(20), 24_000_000),
    },
    Currency {
        address: "0x5ab1e00000000000000000000000000000000006",
        name: "USD Coin",
        symbol: "USDC",
        decimals: 6,
        rate: Some("1"),
        base_units: (1, 1),
    },
    Currency {
        address: "0x3e7400000000000000000000000000000000e718",
        name: "Wrapped Ether",
        symbol: "WETH",
        decimals: 18,
        rate: Some("3150"),
        base_units: (10_u128.pow(12), 3_150),
    },
    Currency {
        address: "0x9e3500000000000000000000000000000000f18a",
        name: "Warden Crest",
        symbol: "CREST",
        decimals: 18,
        rate: None,
        base_units: (2 * 10_u128.pow(13), 1),
    },
];

/// How often listings are priced in each currency.
pub(super) const LISTING_SHARES: [u64; CURRENCIES.len()] = [40, 40, 18, 2];

/// The same for offers, which cannot be made in the chain's own currency.
pub(super) const OFFER_SHARES: [u64; CURRENCIES.len()] = [0, 60, 38, 2];

impl Currency {
    /// Whether prices in it can be compared with those in others.
    pub(crate) fn has_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// The amount that is worth so many millionths of a dollar, rounded down. The rounding is far smaller than a
    /// millionth, so amounts are in the order of what they are worth.
    pub(super) fn amount(&self, micros: u64) -> u128 {
        let (units, millionths) = self.base_units;
        u128::from(micros) * units / millionths
    }

    /// The record to import.
    pub(super) fn record(&self) -> Value {
        json!({
            "type": "currency",
            "chainId": CHAIN_ID,
            "contractAddress": self.address,
            "name": self.name,
            "symbol": self.symbol,
            "decimals": self.decimals,
            "exchangeRate": self.rate,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CURRENCIES;

    #[test]
    fn a_price_is_worth_the_same_in_every_currency() {
        let micros = 6_300_000;
        let amounts: Vec<String> =
            CURRENCIES.iter().map(|currency| currency.amount(micros).to_string()).collect();
        let expected = ["26250000000000000000", "6300000", "2000000000000000", "126000000000000000000"];
        assert_eq!(amounts, expected);
    }
}
