//! From events to what must be stored, in two steps: what will be different is prepared without touching anything, and
//! is taken in once it is stored. A write that fails, or that another server was faster with, is simply dropped.
#![expect(clippy::cast_possible_truncation, reason = "bits are cut off on purpose")]

use std::collections::BTreeMap;

use bourse_wire::{Address, Day, Timestamp};

use crate::column::Column;
use crate::counters::Counters;
use crate::key::Key;
use crate::presence::{DaySet, NOBODY, Presence};
use crate::project::Project;
use crate::wallets::{Newcomers, Wallets};

/// How far a sender's clock may be ahead of ours.
const SKEW_SECONDS: i64 = 600;
/// What is before 2015 was not a wallet yet, and is most likely a time in the wrong unit.
const FIRST_SECONDS: i64 = 1_420_070_400;

/// Whether an event may have been at this time.
pub fn is_countable(at: Timestamp, now: Timestamp) -> bool {
    (FIRST_SECONDS..=now.unix_seconds() + SKEW_SECONDS).contains(&at.unix_seconds())
}

/// What a wallet did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventDetail<'a> {
    /// Connected.
    Session,
    /// Sent a transaction.
    Transaction,
    /// Traded, with the name of the action.
    Market(Option<&'a str>),
}

/// Something a wallet did on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The wallet.
    pub wallet: Address,
    /// The day.
    pub day: Day,
    /// What it did.
    pub detail: EventDetail<'a>,
}

/// Why a batch of events cannot be counted.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum EventRefusal {
    /// The zero address is no wallet; it stands for those that were forgotten.
    #[error("event {index}: the zero address is not a wallet")]
    ZeroAddress {
        /// Which of the events it is, from 0.
        index: usize,
    },
    /// Wallets are numbered with 32 bits.
    #[error("event {index}: the project has as many wallets as can be")]
    TooManyWallets {
        /// Which of the events it is, from 0.
        index: usize,
    },
}

/// What is different after a batch.
#[derive(Debug, Default)]
pub struct Changes {
    pub(crate) wallets: Vec<(Key, Vec<u8>)>,
    pub(crate) presences: BTreeMap<(i32, u16), Presence>,
    pub(crate) counters: BTreeMap<i32, Counters>,
}

impl Changes {
    /// The chunks to be stored in one transaction, in place of those with the same keys; one without bytes is to be
    /// removed.
    pub fn chunks(&self) -> impl Iterator<Item = (Key, Vec<u8>)> {
        let presences = self.presences.iter().map(|((day, part), presence)| {
            (Key::Presence { day: Day::from_number(*day), part: *part }, presence.encode())
        });
        let counters = self.counters.iter();
        let counters = counters
            .map(|(day, counters)| (Key::Counters { day: Day::from_number(*day) }, counters.encode()));
        self.wallets.iter().cloned().chain(presences).chain(counters)
    }
}

/// What forgetting a wallet does.
#[derive(Debug)]
pub struct WalletRemoval {
    /// What is to be stored for it.
    pub changes: Changes,
    /// Days it was active on, on which it will not be counted any more.
    pub active_days: Vec<Day>,
    /// How many of those it is not counted on any more among who sent transactions.
    pub sent_days: usize,
    /// How many of those it is not counted on any more among who traded.
    pub market_days: usize,
}

/// An event as one number that sorts by day, part, wallet and what it did.
struct Mark(u64);

impl Mark {
    fn new(day_index: usize, wallet: u32, detail: EventDetail<'_>) -> Self {
        let kind = match detail {
            EventDetail::Session => 0,
            EventDetail::Transaction => 1,
            EventDetail::Market(_) => 2,
        };
        Self((day_index as u64) << 34 | u64::from(wallet) << 2 | kind)
    }

    fn day_index(&self) -> usize {
        (self.0 >> 34) as usize
    }

    fn part(&self) -> u16 {
        (self.0 >> 18) as u16
    }

    fn wallet(&self) -> u16 {
        (self.0 >> 2) as u16
    }

    fn is(&self, set: DaySet) -> bool {
        match set {
            DaySet::Active => true,
            DaySet::Sent => self.0 & 3 == 1,
            DaySet::Market => self.0 & 3 == 2,
        }
    }
}

