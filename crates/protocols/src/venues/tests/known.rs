//! Where marketplaces are unless settings say otherwise: compared with where they were deployed, written down by hand.

use std::collections::BTreeSet;

use bourse_wire::{ChainId, Marketplace, ServiceName};

use crate::venues::known;

/// Seaport 1.6 where addresses are made as everywhere, and where they are not.
const SEAPORT: &str = "0x0000000000000068F116a894984e2DB1123eB395";
const SEAPORT_ELSEWHERE: &str = "0xdf3969a315e3fc15b89a2752d0915cc76a5bd82d";
const SEAPORT_CHAINS: [u64; 42] = [
    1, 10, 56, 137, 360, 646, 747, 1329, 1516, 1868, 1946, 1993, 2187, 2911, 6900, 7560, 8333, 8453, 10143,
    11011, 13746, 29112, 33111, 33139, 42161, 42170, 43114, 57073, 69000, 70701, 70805, 80002, 80084, 80094,
    81457, 84532, 200_901, 660_279, 984_122, 984_123, 7_777_777, 11_155_111,
];
const SEAPORT_CHAINS_ELSEWHERE: [u64; 5] = [324, 2741, 11124, 43210, 543_210];

/// Payment Processor 2.1 and 2.
const PROCESSOR_NEWER: &str = "0x9a1D00828912f81f3Fa34Ca47c0BdB9c016856bF";
const PROCESSOR: &str = "0x9A1D00bEd7CD04BCDA516d721A596eb22Aac6834";
const PROCESSOR_CHAINS: [u64; 9] = [1, 10, 56, 137, 1101, 8453, 42161, 43114, 11_155_111];

