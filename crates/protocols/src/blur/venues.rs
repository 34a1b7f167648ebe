//! Blur, and where its contracts are.

use std::sync::Arc;

use bourse_wire::{Address, Marketplace};

use super::Blur;
use crate::Protocol;
use crate::venues::Ability::{No, With, Yes};
use crate::venues::{Abilities, Family, Setup, ShownBy, Site, VenueProfile, address, at};

/// Settings name the contract that moves tokens.
pub(crate) const FAMILY: Family = Family {
    profiles: &[VenueProfile {
        marketplace: MARKETPLACE,
        protocol: "Blur v2",
        abilities: Abilities {
            make: No,
            fill: With("listings"),
            batch: Yes,
            partial: No,
            fees: No,
            cancel: Yes,
        },
        needs: "its service, and buyers who log in there",
        shown_by: ShownBy::Check("venues/blur.rs"),
    }],
    known: |marketplace, chain| {
        let (contract, delegate) = match chain.0 {
            _ if marketplace != MARKETPLACE => return Vec::new(),
            1 => (
                at("0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5"),
                at("0x2f18f339620a63e43f0839eeb18d7de1e1be4dfb"),
            ),
            81457 => (
                at("0x0f41639352b190f352baddd32856038f1c230ced"),
                at("0x17d8a54d35842133b123a6e6fc57d51338a4aee5"),
            ),
            _ => return Vec::new(),
        };
        vec![Arc::new(Blur::at(Site { marketplace, chain, contract }, delegate)) as Arc<dyn Protocol>]
    },
    configured: |words| {
        let [delegate] = words else {
            return Err("blur needs the contract that moves tokens".to_owned());
        };
        let delegate = address(delegate)?;
        Ok(Setup::new(move |site| Blur::at(site, delegate)))
    },
};

const MARKETPLACE: Marketplace = Marketplace::Blur;

impl Blur {
    fn at(site: Site, delegate: Address) -> Self {
        Self { domain: site.domain("Blur Exchange", "1.0"), delegate }
    }
}
