//! Networks by name and by chain id.

use std::collections::BTreeMap;
use std::time::Duration;

use bourse_chain::{MULTICALL3, RateSource, RateTeller};
use bourse_protocols::own::OwnContracts;
use bourse_protocols::venues::{Deployment, Registry};
use bourse_wire::{Address, ChainId, Currency};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, de};

use crate::coins::native_coin;
use crate::redact::{Endpoints, endpoint};

/// Networks known without configuration, by name.
pub const BUILT_IN: [(&str, u64); 59] = [
    ("mainnet", 1),
    ("optimism", 10),
    ("telos", 40),
    ("telos-testnet", 41),
    ("bsc", 56),
    ("bsc-testnet", 97),
    ("gnosis", 100),
    ("polygon", 137),
    ("monad", 143),
    ("sonic", 146),
    ("hyperevm", 999),
    ("polygon-zkevm", 1101),
    ("moonbeam", 1284),
    ("moonbase-alpha", 1287),
    ("soneium", 1868),
    ("soneium-minato", 1946),
    ("b3-sepolia", 1993),
    ("tempo", 4217),
    ("robinhood", 4663),
    ("somnia", 5031),
    ("arc", 5042),
    ("sandbox-testnet", 6252),
    ("b3", 8333),
    ("base", 8453),
    ("monad-testnet", 10143),
    ("immutable-zkevm", 13371),
    ("immutable-zkevm-testnet", 13473),
    ("homeverse", 19011),
    ("incentiv", 24101),
    ("incentiv-testnet-v2", 28802),
    ("hardhat", 31337),
    ("hardhat2", 31338),
    ("apechain-testnet", 33111),
    ("apechain", 33139),
    ("homeverse-testnet", 40875),
    ("arbitrum", 42161),
    ("arbitrum-nova", 42170),
    ("etherlink", 42793),
    ("avalanche-testnet", 43113),
    ("avalanche", 43114),
    ("somnia-testnet", 50312),
    ("amoy", 80002),
    ("berachain", 80094),
    ("blast", 81457),
    ("base-sepolia", 84532),
    ("etherlink-shadownet-testnet", 127_823),
    ("etherlink-testnet", 128_123),
    ("arbitrum-sepolia", 421_614),
    ("xai", 660_279),
    ("katana", 747_474),
    ("arc-testnet", 5_042_002),
    ("sepolia", 11_155_111),
    ("optimism-sepolia", 11_155_420),
    ("toy-testnet", 21_000_000),
    ("skale-nebula-testnet", 37_084_624),
    ("blast-sepolia", 168_587_773),
    ("skale-base-testnet", 324_705_682),
    ("skale-nebula", 1_482_601_649),
    ("xai-sepolia", 37_714_555_429),
];

/// What else chains are called by clients; a network of the settings that has such a name keeps it.
const OTHER_NAMES: [(&str, u64); 6] = [
    ("ethereum", 1),
    ("bnb", 56),
    ("matic", 137),
    ("arbitrum-one", 42161),
    ("polygon-amoy", 80002),
    ("ethereum-sepolia", 11_155_111),
];

/// The built-in networks and the configured ones, by chain id.
///
/// Lookups walk the list: it is short, and a walk compares names without making a copy of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "BTreeMap<String, Section>")]
pub struct Networks {
    entries: Vec<Network>,
}

/// One network.
#[derive(Debug, Clone)]
pub struct Network {
    /// Its name, in small letters.
    pub name: String,
    /// Its chain id.
    pub id: u64,
    /// Addresses of nodes, the preferred one first; they may hold keys.
    pub rpc_urls: Vec<SecretString>,
    /// Addresses of nodes that tell of new blocks, the preferred one first; they may hold keys.
    pub ws_urls: Vec<SecretString>,
    /// How its chain is followed.
    pub following: Following,
    /// How steps are tried before they are handed out.
    pub simulating: Simulating,
    /// Where the service's own marketplaces are.
    pub own: OwnContracts,
    /// Contracts of other marketplaces, instead of those that are commonly known.
    pub contracts: Vec<Deployment>,
    /// Contracts of primary sales that may be asked about.
    pub sales: Vec<Address>,
    /// Whether the settings name it, rather than only the built-in list.
    pub configured: bool,
}

/// How steps are tried before they are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simulating {
    /// Whether they are.
    pub is_on: bool,
    /// How long that may take.
    pub timeout: Duration,
}

impl Default for Simulating {
    fn default() -> Self {
        Self { is_on: true, timeout: Duration::from_millis(1500) }
    }
}