/// A marketplace, the chains, its contract there, and the other contracts that its orders go through.
type Row = (&'static str, &'static [u64], &'static str, &'static [&'static str]);

const ROWS: [Row; 25] = [
    (
        "opensea",
        &SEAPORT_CHAINS,
        SEAPORT,
        &[
            "0x1E0049783F008A0085193E00003D00cd54003c71",
            "0x963F00d3ff000064fFCbA824b800c0000000C300",
            "0x000056F7000000EcE9003ca63978907a00FFD100",
            "0x0000a26b00c1F0DF003000390027140000fAa719",
        ],
    ),
    ("opensea", &SEAPORT_CHAINS_ELSEWHERE, SEAPORT_ELSEWHERE, &[]),
    (
        "magic_eden",
        &SEAPORT_CHAINS,
        SEAPORT,
        &["0x2052f8A2Ff46283B30084e5d84c89A2fdBE7f74b", "0x2d1a340cd83434243d090931afabf95b7d3078b0"],
    ),
    ("magic_eden", &SEAPORT_CHAINS_ELSEWHERE, SEAPORT_ELSEWHERE, &[]),
    ("magic_eden", &PROCESSOR_CHAINS, PROCESSOR_NEWER, &[]),
    ("magic_eden", &PROCESSOR_CHAINS, PROCESSOR, &[]),
    (
        "mintify",
        &[1, 747, 8453, 33139, 81457, 84532, 11_155_111, 168_587_773],
        "0x00000003cF2c206e1fdA7fD032b2f9bdE12Ec6Cc",
        &[],
    ),
    ("alienswap", &[1], "0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a", &[]),
    ("alienswap", &[10, 42161, 534_352], "0xb52fdd8f3821cc60ba4583a822f03317de544bc2", &[]),
    ("alienswap", &[204], "0x790a46e50d154a8fe012e537cc1613db80bbc9c3", &[]),
    ("alienswap", &[8453], "0x878dd5e0c3dedfebff67046bb218fb03c26e3e47", &[]),
    ("alienswap", &[59144], "0xa1085b85991cbe1cf2a4a328c8fb5f0c4b3f7aed", &[]),
    ("alienswap", &[11_155_111], "0x33c551effdf1dbde4ffeaa133b2757819bd1353d", &[]),
    (
        "looks_rare",
        &[1],
        "0x0000000000E655fAe4d56241588680F86E3b2377",
        &["0x000000000060C4Ca14CfC4325359062ace33Fe3D"],
    ),
    ("zerox", &[1, 56, 137, 42161], "0xDef1C0ded9bec7F1a1670819833240f027b25EfF", &[]),
    ("zerox", &[10], "0xdef1abe32c034e558cdd535791643c58a13acc10", &[]),
    ("payment_processor", &PROCESSOR_CHAINS, PROCESSOR_NEWER, &[]),
    ("payment_processor", &PROCESSOR_CHAINS, PROCESSOR, &[]),
    ("payment_processor", &[1], "0x009a1dC9f1a6E2134Ad4236FCD75B1ae62858507", &[]),
    ("payment_processor", &[137], "0x009a1D0fEcd7D6475188082f3f542e93f5E07FF1", &[]),
    ("payment_processor", &[80001], "0x009a1D6bdF55b25CA21436eD30968c1fb7648244", &[]),
    ("payment_processor", &[11_155_111], "0x009a1D8DE8D80fCd9C6aaaFE97A237dC663F2978", &[]),
    (
        "x2y2",
        &[1],
        "0x74312363e45DCaBA76c59ec49a7Aa8A65a67EeD3",
        &["0xF849de01B080aDC3A814FaBE1E2087475cF2E354", "0x024aC22ACdB367a3ae52A3D94aC6649fdc1f0779"],
    ),
    (
        "blur",
        &[1],
        "0xb2ecfE4E4D61f8790bbb9DE2D1259B9e2410CEA5",
        &["0x2f18F339620a63e43f0839Eeb18D7de1e1Be4DfB"],
    ),
    ("blur", &[81457], "0x0f41639352b190f352baddd32856038f1c230ced", &[]),
];

/// The service's own two are at the same addresses on every chain, and the helper that pays several orders at once at none
/// that is known.
const OWN: [(Marketplace, &str); 2] = [
    (Marketplace::OwnV1, "0xB537a160472183f2150d42EB1c3DD6684A55f74c"),
    (Marketplace::OwnV2, "0xfdb42A198a932C8D3B506Ffa5e855bC4b348a712"),
];

/// Chains with no contract of others among those that have names or contracts here.
const WITHOUT: [u64; 6] = [5, 97, 100, 31337, 421_614, 21_000_000];

fn contracts(marketplace: Marketplace, chain: u64) -> Vec<(String, String)> {
    let known = known(marketplace, ChainId(chain));
    known.iter().map(|protocol| (protocol.contract().to_string(), format!("{protocol:?}"))).collect()
}

#[test]
fn marketplaces_are_where_they_were_deployed_and_nowhere_else() {
    let chains: BTreeSet<u64> = ROWS.iter().flat_map(|row| row.1).copied().chain(WITHOUT).collect();
    let service = ServiceName::new("bourse");
    let others = Marketplace::ALL.iter().filter(|of| **of != Marketplace::Unknown && !of.is_own());
    for marketplace in others {
        let word = marketplace.word(&service);
        for chain in &chains {
            let rows = ROWS.iter().filter(|(of, on, ..)| *of == word && on.contains(chain));
            let expected: Vec<String> = rows.map(|row| row.2.to_lowercase()).collect();
            let found: Vec<String> = contracts(*marketplace, *chain).into_iter().map(|of| of.0).collect();
            assert_eq!(found, expected, "{word} on chain {chain}");
        }
    }
}

#[test]
fn they_go_through_the_contracts_that_were_deployed_beside_them() {
    let service = ServiceName::new("bourse");
    for (word, chains, contract, beside) in ROWS {
        let marketplace = Marketplace::parse(word, &service).unwrap();
        for chain in chains {
            let all = contracts(marketplace, *chain);
            let (_, told) = all.iter().find(|of| of.0 == contract.to_lowercase()).unwrap();
            for other in beside {
                let other = other.to_lowercase();
                assert!(told.contains(&other), "{word} on chain {chain} goes through {other}: {told}");
            }
        }
    }
}

#[test]
fn our_own_are_at_the_same_addresses_everywhere() {
    for (marketplace, contract) in OWN {
        for chain in [1, 137, 31337, 80002, 5_000_000] {
            let all = contracts(marketplace, chain);
            assert_eq!(all.len(), 1);
            assert_eq!(all[0].0, contract.to_lowercase(), "{marketplace:?} on chain {chain}");
            assert!(!all[0].1.contains("Some("), "no helper is known: {}", all[0].1);
        }
    }
}
