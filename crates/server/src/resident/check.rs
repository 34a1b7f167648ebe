//! Comparing what is resident with what is stored: one collection at a time is loaded once more beside the one that
//! answers, and both are compared at the same version. What differs is told and put right. Nobody waits for it: the one
//! that answers is looked at in small steps, between which others may change it.

use std::sync::Arc;

use bourse_budget::Held as _;
use bourse_catalog::{ChangedMeanwhile, Column, Digest, Digester};
use bourse_store::{CollectionKey, StoreError};
use bourse_wire::Timestamp;

use super::load::LoadOutcome;
use super::{Inner, Resident, Slot};

/// How often a collection that changed meanwhile is looked at again before it is left for another time.
const ATTEMPTS_MAX: usize = 5;

/// What came of comparing a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Memory says what the store says.
    Equal,
    /// It did not, in these parts; by now it does.
    Different(Vec<&'static str>),
    /// It changed all the time, so that there was nothing to compare.
    Unsettled,
    /// There is no memory for it a second time.
    NoRoom,
    /// It is not resident any more.
    Gone,
}

impl Verdict {
    /// As metrics and programs know it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Different(_) => "different",
            Self::Unsettled => "unsettled",
            Self::NoRoom => "no_room",
            Self::Gone => "gone",
        }
    }
}

impl Resident {
    /// The resident collections, in the order in which they are compared.
    pub(crate) fn keys(&self) -> Vec<CollectionKey> {
        let mut keys = self.0.slots.keys();
        keys.sort_unstable();
        keys
    }

    /// The resident collection that comes after another, the first one after the last.
    pub(crate) fn next_key(&self, after: Option<CollectionKey>) -> Option<CollectionKey> {
        let keys = self.0.slots.keys();
        let next = keys.iter().filter(|key| after.is_none_or(|after| **key > after)).min();
        next.or_else(|| keys.iter().min()).copied()
    }

    /// Compares a resident collection with what is stored of it, and puts it right.
    pub(crate) async fn check(&self, key: CollectionKey) -> Result<Verdict, StoreError> {
        let verdict = match self.0.slots.get(&key) {
            Some(slot) => self.0.check(&slot).await?,
            None => Verdict::Gone,
        };
        self.0.metrics.checks.note(verdict.word());
        if let Verdict::Different(parts) = &verdict {
            for part in parts {
                self.0.metrics.checks.note_difference(part);
            }
            let (chain, contract, parts) = (key.chain, key.address, parts.join(", "));
            tracing::error!(%chain, %contract, parts, "a resident collection said what the store does not: loaded anew");
        }
        Ok(verdict)
    }
}

impl Inner {
    async fn check(&self, slot: &Arc<Slot>) -> Result<Verdict, StoreError> {
        if !self.budget.has_room_for(slot.share().bytes()) {
            return Ok(Verdict::NoRoom);
        }
        let LoadOutcome::Whole(fresh) = self.load_slot(slot.key(), slot.id(), &Arc::default()).await? else {
            return Ok(Verdict::NoRoom);
        };
        for _ in 0..ATTEMPTS_MAX {
            match self.compare(slot, &fresh).await? {
                Err(ChangedMeanwhile) => {}
                Ok(differences) if differences.is_empty() => {
                    // Nobody else has this one, and it is known to be right.
                    self.keep(&fresh, None).await;
                    return Ok(Verdict::Equal);
                }
                Ok(differences) => {
                    self.put_right(slot, fresh).await?;
                    return Ok(Verdict::Different(differences));
                }
            }
        }
        Ok(Verdict::Unsettled)
    }

