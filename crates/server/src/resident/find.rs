//! Finding a collection: in memory, after it was loaded, in the store, or at another server.

use std::sync::Arc;

use bourse_peers::ServerId;
use bourse_store::{CollectionId, CollectionKey, StoreError};
use futures_util::FutureExt as _;

use super::install::Loaded;
use super::under_way::{Load, LoadProgress, Patience, UnderWay};
use super::{Inner, Resident, Slot, lock};
use crate::forwarding::Elsewhere;

/// Where a collection can be read.
pub(crate) enum Residence {
    /// Here.
    Resident(Arc<Slot>),
    /// In the store only: it is larger than the memory there is.
    Stored(CollectionId),
    /// Nowhere.
    Missing,
}

/// Why a collection cannot be loaded; everyone who waited for it is told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The store failed.
    #[error("loading a collection: {0}")]
    Store(Arc<StoreError>),
    /// There is no memory for it just now.
    #[error(
        "collection {} on chain {} cannot be loaded just now: others that are being loaded take all the memory that \
         storage.resident_bytes_max allows; try again shortly",
        key.address, key.chain
    )]
    NoRoom {
        /// The collection.
        key: CollectionKey,
    },
    /// Another server holds it, and is to be asked.
    #[error("collection {} on chain {} is held by another server", key.address, key.chain)]
    HeldElsewhere {
        /// The collection.
        key: CollectionKey,
    },
    /// It is large, and takes longer to be loaded than a request may.
    #[error(
        "collection {} on chain {} is being brought into memory: {progress}; try again shortly",
        key.address, key.chain
    )]
    UnderWay {
        /// The collection.
        key: CollectionKey,
        /// How much of it is there.
        progress: String,
    },
    /// What is stored of it cannot be read. The log told why.
    #[error(
        "collection {} on chain {} cannot be read from the database, and is tried again in {seconds} s: the log of the \
         service says why",
        key.address, key.chain
    )]
    Stale {
        /// The collection.
        key: CollectionKey,
        /// When it is tried again.
        seconds: u64,
    },
}

impl Resident {
    /// Finds a collection, loading it when it is not resident yet.
    pub(crate) async fn find(&self, key: CollectionKey) -> Result<Residence, LoadError> {
        self.find_within(key, &mut self.patience()).await
    }

    /// A collection that is here already.
    pub(crate) fn resident(&self, key: CollectionKey) -> Option<Arc<Slot>> {
        self.0.slots.touch(&key).filter(|slot| !slot.is_ahead_of(self.0.clock.now()))
    }

    /// Whether a collection is in memory just now.
    pub(crate) fn has(&self, key: &CollectionKey) -> bool {
        self.0.slots.get(key).is_some()
    }

    /// How long a request waits for collections, however many it needs.
    pub(crate) fn patience(&self) -> Patience {
        Patience { left: self.0.patience, elsewhere: None }
    }

    /// Finds one of several collections, and waits as long as is left of the patience.
    pub(crate) async fn find_within(
        &self,
        key: CollectionKey,
        patience: &mut Patience,
    ) -> Result<Residence, LoadError> {
        match self.0.slots.touch(&key) {
            Some(slot) if !slot.is_ahead_of(self.0.clock.now()) => Ok(Residence::Resident(slot)),
            None if patience.elsewhere.as_ref().is_some_and(|asked| self.holder(key, asked).is_some()) => {
                Err(LoadError::HeldElsewhere { key })
            }
            // Boxed, because it is large and rare, and every request would carry it along.
            Some(_) | None => self.find_stored(key, patience).boxed().await,
        }
    }

    /// The other server that is to be asked for a collection which is not resident here. One that is asked for often is
    /// loaded beside that: every server follows the store by itself, so that any number of them may hold the same.
    pub(crate) fn holder(&self, key: CollectionKey, elsewhere: &Elsewhere) -> Option<ServerId> {
        let holder = elsewhere.holder(key).filter(|_| self.0.slots.get(&key).is_none())?;
        if elsewhere.note_asked(key) {
            let resident = self.clone();
            tokio::spawn(async move {
                if let Err(error) = resident.find(key).await {
                    tracing::debug!(%error, "a collection that is asked for often is not held here");
                }
            });
        }
        Some(holder)
    }

    async fn find_stored(&self, key: CollectionKey, patience: &mut Patience) -> Result<Residence, LoadError> {
        let inner = &self.0;
        loop {
            if let Some(slot) = inner.slots.touch(&key) {
                inner.set_back(&slot).await.map_err(|error| LoadError::Store(Arc::new(error)))?;
                if inner.slots.holds(&key, &slot) {
                    return Ok(Residence::Resident(slot));
                }
            }
            inner.check_stale(key)?;
            let found = inner.store.collection(key).await;
            let Some(id) = found.map_err(|error| LoadError::Store(Arc::new(error)))? else {
                return Ok(Residence::Missing);
            };
            if inner.too_large.has(&key, inner.clock.passed()) {
                return Ok(Residence::Stored(id));
            }
            let (load, progress) = self.load(key, id);
            match patience.wait(load).await {
                Err(_elapsed) => {
                    let progress = inner.told_of(&progress, id).await;
                    return Err(LoadError::UnderWay { key, progress });
                }
                Ok(Ok(Loaded::Done)) => {}
                Ok(Ok(Loaded::NoRoom)) => return Err(LoadError::NoRoom { key }),
                Ok(Err(error)) => {
                    inner.check_stale(key)?;
                    return Err(LoadError::Store(error));
                }
            }
        }
    }

    /// The load of a collection: the one under way, or a new one.
    pub(super) fn load(&self, key: CollectionKey, id: CollectionId) -> (Load, Arc<LoadProgress>) {
        let mut loads = lock(&self.0.loads);
        // Between our look at the slots and now it may have come.
        if self.0.slots.get(&key).is_some() {
            return (futures_util::future::ready(Ok(Loaded::Done)).boxed().shared(), Arc::default());
        }
        let begin = || {
            let (inner, progress) = (Arc::clone(&self.0), Arc::<LoadProgress>::default());
            let told = Arc::clone(&progress);
            UnderWay::begin(async move { inner.load(key, id, &told).await }, progress)
        };
        loads.entry(key).or_insert_with(begin).shared()
    }
}

impl Inner {
    /// Refuses a collection that could not be read lately.
    fn check_stale(&self, key: CollectionKey) -> Result<(), LoadError> {
        match self.troubles.stale_for(key) {
            Some(left) => Err(LoadError::Stale { key, seconds: left.as_secs() + 1 }),
            None => Ok(()),
        }
    }
}
