//! LooksRare, and where its contract is.

use std::sync::Arc;

use bourse_wire::{Address, Marketplace};

use super::LooksRare;
use crate::Protocol;
use crate::venues::Ability::{No, With, Yes};
use crate::venues::{Abilities, Family, Setup, ShownBy, Site, VenueProfile, address, at};

/// Settings name the contract that moves tokens.
pub(crate) const FAMILY: Family = Family {
    profiles: &[VenueProfile {
        marketplace: MARKETPLACE,
        protocol: "LooksRare v2",
        abilities: Abilities {
            make: Yes,
            fill: Yes,
            batch: With("listings"),
            partial: No,
            fees: No,
            cancel: Yes,
        },
        needs: "",
        shown_by: ShownBy::Chain("venues/looks_rare.rs"),
    }],
    known: |marketplace, chain| {
        if (marketplace, chain.0) != (MARKETPLACE, 1) {
            return Vec::new();
        }
        let contract = at("0x0000000000e655fae4d56241588680f86e3b2377");
        let transfer_manager = at("0x000000000060c4ca14cfc4325359062ace33fe3d");
        vec![Arc::new(LooksRare::at(Site { marketplace, chain, contract }, transfer_manager))
            as Arc<dyn Protocol>]
    },
    configured: |words| {
        let [manager] = words else {
            return Err("looks_rare needs the contract that moves tokens".to_owned());
        };
        let transfer_manager = address(manager)?;
        Ok(Setup::new(move |site| LooksRare::at(site, transfer_manager)))
    },
};

const MARKETPLACE: Marketplace = Marketplace::LooksRare;

impl LooksRare {
    fn at(site: Site, transfer_manager: Address) -> Self {
        Self { domain: site.domain("LooksRareProtocol", "2"), transfer_manager }
    }
}
