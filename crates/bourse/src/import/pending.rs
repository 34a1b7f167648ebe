//! Records on their way into the store.

use std::collections::HashMap;

use bourse_store::{
    AudienceImport, Batch, Change, CollectionKey, Event, ProjectScope, Store, StoreError, UsageLine,
};
use bourse_wire::{Currency, ProjectId, Timestamp};

use super::record::Record;

/// Records that make a batch worth committing.
const RECORDS_MAX: u64 = 4_000;
/// Bytes of text that make a batch worth committing, however few records they are.
const BYTES_MAX: usize = 8 * 1024 * 1024;

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

    /// Takes a record; whether it is time to commit.
    pub(crate) fn add(&mut self, record: Record) -> bool {
        self.records += 1;
        match record {
            Record::Collection(key, change) => {
                if let Change::Token { metadata, .. } = &change {
                    self.bytes += metadata.len();
                }
                self.collections.entry(key).or_default().push(change);
            }
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
        for (collection, changes) in self.collections {
            changed += store.commit(Batch { collection, changes, key: None }).await?.changed;
        }
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
