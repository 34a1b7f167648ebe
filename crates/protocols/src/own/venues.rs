//! The service's own marketplaces, and where their contracts are.

use std::sync::Arc;

use bourse_wire::{Address, Marketplace};

use super::Own;
use crate::venues::Ability::{With, Yes};
use crate::venues::{Abilities, Deployment, Family, Setup, ShownBy, VenueProfile, at, nothing_follows};

/// Settings name these contracts under keys of their own: see [`OwnContracts`].
pub(crate) const FAMILY: Family = Family {
    profiles: &[
        VenueProfile {
            marketplace: Marketplace::OwnV1,
            protocol: "our own contract",
            abilities: Abilities { make: With("ERC-20"), batch: Yes, ..ABILITIES },
            needs: "",
            shown_by: ShownBy::Chain("trade_several.rs"),
        },
        VenueProfile {
            marketplace: Marketplace::OwnV2,
            protocol: "our own contract",
            abilities: ABILITIES,
            needs: "",
            shown_by: ShownBy::Chain("trade.rs"),
        },
    ],
    known: |marketplace, _| {
        let OwnContracts { v1, v2, batch_helper } = OwnContracts::default();
        match marketplace {
            Marketplace::OwnV1 => vec![Arc::new(Own::v1(v1))],
            Marketplace::OwnV2 => vec![Arc::new(Own::v2(v2, batch_helper))],
            _ => Vec::new(),
        }
    },
    configured: |words| Err(nothing_follows(words)),
};

const ABILITIES: Abilities = Abilities {
    make: Yes,
    fill: Yes,
    batch: With("native with a helper"),
    partial: Yes,
    fees: Yes,
    cancel: Yes,
};

/// Where the service's own marketplaces are on a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnContracts {
    /// The first version.
    pub v1: Address,
    /// The second version.
    pub v2: Address,
    /// The contract that pays several listings of the second version at once, where there is one.
    pub batch_helper: Option<Address>,
}

impl Default for OwnContracts {
    /// The addresses that are the same on most networks.
    fn default() -> Self {
        Self {
            v1: at("0xb537a160472183f2150d42eb1c3dd6684a55f74c"),
            v2: at("0xfdb42a198a932c8d3b506ffa5e855bc4b348a712"),
            batch_helper: None,
        }
    }
}

impl OwnContracts {
    /// The same, as a registry takes them.
    pub fn deployments(self) -> [Deployment; 2] {
        let Self { v1, v2, batch_helper } = self;
        [
            Deployment::new(Marketplace::OwnV1, v1, Setup::new(|site| Own::v1(site.contract))),
            Deployment::new(
                Marketplace::OwnV2,
                v2,
                Setup::new(move |site| Own::v2(site.contract, batch_helper)),
            ),
        ]
    }
}
