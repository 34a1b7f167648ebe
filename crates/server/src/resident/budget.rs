//! The memory that collections may take: those that are resident, and those that are being loaded. Where there is none left, the
//! collections touched longest ago are dropped, and what does not fit even then is refused.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use bourse_store::CollectionKey;
use hashbrown::HashMap;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{Slot, total_bytes, write};

/// How much there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryLimits {
    /// Bytes that everything together may take.
    pub(crate) bytes_max: usize,
    /// Collections that may be loaded at once: each keeps a connection for as long as it takes.
    pub(crate) loads_max: usize,
}

/// Resident collections.
pub(super) type Slots = RwLock<HashMap<CollectionKey, Arc<Slot>>>;

/// The budget.
pub(super) struct Budget {
    loads: Semaphore,
    books: Arc<Books>,
}

struct Books {
    bytes_max: usize,
    slots: Arc<Slots>,
    /// Bytes promised to loads under way.
    promised: AtomicUsize,
}

/// Bytes that a load may take. They are given back with this value.
pub(super) struct Promise {
    books: Arc<Books>,
    bytes: usize,
}

impl Budget {
    pub(super) fn new(limits: MemoryLimits, slots: Arc<Slots>) -> Self {
        let MemoryLimits { bytes_max, loads_max } = limits;
        let books = Books { bytes_max, slots, promised: AtomicUsize::new(0) };
        Self { loads: Semaphore::new(loads_max.max(1)), books: Arc::new(books) }
    }

    pub(super) fn bytes_max(&self) -> usize {
        self.books.bytes_max
    }

    /// Bytes promised to loads under way.
    pub(super) fn promised(&self) -> usize {
        self.books.promised.load(Ordering::Relaxed)
    }

    /// Waits until a collection may be loaded beside those that are. Nobody closes it, so that it is never `None`.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.loads.acquire().await.ok()
    }

    /// The memory of a load that begins.
    pub(super) fn promise(&self) -> Promise {
        Promise { books: Arc::clone(&self.books), bytes: 0 }
    }

    /// Drops the collections touched longest ago until the rest fits, and this one only if there is no other way.
    pub(super) fn evict(&self, newest: Option<CollectionKey>) {
        if !self.books.make_room(newest) {
            self.books.make_room(None);
        }
    }
}

impl Promise {
    /// Takes so many bytes in all; whether there are so many.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        if bytes > self.books.bytes_max {
            return false;
        }
        self.books.promised.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        more == 0 || self.books.make_room(None)
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.books.promised.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Books {
    /// Drops the collections touched longest ago, but not this one, until what is promised fits beside them; whether it does.
    fn make_room(&self, kept: Option<CollectionKey>) -> bool {
        let mut slots = write(&self.slots);
        while total_bytes(&slots).saturating_add(self.promised.load(Ordering::Relaxed)) > self.bytes_max {
            let droppable = slots.iter().filter(|(key, _)| Some(**key) != kept);
            let Some((key, _)) = droppable.min_by_key(|(_, slot)| slot.touched()) else { return false };
            let key = *key;
            tracing::info!(chain = %key.chain, contract = %key.address, "dropping a resident collection");
            slots.remove(&key);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(bytes_max: usize) -> Budget {
        Budget::new(MemoryLimits { bytes_max, loads_max: 1 }, Arc::default())
    }

    #[test]
    fn loads_under_way_take_memory_from_each_other_and_give_it_back() {
        let budget = budget(100);
        let (mut one, mut other) = (budget.promise(), budget.promise());
        assert!(one.grow(60) && one.grow(60), "the same is no more");
        assert!(!other.grow(101), "more than there ever is");
        assert!(!other.grow(50), "there is no room just now");
        drop(other);
        assert_eq!(budget.promised(), 60);
        drop(one);
        assert_eq!(budget.promised(), 0);
        assert!(budget.promise().grow(100));
    }

    #[tokio::test]
    async fn one_load_waits_for_another() {
        let budget = budget(100);
        let first = budget.turn().await;
        assert!(futures_util::FutureExt::now_or_never(budget.turn()).is_none());
        drop(first);
        assert!(futures_util::FutureExt::now_or_never(budget.turn()).is_some());
    }
}
