//! Reading the catalog's answers, and holding them against the model's.

use bourse_catalog::{Collection, Rows};
use bourse_wire::{OrderFacts, TokenId};
use serde_json::Value as Json;

use crate::answer::{Answers, Row};

pub(crate) fn parse(json: &[u8]) -> Vec<Json> {
    serde_json::from_slice(json).unwrap()
}

pub(crate) fn ids(collection: &Collection, rows: &Rows) -> Vec<TokenId> {
    collection.ids(rows).collect()
}

impl Answers<'_> {
    pub(crate) fn assert_rows(&self, collection: &Collection, found: &Rows, expected: &[Row<'_>]) {
        let tokens: Vec<TokenId> = expected.iter().map(|row| row.rank.token).collect();
        assert_eq!(ids(collection, found), tokens, "tokens of the rows");
        let mut json = Vec::new();
        collection.write_rows(&mut json, found);
        let rows = parse(&json);
        assert_eq!(rows.len(), expected.len());
        for (row, expected) in rows.iter().zip(expected) {
            self.assert_row(row, expected);
        }
    }

    pub(crate) fn assert_row(&self, row: &Json, expected: &Row<'_>) {
        let token = expected.rank.token;
        self.assert_metadata(&row["metadata"], token);
        self.assert_order_or_null(&row["listing"], expected.listing);
        self.assert_order_or_null(&row["offer"], expected.offer);
        self.assert_order_or_null(&row["order"], expected.order);
    }

    pub(crate) fn assert_metadata(&self, metadata: &Json, token: TokenId) {
        assert_eq!(metadata["tokenId"], token.to_string());
        assert_eq!(metadata["name"], self.model.tokens[&token].name, "name of {token}");
    }

    fn assert_order_or_null(&self, order: &Json, expected: Option<&OrderFacts>) {
        match expected {
            Some(facts) => {
                self.assert_order(order, facts);
                assert_eq!(order["status"], "active");
            }
            None => assert!(order.is_null(), "no order expected, found {order}"),
        }
    }

    pub(crate) fn assert_order(&self, order: &Json, facts: &OrderFacts) {
        let expected_id = (facts.marketplace.word(&crate::trial::service()), facts.order_id.as_str());
        let text = |name: &str| order[name].as_str().unwrap_or_default();
        assert_eq!((text("marketplace").to_owned(), text("orderId")), expected_id, "the order itself");
        let expected = [
            ("side", facts.side.word().to_owned()),
            ("createdBy", facts.maker.to_string()),
            ("priceAmount", facts.price_amount.to_string()),
            ("priceCurrencyAddress", facts.currency.to_string()),
            ("quantityRemaining", facts.quantity_remaining.to_string()),
            ("quantityAvailable", self.shown_available(facts)),
            ("createdAt", facts.created_at.to_string()),
        ];
        for (name, value) in expected {
            assert_eq!(text(name), value, "{name} of {expected_id:?}");
        }
        let decimals = self.model.currencies.get(&facts.currency).map_or(0, |known| known.decimals);
        assert_eq!(order["priceDecimals"], decimals);
        let dollars = self.model.exact_price(facts.currency, facts.price_amount).to_float();
        let shown = order["priceUSD"].as_f64().unwrap();
        assert!((shown - dollars).abs() <= dollars * 1e-14, "priceUSD {shown} is not {dollars}");
    }

    /// Nothing can be filled of what is over.
    fn shown_available(&self, facts: &OrderFacts) -> String {
        use bourse_wire::OrderStatus::{Active, DecimalsMissing, Inactive};
        let may_be_filled =
            facts.status == Active && matches!(self.model.status(facts), Active | Inactive | DecimalsMissing);
        if may_be_filled { self.model.available(facts).to_string() } else { "0".to_owned() }
    }
}
