//! The five currencies of the fair.

use serde_json::{Value, json};

use super::CHAIN_ID;

/// One currency.
pub(super) struct Currency {
    /// Contract, the zero address for the chain's own coin.
    pub(super) address: &'static str,
    name: &'static str,
    symbol: &'static str,
    /// Digits after the point.
    pub(super) decimals: u32,
    /// What prices assume one coin to be worth, in millionths of a dollar.
    pub(super) value_micros: u64,
    /// The rate told to the server; none for the token that no price source knows.
    rate: Option<&'static str>,
}

/// Index of the chain's own coin, in which offers cannot be made.
pub(super) const NATIVE: usize = 0;
/// Index of the dollar coin.
pub(super) const DOLLAR: usize = 1;
/// Index of the wrapped coin, in which other marketplaces take offers.
pub(super) const WRAPPED: usize = 2;
/// Index of the game's own coin.
pub(super) const GAME: usize = 3;
/// Index of the community's token.
pub(super) const COMMUNITY: usize = 4;

/// All currencies.
pub(super) const CURRENCIES: [Currency; 5] = [
    Currency {
        address: "0x0000000000000000000000000000000000000000",
        name: "POL",
        symbol: "POL",
        decimals: 18,
        value_micros: 240_000,
        rate: Some("0.24"),
    },
    Currency {
        address: "0x3c0f6a91d8e2b7541a9de06fb83c2570e41d95ab",
        name: "USD Coin",
        symbol: "USDC",
        decimals: 6,
        value_micros: 1_000_000,
        rate: Some("1"),
    },
    Currency {
        address: "0x72be18c04f6da359e07c1b92ad8843f5d0716ee9",
        name: "Wrapped Ether",
        symbol: "WETH",
        decimals: 18,
        value_micros: 3_150_000_000,
        rate: Some("3150"),
    },
    Currency {
        address: "0x9d51fe63a20b8c7749e6d1f03ab5827cc4e09d36",
        name: "Harbour Crown",
        symbol: "CROWN",
        decimals: 18,
        value_micros: 85_000,
        rate: Some("0.085"),
    },
    Currency {
        address: "0xe84a07d2b96c5f13d0a7e28b41fc6935027bd1c4",
        name: "Gull Feather",
        symbol: "GULL",
        decimals: 8,
        value_micros: 12_500,
        rate: None,
    },
];

/// The import lines of all currencies.
pub(super) fn records() -> impl Iterator<Item = Value> {
    CURRENCIES.iter().map(|currency| {
        let mut record = json!({
            "type": "currency",
            "chainId": CHAIN_ID,
            "contractAddress": currency.address,
            "name": currency.name,
            "symbol": currency.symbol,
            "decimals": currency.decimals,
        });
        if let Some(rate) = currency.rate {
            record["exchangeRate"] = json!(rate);
        }
        record
    })
}

/// A price in base units, rounded down to two significant digits as people price things.
pub(super) fn base_units(currency: &Currency, dollar_micros: u64) -> u128 {
    let exact =
        u128::from(dollar_micros) * 10_u128.pow(currency.decimals) / u128::from(currency.value_micros);
    let mut step = 1;
    while exact / step >= 100 {
        step *= 10;
    }
    (exact / step * step).max(1)
}
