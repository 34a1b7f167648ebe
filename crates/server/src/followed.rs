//! Which collections are followed, as records are checked against it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use bourse_store::{CollectionKey, Store, StoreError};
use bourse_wire::{Address, ChainId, Timestamp};

/// How long what was read is believed. A collection that is followed for less may take an order that its chain then
/// replaces.
const BELIEVED_NANOS: i128 = 1_000_000_000;

/// The followed collections of a chain, and when they were read.
type Read = (Timestamp, Arc<HashSet<Address>>);

/// The followed collections of each chain.
#[derive(Default)]
pub(crate) struct FollowedCollections(RwLock<HashMap<ChainId, Read>>);

impl FollowedCollections {
    /// Whether the chain of a collection is followed for it.
    pub(crate) async fn has(
        &self,
        store: &Store,
        collection: CollectionKey,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if let Some(followed) = self.believed(collection.chain, now) {
            return Ok(followed.contains(&collection.address));
        }
        let read = store.followed(collection.chain).await?;
        let followed: HashSet<Address> = read.iter().map(|followed| followed.key.address).collect();
        let has = followed.contains(&collection.address);
        let mut chains = self.0.write().unwrap_or_else(PoisonError::into_inner);
        chains.insert(collection.chain, (now, Arc::new(followed)));
        Ok(has)
    }

    /// Forgets what was read of a chain, as this process has just changed what is followed of it.
    pub(crate) fn forget(&self, chain: ChainId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&chain);
    }

    fn believed(&self, chain: ChainId, now: Timestamp) -> Option<Arc<HashSet<Address>>> {
        let chains = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (read_at, followed) = chains.get(&chain)?;
        let age = now.unix_nanos() - read_at.unix_nanos();
        (0..BELIEVED_NANOS).contains(&age).then(|| Arc::clone(followed))
    }
}
