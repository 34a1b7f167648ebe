//! All venues of all networks.

use std::collections::BTreeMap;
use std::sync::Arc;

use bourse_wire::{ChainId, Marketplace};

use super::{Deployment, Venue, known, profiles};

/// All venues of all networks, built once at the start.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    networks: BTreeMap<ChainId, Vec<Arc<Venue>>>,
}

impl Registry {
    /// The venues of these chains: with the contracts that settings name, and where they name none of a marketplace, with
    /// those that are commonly known.
    pub fn new(networks: impl IntoIterator<Item = (ChainId, Vec<Deployment>)>) -> Self {
        let venues = |(chain, named): (ChainId, Vec<Deployment>)| {
            let venue = |marketplace| venue(marketplace, chain, &named);
            let marketplaces = profiles().into_iter().map(|profile| profile.marketplace);
            (chain, marketplaces.filter_map(venue).map(Arc::new).collect())
        };
        Self { networks: networks.into_iter().map(venues).collect() }
    }

    /// The venues of a chain that was built at the start, in the order of their marketplaces' numbers.
    pub fn venues(&self, chain: ChainId) -> &[Arc<Venue>] {
        self.networks.get(&chain).map(Vec::as_slice).unwrap_or_default()
    }

    /// A marketplace on a chain; `None` when it has no contract there. Requests may name any chain by its number: one that
    /// is no network here has the contracts that are commonly known.
    pub fn venue(&self, chain: ChainId, marketplace: Marketplace) -> Option<Arc<Venue>> {
        match self.networks.get(&chain) {
            Some(venues) => venues.iter().find(|venue| venue.marketplace() == marketplace).cloned(),
            None => venue(marketplace, chain, &[]).map(Arc::new),
        }
    }
}

fn venue(marketplace: Marketplace, chain: ChainId, named: &[Deployment]) -> Option<Venue> {
    let named = named.iter().filter(|deployment| deployment.marketplace() == marketplace);
    let protocols: Vec<_> = named.map(|deployment| deployment.protocol(chain)).collect();
    let protocols = if protocols.is_empty() { known(marketplace, chain) } else { protocols };
    Venue::new(marketplace, protocols)
}