/// Counters of the days of a batch.
#[derive(Default)]
struct Tally {
    days: Vec<(i32, Counters)>,
    indexes: BTreeMap<i32, usize>,
    /// The day of the event before: events mostly come in the order of time.
    latest: Option<(Day, usize)>,
}

impl Tally {
    fn index(&mut self, project: &Project, day: Day) -> usize {
        if let Some((latest, index)) = self.latest
            && latest == day
        {
            return index;
        }
        let number = day.number();
        let index = *self.indexes.entry(number).or_insert_with(|| {
            self.days.push((number, project.counters(number).cloned().unwrap_or_default()));
            self.days.len() - 1
        });
        self.latest = Some((day, index));
        index
    }

    fn count(&mut self, index: usize, detail: EventDetail<'_>) {
        let counters = &mut self.days[index].1;
        counters.events += 1;
        match detail {
            EventDetail::Session => {}
            EventDetail::Transaction => counters.transactions += 1,
            EventDetail::Market(action) => counters.count_action(action),
        }
    }
}

impl Project {
    /// What is different once these events are counted. Each is counted: whether one was seen before, or a whole batch,
    /// is for the caller to know.
    pub fn prepare<'a>(
        &self,
        wallets: &Wallets,
        events: impl IntoIterator<Item = Event<'a>>,
    ) -> Result<Changes, EventRefusal> {
        let mut newcomers = Newcomers::new(wallets);
        let mut tally = Tally::default();
        let mut marks = Vec::new();
        for (index, event) in events.into_iter().enumerate() {
            if event.wallet == Address::ZERO {
                return Err(EventRefusal::ZeroAddress { index });
            }
            let wallet =
                newcomers.number(wallets, &event.wallet).ok_or(EventRefusal::TooManyWallets { index })?;
            let day_index = tally.index(self, event.day);
            tally.count(day_index, event.detail);
            marks.push(Mark::new(day_index, wallet, event.detail));
        }
        marks.sort_unstable_by_key(|mark| mark.0);
        let presences = self.prepare_presences(&marks, &tally.days);
        let counters = tally.days.into_iter().collect();
        Ok(Changes { wallets: newcomers.chunks(wallets), presences, counters })
    }

    /// The parts with somebody in a set who was not in it before.
    fn prepare_presences(&self, marks: &[Mark], days: &[(i32, Counters)]) -> BTreeMap<(i32, u16), Presence> {
        let mut presences = BTreeMap::new();
        let mut lists = [const { Vec::new() }; 3];
        for marks in marks.chunk_by(|a, b| a.0 >> 18 == b.0 >> 18) {
            let Some(mark) = marks.first() else { continue };
            for (list, set) in lists.iter_mut().zip([DaySet::Active, DaySet::Sent, DaySet::Market]) {
                list.clear();
                list.extend(marks.iter().filter(|mark| mark.is(set)).map(Mark::wallet));
                list.dedup();
            }
            let (day, part) = (days[mark.day_index()].0, mark.part());
            let known = self.column(part).map_or(&NOBODY, |column| column.day(day));
            let presence = known.with(lists.each_ref().map(Vec::as_slice));
            if presence.changed(known).next().is_some() {
                presences.insert((day, part), presence);
            }
        }
        presences
    }

    /// What is different once a wallet is forgotten; nothing when it is not known. Numbers of events stay as they are: they
    /// tell nothing of any wallet. Should the wallet ever come back, it is a new one.
    pub fn prepare_forget(&self, wallets: &Wallets, wallet: &Address) -> Option<WalletRemoval> {
        let number = wallets.find(wallet.bytes())?;
        let (part, low) = ((number >> 16) as u16, (number & 0xffff) as u16);
        let changes =
            Changes { wallets: Newcomers::leave(wallets, number).chunks(wallets), ..Changes::default() };
        let mut forgotten = WalletRemoval { changes, active_days: Vec::new(), sent_days: 0, market_days: 0 };
        let days = self.column(part).into_iter().flat_map(Column::days);
        for (day, presence) in days.filter(|(_, presence)| presence.set(DaySet::Active).contains(low)) {
            forgotten.active_days.push(Day::from_number(day));
            forgotten.sent_days += usize::from(presence.set(DaySet::Sent).contains(low));
            forgotten.market_days += usize::from(presence.set(DaySet::Market).contains(low));
            forgotten.changes.presences.insert((day, part), presence.without(low));
        }
        Some(forgotten)
    }
}
