//! Turns: who changes a collection after reading it waits for whoever does so already.

use bourse_store::CollectionKey;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Enough that two collections seldom wait for each other.
const LOCKS: usize = 64;

/// Locks, each for a share of all collections. Whoever holds a turn never waits for another, so there is no deadlock.
pub(crate) struct Turns([RwLock<()>; LOCKS]);

impl Turns {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| RwLock::new(())))
    }

    /// Waits for this collection's turn, which lasts until the guard is dropped: nobody else changes it meanwhile.
    pub(crate) async fn take(&self, collection: CollectionKey) -> RwLockWriteGuard<'_, ()> {
        self.of(collection).write().await
    }

    /// Waits until nobody has this collection's turn, and keeps it that way until the guard is dropped: for changes that
    /// do not depend on what is there, of which many may go on at once.
    pub(crate) async fn share(&self, collection: CollectionKey) -> RwLockReadGuard<'_, ()> {
        self.of(collection).read().await
    }

    fn of(&self, collection: CollectionKey) -> &RwLock<()> {
        // Addresses are hashes: any byte of them spreads well.
        let [.., last] = *collection.address.bytes();
        &self.0[usize::from(last) % LOCKS]
    }
}
