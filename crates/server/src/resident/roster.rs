//! Which collections there are of a chain: what is asked of all of them is answered from memory where all of them are there.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bourse_store::{CollectionId, CollectionKey, Store, StoreError};
use bourse_wire::ChainId;
use hashbrown::HashMap;

use super::{Resident, Slot, lock};

/// For so long a list is good: other servers make collections too, and what they write is seen here as late as this.
const GOOD_FOR: Duration = Duration::from_millis(50);
/// Of a chain with more collections nobody looks into each of them: the store finds by an index what an account holds.
const COLLECTIONS_MAX: usize = 256;

/// The collections of a chain in the order of their numbers; nothing where there are too many to ask each.
type Collections = Option<Arc<[(CollectionId, CollectionKey)]>>;

/// The collections of chains, as they were read lately.
#[derive(Default)]
pub(super) struct Roster(Mutex<Lists>);

#[derive(Default)]
struct Lists {
    of: HashMap<ChainId, List>,
    /// How often a list was given up, so that one which was read before that is not kept.
    given_up: u64,
}

struct List {
    collections: Collections,
    read_at: Duration,
}

impl Roster {
    /// Learns that a collection is there: a list without it is read again.
    pub(super) fn note(&self, key: CollectionKey) {
        let mut lists = lock(&self.0);
        let list = lists.of.get(&key.chain).map(|list| list.collections.as_deref());
        // With too many of them it makes no difference.
        let has_it =
            |known: Option<&[_]>| known.is_none_or(|known| known.iter().any(|(_, known)| *known == key));
        if !list.is_some_and(has_it) {
            lists.of.remove(&key.chain);
            lists.given_up += 1;
        }
    }

    /// The collections of a chain, `now` being a moment of the clock that nobody sets.
    async fn of(&self, chain: ChainId, store: &Store, now: Duration) -> Result<Collections, StoreError> {
        let (known, given_up) = {
            let lists = lock(&self.0);
            let known = lists.of.get(&chain).map(|list| (list.collections.clone(), list.read_at));
            (known, lists.given_up)
        };
        if let Some((collections, read_at)) = &known
            && now.saturating_sub(*read_at) < GOOD_FOR
        {
            return Ok(collections.clone());
        }
        let read = match store.collections_of(chain, 0, COLLECTIONS_MAX as u64 + 1).await {
            Ok(read) => read,
            // What is in memory is told while the database is away, and this is a part of it.
            Err(error @ StoreError::Away) => return known.map(|(collections, _)| collections).ok_or(error),
            Err(error) => return Err(error),
        };
        let collections: Collections = (read.len() <= COLLECTIONS_MAX).then(|| read.into());
        let mut lists = lock(&self.0);
        // Of chains without any nothing is kept: whoever asks may name as many as they like.
        let is_empty = collections.as_deref().is_some_and(<[_]>::is_empty);
        if lists.given_up == given_up && !is_empty {
            lists.of.insert(chain, List { collections: collections.clone(), read_at: now });
        }
        Ok(collections)
    }
}

impl Resident {
    /// All collections of a chain in the order of their numbers, where all of them are in memory just now. Nobody is taken to
    /// need any of them for that.
    pub(crate) async fn all_of(&self, chain: ChainId) -> Result<Option<Vec<Arc<Slot>>>, StoreError> {
        let inner = &self.0;
        let collections = inner.roster.of(chain, &inner.store, inner.clock.passed()).await?;
        let Some(collections) = collections else { return Ok(None) };
        let now = inner.clock.now();
        let slot = |(id, key): &(CollectionId, CollectionKey)| {
            inner.slots.get(key).filter(|slot| slot.id() == *id && !slot.is_ahead_of(now))
        };
        Ok(collections.iter().map(slot).collect())
    }
}
