//! A count for each hour of the last day.

use std::sync::atomic::{AtomicU64, Ordering};

use bourse_wire::Timestamp;

/// Hours that are remembered, the current one included.
pub const HOURS: usize = 24;
/// Bits of a cell that count; those above tell of which hour it is.
const COUNT_BITS: u32 = 40;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// Counts by hour. A cell is used again a day later: it says itself of which hour it is, so that nobody has to sweep.
#[derive(Default)]
pub(super) struct Hours([AtomicU64; HOURS]);

/// The hour that an instant is in, counted from 1970 on.
pub(super) fn hour_of(at: Timestamp) -> u64 {
    u64::try_from(at.unix_seconds()).unwrap_or_default() / 3600
}

impl Hours {
    /// Counts one more: an addition, except for the first of an hour.
    pub(super) fn add(&self, hour: u64) {
        let cell = self.cell(hour);
        if cell.load(Ordering::Relaxed) >> COUNT_BITS == hour {
            cell.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let next =
            |seen: u64| Some(if seen >> COUNT_BITS == hour { seen + 1 } else { (hour << COUNT_BITS) | 1 });
        // The closure never declines, so this cannot fail.
        let _ = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }

    /// The counts of the hours up to this one, the oldest first.
    pub(super) fn up_to(&self, hour: u64) -> [u64; HOURS] {
        std::array::from_fn(|index| {
            let Some(asked) = (hour + 1 + index as u64).checked_sub(HOURS as u64) else { return 0 };
            let seen = self.cell(asked).load(Ordering::Relaxed);
            if seen >> COUNT_BITS == asked { seen & COUNT_MASK } else { 0 }
        })
    }

    /// Whether nothing was counted in the last day.
    pub(super) fn is_quiet(&self, hour: u64) -> bool {
        self.up_to(hour).iter().all(|count| *count == 0)
    }

    fn cell(&self, hour: u64) -> &AtomicU64 {
        // The remainder is below the length of the array, whatever the hour.
        &self.0[usize::try_from(hour % HOURS as u64).unwrap_or_default()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_told_apart_and_forgotten_after_a_day() {
        let hours = Hours::default();
        for (hour, times) in [(1000, 2), (1001, 3), (1023, 1)] {
            for _ in 0..times {
                hours.add(hour);
            }
        }
        let mut expected = [0; HOURS];
        (expected[0], expected[1], expected[23]) = (2, 3, 1);
        assert_eq!(hours.up_to(1023), expected);
        assert_eq!(hours.up_to(1024)[..2], [3, 0], "the first hour is out");
        hours.add(1024);
        assert_eq!(hours.up_to(1024)[23], 1, "its cell counts anew");
        assert!(!hours.is_quiet(1046) && hours.is_quiet(1048));
        assert_eq!(Hours::default().up_to(3), [0; HOURS]);
    }

    #[test]
    fn threads_lose_no_count() {
        let hours = Hours::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| hours.add(7)));
            }
        });
        assert_eq!(hours.up_to(7)[23], 4000);
    }
}
