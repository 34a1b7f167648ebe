//! X2Y2, and where its contracts are.

use std::sync::Arc;

use bourse_wire::Marketplace;

use super::X2y2;
use crate::Protocol;
use crate::venues::Ability::{No, Yes};
use crate::venues::{Abilities, Family, Setup, ShownBy, VenueProfile, address, at};

/// Settings name the contracts that move ERC-721 and ERC-1155 tokens.
pub(crate) const FAMILY: Family = Family {
    profiles: &[VenueProfile {
        marketplace: Marketplace::X2y2,
        protocol: "X2Y2",
        abilities: Abilities { make: No, fill: Yes, batch: No, partial: No, fees: No, cancel: No },
        needs: "its service",
        shown_by: ShownBy::Check("venues/x2y2.rs"),
    }],
    known: |marketplace, chain| {
        if (marketplace, chain.0) != (Marketplace::X2y2, 1) {
            return Vec::new();
        }
        vec![Arc::new(X2y2 {
            contract: at("0x74312363e45dcaba76c59ec49a7aa8a65a67eed3"),
            erc721_delegate: at("0xf849de01b080adc3a814fabe1e2087475cf2e354"),
            erc1155_delegate: at("0x024ac22acdb367a3ae52a3d94ac6649fdc1f0779"),
        }) as Arc<dyn Protocol>]
    },
    configured: |words| {
        let [one, many] = words else {
            return Err("x2y2 needs the contracts that move ERC-721 and ERC-1155 tokens".to_owned());
        };
        let (erc721_delegate, erc1155_delegate) = (address(one)?, address(many)?);
        Ok(Setup::new(move |site| X2y2 { contract: site.contract, erc721_delegate, erc1155_delegate }))
    },
};
