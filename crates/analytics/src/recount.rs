//! Counting again: whether charts have what is known to have been counted.

use std::collections::BTreeMap;
use std::fmt;

use bourse_wire::{Address, Day};
use hashbrown::HashSet;

use crate::changes::{Event, EventDetail};
use crate::counters::Counters;
use crate::presence::DaySet;
use crate::project::Project;
use crate::wallets::Wallets;

/// What charts lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// Of which day.
    pub day: Day,
    /// Events that are known of and not counted.
    pub events: u64,
    /// Wallets that are not in a set of the day that they belong into.
    pub wallets: u64,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { day, events, wallets } = self;
        write!(f, "{day} lacks {events} events and {wallets} wallets")
    }
}

/// Counts again events that were counted, which may come in parts, as they may be many. A day may have more events than those:
/// they are not kept for good. Those of forgotten wallets must not be among them.
#[derive(Debug, Default)]
pub struct Recount {
    days: BTreeMap<i32, DayRecount>,
    /// Wallets that were not in a set of a day when their events came.
    missing: HashSet<(i32, DaySet, Address)>,
}

/// How many events of a day are known.
#[derive(Debug, Default)]
struct DayRecount {
    events: u64,
    transactions: u64,
    market: u64,
}

impl Recount {
    /// Takes in an event. What the charts lack of it they may only not have got yet.
    pub fn add(&mut self, charts: &Project, wallets: &Wallets, event: Event<'_>) {
        let day = event.day.number();
        let recount = self.days.entry(day).or_default();
        recount.events += 1;
        let set = match event.detail {
            EventDetail::Session => DaySet::Active,
            EventDetail::Transaction => {
                recount.transactions += 1;
                DaySet::Sent
            }
            EventDetail::Market(_) => {
                recount.market += 1;
                DaySet::Market
            }
        };
        if !charts.has(set, day, wallets, event.wallet) {
            self.missing.insert((day, set, event.wallet));
        }
    }

    /// Of how many days there were events.
    pub fn days(&self) -> usize {
        self.days.len()
    }

    /// What charts lack that are no older than any event that came.
    pub fn shortfalls(&self, charts: &Project, wallets: &Wallets) -> Vec<Shortfall> {
        let mut lacking: BTreeMap<i32, u64> = BTreeMap::new();
        for (day, set, wallet) in &self.missing {
            *lacking.entry(*day).or_default() += u64::from(!charts.has(*set, *day, wallets, *wallet));
        }
        let shortfall = |(day, recount): (&i32, &DayRecount)| {
            let none = Counters::default();
            let counted = charts.counters(*day).unwrap_or(&none);
            // What is missing of one kind is not made up for by another.
            let transactions = recount.transactions.saturating_sub(counted.transactions);
            let market = recount.market.saturating_sub(counted.market());
            let events = recount.events.saturating_sub(counted.events).max(transactions + market);
            let wallets = lacking.get(day).copied().unwrap_or_default();
            let shortfall = Shortfall { day: Day::from_number(*day), events, wallets };
            (events > 0 || wallets > 0).then_some(shortfall)
        };
        self.days.iter().filter_map(shortfall).collect()
    }
}

impl Project {
    /// Whether a wallet is in a set of a day. Whoever is in any of them was active.
    fn has(&self, set: DaySet, day: i32, wallets: &Wallets, wallet: Address) -> bool {
        let Some(number) = wallets.find(wallet.bytes()) else { return false };
        let [part, number] = [number >> 16, number & 0xffff].map(u16::try_from);
        let (Ok(part), Ok(number)) = (part, number) else { return false };
        let Some(column) = self.column(part) else { return false };
        let presence = column.day(day);
        [set, DaySet::Active].iter().all(|set| presence.set(*set).contains(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(wallet: u8, day: i32, detail: EventDetail<'static>) -> Event<'static> {
        Event { wallet: Address::from_bytes([wallet; 20]), day: Day::from_number(day), detail }
    }

    fn count(charts: &mut Project, wallets: &mut Wallets, events: &[Event<'_>]) {
        let changes = charts.prepare(wallets, events.iter().copied()).unwrap();
        charts.publish(wallets, changes).unwrap();
    }

    const EVENTS: [(u8, i32, EventDetail<'static>); 4] = [
        (1, 10, EventDetail::Session),
        (1, 10, EventDetail::Transaction),
        (2, 10, EventDetail::Market(Some("buy"))),
        (2, 11, EventDetail::Session),
    ];

    fn events() -> [Event<'static>; 4] {
        EVENTS.map(|(wallet, day, detail)| event(wallet, day, detail))
    }

    /// What charts of all events lack of others.
    fn lacking(others: &[Event<'_>]) -> Vec<Shortfall> {
        let (mut charts, mut wallets, mut recount) =
            (Project::default(), Wallets::default(), Recount::default());
        count(&mut charts, &mut wallets, &events());
        for event in others {
            recount.add(&charts, &wallets, *event);
        }
        recount.shortfalls(&charts, &wallets)
    }

    #[test]
    fn what_was_counted_is_found_and_what_was_not_is_told() {
        assert_eq!(lacking(&events()), []);
        assert_eq!(lacking(&events()[1..]), [], "not all are kept");
        let short = |day, events, wallets| [Shortfall { day: Day::from_number(day), events, wallets }];
        assert_eq!(lacking(&[&events()[..], &events()[3..]].concat()), short(11, 1, 0));
        assert_eq!(lacking(&[event(1, 11, EventDetail::Session)]), short(11, 0, 1), "another one's");
        assert_eq!(lacking(&[event(3, 11, EventDetail::Session)]), short(11, 0, 1), "nobody's");
        assert_eq!(lacking(&[event(2, 11, EventDetail::Transaction)]), short(11, 1, 1), "another kind");
        assert_eq!(lacking(&[event(2, 12, EventDetail::Session); 2]), short(12, 2, 1), "another day");
        assert_eq!(short(11, 2, 1)[0].to_string(), "1970-01-12 lacks 2 events and 1 wallets");
    }

    #[test]
    fn what_is_counted_meanwhile_is_no_shortfall() {
        let (mut charts, mut wallets, mut recount) =
            (Project::default(), Wallets::default(), Recount::default());
        for event in events() {
            recount.add(&charts, &wallets, event);
        }
        assert_eq!((recount.days(), recount.shortfalls(&charts, &wallets).len()), (2, 2));
        count(&mut charts, &mut wallets, &events());
        assert_eq!(recount.shortfalls(&charts, &wallets), []);
    }
}
