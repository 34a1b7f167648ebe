//! Reading the logs of a range, in as large pieces as the node allows.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bourse_store::BlockFacts;
use bourse_wire::Address;

use super::facts::Reading;
use super::times::BlockTimes;
use crate::node::{Failure, LogFilter, Node, Span, SpanLogs, TimedLog};
use crate::pace::Pace;

/// How often a node is asked again before the failure is handed on.
const ATTEMPTS_MAX: u32 = 5;
/// How long to wait before asking again; each time doubles it.
const WAIT_FIRST: Duration = Duration::from_millis(250);

/// How many blocks are asked about at once: what the node last allowed, for everybody who reads this chain.
pub(crate) struct RangeSize {
    blocks: AtomicU64,
    /// The most that has not been refused lately.
    ceiling: AtomicU64,
    /// How many answers there were since a refusal.
    answers: AtomicU64,
    max: u64,
    logs_max: usize,
}

/// After so many answers a larger range is tried again: what was refused may have been about a dense part of the chain.
const ANSWERS_UNTIL_LARGER: u64 = 64;

impl RangeSize {
    /// Begins with `first` blocks, and never asks about more than `max`; fewer when answers have more than
    /// `logs_max` logs.
    pub(crate) fn new(first: u64, max: u64, logs_max: usize) -> Self {
        let max = max.max(1);
        let blocks = AtomicU64::new(first.clamp(1, max));
        Self { blocks, ceiling: AtomicU64::new(max), answers: AtomicU64::new(0), max, logs_max }
    }

    /// How many blocks to ask about.
    pub(crate) fn get(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    /// Takes that so many blocks gave so many logs.
    fn answered(&self, blocks: u64, logs: usize) {
        let answers = self.answers.fetch_add(1, Ordering::Relaxed) + 1;
        let mut ceiling = self.ceiling.load(Ordering::Relaxed);
        if answers.is_multiple_of(ANSWERS_UNTIL_LARGER) && ceiling < self.max {
            ceiling = ceiling.saturating_mul(2).min(self.max);
            self.ceiling.store(ceiling, Ordering::Relaxed);
        }
        let size = if logs >= self.logs_max {
            (blocks / 2).max(1)
        } else if logs < self.logs_max / 2 && blocks >= self.get() {
            blocks.saturating_mul(2).min(ceiling)
        } else {
            return;
        };
        self.blocks.store(size, Ordering::Relaxed);
    }

    /// Takes that so many blocks were refused; tells how many to ask about instead.
    fn refused(&self, blocks: u64, suggested: Option<u64>) -> u64 {
        let half = (blocks / 2).max(1);
        let size = suggested.filter(|size| *size < blocks).unwrap_or(half).clamp(1, self.max);
        self.blocks.store(size, Ordering::Relaxed);
        self.ceiling.store(suggested.map_or(blocks - 1, |_| size).max(1), Ordering::Relaxed);
        self.answers.store(0, Ordering::Relaxed);
        size
    }
}

/// What a range states.
pub(crate) struct ReadRange {
    /// The last block that this is about; before the end of the range when there were too many logs for one piece.
    pub(crate) to: u64,
    /// The blocks that state something.
    pub(crate) blocks: Vec<BlockFacts>,
}

/// Logs of a range, up to the block that the reading came to.
pub(crate) struct RangeLogs {
    pub(crate) to: u64,
    pub(crate) logs: Vec<TimedLog>,
}

/// Reads ranges of one chain.
pub(crate) struct Ranges {
    pub(crate) size: RangeSize,
    pub(crate) times: BlockTimes,
}

impl Ranges {
    /// What a range states of one collection.
    pub(crate) async fn read<N: Node, P: Pace>(
        &self,
        reading: &Reading<N, P>,
        collection: Address,
        range: RangeInclusive<u64>,
    ) -> Result<ReadRange, Failure> {
        let filters = reading.collection_filters(collection);
        let RangeLogs { to, logs } = self.logs(reading, range, &filters).await?;
        let blocks = self.times.blocks_of(&*reading.node, &logs).await?;
        let mut facts = reading.facts(&blocks, &logs, &HashSet::from([collection]), false).await?;
        facts.retain(|entry| !entry.facts.is_empty());
        Ok(ReadRange { to, blocks: facts })
    }

    /// The logs of a range from its beginning on, until its end or until there are many.
    pub(crate) async fn logs<N: Node, P: Pace>(
        &self,
        reading: &Reading<N, P>,
        range: RangeInclusive<u64>,
        filters: &[LogFilter],
    ) -> Result<RangeLogs, Failure> {
        let (mut next, to) = range.into_inner();
        let (mut size, mut failures) = (self.size.get(), 0);
        let mut logs = Vec::new();
        while next <= to {
            let last = to.min(next.saturating_add(size - 1));
            let asked = last - next + 1;
            match reading.node.logs(Span::Range { from: next, to: last }, filters).await {
                Ok(SpanLogs { logs: found, .. }) => {
                    check(&found, next, last)?;
                    self.size.answered(asked, found.len());
                    logs.extend(found);
                    next = last + 1;
                    failures = 0;
                    if logs.len() >= self.size.logs_max {
                        break;
                    }
                }
                Err(Failure::SmallerRange { suggested, .. }) if asked > 1 => {
                    size = self.size.refused(asked, suggested);
                }
                Err(Failure::SmallerRange { reason, .. }) => {
                    return Err(Failure::retry(format!("block {next} alone is refused: {reason}")));
                }
                Err(Failure::Retry { after, reason }) => {
                    failures += 1;
                    if failures >= ATTEMPTS_MAX {
                        return Err(Failure::Retry { after, reason });
                    }
                    let wait = WAIT_FIRST * 2_u32.pow(failures - 1);
                    reading.pace.sleep(after.unwrap_or(wait).max(wait)).await;
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(RangeLogs { to: next - 1, logs })
    }
}

fn check(logs: &[TimedLog], from: u64, to: u64) -> Result<(), Failure> {
    match logs.iter().find(|timed| !(from..=to).contains(&timed.log.block_number)) {
        None => Ok(()),
        Some(timed) => {
            let number = timed.log.block_number;
            Err(Failure::retry(format!("asked about blocks {from} to {to}, the node told of {number}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_what_the_node_allows() {
        let size = RangeSize::new(1000, 4000, 100);
        size.answered(1000, 3);
        assert_eq!(size.get(), 2000);
        size.answered(2000, 3);
        size.answered(4000, 3);
        assert_eq!(size.get(), 4000);
        assert_eq!(size.refused(4000, Some(800)), 800);
        assert_eq!(size.refused(800, None), 400);
        // A suggestion that is no smaller is none.
        assert_eq!(size.refused(400, Some(10_000)), 200);
        // A range at the end that happens to be short says nothing about larger ones.
        size.answered(7, 3);
        assert_eq!(size.get(), 200);
        size.answered(200, 60);
        assert_eq!(size.get(), 200);
        size.answered(200, 100);
        assert_eq!(size.get(), 100);
        assert_eq!(size.refused(1, None), 1);
    }

    #[test]
    fn what_was_refused_is_not_tried_again_at_once() {
        let size = RangeSize::new(4000, 100_000, 100);
        assert_eq!(size.refused(4000, Some(1000)), 1000);
        for _ in 1..ANSWERS_UNTIL_LARGER {
            size.answered(size.get(), 0);
            assert_eq!(size.get(), 1000);
        }
        size.answered(1000, 0);
        assert_eq!(size.get(), 2000);
        assert_eq!(size.refused(2000, None), 1000);
        size.answered(1000, 0);
        assert_eq!(size.get(), 1999);
    }
}
