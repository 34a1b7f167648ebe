//! Collections held in memory: loaded at first touch, kept up to date, dropped when memory is short.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use bourse_catalog::{Collection, Update};
use bourse_store::{CollectionId, CollectionKey, LoadedCollection, Store, StoreError};

/// The resident collections.
pub(crate) struct Resident {
    bytes_max: usize,
    slots: RwLock<HashMap<CollectionKey, Arc<Slot>>>,
    /// Counts touches, to find the collection that was touched longest ago.
    touches: AtomicU64,
    /// Held while loading, so that many first touches load once.
    loading: tokio::sync::Mutex<()>,
}

/// Where a collection can be read.
pub(crate) enum Place {
    /// Here.
    Resident(Arc<Slot>),
    /// In the store only: it is larger than the memory there is.
    Stored(CollectionId),
    /// Nowhere.
    Missing,
}

/// One resident collection.
pub(crate) struct Slot {
    id: CollectionId,
    collection: RwLock<Collection>,
    bytes: AtomicUsize,
    touched: AtomicU64,
}

impl Slot {
    fn new(id: CollectionId, loaded: LoadedCollection) -> Self {
        let mut collection = Collection::default();
        collection.apply(update(loaded));
        let bytes = AtomicUsize::new(collection.bytes());
        Self { id, collection: RwLock::new(collection), bytes, touched: AtomicU64::new(0) }
    }

    /// The collection, to read from; writers wait no longer than one answer takes to put together.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Collection> {
        self.collection.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply(&self, loaded: LoadedCollection) {
        let mut collection = self.collection.write().unwrap_or_else(PoisonError::into_inner);
        // Two followers may race; the state never goes back.
        if loaded.version > collection.version() {
            collection.apply(update(loaded));
            self.bytes.store(collection.bytes(), Ordering::Relaxed);
        }
    }
}

fn update(loaded: LoadedCollection) -> Update {
    let tokens = loaded.tokens.into_iter().map(|token| (token.token_id, token.metadata)).collect();
    Update { version: loaded.version, whole: loaded.whole, contract: loaded.contract, tokens }
}

impl Resident {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            slots: RwLock::default(),
            touches: AtomicU64::new(0),
            loading: tokio::sync::Mutex::new(()),
        }
    }

    /// Finds a collection, loading it when it is not resident yet.
    pub(crate) async fn find(&self, store: &Store, key: CollectionKey) -> Result<Place, StoreError> {
        if let Some(slot) = self.touch(key) {
            return Ok(Place::Resident(slot));
        }
        let Some(id) = store.collection(key).await? else { return Ok(Place::Missing) };
        let _loading = self.loading.lock().await;
        if let Some(slot) = self.touch(key) {
            return Ok(Place::Resident(slot));
        }
        if store.collection_bytes(id).await? > self.bytes_max as u64 {
            return Ok(Place::Stored(id));
        }
        let slot = Arc::new(Slot::new(id, store.load(id, None).await?));
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        slots.insert(key, Arc::clone(&slot));
        self.evict(&mut slots, key);
        Ok(Place::Resident(slot))
    }

    fn touch(&self, key: CollectionKey) -> Option<Arc<Slot>> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.get(&key)?;
        slot.touched.store(self.touches.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(Arc::clone(slot))
    }

    /// Drops the collections touched longest ago until the rest fits. The newest stays whatever its size.
    fn evict(&self, slots: &mut HashMap<CollectionKey, Arc<Slot>>, newest: CollectionKey) {
        while total_bytes(slots) > self.bytes_max {
            let coldest = slots
                .iter()
                .filter(|(key, _)| **key != newest)
                .min_by_key(|(_, slot)| slot.touched.load(Ordering::Relaxed));
            let Some((key, _)) = coldest else { return };
            let key = *key;
            tracing::info!(chain = %key.chain, contract = %key.address, "dropping a resident collection");
            slots.remove(&key);
        }
    }

    /// Takes over what changed in the store.
    pub(crate) async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        let slots: Vec<Arc<Slot>> =
            self.slots.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        if slots.is_empty() {
            return Ok(());
        }
        let versions: HashMap<CollectionId, u64> =
            store.versions(slots.iter().map(|slot| slot.id).collect()).await?.into_iter().collect();
        for slot in slots {
            let known = slot.read().version();
            if versions.get(&slot.id).is_some_and(|version| *version > known) {
                slot.apply(store.load(slot.id, Some(known)).await?);
            }
        }
        Ok(())
    }

    /// Memory that resident collections take.
    pub(crate) fn bytes(&self) -> usize {
        total_bytes(&self.slots.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn total_bytes(slots: &HashMap<CollectionKey, Arc<Slot>>) -> usize {
    slots.values().map(|slot| slot.bytes.load(Ordering::Relaxed)).sum()
}
