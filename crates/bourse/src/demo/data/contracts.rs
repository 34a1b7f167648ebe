//! The two collections as contracts.

use serde_json::{Value, json};

use super::encode::svg_uri;
use super::provision::Provision;
use super::relic::{self, Relic};
use super::{CHAIN_ID, PROVISIONS_ADDRESS, RELICS_ADDRESS, provision_art, relic_art};

/// The import lines of both contracts.
pub(super) fn records() -> impl Iterator<Item = Value> {
    // The first founders' piece and an honest loaf stand for their collections.
    let relic_logo = svg_uri(&relic_art::draw(&Relic::new(relic::FINDS + 1)));
    let provision_logo = svg_uri(&provision_art::draw(&Provision::new(10)));
    [
        json!({
            "type": "contract",
            "chainId": CHAIN_ID,
            "address": RELICS_ADDRESS,
            "contractType": "ERC721",
            "name": "Harbour Relics",
            "symbol": "RELIC",
            "logoURI": relic_logo,
            "deployed": true,
            "bytecodeHash": "0x4b1f0e77c25da93868e1b3a0f4d97c5206be81d3a97f4cc0512e6d8f3b90a764",
            "extensions": {
                "link": "https://relics.example",
                "description": "Coins, stamps, lanterns and stranger finds from sixteen ports, each the only one of its kind.",
                "ogImage": relic_logo,
                "ogName": "Harbour Relics",
                "originChainId": CHAIN_ID,
                "originAddress": RELICS_ADDRESS,
                "verified": true,
                "verifiedBy": "Bourse demo",
            },
        }),
        json!({
            "type": "contract",
            "chainId": CHAIN_ID,
            "address": PROVISIONS_ADDRESS,
            "contractType": "ERC1155",
            "name": "Guild Provisions",
            "symbol": "PROV",
            "logoURI": provision_logo,
            "deployed": true,
            "bytecodeHash": "0xd09a3e6154cf72b8e6017d4ac3985bf02e71c64a9d8b35f0c2a746ed1985b30f",
            "extensions": {
                "link": "https://provisions.example",
                "description": "Bread, rope, candles and a thousand other things no ship should sail without.",
                "ogImage": provision_logo,
                "ogName": "Guild Provisions",
                "originChainId": CHAIN_ID,
                "originAddress": PROVISIONS_ADDRESS,
                "verified": true,
                "verifiedBy": "Bourse demo",
            },
        }),
    ]
    .into_iter()
}
