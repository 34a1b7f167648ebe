//! The currencies of every chain, as of a revision.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use bourse_store::{Store, StoreError};
use bourse_wire::{ChainId, Currency};

use super::{read, write};

/// The currencies.
pub(super) struct Currencies(RwLock<CurrencyTable>);

#[derive(Default)]
struct CurrencyTable {
    revision: u64,
    by_chain: BTreeMap<ChainId, Arc<[Currency]>>,
}

impl Currencies {
    pub(super) async fn load(store: &Store) -> Result<Self, StoreError> {
        Ok(Self(RwLock::new(load(store).await?)))
    }

    /// Takes over what changed.
    pub(super) async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        if store.currencies_revision().await? == read(&self.0).revision {
            return Ok(());
        }
        let loaded = load(store).await?;
        let mut known = write(&self.0);
        if loaded.revision > known.revision {
            *known = loaded;
        }
        Ok(())
    }

    /// The currencies of a chain, and their revision.
    pub(super) fn of(&self, chain: ChainId) -> (u64, Arc<[Currency]>) {
        let known = read(&self.0);
        (known.revision, known.by_chain.get(&chain).cloned().unwrap_or_default())
    }

    /// Those of every chain, by chain.
    pub(super) fn all(&self) -> Vec<Arc<[Currency]>> {
        read(&self.0).by_chain.values().cloned().collect()
    }
}

async fn load(store: &Store) -> Result<CurrencyTable, StoreError> {
    // First, so that what changes in between is loaded again rather than missed.
    let revision = store.currencies_revision().await?;
    let mut by_chain: BTreeMap<ChainId, Vec<Currency>> = BTreeMap::new();
    for currency in store.currencies().await? {
        by_chain.entry(currency.chain_id).or_default().push(currency);
    }
    Ok(CurrencyTable {
        revision,
        by_chain: by_chain.into_iter().map(|(chain, all)| (chain, all.into())).collect(),
    })
}
