//! What a request asks for: as JSON for the server, and as a question to a token or an order for the model.

use serde_json::{Value, json};

use super::account::account;
use super::currency::CURRENCIES;
use super::order::Order;
use super::property::{Number, Text};
use super::token::Token;

/// A filter of collectibles. An empty one takes all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Properties with the values of which a token has one.
    pub(crate) texts: Vec<(Text, Vec<usize>)>,
    /// Properties with the smallest and the largest value that a token may have.
    pub(crate) ranges: Vec<(Number, u64, u64)>,
    /// The account that holds the token.
    pub(crate) owner: Option<usize>,
    /// The currency of the order.
    pub(crate) currency: Option<usize>,
}

impl Filter {
    /// The filter as requests spell it.
    pub(crate) fn to_json(&self) -> Value {
        let texts = self.texts.iter().map(|(property, values)| {
            let values: Vec<String> = values.iter().map(|index| property.value(*index)).collect();
            json!({ "name": property.name(), "type": "STRING", "values": values })
        });
        let ranges = self.ranges.iter().map(
            |(property, min, max)| json!({ "name": property.name(), "type": "INT", "min": min, "max": max }),
        );
        let properties: Vec<Value> = texts.chain(ranges).collect();
        let mut filter = json!({ "includeEmpty": false });
        if !properties.is_empty() {
            filter["properties"] = json!(properties);
        }
        if let Some(owner) = self.owner {
            filter["inAccounts"] = json!([account(owner)]);
        }
        if let Some(currency) = self.currency {
            filter["inCurrencyAddresses"] = json!([CURRENCIES[currency].address]);
        }
        filter
    }

    /// Whether a token passes.
    pub(crate) fn takes_token(&self, token: &Token) -> bool {
        self.texts.iter().all(|(property, values)| values.contains(&token.text(*property)))
            && self.ranges.iter().all(|(property, min, max)| (min..=max).contains(&&token.number(*property)))
            && self.owner.is_none_or(|owner| owner == token.owner)
    }

    /// Whether an order passes.
    pub(crate) fn takes_order(&self, order: &Order) -> bool {
        self.currency.is_none_or(|currency| currency == order.currency)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Filter;
    use crate::trading::{Number, Text, TradedCollection};

    #[test]
    fn spells_what_it_asks_for() {
        let filter = Filter {
            texts: vec![(Text::Rarity, vec![0, 4])],
            ranges: vec![(Number::Level, 3, 9)],
            owner: Some(0),
            currency: Some(0),
        };
        let expected = json!({
            "includeEmpty": false,
            "properties": [
                { "name": "Rarity", "type": "STRING", "values": ["Common", "Legendary"] },
                { "name": "Level", "type": "INT", "min": 3, "max": 9 },
            ],
            "inAccounts": ["0x00000000e220a8397b1dcdaf6e789e6aa1b965f4"],
            "inCurrencyAddresses": ["0x0000000000000000000000000000000000000000"],
        });
        assert_eq!(filter.to_json(), expected);
    }

    #[test]
    fn bounds_are_included() {
        let collection = TradedCollection::new(200);
        let level = collection.tokens[0].number(Number::Level);
        let between = |min, max| Filter { ranges: vec![(Number::Level, min, max)], ..Filter::default() };
        assert!(between(level, level).takes_token(&collection.tokens[0]));
        assert!(!between(level + 1, level + 2).takes_token(&collection.tokens[0]));
    }
}
