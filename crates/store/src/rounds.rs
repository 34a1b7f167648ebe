//! When everything that changed was last taken over, so that answers from memory can say how old they may be.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::backend::Store;

/// The rounds of whoever keeps what is in memory up to date.
pub(crate) struct Rounds {
    since: Instant,
    /// When the last whole one began, in milliseconds since then: what was committed by that time is in memory.
    last: AtomicU64,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { since: Instant::now(), last: AtomicU64::new(0) }
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

    /// Notes that a round is whole: everything that was committed before it began is taken over.
    pub fn end_round(&self, round: Round) {
        self.rounds.last.fetch_max(round.0, Ordering::Relaxed);
    }

    /// How old what is in memory may be, while the database is away and nobody can tell.
    pub fn memory_age(&self) -> Option<Duration> {
        self.away_for()?;
        let age = self.rounds.passed().saturating_sub(self.rounds.last.load(Ordering::Relaxed));
        Some(Duration::from_millis(age))
    }
}
