//! Loading a whole collection: the store reads while a thread of its own builds.

use bourse_catalog::{Collection, Identity, Loader};
use bourse_store::{CollectionId, CollectionKey, Part, StoreError};
use tokio::sync::mpsc;

use super::{Inner, Slot};

/// Parts that may wait for the builder.
const PARTS_WAITING: usize = 16;

/// What came of it.
pub(super) enum Loaded {
    Whole(Box<Slot>),
    /// It does not fit in the memory there is.
    TooLarge,
}

impl Inner {
    pub(super) async fn load_slot(&self, key: CollectionKey, id: CollectionId) -> Result<Loaded, StoreError> {
        let identity = Identity {
            number: id.number(),
            chain: key.chain,
            address: key.address,
            service: self.service.clone(),
        };
        let (revision, currencies) = self.currencies.of(key.chain);
        let loader = Loader::new(&identity, self.clock.now());
        let bytes_max = self.bytes_max;
        let (sender, parts) = mpsc::channel(PARTS_WAITING);
        let building = tokio::task::spawn_blocking(move || {
            build(loader, parts, bytes_max).map(|(loader, version)| loader.finish(version, &currencies))
        });
        self.store.load(id, sender).await?;
        let built: Option<Collection> = building.await.map_err(|_| StoreError::Closed)?;
        let Some(collection) = built else { return Ok(Loaded::TooLarge) };
        let slot = Slot::new(key, id, collection, revision);
        // Currencies may have changed meanwhile, and nobody knew of this slot.
        slot.put_currencies(&self.currencies);
        Ok(Loaded::Whole(Box::new(slot)))
    }
}

/// Takes parts until there are no more; `None` when they do not fit. Going away tells the store to stop.
fn build(mut loader: Loader, mut parts: mpsc::Receiver<Part>, bytes_max: usize) -> Option<(Loader, u64)> {
    let mut version_begun = 0;
    while let Some(part) = parts.blocking_recv() {
        match part {
            Part::Begin { version } => version_begun = version,
            Part::Contract(info) => loader.contract(info),
            Part::Tokens(tokens) => {
                let tokens: Vec<_> =
                    tokens.into_iter().map(|token| (token.token_id, token.metadata)).collect();
                loader.tokens(&tokens);
            }
            Part::Balances(balances) => {
                let held: Vec<_> =
                    balances.iter().map(|held| (held.token_id, held.account, held.balance)).collect();
                loader.balances(&held);
            }
            Part::Orders(orders) => loader.orders(&orders),
        }
        if loader.text_bytes() > bytes_max {
            return None;
        }
    }
    Some((loader, version_begun))
}
