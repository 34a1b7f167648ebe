//! When everything that changed was last taken over, so that answers from memory can say how old they may be.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::backend::Store;

/// What is in memory, each kept up to date by rounds of its own: one is not waited for by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InMemory {
    /// Collections and currencies.
    Records,
    /// What is counted.
    Counts,
}

/// The rounds of whoever keeps what is in memory up to date.
pub(crate) struct Rounds {
    since: Instant,
    /// When the last whole one of each began, in milliseconds since then: what was committed by that time is in memory.
    last: [AtomicU64; 2],
}

impl Default for Rounds {
    fn default() -> Self {
        Self { since: Instant::now(), last: Default::default() }
    }
}

/// A round under way.
#[derive(Clone, Copy, Debug)]
pub struct Round(u64);

impl Rounds {
    fn passed(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Store {
    /// Begins to take over whatever changed.
    pub fn begin_round(&self) -> Round {
        Round(self.rounds.passed())
    }

    /// Notes that a round is whole: everything of this that was committed before it began is taken over.
    pub fn end_round(&self, of: InMemory, round: Round) {
        let [records, counts] = &self.rounds.last;
        let last = match of {
            InMemory::Records => records,
            InMemory::Counts => counts,
        };
        last.fetch_max(round.0, Ordering::Relaxed);
    }

    /// How old what is in memory may be, while the database is away and nobody can tell.
    pub fn memory_age(&self) -> Option<Duration> {
        self.away_for()?;
        let [records, counts] = &self.rounds.last;
        let oldest = records.load(Ordering::Relaxed).min(counts.load(Ordering::Relaxed));
        let age = self.rounds.passed().saturating_sub(oldest);
        Some(Duration::from_millis(age))
    }
}
