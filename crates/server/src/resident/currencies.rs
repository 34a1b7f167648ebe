//! The currencies of every chain, as of a revision.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use bourse_store::{Mark, Store, StoreError};
use bourse_wire::{ChainId, Currency};

use super::{read, write};

/// The currencies.
pub(super) struct Currencies {
    table: RwLock<CurrencyTable>,
    /// Held by whoever reads them anew.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct CurrencyTable {
    /// The revision in the store, which may go back with it.
    revision: Mark,
    /// How often they were read: what is newer here.
    edition: u64,
    by_chain: BTreeMap<ChainId, Arc<[Currency]>>,
}

impl Currencies {
    pub(super) async fn load(store: &Store) -> Result<Self, StoreError> {
        let table = RwLock::new(load(store).await?);
        Ok(Self { table, reading: tokio::sync::Mutex::default() })
    }

    /// Takes over what changed.
    pub(super) async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        let _reading = self.reading.lock().await;
        if store.currencies_revision().await? == read(&self.table).revision {
            return Ok(());
        }
        let loaded = load(store).await?;
        let mut known = write(&self.table);
        *known = CurrencyTable { edition: known.edition + 1, ..loaded };
        Ok(())
    }

    /// The currencies of a chain, and their edition.
    pub(super) fn of(&self, chain: ChainId) -> (u64, Arc<[Currency]>) {
        let known = read(&self.table);
        (known.edition, known.by_chain.get(&chain).cloned().unwrap_or_default())
    }

    /// Those of every chain, by chain.
    pub(super) fn all(&self) -> Vec<Arc<[Currency]>> {
        read(&self.table).by_chain.values().cloned().collect()
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
        edition: 1,
        by_chain: by_chain.into_iter().map(|(chain, all)| (chain, all.into())).collect(),
    })
}
