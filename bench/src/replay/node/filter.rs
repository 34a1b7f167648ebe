//! Which logs a client asks for.

use serde_json::Value;

use crate::replay::event::Log;
use crate::replay::hex::{Address, Word, parse_data};

/// What the contract and the topics of a log must be.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    /// Any of these; empty for any at all.
    addresses: Vec<Address>,
    /// For each topic in order, any of these; empty for any at all.
    topics: Vec<Vec<Word>>,
}

impl Filter {
    /// Reads the members `address` and `topics` of what was asked; nothing when they are malformed.
    pub(super) fn parse(asked: &Value) -> Option<Self> {
        let addresses = one_or_list(&asked["address"])?;
        let topics = match &asked["topics"] {
            Value::Null => Vec::new(),
            Value::Array(topics) if topics.len() <= 4 => {
                topics.iter().map(one_or_list).collect::<Option<_>>()?
            }
            _ => return None,
        };
        Some(Self { addresses, topics })
    }

    /// Whether it lets a log through.
    pub(super) fn matches(&self, log: &Log) -> bool {
        let is_any = |topic: usize, wanted: &[Word]| {
            wanted.is_empty() || log.topics.get(topic).is_some_and(|topic| wanted.contains(topic))
        };
        (self.addresses.is_empty() || self.addresses.contains(&log.address))
            // A filter that is longer than the topics of a log asks for something that the log does not have.
            && self.topics.len() <= log.topics.len()
            && self.topics.iter().enumerate().all(|(topic, wanted)| is_any(topic, wanted))
    }
}

/// A single value, a list of them, or null for none.
fn one_or_list<const LENGTH: usize>(value: &Value) -> Option<Vec<[u8; LENGTH]>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(list) => list.iter().map(|one| parse_data(one.as_str()?)).collect(),
        one => Some(vec![parse_data(one.as_str()?)?]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Filter;
    use crate::replay::event::{
        MARKET, POTIONS, RELICS, ZERO, approval_for_all, request_cancelled, transfer,
    };
    use crate::replay::hex::{data, number, padded};

    fn matching(asked: &Value) -> Vec<usize> {
        let filter = Filter::parse(asked).unwrap();
        let logs = [
            transfer(ZERO, MARKET, 1),
            transfer(MARKET, RELICS, 1),
            request_cancelled(7, RELICS),
            request_cancelled(8, POTIONS),
            approval_for_all(RELICS, MARKET, RELICS, true),
        ];
        (0..logs.len()).filter(|place| filter.matches(&logs[*place])).collect()
    }

    #[test]
    fn by_contract() {
        assert_eq!(matching(&json!({})), [0, 1, 2, 3, 4]);
        assert_eq!(matching(&json!({ "address": data(&RELICS) })), [0, 1, 4]);
        assert_eq!(
            matching(&json!({ "address": data(&RELICS).to_uppercase().replace('X', "x") })),
            [0, 1, 4]
        );
        assert_eq!(matching(&json!({ "address": [data(&MARKET), data(&POTIONS)] })), [2, 3]);
        assert_eq!(matching(&json!({ "address": [] })), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn by_topics() {
        let transferred = data(&transfer(ZERO, ZERO, 0).topics[0]);
        let cancelled = data(&request_cancelled(0, ZERO).topics[0]);
        let relics = data(&padded(RELICS));
        assert_eq!(matching(&json!({ "topics": [transferred] })), [0, 1]);
        assert_eq!(matching(&json!({ "topics": [[transferred, cancelled]] })), [0, 1, 2, 3]);
        assert_eq!(matching(&json!({ "topics": [null, null, relics] })), [1, 2, 4]);
        assert_eq!(matching(&json!({ "topics": [[cancelled], [], [relics]] })), [2]);
        assert_eq!(matching(&json!({ "topics": [null, data(&number(8))] })), [3]);
        // A fourth topic is there or not, whatever it is.
        assert_eq!(matching(&json!({ "topics": [null, null, null, null] })), [0, 1]);
        assert_eq!(matching(&json!({ "topics": null })), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn nonsense_is_refused() {
        for asked in [
            json!({ "address": "0x12" }),
            json!({ "address": [7] }),
            json!({ "topics": "0x12" }),
            json!({ "topics": [null, null, null, null, null] }),
            json!({ "topics": [[null]] }),
        ] {
            assert_eq!(Filter::parse(&asked), None, "{asked}");
        }
    }
}
