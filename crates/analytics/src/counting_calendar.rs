//! The day under which names of batches and ids of events are remembered. What was forgotten counts again when it is sent again,
//! so that no step of a clock may forget anything: the calendar goes on with the time that passes, and no quicker.

use std::time::Duration;

use bourse_wire::Day;

const DAY: Duration = Duration::from_hours(24);

/// Days that nothing may be counted on without the clock being thought to be wrong.
const NEAR_DAYS: i32 = 7;

/// The calendar of one project.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingCalendar {
    /// The latest day under which something is remembered.
    latest: Option<Day>,
    /// That day when this process first knew of it, and how much time had passed by then.
    begun: Option<(Day, Duration)>,
}

impl CountingCalendar {
    /// Takes over the latest day that is stored.
    pub fn learn(&mut self, stored: Option<Day>, passed: Duration) {
        let Some(stored) = stored else { return };
        self.latest = self.latest.max(Some(stored));
        self.begun.get_or_insert((stored, passed));
    }

    /// The day by the clock, as far as it can be believed: not before what is remembered, and after what was remembered at
    /// first no more days than have passed. One more is believed of a clock that is not far off, as a day may have begun since,
    /// or between two runs of a process.
    pub fn day(&self, today: Day, passed: Duration) -> Day {
        let Some((begun, begun_at)) = self.begun else { return today };
        let days = passed.saturating_sub(begun_at).as_secs() / DAY.as_secs();
        let latest = self.latest.unwrap_or(begun);
        let is_near = today.number().saturating_sub(latest.number()) <= NEAR_DAYS;
        let days = i32::try_from(days).unwrap_or(i32::MAX).saturating_add(i32::from(is_near));
        let possible = Day::from_number(begun.number().saturating_add(days));
        today.min(possible).max(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: i32) -> Day {
        Day::from_number(number)
    }

    #[test]
    fn a_clock_that_jumps_does_not_move_it() {
        let mut calendar = CountingCalendar::default();
        assert_eq!(calendar.day(day(100), Duration::ZERO), day(100), "nothing is remembered");
        calendar.learn(Some(day(100)), Duration::ZERO);
        assert_eq!(calendar.day(day(100), DAY * 9), day(100));
        assert_eq!(calendar.day(day(400), Duration::ZERO), day(100));
        assert_eq!(calendar.day(day(50), Duration::ZERO), day(100));
        assert_eq!(calendar.day(day(101), Duration::ZERO), day(101));
        assert_eq!(calendar.day(day(107), Duration::ZERO), day(101));
        // However often something is counted by then.
        calendar.learn(Some(day(101)), DAY / 2);
        assert_eq!(calendar.day(day(107), DAY / 2), day(101));
        assert_eq!(calendar.day(day(107), DAY), day(102));
        // Others may be further.
        calendar.learn(Some(day(110)), DAY);
        assert_eq!(calendar.day(day(400), DAY), day(110));
    }

    #[test]
    fn it_goes_on_with_the_time_that_passes() {
        let mut calendar = CountingCalendar::default();
        calendar.learn(Some(day(100)), DAY);
        // What is learned again was known before.
        calendar.learn(Some(day(100)), DAY * 20);
        calendar.learn(None, DAY * 20);
        assert_eq!(calendar.day(day(130), DAY * 31), day(130));
        assert_eq!(calendar.day(day(131), DAY * 30 + DAY / 2), day(129));
    }
}
