//! Where the contracts of marketplaces are, as far as that is commonly known.

use alloy_primitives::{B256, b256};
use bourse_wire::{Address, ChainId, Marketplace};

use super::{Deployment, Kind};
use crate::native::Api;
use crate::payment_processor::Version;
use crate::seaport::Conduit;

/// The contract that makes conduits, on every chain that has one.
pub const CONDUIT_CONTROLLER: Address = at("0x00000000f9490004c11cef243f5400493c00ad63");
/// Hash of what conduits are made from.
const CONDUIT_CODE: B256 = b256!("023d904f2503c37127200ca07b976c3a53cc562623f67023115bf311f5805059");

/// The conduit that a controller made under a name.
pub fn conduit(controller: Address, key: B256) -> Conduit {
    let maker = alloy_primitives::Address::from(*controller.bytes());
    Conduit { key, address: Address::from_bytes(maker.create2(key, CONDUIT_CODE).into_array()) }
}

/// The contracts of a marketplace on a chain, as far as they are commonly known.
pub fn deployments(marketplace: Marketplace, chain: ChainId) -> Vec<Deployment> {
    match marketplace {
        Marketplace::Opensea => opensea(chain).into_iter().collect(),
        Marketplace::MagicEden => magic_eden(chain).into_iter().chain(payment_processor(chain)).collect(),
        Marketplace::Mintify => mintify(chain).into_iter().collect(),
        Marketplace::Alienswap => alienswap(chain).into_iter().collect(),
        Marketplace::LooksRare => looks_rare(chain).into_iter().collect(),
        Marketplace::Zerox => zerox(chain).into_iter().collect(),
        Marketplace::PaymentProcessor => {
            payment_processor(chain).into_iter().chain(payment_processor_v1(chain)).collect()
        }
        Marketplace::Blur => blur(chain).into_iter().collect(),
        Marketplace::X2y2 => x2y2(chain).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// An address that is known when this is compiled.
const fn at(text: &str) -> Address {
    match alloy_primitives::hex::const_decode_to_array(text.as_bytes()) {
        Ok(bytes) => Address::from_bytes(bytes),
        Err(_) => panic!("no address"),
    }
}

/// Seaport 1.6: one address nearly everywhere, others on chains that make addresses in their own way.
fn seaport(chain: ChainId) -> Option<Address> {
    const USUAL: Address = at("0x0000000000000068f116a894984e2db1123eb395");
    const ELSEWHERE: Address = at("0xdf3969a315e3fc15b89a2752d0915cc76a5bd82d");
    const CHAINS: [u64; 42] = [
        1, 10, 56, 137, 360, 646, 747, 1329, 1516, 1868, 1946, 1993, 2187, 2911, 6900, 7560, 8333, 8453,
        10143, 11011, 13746, 29112, 33111, 33139, 42161, 42170, 43114, 57073, 69000, 70701, 70805, 80002,
        80084, 80094, 81457, 84532, 200_901, 660_279, 984_122, 984_123, 7_777_777, 11_155_111,
    ];
    match chain.0 {
        324 | 2741 | 11124 | 43210 | 543_210 => Some(ELSEWHERE),
        id if CHAINS.contains(&id) => Some(USUAL),
        _ => None,
    }
}

fn opensea(chain: ChainId) -> Option<Deployment> {
    const KEYS: [B256; 2] = [
        b256!("0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000"),
        b256!("61159fefdfada89302ed55f8b9e89e2d67d8258712b3a3f89aa88525877f1d5e"),
    ];
    Some(Deployment {
        contract: seaport(chain)?,
        kind: Kind::Seaport {
            signed_for: ("Seaport", "1.6"),
            conduits: KEYS.map(|key| conduit(CONDUIT_CONTROLLER, key)).to_vec(),
            signed_zones: vec![at("0x000056f7000000ece9003ca63978907a00ffd100")],
            api: Some(Api::OpenSea),
            fee_recipient: Some(at("0x0000a26b00c1f0df003000390027140000faa719")),
        },
    })
}

fn magic_eden(chain: ChainId) -> Option<Deployment> {
    const KEY: B256 = b256!("87328c9043e7bf343695554eaaf5a8892f7205e3000000000000000000000000");
    Some(Deployment {
        contract: seaport(chain)?,
        kind: Kind::Seaport {
            signed_for: ("Seaport", "1.6"),
            conduits: vec![conduit(CONDUIT_CONTROLLER, KEY)],
            signed_zones: vec![at("0x2d1a340cd83434243d090931afabf95b7d3078b0")],
            api: Some(Api::Reservoir),
            fee_recipient: None,
        },
    })
}

fn mintify(chain: ChainId) -> Option<Deployment> {
    const CHAINS: [u64; 8] = [1, 747, 8453, 33139, 81457, 84532, 11_155_111, 168_587_773];
    CHAINS.contains(&chain.0).then(|| Deployment {
        contract: at("0x00000003cf2c206e1fda7fd032b2f9bde12ec6cc"),
        kind: Kind::Seaport {
            signed_for: ("MintifyExchange", "1.6"),
            conduits: Vec::new(),
            signed_zones: Vec::new(),
            api: None,
            fee_recipient: None,
        },
    })
}

fn alienswap(chain: ChainId) -> Option<Deployment> {
    const KEY: B256 = b256!("ffa0cb9f057d077d85655be8823961c4fd4cb56a000000000000000000000000");
    const LATER_KEY: B256 = b256!("7e727520b29773e7f23a8665649197aaf064cef1000000000000000000000000");
    let (contract, key) = match chain.0 {
        1 => (
            at("0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a"),
            b256!("b9f312a053a074bc69bbae4caa423d74b1301cc6000000000000000000000000"),
        ),
        10 | 42161 | 534_352 => (at("0xb52fdd8f3821cc60ba4583a822f03317de544bc2"), KEY),
        204 => (
            at("0x790a46e50d154a8fe012e537cc1613db80bbc9c3"),
            b256!("c813078eeddf805768627d63bfb7043e1c5af7ff000000000000000000000000"),
        ),
        8453 => (at("0x878dd5e0c3dedfebff67046bb218fb03c26e3e47"), KEY),
        59144 => (
            at("0xa1085b85991cbe1cf2a4a328c8fb5f0c4b3f7aed"),
            b256!("ffa0cb9f057d077d85655be8823961c4fd4cb56a000000000000000000000001"),
        ),
        11_155_111 => (at("0x33c551effdf1dbde4ffeaa133b2757819bd1353d"), LATER_KEY),
        _ => return None,
    };
    Some(Deployment {
        contract,
        kind: Kind::Seaport {
            signed_for: ("Alienswap", "1.4"),
            conduits: vec![conduit(CONDUIT_CONTROLLER, key)],
            signed_zones: Vec::new(),
            api: None,
            fee_recipient: None,
        },
    })
}

fn looks_rare(chain: ChainId) -> Option<Deployment> {
    (chain.0 == 1).then(|| Deployment {
        contract: at("0x0000000000e655fae4d56241588680f86e3b2377"),
        kind: Kind::LooksRare { transfer_manager: at("0x000000000060c4ca14cfc4325359062ace33fe3d") },
    })
}

fn zerox(chain: ChainId) -> Option<Deployment> {
    let contract = match chain.0 {
        1 | 56 | 137 | 42161 => at("0xdef1c0ded9bec7f1a1670819833240f027b25eff"),
        10 => at("0xdef1abe32c034e558cdd535791643c58a13acc10"),
        _ => return None,
    };
    Some(Deployment { contract, kind: Kind::Zerox })
}

/// The second version and 2.1, the newer first.
fn payment_processor(chain: ChainId) -> Vec<Deployment> {
    const CHAINS: [u64; 9] = [1, 10, 56, 137, 1101, 8453, 42161, 43114, 11_155_111];
    let versions = [
        (Version::V21, at("0x9a1d00828912f81f3fa34ca47c0bdb9c016856bf")),
        (Version::V2, at("0x9a1d00bed7cd04bcda516d721a596eb22aac6834")),
    ];
    let later = versions.into_iter().filter(|_| CHAINS.contains(&chain.0));
    later
        .map(|(version, contract)| Deployment { contract, kind: Kind::PaymentProcessor { version } })
        .collect()
}

fn payment_processor_v1(chain: ChainId) -> Option<Deployment> {
    let contract = match chain.0 {
        1 => at("0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507"),
        137 => at("0x009a1d0fecd7d6475188082f3f542e93f5e07ff1"),
        80001 => at("0x009a1d6bdf55b25ca21436ed30968c1fb7648244"),
        11_155_111 => at("0x009a1d8de8d80fcd9c6aaafe97a237dc663f2978"),
        _ => return None,
    };
    Some(Deployment { contract, kind: Kind::PaymentProcessorV1 })
}

fn blur(chain: ChainId) -> Option<Deployment> {
    let (contract, delegate) = match chain.0 {
        1 => (
            at("0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5"),
            at("0x2f18f339620a63e43f0839eeb18d7de1e1be4dfb"),
        ),
        81457 => (
            at("0x0f41639352b190f352baddd32856038f1c230ced"),
            at("0x17d8a54d35842133b123a6e6fc57d51338a4aee5"),
        ),
        _ => return None,
    };
    Some(Deployment { contract, kind: Kind::Blur { delegate } })
}

fn x2y2(chain: ChainId) -> Option<Deployment> {
    (chain.0 == 1).then(|| Deployment {
        contract: at("0x74312363e45dcaba76c59ec49a7aa8a65a67eed3"),
        kind: Kind::X2y2 {
            erc721_delegate: at("0xf849de01b080adc3a814fabe1e2087475cf2e354"),
            erc1155_delegate: at("0x024ac22acdb367a3ae52a3d94ac6649fdc1f0779"),
        },
    })
}
