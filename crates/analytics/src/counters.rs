//! How many events a day had. They name no wallet, and stay when a wallet is forgotten.

use std::collections::BTreeMap;

use bourse_sets::{Reader, write_number};

use crate::corrupt::Corrupt;

/// Market actions that always have a counter of their own.
const USUAL: [&str; 2] = ["buy", "sell"];
/// What an action is counted under that has no counter of its own.
pub const OTHER_ACTION: &str = "other";
/// Actions with a counter of their own on one day, beside the usual ones.
const ACTIONS_MAX: usize = 16;
/// Length of the name of an action that may have a counter of its own.
const ACTION_BYTES_MAX: usize = 32;

/// Numbers of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) events: u64,
    pub(crate) transactions: u64,
    /// Market events by action.
    actions: BTreeMap<Box<str>, u64>,
}

impl Counters {
    /// Counts a market event. Only so many actions a day have a counter of their own: those that come first.
    pub(crate) fn count_action(&mut self, action: Option<&str>) {
        let name = action.unwrap_or(OTHER_ACTION);
        if let Some(count) = self.actions.get_mut(name) {
            *count += 1;
            return;
        }
        let own = name.len() <= ACTION_BYTES_MAX && !name.is_empty() && self.actions.len() < ACTIONS_MAX;
        let name = if own || USUAL.contains(&name) { name } else { OTHER_ACTION };
        *self.actions.entry(name.into()).or_default() += 1;
    }

    /// Bytes of memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let action = |name: &str| size_of::<(Box<str>, u64)>() + name.len();
        size_of::<Self>() + self.actions.keys().map(|name| action(name)).sum::<usize>()
    }

    /// Market events.
    pub(crate) fn market(&self) -> u64 {
        self.actions.values().sum()
    }

    /// Market events by action.
    pub(crate) fn actions(&self) -> impl Iterator<Item = (&str, u64)> {
        self.actions.iter().map(|(name, count)| (&**name, *count))
    }

    /// The bytes it is stored as.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_number(&mut out, self.events);
        write_number(&mut out, self.transactions);
        for (name, count) in &self.actions {
            write_number(&mut out, *count);
            write_number(&mut out, name.len() as u64);
            out.extend_from_slice(name.as_bytes());
        }
        out
    }

    /// Reads what [`Counters::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = Reader::new(bytes);
        let (events, transactions) = (reader.number()?, reader.number()?);
        let mut counters = Self { events, transactions, actions: BTreeMap::new() };
        while reader.end().is_err() {
            let count = reader.number()?;
            let len = reader.number_to(ACTION_BYTES_MAX)?;
            let name = str::from_utf8(reader.take(len)?).map_err(|_| Corrupt("an action is no text"))?;
            counters.actions.insert(name.into(), count);
        }
        // What adds up beyond 64 bits was never counted.
        let market = counters.actions.values().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        if market.and_then(|market| market.checked_add(transactions)).is_none_or(|sum| sum > events) {
            return Err(Corrupt("a day has more events of a kind than events"));
        }
        Ok(counters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: impl IntoIterator<Item = String>) -> Counters {
        let mut counters = Counters { events: 500, transactions: 3, ..Counters::default() };
        names.into_iter().for_each(|name| counters.count_action(Some(&name)));
        counters
    }

    #[test]
    fn only_so_many_actions_are_told_apart() {
        let mut counters = of((0..40).map(|number| format!("action {number}")));
        counters.count_action(Some("buy"));
        counters.count_action(Some("action 3"));
        counters.count_action(Some(&"long".repeat(9)));
        counters.count_action(None);
        let found: BTreeMap<&str, u64> = counters.actions().collect();
        assert_eq!((found["other"], found["buy"], found["action 3"]), (26, 1, 2));
        assert_eq!(found.len(), ACTIONS_MAX + 2);
        assert_eq!(counters.market(), 44);
    }

    #[test]
    fn counters_come_back() {
        let counters = of(["buy", "sell", "buy", "lend"].map(str::to_owned));
        let bytes = counters.encode();
        assert_eq!(Counters::decode(&bytes), Ok(counters));
        for len in 0..bytes.len() {
            // Cut between two actions there is simply one less.
            assert!(Counters::decode(&bytes[..len]).is_err() || len % 5 != 1, "{len}");
        }
        assert!(Counters::decode(&[2, 3]).is_err());
    }
}