/// How the chain of a network is followed.
#[derive(Debug, Clone)]
pub struct Following {
    /// How often nodes are asked for the next block.
    pub poll: Duration,
    /// How many blocks the chain may take back.
    pub reorg_window_blocks: u64,
    /// How long a node may take to answer.
    pub rpc_timeout: Duration,
    /// The most requests that each node is sent in a second, when there is a limit.
    pub rpc_requests_per_second: Option<u32>,
    /// From which block on collections are followed that nobody added; none leaves them alone.
    pub discover_from: Option<u64>,
    /// The contract that many calls go through at once.
    pub multicall: Address,
    /// Where the rates of currencies come from.
    pub rates: Vec<Rate>,
    /// How often they are asked for.
    pub rates_interval: Duration,
    /// After how long royalties are asked for again that may change without a word.
    pub royalties_interval: Duration,
}

/// Where the rate of a currency comes from.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Rate {
    /// The currency's contract; the zero address for the native one.
    pub currency: Address,
    /// Who tells it.
    pub teller: RateTeller,
}

impl TryFrom<String> for Rate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (currency, teller) = match words[..] {
            [currency, rate] => {
                (currency, RateTeller::Operator(rate.parse().map_err(|error| format!("{error}"))?))
            }
            [currency, url, path] => {
                let url =
                    url.parse().map_err(|_| "the URL must begin with http:// or https://".to_owned())?;
                (currency, RateTeller::Link { url, path: path.to_owned() })
            }
            _ => {
                let reason = "must be a currency's address, and a number, or a URL and the path to the number, \
                    with spaces between";
                return Err(reason.to_owned());
            }
        };
        Ok(Self { currency: currency.parse().map_err(|error| format!("{error}"))?, teller })
    }
}

impl Default for Following {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(1),
            reorg_window_blocks: 128,
            rpc_timeout: Duration::from_secs(20),
            rpc_requests_per_second: None,
            discover_from: None,
            multicall: MULTICALL3,
            rates: Vec::new(),
            rates_interval: Duration::from_mins(1),
            royalties_interval: Duration::from_mins(5),
        }
    }
}

/// Networks of the built-in list on which things are tried out, and have no price.
const FOR_TESTS: [u64; 28] = [
    41,
    97,
    1287,
    1946,
    1993,
    6252,
    10143,
    13473,
    28802,
    31337,
    31338,
    33111,
    40875,
    43113,
    50312,
    80002,
    84532,
    127_823,
    128_123,
    421_614,
    5_042_002,
    11_155_111,
    11_155_420,
    21_000_000,
    37_084_624,
    168_587_773,
    324_705_682,
    37_714_555_429,
];

impl Network {
    /// Whether things have no price there, as far as that is known of networks in common use.
    pub fn is_for_tests(&self) -> bool {
        FOR_TESTS.contains(&self.id)
    }

    /// Where the rates of its currencies come from.
    pub fn rate_sources(&self) -> Vec<RateSource> {
        let sources = self.following.rates.iter().map(|rate| RateSource {
            chain: ChainId(self.id),
            currency: rate.currency,
            teller: rate.teller.clone(),
            interval: self.following.rates_interval,
        });
        sources.collect()
    }

    /// The addresses of its nodes as they may be shown.
    pub fn shown_nodes(&self) -> Vec<String> {
        let nodes = self.rpc_urls.iter().chain(&self.ws_urls);
        nodes.map(|url| endpoint(url.expose_secret())).collect()
    }
}

impl Networks {
    /// The chain id for a name, in any case, or for a positive number, decimal or as wallets write it, in hexadecimal,
    /// which is taken as it is.
    #[inline]
    pub fn resolve(&self, text: &str) -> Option<u64> {
        // The database's integers are signed.
        let is_id = |id: &u64| (1..=i64::MAX as u64).contains(id);
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().ok().filter(is_id);
        }
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            return u64::from_str_radix(digits, 16).ok().filter(|id| is_hex && is_id(id));
        }
        let named = self.entries.iter().find(|network| network.name.eq_ignore_ascii_case(text));
        let other =
            || OTHER_NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, id)| *id);
        named.map(|network| network.id).or_else(other)
    }

    /// Has a contract of a primary sale asked about, on a network that is known.
    pub fn name_sale(&mut self, id: u64, contract: Address) {
        if let Some(network) = self.entries.iter_mut().find(|network| network.id == id) {
            network.sales.push(contract);
        }
    }

    /// What a chain is called: its name, or its number where it has none.
    pub fn label(&self, id: u64) -> String {
        self.get(id).map_or_else(|| id.to_string(), |network| network.name.clone())
    }

    /// Whether it is known of a chain that its coins are worth nothing.
    pub fn is_testnet(&self, id: u64) -> bool {
        self.get(id).is_some_and(Network::is_for_tests)
    }

    /// The network of a chain id.
    pub fn get(&self, id: u64) -> Option<&Network> {
        self.entries.iter().find(|network| network.id == id)
    }

    /// The marketplaces on all networks.
    pub fn registry(&self) -> Registry {
        Registry::new(self.iter().map(|network| {
            let named = network.own.deployments().into_iter().chain(network.contracts.iter().cloned());
            (ChainId(network.id), named.collect())
        }))
    }

    /// The own currencies of the networks that the settings name, as far as these are in common use.
    pub fn native_coins(&self) -> Vec<Currency> {
        let configured = self.entries.iter().filter(|network| network.configured);
        configured.filter_map(|network| native_coin(network.id)).collect()
    }

    /// The chain id of the one network that the settings name, when they name exactly one: it is what a request
    /// means that names none.
    pub fn only_configured(&self) -> Option<u64> {
        let mut configured = self.entries.iter().filter(|network| network.configured);
        configured.next().filter(|_| configured.next().is_none()).map(|network| network.id)
    }

    /// All networks, by chain id.
    pub fn iter(&self) -> std::slice::Iter<'_, Network> {
        self.entries.iter()
    }
}

