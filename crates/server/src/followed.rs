//! Which collections are followed, as records are checked against it, and how far.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use bourse_market::facts::BlockHash;
use bourse_store::{CollectionKey, Store, StoreError};
use bourse_wire::{Address, ChainId, Timestamp};

/// How long what was read is believed. A collection that is followed for less may take an order that its chain then
/// replaces.
const BELIEVED_NANOS: i128 = 1_000_000_000;

/// How long it is believed by who only tells how far a chain is followed: all of a chain's collections are read for it.
const TOLD_NANOS: i128 = 10_000_000_000;

/// The newest block that is stored of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Its height.
    pub(crate) number: u64,
    /// Its name.
    pub(crate) hash: BlockHash,
}

/// What is followed of a chain.
#[derive(Clone)]
struct FollowedChain {
    contracts: Arc<HashSet<Address>>,
    /// Those of them that move on with the chain. Of the others it is not known yet what the newest blocks state.
    live: Arc<HashSet<Address>>,
    checkpoint: Option<Checkpoint>,
}

/// The followed collections of each chain, and when they were read.
#[derive(Default)]
pub(crate) struct FollowedCollections(RwLock<HashMap<ChainId, (Timestamp, FollowedChain)>>);

impl FollowedCollections {
    /// Whether the chain of a collection is followed for it.
    pub(crate) async fn has(
        &self,
        store: &Store,
        collection: CollectionKey,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let chain = self.chain(store, collection.chain, (now, BELIEVED_NANOS)).await?;
        Ok(chain.contracts.contains(&collection.address))
    }

    /// The block up to which the chain of a collection is followed for it, or one of some seconds before; nothing where it
    /// is not, or not as far as the chain.
    pub(crate) async fn block_of(
        &self,
        store: &Store,
        collection: CollectionKey,
        now: Timestamp,
    ) -> Result<Option<Checkpoint>, StoreError> {
        let read = self.chain(store, collection.chain, (now, TOLD_NANOS)).await;
        // While the database is away, what was read last is as good as what is in memory.
        let chain = read.or_else(|error| self.believed(collection.chain, now, i128::MAX).ok_or(error))?;
        Ok(chain.checkpoint.filter(|_| chain.live.contains(&collection.address)))
    }

    /// Forgets what was read of a chain, as this process has just changed what is followed of it.
    pub(crate) fn forget(&self, chain: ChainId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&chain);
    }

    async fn chain(
        &self,
        store: &Store,
        chain: ChainId,
        (now, believed_nanos): (Timestamp, i128),
    ) -> Result<FollowedChain, StoreError> {
        if let Some(followed) = self.believed(chain, now, believed_nanos) {
            return Ok(followed);
        }
        // First the block: balances that are read after it are of it or of a later one.
        let checkpoint = store.checkpoint(chain).await?.map(|(number, hash)| Checkpoint { number, hash });
        let read = store.followed(chain).await?;
        let contracts = Arc::new(read.iter().map(|followed| followed.key.address).collect());
        let live = read.iter().filter(|followed| followed.live);
        let live = Arc::new(live.map(|followed| followed.key.address).collect());
        let followed = FollowedChain { contracts, live, checkpoint };
        let mut chains = self.0.write().unwrap_or_else(PoisonError::into_inner);
        chains.insert(chain, (now, followed.clone()));
        Ok(followed)
    }

    fn believed(&self, chain: ChainId, now: Timestamp, nanos: i128) -> Option<FollowedChain> {
        let chains = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (read_at, followed) = chains.get(&chain)?;
        let age = now.unix_nanos() - read_at.unix_nanos();
        (0..nanos).contains(&age).then(|| followed.clone())
    }
}
