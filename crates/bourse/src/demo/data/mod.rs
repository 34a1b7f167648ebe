//! Deterministic sample data of a studio that runs a collectors' fair.
//!
//! Everything here is computed from [`DemoContext`] and a fixed seed: no clock, no randomness, no
//! files. [`lines`] yields import records in an order in which each refers only to earlier ones.

mod activity;
mod audiences;
mod clock;
mod contracts;
mod currencies;
mod encode;
mod holdings;
pub(crate) mod hosted;
mod orders;
mod people;
mod provision;
mod provision_art;
mod provision_text;
mod rarity;
mod relic;
mod relic_art;
mod relic_kinds;
mod relic_scripts;
mod relic_text;
mod rng;
mod sale;
mod signed;
#[cfg(test)]
mod tests;
mod venues;

use bourse_protocols::venues::Registry;
use serde_json::{Value, json};

pub(crate) use hosted::hosted;
pub(crate) use sale::{SALE, sale};

/// Chain of all demo data: a test network, so that nobody mistakes it for the real thing.
pub(crate) const CHAIN_ID: u64 = 80_002;
/// Name of [`CHAIN_ID`] in URLs.
pub(crate) const NETWORK: &str = "amoy";
/// Contract of "Harbour Relics".
pub(crate) const RELICS_ADDRESS: &str = "0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af";
/// Contract of "Guild Provisions".
pub(crate) const PROVISIONS_ADDRESS: &str = "0xb1d4e07c93a85f2260ce7d418fa93b5e02d76c18";
/// Address and contract type of both collections.
pub(crate) const CONTRACTS: [(&str, &str); 2] = [(RELICS_ADDRESS, "ERC721"), (PROVISIONS_ADDRESS, "ERC1155")];
/// What is said of the shop in which both are sold.
pub(crate) const SHOP_DESCRIPTION: &str = "Relics and provisions of a town that is not on any map.";
/// When tokens on chains of others were described, in seconds since 1970.
const ELSEWHERE_UNIX: u64 = 1_760_000_000;
/// Name of the first and larger audience.
pub(crate) const AUDIENCE_NAME: &str = "Launch night guests";

/// What the sample data depends on.
#[derive(Clone, Debug)]
pub(crate) struct DemoContext {
    /// Project that events, usage and audiences belong to.
    pub(crate) project_id: u64,
    /// The moment the data ends, in seconds since 1970; the last day of activity is the day of it.
    pub(crate) now_unix: u64,
    /// Word of the older of the two own marketplaces.
    pub(crate) own_marketplace_v1: String,
    /// Word of the newer of the two own marketplaces.
    pub(crate) own_marketplace_v2: String,
    /// Where outside marketplaces are, for whose contracts orders are signed.
    pub(crate) registry: Registry,
}

/// All import records, one JSON object each; equal contexts give equal records.
pub(crate) fn lines(context: &DemoContext) -> impl Iterator<Item = Value> + use<> {
    let (relics, provisions, context) = (context.clone(), context.clone(), context.clone());
    currencies::records()
        .chain(contracts::records())
        .chain((1..=relic::TOTAL).map(move |number| relic::Relic::new(number).record(&relics)))
        .chain(
            (1..=provision::TOTAL).map(move |number| provision::Provision::new(number).record(&provisions)),
        )
        .chain(holdings::balances())
        .chain(orders::records(&context))
        .chain(activity::events(&context))
        .chain(activity::usage(&context))
        .chain(audiences::records(&context))
}

/// What is said of a relic by its own contract: a link that holds the metadata itself.
pub(crate) fn relic_link(number: u64) -> String {
    let mut record = relic::Relic::new(number).record(&DemoContext::elsewhere());
    let mut metadata = json!({});
    for member in ["name", "description", "image", "attributes"] {
        metadata[member] = record[member].take();
    }
    format!("data:application/json;base64,{}", encode::base64(metadata.to_string().as_bytes()))
}

/// The import line of a provision of another contract.
pub(crate) fn provision_of(number: u64, chain: u64, contract: &str) -> Value {
    let mut record = provision::Provision::new(number).record(&DemoContext::elsewhere());
    record["chainId"] = json!(chain);
    record["contractAddress"] = json!(contract);
    record
}

impl DemoContext {
    /// For records that nobody's events or orders belong to.
    fn elsewhere() -> Self {
        Self {
            project_id: 0,
            now_unix: ELSEWHERE_UNIX,
            own_marketplace_v1: String::new(),
            own_marketplace_v2: String::new(),
            registry: Registry::new([]),
        }
    }
}
