//! What older blocks state, of collections that are not live yet.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use bourse_store::{Followed, History, HistoryCommitted};
use bourse_wire::Address;
use futures_util::future::{Either, select, select_all};
use tokio::task::{JoinError, JoinHandle};

use super::ranges::ReadRange;
use super::{Books, FollowError, FollowState, Follower};
use crate::node::{Failure, Node};
use crate::pace::Pace;

/// The ranges of one collection that are being read ahead, in order and without gaps.
#[derive(Default)]
pub(super) struct Pipeline {
    slots: VecDeque<Slot>,
}

/// A range that is being read.
struct Slot {
    from: u64,
    to: u64,
    task: Task,
}

/// A task that ends with whoever waits for it.
struct Task(JoinHandle<Result<ReadRange, Failure>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Pipeline {
    /// The first block that is not being read yet, when something is.
    fn planned(&self) -> Option<u64> {
        self.slots.back().map(|slot| slot.to + 1)
    }
}

impl<N: Node, B: Books, P: Pace> Follower<N, B, P> {
    /// Reads and commits ranges until there are none, or a poll or a renewal is due; tells whether there is more.
    pub(super) async fn history(&self, known: &mut FollowState) -> Result<bool, FollowError> {
        let began = self.reading.pace.passed();
        let mut failed: Option<Failure> = None;
        known.pipelines.retain(|address, pipeline| {
            let followed = known.followed.iter().find(|followed| followed.key.address == *address);
            followed.is_some_and(|followed| {
                let is_read = !followed.live && !known.away.lost.contains(&followed.id);
                is_read && pipeline.slots.front().is_none_or(|slot| slot.from == followed.next_block)
            })
        });
        while known.followed_at.is_some() {
            if failed.is_none() {
                self.plan(known);
            }
            let passed = self.reading.pace.passed().saturating_sub(began);
            let left = self.spell().saturating_sub(passed);
            if left.is_zero() {
                break;
            }
            let Some((address, read)) = self.first_read(known, left).await else { break };
            let slot = known.pipelines.get_mut(&address).and_then(|pipeline| pipeline.slots.pop_front());
            let Some(slot) = slot else { break };
            match read {
                Ok(Ok(range)) => self.commit_range(known, address, &slot, range).await?,
                Ok(Err(failure)) => {
                    tracing::debug!(%address, %failure, "a range could not be read");
                    known.pipelines.remove(&address);
                    failed = Some(failure);
                }
                Err(error) => {
                    known.pipelines.remove(&address);
                    failed = Some(Failure::retry(format!("a range could not be read: {error}")));
                }
            }
        }
        match failed {
            Some(failure) => Err(failure.into()),
            None => Ok(known.pipelines.values().any(|pipeline| !pipeline.slots.is_empty())),
        }
    }

    /// Begins to read ranges, as many as are read at the same time, by turns for each collection.
    fn plan(&self, known: &mut FollowState) {
        let Some(end) = known.window.oldest().checked_sub(1) else { return };
        let is_behind = |followed: &&Followed| {
            !followed.live && followed.next_block <= end && !known.away.lost.contains(&followed.id)
        };
        let behind: Vec<Followed> =
            known.followed.iter().filter(is_behind).take(self.options.collections_at_once).copied().collect();
        let mut reading: usize = known.pipelines.values().map(|pipeline| pipeline.slots.len()).sum();
        loop {
            let mut is_full = true;
            for followed in &behind {
                let pipeline = known.pipelines.entry(followed.key.address).or_default();
                let from = pipeline.planned().unwrap_or(followed.next_block);
                if reading >= self.options.ranges_at_once || from > end {
                    continue;
                }
                let to = end.min(from.saturating_add(self.ranges.size.get() - 1));
                pipeline.slots.push_back(self.read_ahead(followed.key.address, from, to));
                (reading, is_full) = (reading + 1, false);
            }
            if is_full {
                return;
            }
        }
    }

    fn read_ahead(&self, address: Address, from: u64, to: u64) -> Slot {
        let (ranges, reading) = (Arc::clone(&self.ranges), Arc::clone(&self.reading));
        let task = tokio::spawn(async move { ranges.read(&reading, address, from..=to).await });
        Slot { from, to, task: Task(task) }
    }

    /// The first range of any collection that is read, unless it takes longer than `left`.
    async fn first_read(
        &self,
        known: &mut FollowState,
        left: std::time::Duration,
    ) -> Option<(Address, Result<Result<ReadRange, Failure>, JoinError>)> {
        let fronts = known.pipelines.iter_mut().filter_map(|(address, pipeline)| {
            let slot = pipeline.slots.front_mut()?;
            Some(Box::pin(async { (*address, (&mut slot.task.0).await) }))
        });
        let fronts: Vec<_> = fronts.collect();
        if fronts.is_empty() {
            return None;
        }
        let late = pin!(self.reading.pace.sleep(left));
        match select(select_all(fronts), late).await {
            Either::Left(((read, _, _), _)) => Some(read),
            Either::Right(_) => None,
        }
    }

    async fn commit_range(
        &self,
        known: &mut FollowState,
        address: Address,
        slot: &Slot,
        range: ReadRange,
    ) -> Result<(), FollowError> {
        let followed = known.followed.iter().find(|followed| followed.key.address == address).copied();
        let Some(followed) = followed else { return Ok(()) };
        let history = History {
            collection: followed.key,
            from: slot.from,
            to: range.to,
            blocks: range.blocks,
            window: self.options.window,
        };
        match self.commit_history(known, &followed, history).await? {
            None => drop(known.pipelines.remove(&address)),
            Some(HistoryCommitted::Done { live, .. }) => {
                if let Some(entry) = known.followed.iter_mut().find(|entry| entry.id == followed.id) {
                    (entry.next_block, entry.live) = (range.to + 1, live);
                }
                // The rest of a range with too many logs comes before what is read ahead already.
                if let Some(pipeline) = known.pipelines.get_mut(&address).filter(|_| range.to < slot.to) {
                    pipeline.slots.push_front(self.read_ahead(address, range.to + 1, slot.to));
                }
            }
            Some(HistoryCommitted::Stale | HistoryCommitted::Forked) => {
                known.pipelines.remove(&address);
                known.followed_at = None;
            }
        }
        Ok(())
    }
}