impl Default for Networks {
    /// The built-in networks alone.
    fn default() -> Self {
        BTreeMap::new().into()
    }
}

impl<'a> IntoIterator for &'a Networks {
    type Item = &'a Network;
    type IntoIter = std::slice::Iter<'a, Network>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// `[networks.NAME]`. This is the list of what a network may have; a number is at least what its range says.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    #[schemars(range(min = 1))]
    id: u64,
    #[serde(default)]
    #[schemars(with = "Endpoints")]
    rpc_url: SecretString,
    #[serde(default)]
    #[schemars(with = "Endpoints")]
    ws_url: SecretString,
    #[schemars(range(min = 1))]
    poll_ms: Option<u64>,
    #[schemars(range(min = 1))]
    reorg_window_blocks: Option<u64>,
    #[schemars(range(min = 1))]
    rpc_timeout_ms: Option<u64>,
    #[schemars(range(min = 1))]
    rpc_requests_per_second: Option<u32>,
    /// Chains begin with block 0.
    discover_from: Option<u64>,
    #[serde(default, deserialize_with = "address")]
    multicall: Option<Address>,
    #[serde(default)]
    #[schemars(with = "Vec<Endpoints>")]
    rates: Vec<Rate>,
    #[schemars(range(min = 1))]
    rates_interval_ms: Option<u64>,
    #[schemars(range(min = 1))]
    royalties_interval_ms: Option<u64>,
    simulate: Option<bool>,
    #[schemars(range(min = 1))]
    simulation_timeout_ms: Option<u64>,
    #[serde(default, deserialize_with = "address")]
    own_v1: Option<Address>,
    #[serde(default, deserialize_with = "address")]
    own_v2: Option<Address>,
    #[serde(default, deserialize_with = "address")]
    batch_helper: Option<Address>,
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    contracts: Vec<Deployment>,
    #[serde(default)]
    sales: Vec<Address>,
}

impl Section {
    fn following(&self) -> Following {
        let usual = Following::default();
        Following {
            poll: self.poll_ms.map_or(usual.poll, Duration::from_millis),
            reorg_window_blocks: self.reorg_window_blocks.unwrap_or(usual.reorg_window_blocks),
            rpc_timeout: self.rpc_timeout_ms.map_or(usual.rpc_timeout, Duration::from_millis),
            rpc_requests_per_second: self.rpc_requests_per_second.filter(|limit| *limit > 0),
            discover_from: self.discover_from,
            multicall: self.multicall.unwrap_or(usual.multicall),
            rates: self.rates.clone(),
            rates_interval: self.rates_interval_ms.map_or(usual.rates_interval, Duration::from_millis),
            royalties_interval: self
                .royalties_interval_ms
                .map_or(usual.royalties_interval, Duration::from_millis),
        }
    }

    fn simulating(&self) -> Simulating {
        let usual = Simulating::default();
        Simulating {
            is_on: self.simulate.unwrap_or(usual.is_on),
            timeout: self.simulation_timeout_ms.map_or(usual.timeout, Duration::from_millis),
        }
    }

    fn own(&self) -> OwnContracts {
        let usual = OwnContracts::default();
        OwnContracts {
            v1: self.own_v1.unwrap_or(usual.v1),
            v2: self.own_v2.unwrap_or(usual.v2),
            batch_helper: self.batch_helper,
        }
    }
}

/// Several addresses are separated by spaces.
fn several(urls: &SecretString) -> Vec<SecretString> {
    urls.expose_secret().split_whitespace().map(SecretString::from).collect()
}

