//! All events of a project, and the plainest answers from them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bourse_analytics::EventDetail;
use bourse_wire::{Address, Day};

/// What an event counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Any,
    Transaction,
    Market,
}

#[derive(Clone, Debug)]
pub(crate) struct ModelEvent {
    /// Nobody any more when the wallet was forgotten.
    pub(crate) wallet: Option<Address>,
    pub(crate) day: i32,
    pub(crate) kind: Kind,
    pub(crate) action: Option<&'static str>,
}

impl ModelEvent {
    pub(crate) fn detail(&self) -> EventDetail<'static> {
        match self.kind {
            Kind::Any => EventDetail::Session,
            Kind::Transaction => EventDetail::Transaction,
            Kind::Market => EventDetail::Market(self.action),
        }
    }

    pub(crate) fn is(&self, kind: Kind) -> bool {
        kind == Kind::Any || kind == self.kind
    }
}

#[derive(Default)]
pub(crate) struct Model {
    pub(crate) events: Vec<ModelEvent>,
}

impl Model {
    pub(crate) fn forget(&mut self, wallet: Address) -> BTreeSet<Day> {
        let mut days = BTreeSet::new();
        for event in self.events.iter_mut().filter(|event| event.wallet == Some(wallet)) {
            event.wallet = None;
            days.insert(Day::from_number(event.day));
        }
        days
    }

    /// Wallets with such an event on any day from one to another.
    pub(crate) fn wallets(&self, kind: Kind, (first, last): (i32, i32)) -> BTreeSet<Address> {
        let events = self.events.iter().filter(|event| event.is(kind));
        events.filter(|event| (first..=last).contains(&event.day)).filter_map(|event| event.wallet).collect()
    }

    /// The first day of every wallet.
    pub(crate) fn first_days(&self) -> HashMap<Address, i32> {
        let mut days = HashMap::new();
        for event in &self.events {
            if let Some(wallet) = event.wallet {
                let day = days.entry(wallet).or_insert(event.day);
                *day = event.day.min(*day);
            }
        }
        days
    }

    /// How many events of a kind there were on any day from one to another.
    pub(crate) fn events(&self, kind: Kind, (first, last): (i32, i32)) -> u64 {
        let events = self.events.iter().filter(|event| event.is(kind));
        events.filter(|event| (first..=last).contains(&event.day)).count() as u64
    }

    pub(crate) fn actions(&self, (first, last): (i32, i32)) -> BTreeMap<String, u64> {
        let mut actions = BTreeMap::new();
        let events = self.events.iter().filter(|event| event.kind == Kind::Market);
        for event in events.filter(|event| (first..=last).contains(&event.day)) {
            *actions.entry(event.action.unwrap_or("other").to_owned()).or_default() += 1;
        }
        actions
    }
}
