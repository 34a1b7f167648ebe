//! The payers behind open offers, and whose turn it is to be looked at. Pure: nothing here asks anybody.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bourse_store::Payer;
use bourse_wire::{Address, Timestamp};

use crate::pace::later;

/// The payers that are known.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// When each was last looked at; the zero time before that.
    looked: BTreeMap<Payer, Timestamp>,
    /// The same, longest ago first.
    by_time: BTreeSet<(Timestamp, Payer)>,
    /// Those to which something happened since.
    touched: BTreeSet<Payer>,
}

impl Watched {
    /// Takes that something happened to a payer, which may be a new one.
    pub(super) fn touch(&mut self, payer: Payer) {
        let at = *self.looked.entry(payer).or_insert(Timestamp::ZERO);
        self.by_time.insert((at, payer));
        self.touched.insert(payer);
    }

    /// Takes that something happened to what somebody has of a currency.
    pub(super) fn touch_account(&mut self, maker: Address, currency: Address) {
        let of = |operator| Payer { maker, currency, operator: Address::from_bytes([operator; 20]) };
        self.touched.extend(self.looked.range(of(0)..=of(u8::MAX)).map(|(payer, _)| *payer));
    }

    /// Takes that something may have happened to all.
    pub(super) fn touch_all(&mut self) {
        self.touched.extend(self.looked.keys().copied());
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether something happened to any of them.
    pub(super) fn is_touched(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Those to look at now, at most so many: those to which something happened, then those that were not looked at
    /// for so long.
    pub(super) fn due(&self, now: Timestamp, sweep: Duration, most: usize) -> Vec<Payer> {
        let is_late = |(looked, payer): &&(Timestamp, Payer)| {
            later(*looked, sweep) <= now && !self.touched.contains(payer)
        };
        let late = self.by_time.iter().take_while(|(looked, _)| later(*looked, sweep) <= now).filter(is_late);
        self.touched.iter().chain(late.map(|(_, payer)| payer)).take(most).copied().collect()
    }

    /// Takes that a payer was looked at.
    pub(super) fn looked(&mut self, payer: Payer, now: Timestamp) {
        self.forget(payer);
        self.looked.insert(payer, now);
        self.by_time.insert((now, payer));
    }

    /// Forgets one that nothing depends on any more.
    pub(super) fn forget(&mut self, payer: Payer) {
        self.touched.remove(&payer);
        if let Some(at) = self.looked.remove(&payer) {
            self.by_time.remove(&(at, payer));
        }
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Payer> {
        self.looked.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payer(maker: u8, currency: u8) -> Payer {
        let account = |number| Address::from_bytes([number; 20]);
        Payer { maker: account(maker), currency: account(currency), operator: account(9) }
    }

    fn second(number: u64) -> Timestamp {
        Timestamp::from_unix_seconds(number)
    }

    #[test]
    fn what_happened_comes_before_what_is_late() {
        let mut watched = Watched::default();
        let (first, second_one, third) = (payer(1, 1), payer(2, 1), payer(3, 1));
        for (payer, at) in [(first, 10), (second_one, 20), (third, 30)] {
            watched.touch(payer);
            watched.looked(payer, second(at));
        }
        let sweep = Duration::from_secs(100);
        let due = |watched: &Watched, now, most| watched.due(second(now), sweep, most);
        assert_eq!(due(&watched, 109, 9), []);
        assert_eq!(due(&watched, 120, 9), [first, second_one]);
        watched.touch(third);
        assert_eq!(due(&watched, 120, 9), [third, first, second_one]);
        assert_eq!(due(&watched, 120, 2), [third, first]);
        watched.touch(first);
        assert_eq!(due(&watched, 120, 9), [first, third, second_one]);
        watched.looked(first, second(120));
        watched.forget(third);
        assert!(!watched.is_touched());
        assert_eq!(due(&watched, 130, 9), [second_one]);
    }

    #[test]
    fn an_account_has_a_payer_for_each_currency() {
        let mut watched = Watched::default();
        for payer in [payer(1, 1), payer(1, 2), payer(2, 1)] {
            watched.touch(payer);
            watched.looked(payer, second(5));
        }
        let (maker, currency) = (payer(1, 2).maker, payer(1, 2).currency);
        watched.touch_account(maker, currency);
        watched.touch_account(payer(3, 1).maker, currency);
        assert_eq!(watched.due(second(6), Duration::from_secs(100), 9), [payer(1, 2)]);
        watched.touch_all();
        assert_eq!(watched.due(second(6), Duration::from_secs(100), 9).len(), 3);
    }
}
