//! Payment Processor, and where its contracts are.

use std::sync::Arc;

use bourse_wire::{ChainId, Marketplace};

use super::{PaymentProcessor, PaymentProcessorV1, Version};
use crate::Protocol;
use crate::venues::Ability::{With, Yes};
use crate::venues::{Abilities, Family, Setup, ShownBy, Site, VenueProfile, at};

/// Settings name the version, `1`, `2` or `2.1`.
pub(crate) const FAMILY: Family = Family {
    profiles: &[VenueProfile {
        marketplace: Marketplace::PaymentProcessor,
        protocol: "Payment Processor 1, 2 and 2.1",
        abilities: Abilities {
            make: With("2 and 2.1"),
            fill: With("of 1 listings only"),
            batch: With("listings"),
            partial: With("ERC-1155 orders that allow it"),
            fees: With("2 and 2.1: one for each order"),
            cancel: Yes,
        },
        needs: "a cosigner's service for orders that name one; buyers who sign for listings of 1",
        shown_by: ShownBy::Check("venues/payment_processor.rs"),
    }],
    known: |marketplace, chain| {
        let later = later(marketplace, chain).into_iter().map(|later| Arc::new(later) as Arc<dyn Protocol>);
        match marketplace {
            Marketplace::PaymentProcessor => {
                later.chain(first(chain).map(|first| Arc::new(first) as Arc<dyn Protocol>)).collect()
            }
            // Beside Seaport.
            Marketplace::MagicEden => later.collect(),
            _ => Vec::new(),
        }
    },
    configured: |words| match words {
        ["1"] => Ok(Setup::new(PaymentProcessorV1::at)),
        ["2"] => Ok(Setup::new(|site| PaymentProcessor::at(site, Version::V2))),
        ["2.1"] => Ok(Setup::new(|site| PaymentProcessor::at(site, Version::V21))),
        _ => Err("payment_processor needs its version, 1, 2 or 2.1".to_owned()),
    },
};

impl PaymentProcessor {
    fn at(site: Site, version: Version) -> Self {
        let domain = site.domain("PaymentProcessor", version.word());
        Self { marketplace: site.marketplace, version, domain }
    }
}

impl PaymentProcessorV1 {
    fn at(site: Site) -> Self {
        Self { marketplace: site.marketplace, domain: site.domain("PaymentProcessor", "1") }
    }
}

/// The second version and 2.1, the newer first.
pub(super) fn later(marketplace: Marketplace, chain: ChainId) -> Vec<PaymentProcessor> {
    const CHAINS: [u64; 9] = [1, 10, 56, 137, 1101, 8453, 42161, 43114, 11_155_111];
    let versions = [
        (Version::V21, at("0x9a1d00828912f81f3fa34ca47c0bdb9c016856bf")),
        (Version::V2, at("0x9a1d00bed7cd04bcda516d721a596eb22aac6834")),
    ];
    let later = versions.into_iter().filter(|_| CHAINS.contains(&chain.0));
    later
        .map(|(version, contract)| PaymentProcessor::at(Site { marketplace, chain, contract }, version))
        .collect()
}

pub(super) fn first(chain: ChainId) -> Option<PaymentProcessorV1> {
    let contract = match chain.0 {
        1 => at("0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507"),
        137 => at("0x009a1d0fecd7d6475188082f3f542e93f5e07ff1"),
        80001 => at("0x009a1d6bdf55b25ca21436ed30968c1fb7648244"),
        11_155_111 => at("0x009a1d8de8d80fcd9c6aaafe97a237dc663f2978"),
        _ => return None,
    };
    Some(PaymentProcessorV1::at(Site { marketplace: Marketplace::PaymentProcessor, chain, contract }))
}
