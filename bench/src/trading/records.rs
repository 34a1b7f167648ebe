//! The traded collection as records to import.

use serde_json::{Value, json};

use super::account::account;
use super::currency::{CURRENCIES, Currency};
use super::token::token_id;
use super::{CHAIN_ID, CONTRACT, TradedCollection};

impl TradedCollection {
    /// The records to import, each after those that it is about.
    pub(crate) fn records(&self) -> impl Iterator<Item = Value> {
        let tokens = self.tokens.iter().enumerate();
        std::iter::once(contract_record())
            .chain(CURRENCIES.iter().map(Currency::record))
            .chain(tokens.clone().map(|(index, token)| token.record(index)))
            .chain(tokens.map(|(index, token)| balance_record(index, token.owner)))
            .chain(self.orders.iter().map(|order| {
                let mut record = order.record();
                record["type"] = json!("order");
                record
            }))
    }
}

fn contract_record() -> Value {
    json!({
        "type": "contract",
        "chainId": CHAIN_ID,
        "address": CONTRACT,
        "contractType": "ERC721",
        "name": "Wardens of the Floor",
        "symbol": "WARDEN",
        "deployed": true,
    })
}

fn balance_record(token: usize, owner: usize) -> Value {
    json!({
        "type": "balance",
        "chainId": CHAIN_ID,
        "contractAddress": CONTRACT,
        "tokenId": token_id(token),
        "account": account(owner),
        "balance": "1",
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use crate::jsonl;
    use crate::trading::TradedCollection;

    #[test]
    fn every_record_is_a_line() {
        let collection = TradedCollection::new(2_000);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trading.jsonl");
        let written = jsonl::write(&path, collection.records()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written.bytes, text.len() as u64);
        let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            *kinds.entry(record["type"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        let kinds: Vec<(&str, u64)> = kinds.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        let expected =
            [("balance", 2_000), ("contract", 1), ("currency", 4), ("order", 1_000), ("token", 2_000)];
        assert_eq!(kinds, expected);
        assert_eq!(written.lines, 5_005);
    }

    #[test]
    fn a_token_takes_about_600_bytes() {
        let collection = TradedCollection::new(2_000);
        let bytes: usize = collection
            .tokens
            .iter()
            .enumerate()
            .map(|(index, token)| token.record(index).to_string().len())
            .sum();
        assert!((570..=680).contains(&(bytes / 2_000)), "{} bytes", bytes / 2_000);
    }
}