    /// In what the collection that answers differs from the one that was just loaded, at the same version.
    async fn compare(
        &self,
        slot: &Arc<Slot>,
        fresh: &Arc<Slot>,
    ) -> Result<Result<Vec<&'static str>, ChangedMeanwhile>, StoreError> {
        self.catch_up(slot, None).await?;
        if !self.bring_forward(fresh).await? {
            return Ok(Err(ChangedMeanwhile));
        }
        self.catch_up(slot, Some(fresh.mark())).await?;
        slot.put_currencies(&self.currencies).await;
        let now = self.clock.now();
        let Some(digester) = begin(slot, fresh, now).await else { return Ok(Err(ChangedMeanwhile)) };
        let column = slot.read().has_order_of_names().then_some(Column::Name);
        drop(fresh.read_at(now, column).await);
        let (answering, fresh) = (Arc::clone(slot), Arc::clone(fresh));
        // Both of them: the digest of the one that was just loaded takes as long, and a thread that answers would wait.
        let digested = tokio::task::spawn_blocking(move || {
            let memory = digest(&answering, digester)?;
            Ok(memory.differences(&fresh.read().digest(now)))
        });
        digested.await.map_err(|_| StoreError::Closed)
    }

    /// Takes over what was stored since a collection was loaded, from the store and from nowhere else; whether there is room
    /// for that.
    pub(super) async fn bring_forward(&self, fresh: &Arc<Slot>) -> Result<bool, StoreError> {
        match self.store.changes(fresh.id(), fresh.mark()).await? {
            Some(changes) => fresh.apply(changes).await,
            None => match self.load_slot(fresh.key(), fresh.id(), &Arc::default()).await? {
                LoadOutcome::Whole(whole) => fresh.replace(whole).await,
                LoadOutcome::TooLarge | LoadOutcome::NoRoom => return Ok(false),
            },
        }
        fresh.put_currencies(&self.currencies).await;
        Ok(true)
    }

    /// Lets the collection that was just loaded answer from now on. Where it outgrew the memory there is meanwhile, none does:
    /// it is old, and so may be the other.
    async fn put_right(&self, slot: &Arc<Slot>, fresh: Arc<Slot>) -> Result<(), StoreError> {
        // Nobody brings the old one forward meanwhile, so that the new one is not behind it.
        let _following = slot.following().await;
        if self.bring_forward(&fresh).await? {
            slot.replace(fresh).await;
            slot.weigh(0);
        } else {
            self.unload(slot);
        }
        Ok(())
    }
}

/// Begins to look at the collection that answers, when it is of the same version and the same rates as the other. While
/// somebody brings it forward, it is of no version: what comes after this is noticed.
async fn begin(slot: &Arc<Slot>, fresh: &Slot, now: Timestamp) -> Option<Digester> {
    let _following = slot.following().await;
    let collection = slot.read_at(now, None).await;
    let is_same = slot.mark() == fresh.mark() && slot.has_rates_of(fresh);
    is_same.then(|| Digester::new(&collection, now))
}

/// Looks at a collection step by step.
fn digest(slot: &Slot, mut digester: Digester) -> Result<Digest, ChangedMeanwhile> {
    loop {
        if let Some(digest) = digester.step(&slot.read())? {
            return Ok(digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bourse_store::testing::{TestDatabase, batch};
    use bourse_store::{Change, OpenOptions, Store};
    use bourse_wire::{ChainId, ServiceName, TokenId};

    use bourse_budget::Budget;

    use super::super::MemoryLimits;
    use super::*;
    use crate::clock::Clock;
    use crate::door::RefusalCounters;
    use crate::metrics::Metrics;

    const BYTES_MAX: usize = 100_000;

    /// A collection outgrows the memory there is after it was loaded to be compared. What was loaded is old by then.
    #[tokio::test]
    async fn what_outgrew_memory_while_it_was_compared_is_not_answered_from() {
        let database = TestDatabase::fresh().await.unwrap();
        // Nothing can be followed: whoever is behind loads everything.
        let options = OpenOptions { changes_kept: 0, ..OpenOptions::default() };
        let store = Store::open(&database.url, options, Timestamp::ZERO).await.unwrap();
        let address = "0x00000000000000000000000000000000000000aa".parse().unwrap();
        let key = CollectionKey { chain: ChainId(137), address };
        let put = async |name: &str| {
            let metadata = format!(r#"{{"tokenId":"1","name":"{name}"}}"#);
            let token = Change::Token { token_id: TokenId::from(1), metadata };
            store.commit(batch(key, vec![token])).await.unwrap();
        };
        put("small").await;
        let limits = MemoryLimits {
            budget: Budget::new(BYTES_MAX),
            loads_max: 2,
            patience: Duration::MAX,
            kept: None,
            replica: None,
        };
        let service = ServiceName::new("bourse");
        let metrics = Metrics::new(RefusalCounters::default(), None).resident;
        let resident =
            Resident::open(limits, store.clone(), Clock::system(), service, metrics).await.unwrap();
        assert!(resident.find(key).await.is_ok());
        let inner = &resident.0;
        let slot = inner.slots.get(&key).unwrap();
        let LoadOutcome::Whole(fresh) = inner.load_slot(key, slot.id(), &Arc::default()).await.unwrap()
        else {
            panic!("small")
        };
        put(&"large".repeat(BYTES_MAX)).await;
        inner.put_right(&slot, fresh).await.unwrap();
        assert!(!inner.slots.holds(&key, &slot), "what is old is not resident");
        assert!(matches!(resident.find(key).await, Ok(super::super::Residence::Stored(_))));
    }
}
