//! 0x, and where its contract is.

use std::sync::Arc;

use bourse_wire::Marketplace;

use super::Zerox;
use crate::Protocol;
use crate::venues::Ability::{No, With, Yes};
use crate::venues::{Abilities, Family, Setup, ShownBy, Site, VenueProfile, at, nothing_follows};

/// Settings name nothing but the contract.
pub(crate) const FAMILY: Family = Family {
    profiles: &[VenueProfile {
        marketplace: MARKETPLACE,
        protocol: "0x v4",
        abilities: Abilities {
            make: Yes,
            fill: Yes,
            batch: With("listings"),
            partial: With("ERC-1155"),
            fees: No,
            cancel: Yes,
        },
        needs: "",
        shown_by: ShownBy::Chain("venues/zerox.rs"),
    }],
    known: |marketplace, chain| {
        let contract = match chain.0 {
            _ if marketplace != MARKETPLACE => return Vec::new(),
            1 | 56 | 137 | 42161 => at("0xdef1c0ded9bec7f1a1670819833240f027b25eff"),
            10 => at("0xdef1abe32c034e558cdd535791643c58a13acc10"),
            _ => return Vec::new(),
        };
        vec![Arc::new(Zerox::at(Site { marketplace, chain, contract })) as Arc<dyn Protocol>]
    },
    configured: |words| match words {
        [] => Ok(Setup::new(Zerox::at)),
        _ => Err(nothing_follows(words)),
    },
};

const MARKETPLACE: Marketplace = Marketplace::Zerox;

impl Zerox {
    fn at(site: Site) -> Self {
        Self { domain: site.domain("ZeroEx", "1.0.0") }
    }
}
