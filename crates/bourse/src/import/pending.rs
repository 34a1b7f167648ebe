//! Records on their way into the store.

use std::collections::HashMap;

use bourse_server::counting::{CountingHouse, EventBatch, TrackedEvent};
use bourse_server::ingest::Rejection;
use bourse_store::{
    Actor, AudienceImport, Author, Batch, Change, CollectionKey, Committed, ProjectScope, Store, UsageLine,
};
use bourse_wire::{Currency, OrderKey, OrderStatus, ProjectId, Timestamp};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::record::Record;
use crate::context::CommandError;

/// Weight of records that makes a batch worth committing. Batches of events are known again by what is in them: cut in
/// other places, a file that was imported before would count again.
const WEIGHT_MAX: u64 = 100_000;
/// An event rewrites sets of its day that it shares with many others: the more together, the less for each.
const EVENT_WEIGHT: u64 = 1;
/// Anything else has a row of its own.
const ROW_WEIGHT: u64 = 25;
/// Bytes of text that make a batch worth committing, however few records they are.
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// Collections that are committed at the same time.
const COMMITS_AT_ONCE: usize = 8;

/// What became of records that were committed.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    /// How many are different now.
    pub(crate) changed: u64,
    /// Why others were not taken.
    pub(crate) refused: Vec<String>,
}

/// Records grouped by what they are committed together with.
#[derive(Default)]
pub(crate) struct Pending {
    records: u64,
    weight: u64,
    bytes: usize,
    collections: HashMap<CollectionKey, Vec<Change>>,
    currencies: Vec<Currency>,
    events: HashMap<ProjectId, Vec<TrackedEvent>>,
    usage: HashMap<ProjectId, Vec<UsageLine>>,
    audiences: Vec<(ProjectId, AudienceImport)>,
}

impl Pending {
    /// How many records wait.
    pub(crate) fn len(&self) -> u64 {
        self.records
    }

    /// Whether there are events among them.
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Takes a record that was so many bytes of text; whether it is time to commit.
    pub(crate) fn add(&mut self, record: Record, bytes: usize) -> bool {
        self.records += 1;
        self.weight += if matches!(record, Record::Event(..)) { EVENT_WEIGHT } else { ROW_WEIGHT };
        self.bytes += bytes;
        match record {
            Record::Collection(key, change) => self.collections.entry(key).or_default().push(change),
            Record::Currency(currency) => self.currencies.push(currency),
            Record::Event(project, event) => self.events.entry(project).or_default().push(event),
            Record::Usage(project, line) => self.usage.entry(project).or_default().push(line),
            Record::Audience(project, audience) => self.audiences.push((project, audience)),
        }
        self.weight >= WEIGHT_MAX || self.bytes >= BYTES_MAX
    }

    /// Takes out orders that are said to be something although their makers signed what they are; tells of each.
    pub(crate) async fn refuse_signed(&mut self, store: &Store) -> Result<Vec<String>, CommandError> {
        let mut refused = Vec::new();
        for (key, changes) in &mut self.collections {
            let plain: Vec<OrderKey> = changes.iter().filter_map(stated_order).collect();
            let Some(id) = store.collection(*key).await?.filter(|_| !plain.is_empty()) else { continue };
            let signed = store.signed_of(id, plain).await?;
            changes.retain(|change| {
                let Some(order) = stated_order(change).filter(|order| signed.contains(order)) else {
                    return true;
                };
                refused.push(Rejection::signed_by_maker(&order.order_id).message);
                false
            });
        }
        self.records -= refused.len() as u64;
        Ok(refused)
    }

    /// Commits everything.
    pub(crate) async fn commit(
        self,
        store: &Store,
        house: &CountingHouse,
        now: Timestamp,
    ) -> Result<Imported, CommandError> {
        let mut changed = 0;
        let mut refused = Vec::new();
        if !self.currencies.is_empty() {
            changed += store.put_currencies(self.currencies, Actor::command_line(now)).await?;
        }
        // Several at once, so that they share their way to the disk.
        let committed: Vec<Committed> = stream::iter(self.collections)
            .map(|(collection, changes)| {
                store.commit(Batch { collection, changes, key: None, author: Author::Operator, at: now })
            })
            .buffer_unordered(COMMITS_AT_ONCE)
            .try_collect()
            .await?;
        for commit in committed {
            changed += commit.changed;
            let reason = |order: OrderKey| Rejection::signed_by_maker(&order.order_id).message;
            refused.extend(commit.refused.into_iter().map(reason));
        }
        for (project, events) in self.events {
            let batch = EventBatch::of_content(events);
            let tracked = house.track(ProjectScope::of_operator(project), batch, now).await;
            changed += tracked.map_err(|error| CommandError::Other(error.to_string()))?.counted as u64;
        }
        for (project, lines) in self.usage {
            changed += store.put_usage(ProjectScope::of_operator(project), lines).await?;
        }
        for (project, audience) in self.audiences {
            changed += store.import_audience(ProjectScope::of_operator(project), audience, now).await?;
        }
        Ok(Imported { changed, refused })
    }
}

/// An order that a change says is open, and of which nothing was signed there. What our own contracts keep nobody signs.
fn stated_order(change: &Change) -> Option<OrderKey> {
    match change {
        Change::Order(order) if order.status == OrderStatus::Active && !order.marketplace.is_own() => {
            Some(order.key())
        }
        _ => None,
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
        let filled = (1..=WEIGHT_MAX).find(|_| pending.add(contract(), 0));
        assert_eq!(filled, Some(WEIGHT_MAX / ROW_WEIGHT));
    }
}