/// A contract, or nothing where the text is empty.
fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Address>, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.parse() {
        _ if text.is_empty() => Ok(None),
        Ok(Address::ZERO) => Err(de::Error::custom("must be a contract, not the zero address")),
        parsed => parsed.map(Some).map_err(de::Error::custom),
    }
}

impl From<BTreeMap<String, Section>> for Networks {
    fn from(configured: BTreeMap<String, Section>) -> Self {
        let mut entries: Vec<Network> = BUILT_IN
            .iter()
            .filter(|(name, _)| !configured.contains_key(*name))
            .map(|(name, id)| Network {
                name: (*name).to_owned(),
                id: *id,
                rpc_urls: Vec::new(),
                ws_urls: Vec::new(),
                following: Following::default(),
                simulating: Simulating::default(),
                own: OwnContracts::default(),
                contracts: Vec::new(),
                sales: Vec::new(),
                configured: false,
            })
            .collect();
        entries.extend(configured.into_iter().map(|(name, section)| Network {
            rpc_urls: several(&section.rpc_url),
            ws_urls: several(&section.ws_url),
            following: section.following(),
            simulating: section.simulating(),
            own: section.own(),
            contracts: section.contracts,
            sales: section.sales,
            id: section.id,
            name,
            configured: true,
        }));
        entries.sort_by_key(|network| network.id);
        Self { entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_names_and_ids_are_unique_and_in_order() {
        let names: std::collections::BTreeSet<_> = BUILT_IN.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), BUILT_IN.len());
        assert!(BUILT_IN.windows(2).all(|pair| pair[0].1 < pair[1].1));
    }

    #[test]
    fn resolves_names_and_numbers() {
        let networks = Networks::default();
        assert_eq!(networks.resolve("polygon"), Some(137));
        assert_eq!(networks.resolve("Base-Sepolia"), Some(84532));
        assert_eq!(networks.resolve("137"), Some(137));
        assert_eq!(networks.resolve("0x89"), Some(137));
        assert_eq!(networks.resolve("0X13882"), Some(80_002));
        assert_eq!(networks.resolve("Ethereum"), Some(1));
        assert_eq!(networks.resolve("polygon-amoy"), Some(80_002));
        assert_eq!(networks.resolve("999999999"), Some(999_999_999));
        for text in [
            "",
            "0",
            "-1",
            "+1",
            " 1",
            "1 ",
            " polygon",
            "1.0",
            "0x",
            "0x0",
            "0x+89",
            "0x8000000000000000",
            "18446744073709551616",
            "9223372036854775808",
            "nowhere",
        ] {
            assert_eq!(networks.resolve(text), None, "{text:?}");
        }
    }

    #[test]
    fn own_contracts_are_the_usual_ones_unless_named() {
        let section =
            |text: &str| toml::from_str::<Networks>(text).map(|networks| networks.get(5).unwrap().own);
        let usual = OwnContracts::default();
        assert_eq!(section("[x]\nid = 5\n").unwrap(), usual);
        assert_eq!(section("[x]\nid = 5\nown_v1 = \"\"\nbatch_helper = \"\"\n").unwrap(), usual);
        assert_eq!(Networks::default().get(137).unwrap().own, usual);
        let other = Address::from_bytes([9; 20]);
        assert_eq!(
            section(&format!("[x]\nid = 5\nown_v2 = \"{other}\"\n")).unwrap(),
            OwnContracts { v2: other, ..usual }
        );
        let helped = section(&format!("[x]\nid = 5\nbatch_helper = \"{other}\"\n")).unwrap();
        assert_eq!(helped.batch_helper, Some(other));
        for wrong in ["0x12", "0x0000000000000000000000000000000000000000", "main"] {
            assert!(section(&format!("[x]\nid = 5\nown_v1 = \"{wrong}\"\n")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_are_told_by_the_operator_or_by_a_link() {
        let rate = |text: &str| Rate::try_from(text.to_owned());
        let native = Address::ZERO;
        let fixed = rate(&format!("{native} 1.50")).unwrap();
        assert!(matches!(fixed.teller, RateTeller::Operator(rate) if rate.to_string() == "1.5"));
        let link = rate(&format!("{native} https://prices.example/eth data.0.price")).unwrap();
        assert!(matches!(link.teller, RateTeller::Link { path, .. } if path == "data.0.price"));
        for wrong in ["", "0x12 1", "https://prices.example/eth data", "1"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        assert!(rate(&format!("{native} -1")).is_err());
        assert!(rate(&format!("{native} ftp://prices.example data")).is_err());
    }

    #[test]
    fn names_ids() {
        let networks = Networks::default();
        assert_eq!(networks.label(37_714_555_429), "xai-sepolia");
        assert_eq!(networks.label(2), "2");
        assert_eq!(networks.iter().count(), BUILT_IN.len());
    }
}
