//! What the wallets of a game do, the same in every run: they arrive on every day, more of them at the launch and at
//! weekends, come back less and less often, and do a few things on each day that they come.

use std::fmt;

use super::calendar::{is_weekend, label};
use bourse_random::Random;

/// The last day of every data set, 2025-12-31: far enough in the past that all days of retention have passed.
const LAST_DAY: u32 = 20_453;

const SEED: u64 = 0xc0_07_14_06;

/// How many events a wallet has on a day: the weight of 1, of 2, and so on.
const EVENTS: [u64; 6] = [30, 30, 20, 10, 6, 4];

/// The kinds of events with their weights.
const KINDS: [(Kind, u64); 4] =
    [(Kind::Session, 70), (Kind::Transaction, 20), (Kind::Buy, 6), (Kind::Sell, 4)];

/// How wallets come back: chances are out of this.
const CERTAIN: u64 = 1 << 16;

const DAY_SECONDS: u64 = 86_400;

/// Which events to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dataset {
    /// What it is called.
    pub(crate) name: &'static str,
    /// How many wallets arrive in all.
    pub(crate) wallets: u32,
    /// On how many days.
    pub(crate) days: u32,
    /// Of 1,000 wallets, those who come for a while, and those who stay. The others are seldom seen again.
    habits_permille: [u64; 2],
}

/// 200,000 wallets over half a year.
pub(crate) const SMALL: Dataset =
    Dataset { name: "small", wallets: 200_000, days: 180, habits_permille: [300, 120] };

/// The same with few wallets, to see that it works.
pub(crate) const TINY: Dataset = Dataset { name: "tiny", wallets: 20_000, ..SMALL };

/// The same with even fewer, for tests.
#[cfg(test)]
pub(super) const FEW: Dataset = Dataset { name: "few", wallets: 1_000, ..SMALL };

/// 5,000,000 wallets over a quarter.
pub(crate) const LARGE: Dataset =
    Dataset { name: "large", wallets: 5_000_000, days: 90, habits_permille: [40, 8] };

/// What a wallet did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Session,
    Transaction,
    Buy,
    Sell,
}

/// Something a wallet did on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    /// Which of the wallets, in the order in which they arrived.
    pub(super) wallet: u32,
    /// The second of the day.
    pub(super) second: u32,
    pub(super) kind: Kind,
}

/// All events of a day, in the order of time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) label: String,
    pub(super) events: Vec<Event>,
    /// Wallets with an event.
    pub(super) active: u64,
}

impl Dataset {
    /// The label of the first day.
    pub(super) fn first_label(self) -> String {
        label(self.day(0))
    }

    /// The label of the day before it.
    pub(super) fn label_before(self) -> String {
        label(self.day(0) - 1)
    }

    /// The label of the last day.
    pub(super) fn last_label(self) -> String {
        label(self.day(self.days - 1))
    }

    /// The labels of all days.
    pub(super) fn labels(self) -> impl Iterator<Item = String> {
        (self.day(0)..=LAST_DAY).map(label)
    }

    /// The days with their events, from the first on.
    pub(super) fn days(self) -> Days {
        let weights: Vec<u64> = (0..self.days).map(|index| arrival_weight(index, self.day(index))).collect();
        Days {
            dataset: self,
            random: Random::new(SEED),
            chances: HABITS.map(|habit| (0..self.days).map(|age| habit.chance(age.into())).collect()),
            weights,
            index: 0,
            wallets: Vec::new(),
        }
    }

    fn day(self, index: u32) -> u32 {
        LAST_DAY + 1 + index - self.days
    }
}

impl fmt::Display for Dataset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} wallets, {} days", self.wallets, self.days)
    }
}

/// How many arrive on a day, beside the other days. The launch wears off within weeks.
fn arrival_weight(index: u32, day: u32) -> u64 {
    let launch = 100 + 300 * 5 / (5 + u64::from(index));
    if is_weekend(day) { launch * 13 / 10 } else { launch }
}

/// How likely a wallet comes back, so many days after it arrived.
#[derive(Debug, Clone, Copy)]
struct Habit {
    percent: u64,
    /// Days after which it is half as likely.
    half_days: u64,
}

const HABITS: [Habit; 3] = [
    Habit { percent: 20, half_days: 3 },
    Habit { percent: 60, half_days: 20 },
    Habit { percent: 90, half_days: 200 },
];

