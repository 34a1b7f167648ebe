//! The own currencies of networks in common use, so that prices in them are understood before anybody tells of them.

use bourse_wire::{Address, ChainId, Currency};

/// Networks that are paid for in ether.
const ETHER: [u64; 19] = [
    1,
    10,
    1101,
    1868,
    1946,
    1993,
    8333,
    8453,
    31337,
    31338,
    42161,
    42170,
    81457,
    84532,
    421_614,
    747_474,
    11_155_111,
    11_155_420,
    168_587_773,
];

/// Networks that have another currency: its name and its symbol.
const OTHERS: [(u64, &str, &str); 31] = [
    (40, "Telos", "TLOS"),
    (41, "Telos", "TLOS"),
    (56, "BNB", "BNB"),
    (97, "Test BNB", "tBNB"),
    (100, "xDAI", "xDAI"),
    (137, "POL", "POL"),
    (143, "Monad", "MON"),
    (146, "Sonic", "S"),
    (999, "Hyperliquid", "HYPE"),
    (1284, "Glimmer", "GLMR"),
    (1287, "Dev", "DEV"),
    (5031, "Somnia", "SOMI"),
    (10143, "Monad", "MON"),
    (13371, "IMX", "IMX"),
    (13473, "Test IMX", "tIMX"),
    (19011, "OAS", "OAS"),
    (33111, "ApeCoin", "APE"),
    (33139, "ApeCoin", "APE"),
    (40875, "OAS", "OAS"),
    (42793, "Tez", "XTZ"),
    (43113, "Avalanche", "AVAX"),
    (43114, "Avalanche", "AVAX"),
    (50312, "Somnia Test Token", "STT"),
    (80002, "POL", "POL"),
    (80094, "BERA", "BERA"),
    (127_823, "Tez", "XTZ"),
    (128_123, "Tez", "XTZ"),
    (660_279, "Xai", "XAI"),
    (37_084_624, "sFUEL", "sFUEL"),
    (1_482_601_649, "sFUEL", "sFUEL"),
    (37_714_555_429, "sXai", "sXAI"),
];

/// All of them count in units of ether's size, as their machines do.
const DECIMALS: u8 = 18;

/// The own currency of a network, if that is in common use.
pub(crate) fn native_coin(chain: u64) -> Option<Currency> {
    let other = OTHERS.iter().find(|(id, ..)| *id == chain).map(|(_, name, symbol)| (*name, *symbol));
    let (name, symbol) = other.or(ETHER.contains(&chain).then_some(("Ether", "ETH")))?;
    Some(Currency {
        chain_id: ChainId(chain),
        contract_address: Address::ZERO,
        name: name.to_owned(),
        symbol: symbol.to_owned(),
        decimals: DECIMALS,
        image_url: String::new(),
        rate: None,
    })
}

/// Networks that are built in without a coin: others use the number of `toy-testnet` for a network with another currency; of the rest
/// it is not settled.
#[cfg(test)]
pub(crate) const COINLESS: [&str; 9] = [
    "tempo",
    "robinhood",
    "arc",
    "sandbox-testnet",
    "incentiv",
    "incentiv-testnet-v2",
    "arc-testnet",
    "toy-testnet",
    "skale-base-testnet",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BUILT_IN;

    #[test]
    fn built_in_networks_have_their_currencies() {
        let without: Vec<&str> =
            BUILT_IN.iter().filter(|(_, id)| native_coin(*id).is_none()).map(|(name, _)| *name).collect();
        assert_eq!(without, COINLESS);
        let is_built_in = |chain: &u64| BUILT_IN.iter().any(|(_, id)| id == chain);
        assert!(ETHER.iter().chain(OTHERS.iter().map(|(id, ..)| id)).all(is_built_in));
        assert!(ETHER.is_sorted() && OTHERS.is_sorted());
        assert_eq!(native_coin(137).unwrap().symbol, "POL");
        assert_eq!(native_coin(1337), None);
    }
}
