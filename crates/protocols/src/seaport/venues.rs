//! The marketplaces that speak Seaport, and where their contracts are.

use std::sync::Arc;

use alloy_primitives::{B256, b256};
use bourse_wire::{Address, ChainId, Marketplace};

use super::{Conduit, Seaport};
use crate::Protocol;
use crate::native::{Api, Word};
use crate::venues::Ability::{With, Yes};
use crate::venues::{Abilities, Family, Setup, ShownBy, Site, VenueProfile, address, at};

/// Settings name conduits as `KEY@ADDRESS`, the one for takers first; without any the contract itself moves everything.
pub(crate) const FAMILY: Family = Family {
    profiles: &[
        VenueProfile {
            marketplace: Marketplace::Opensea,
            protocol: "Seaport 1.6",
            needs: "its service for orders of its signed zone, and those whose signature it keeps",
            ..PROFILE
        },
        VenueProfile {
            marketplace: Marketplace::Alienswap,
            protocol: "Seaport 1.4, as Alienswap",
            ..PROFILE
        },
        VenueProfile {
            marketplace: Marketplace::Mintify,
            protocol: "Seaport 1.6, as MintifyExchange",
            ..PROFILE
        },
        VenueProfile {
            marketplace: Marketplace::MagicEden,
            protocol: "Seaport 1.6, or Payment Processor",
            needs: "its service for orders of its signed zone, and those whose signature it keeps",
            ..PROFILE
        },
    ],
    known: |marketplace, chain| {
        let seaport = match marketplace {
            Marketplace::Opensea => opensea(chain),
            Marketplace::MagicEden => magic_eden(chain),
            Marketplace::Mintify => mintify(chain),
            Marketplace::Alienswap => alienswap(chain),
            _ => None,
        };
        seaport.map(|seaport| Arc::new(seaport) as Arc<dyn Protocol>).into_iter().collect()
    },
    configured: |words| {
        let conduits = words.iter().map(|word| named_conduit(word)).collect::<Result<Vec<_>, _>>()?;
        Ok(Setup::new(move |site| Seaport { conduits: conduits.clone(), ..Seaport::at(site) }))
    },
};

/// What all of them have in common.
const PROFILE: VenueProfile = VenueProfile {
    marketplace: Marketplace::Unknown,
    protocol: "Seaport",
    abilities: Abilities {
        make: Yes,
        fill: Yes,
        batch: Yes,
        partial: With("ERC-1155 orders that allow it"),
        fees: With("exact; of parts in multiples"),
        cancel: Yes,
    },
    needs: "",
    shown_by: ShownBy::Chain("venues/seaport.rs"),
};

/// The contract that makes conduits, on every chain that has one.
const CONDUIT_CONTROLLER: Address = at("0x00000000f9490004c11cef243f5400493c00ad63");
/// Hash of what conduits are made from.
const CONDUIT_CODE: B256 = b256!("023d904f2503c37127200ca07b976c3a53cc562623f67023115bf311f5805059");

/// The conduit that a controller made under a name.
fn conduit(controller: Address, key: B256) -> Conduit {
    let maker = alloy_primitives::Address::from(*controller.bytes());
    Conduit { key, address: Address::from_bytes(maker.create2(key, CONDUIT_CODE).into_array()) }
}

fn named_conduit(text: &str) -> Result<Conduit, String> {
    let parts = text.split_once('@');
    let (key, of) = parts.ok_or_else(|| format!("`{text}` is no conduit: it must be KEY@ADDRESS"))?;
    Ok(Conduit { key: key.parse::<Word>()?.0, address: address(of)? })
}

impl Seaport {
    /// The contract of a marketplace without anything but itself.
    fn at(site: Site) -> Self {
        let (name, version, api) = match site.marketplace {
            Marketplace::Mintify => ("MintifyExchange", "1.6", None),
            Marketplace::Alienswap => ("Alienswap", "1.4", None),
            Marketplace::MagicEden => ("Seaport", "1.6", Some(Api::Reservoir)),
            _ => ("Seaport", "1.6", Some(Api::OpenSea)),
        };
        Self {
            marketplace: site.marketplace,
            domain: site.domain(name, version),
            conduits: Vec::new(),
            signed_zones: Vec::new(),
            api,
            fee_recipient: None,
        }
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

pub(super) fn opensea(chain: ChainId) -> Option<Seaport> {
    const KEYS: [B256; 2] = [
        b256!("0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000"),
        b256!("61159fefdfada89302ed55f8b9e89e2d67d8258712b3a3f89aa88525877f1d5e"),
    ];
    let site = Site { marketplace: Marketplace::Opensea, chain, contract: seaport(chain)? };
    Some(Seaport {
        conduits: KEYS.map(|key| conduit(CONDUIT_CONTROLLER, key)).to_vec(),
        signed_zones: vec![at("0x000056f7000000ece9003ca63978907a00ffd100")],
        fee_recipient: Some(at("0x0000a26b00c1f0df003000390027140000faa719")),
        ..Seaport::at(site)
    })
}

pub(super) fn magic_eden(chain: ChainId) -> Option<Seaport> {
    const KEY: B256 = b256!("87328c9043e7bf343695554eaaf5a8892f7205e3000000000000000000000000");
    let site = Site { marketplace: Marketplace::MagicEden, chain, contract: seaport(chain)? };
    Some(Seaport {
        conduits: vec![conduit(CONDUIT_CONTROLLER, KEY)],
        signed_zones: vec![at("0x2d1a340cd83434243d090931afabf95b7d3078b0")],
        ..Seaport::at(site)
    })
}

fn mintify(chain: ChainId) -> Option<Seaport> {
    const CHAINS: [u64; 8] = [1, 747, 8453, 33139, 81457, 84532, 11_155_111, 168_587_773];
    let contract = at("0x00000003cf2c206e1fda7fd032b2f9bde12ec6cc");
    let site = Site { marketplace: Marketplace::Mintify, chain, contract };
    CHAINS.contains(&chain.0).then(|| Seaport::at(site))
}

fn alienswap(chain: ChainId) -> Option<Seaport> {
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
    let site = Site { marketplace: Marketplace::Alienswap, chain, contract };
    Some(Seaport { conduits: vec![conduit(CONDUIT_CONTROLLER, key)], ..Seaport::at(site) })
}
