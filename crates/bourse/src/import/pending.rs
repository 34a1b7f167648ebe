//! Records on their way into the store.

use std::collections::HashMap;

use bourse_store::{
    AudienceImport, Batch, Change, CollectionKey, Event, ProjectScope, Store, StoreError, UsageLine,
};
use bourse_wire::{Currency, ProjectId, Timestamp};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::record::Record;

/// Records that make a batch worth committing.
const RECORDS_MAX: u64 = 4_000;
/// Bytes of text that make a batch worth committing, however few records they are.
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// Collections that are committed at the same time.
const COMMITS_AT_ONCE: usize = 8;

/// Records grouped by what they are committed together with.
#[derive(Default)]
pub(crate) struct Pending {
    records: u64,
    bytes: usize,
    collections: HashMap<CollectionKey, Vec<Change>>,
    currencies: Vec<Currency>,
    events: HashMap<ProjectId, Vec<Event>>,
    usage: HashMap<ProjectId, Vec<UsageLine>>,
    audiences: Vec<(ProjectId, AudienceImport)>,
}

impl Pending {
    /// How many records wait.
    pub(crate) fn len(&self) -> u64 {
        self.records
    }

    /// Takes a record that was so many bytes of text; whether it is time to commit.
    pub(crate) fn add(&mut self, record: Record, bytes: usize) -> bool {
        self.records += 1;
        self.bytes += bytes;
        match record {
            Record::Collection(key, change) => self.collections.entry(key).or_default().push(change),
            Record::Currency(currency) => self.currencies.push(currency),
            Record::Event(project, event) => self.events.entry(project).or_default().push(event),
            Record::Usage(project, line) => self.usage.entry(project).or_default().push(line),
            Record::Audience(project, audience) => self.audiences.push((project, audience)),
        }
        self.records >= RECORDS_MAX || self.bytes >= BYTES_MAX
    }

    /// Commits everything; how many records are different now.
    pub(crate) async fn commit(self, store: &Store, now: Timestamp) -> Result<u64, StoreError> {
        let mut changed = 0;
        if !self.currencies.is_empty() {
            changed += store.put_currencies(self.currencies).await?;
        }
        // Several at once, so that they share their way to the disk.
        changed += stream::iter(self.collections)
            .map(|(collection, changes)| store.commit(Batch { collection, changes, key: None }))
            .buffer_unordered(COMMITS_AT_ONCE)
            .try_fold(0, async |sum, committed| Ok(sum + committed.changed))
            .await?;
        for (project, events) in self.events {
            changed += store.put_events(ProjectScope::of_operator(project), events).await?;
        }
        for (project, lines) in self.usage {
            changed += store.put_usage(ProjectScope::of_operator(project), lines).await?;
        }
        for (project, audience) in self.audiences {
            changed += store.import_audience(ProjectScope::of_operator(project), audience, now).await?;
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use bourse_wire::{Address, ChainId};

    use super::*;

    #[test]
    fn large_records_of_any_type_make_a_batch_full() {
        let collection = CollectionKey { chain: ChainId(1), address: Address::default() };
        let contract = || Record::Collection(collection, Change::Contract("{}".to_owned()));
        let mut pending = Pending::default();
        assert!(!pending.add(contract(), BYTES_MAX - 1));
        assert!(pending.add(contract(), 1));
        let mut pending = Pending::default();
        let filled = (1..=RECORDS_MAX).find(|_| pending.add(contract(), 0));
        assert_eq!(filled, Some(RECORDS_MAX));
    }
}