impl Habit {
    fn chance(self, age: u64) -> u64 {
        if age == 0 {
            return CERTAIN;
        }
        CERTAIN * self.percent * self.half_days / (100 * (self.half_days + age))
    }
}

/// The days of a data set.
#[derive(Debug)]
pub(super) struct Days {
    dataset: Dataset,
    random: Random,
    /// By habit and by days since the arrival.
    chances: [Vec<u64>; 3],
    weights: Vec<u64>,
    index: u32,
    /// Those who have arrived: on which day, and their habit.
    wallets: Vec<(u32, u8)>,
}

impl Days {
    fn arrive(&mut self) {
        let days = usize::try_from(self.index).unwrap_or(usize::MAX).saturating_add(1);
        let until_now: u64 = self.weights.iter().take(days).sum();
        let arrived = u64::from(self.dataset.wallets) * until_now / self.weights.iter().sum::<u64>();
        let [regular, loyal] = self.dataset.habits_permille;
        let shares = [1_000 - regular - loyal, regular, loyal];
        while u64::try_from(self.wallets.len()).unwrap_or(u64::MAX) < arrived {
            let habit = u8::try_from(self.random.weighted(&shares)).unwrap_or(0);
            self.wallets.push((self.index, habit));
        }
    }

    fn comes(&mut self, first: u32, habit: u8) -> bool {
        let age = usize::try_from(self.index - first).unwrap_or(usize::MAX);
        let chance = self.chances.get(usize::from(habit)).and_then(|chances| chances.get(age));
        self.random.below(CERTAIN) < chance.copied().unwrap_or(0)
    }
}

impl Iterator for Days {
    type Item = Day;

    fn next(&mut self) -> Option<Day> {
        if self.index == self.dataset.days {
            return None;
        }
        self.arrive();
        let (mut events, mut active) = (Vec::new(), 0);
        let wallets = std::mem::take(&mut self.wallets);
        for (wallet, (first, habit)) in (0..).zip(&wallets) {
            if !self.comes(*first, *habit) {
                continue;
            }
            active += 1;
            for _ in 0..=self.random.weighted(&EVENTS) {
                let second = u32::try_from(self.random.below(DAY_SECONDS)).unwrap_or(0);
                let kind = KINDS[self.random.weighted(&KINDS.map(|(_, weight)| weight))].0;
                events.push(Event { wallet, second, kind });
            }
        }
        self.wallets = wallets;
        events.sort_by_key(|event| event.second);
        let label = label(self.dataset.day(self.index));
        self.index += 1;
        Some(Day { label, events, active })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Day, Event, FEW, Kind, SMALL, TINY};

    #[test]
    fn the_same_every_time() {
        let days: Vec<Day> = FEW.days().collect();
        assert_eq!(days, FEW.days().collect::<Vec<_>>());
        assert_eq!(days.len(), 180);
        assert_eq!(days.first().map(|day| day.label.as_str()), Some("2025-07-05"));
        assert_eq!(days.last().map(|day| day.label.as_str()), Some("2025-12-31"));
        assert_eq!(
            FEW.labels().collect::<Vec<_>>(),
            days.iter().map(|day| day.label.clone()).collect::<Vec<_>>()
        );
    }

    #[test]
    fn every_wallet_comes_and_every_day_has_new_ones() {
        let mut seen = HashSet::new();
        for day in FEW.days() {
            let today: HashSet<u32> = day.events.iter().map(|event| event.wallet).collect();
            assert_eq!(day.active, today.len() as u64);
            assert!(day.events.is_sorted_by_key(|event| event.second));
            let known = seen.len();
            seen.extend(today);
            assert!(seen.len() > known, "nobody is new on {}", day.label);
        }
        assert_eq!(seen.len(), 1_000);
    }

    #[test]
    fn a_wallet_has_some_40_events_in_half_a_year_and_most_are_sessions() {
        let events: Vec<Event> = TINY.days().flat_map(|day| day.events).collect();
        let each = events.len() / 20_000;
        assert!((38..=42).contains(&each), "{each} events for each wallet of {SMALL}");
        let sessions = events.iter().filter(|event| event.kind == Kind::Session).count();
        assert!((68..=72).contains(&(sessions * 100 / events.len())));
    }
}
