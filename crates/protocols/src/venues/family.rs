//! What families of marketplaces declare of themselves.

use std::sync::Arc;

use bourse_wire::{ChainId, Marketplace};

use super::{Setup, VenueProfile};
use crate::{FAMILIES, Protocol};

/// What a family of marketplaces declares of itself, beside how it is spoken with.
pub(crate) struct Family {
    /// The marketplaces that are told of as its own.
    pub(crate) profiles: &'static [VenueProfile],
    /// The contracts of a marketplace on a chain that are commonly known and spoken with in its way, the newest first. The
    /// marketplace may be told of as one of another family.
    pub(crate) known: fn(Marketplace, ChainId) -> Vec<Arc<dyn Protocol>>,
    /// Reads what settings say behind the address of a contract of one of its marketplaces.
    pub(crate) configured: fn(&[&str]) -> Result<Setup, String>,
}

/// The contracts of a marketplace on a chain, as far as they are commonly known; new orders are for the first.
pub(crate) fn known(marketplace: Marketplace, chain: ChainId) -> Vec<Arc<dyn Protocol>> {
    FAMILIES.iter().flat_map(|family| (family.known)(marketplace, chain)).collect()
}
