//! `GetCountOfFilteredCollectibles`: how many tokens for sale have two properties.

use serde_json::{Value, json};

use super::answer::{body, same};
use super::draw::{MODEL_EVERY, distinct, two_properties};
use super::{Check, Request, Scenario};
use crate::error::Error;
use crate::trading::{Filter, TradedCollection};
use bourse_random::Random;

/// See the module.
pub(crate) const SCENARIO: Scenario<TradedCollection> = Scenario {
    name: "count",
    title: "count of listed tokens, two property filters",
    path: PATH,
    ratio_goal: 0.6,
    requests,
};

/// The path that requests are posted to.
pub(crate) const PATH: &str = "/rpc/Marketplace/GetCountOfFilteredCollectibles";

const SEED: u64 = 103;

/// The request that counts all tokens for sale, and their number.
pub(crate) fn all_listed(collection: &TradedCollection) -> Request {
    let filter = Filter::default();
    Request { body: count_body(&filter), check: is_count(collection, &filter) }
}

fn requests(collection: &TradedCollection) -> Vec<Request> {
    let mut random = Random::new(SEED);
    let drawn = distinct(|| {
        let filter = two_properties(&mut random);
        let body = count_body(&filter);
        Some((filter, body))
    });
    let request = |(index, (filter, body)): (usize, (Filter, String))| Request {
        body,
        check: if index % MODEL_EVERY == 0 {
            is_count(collection, &filter)
        } else {
            Box::new(|answer| count(answer).map(drop))
        },
    };
    drawn.into_iter().enumerate().map(request).collect()
}

fn count_body(filter: &Filter) -> String {
    body(&json!({ "side": "listing", "filter": filter.to_json() }))
}

fn is_count(collection: &TradedCollection, filter: &Filter) -> Check {
    let expected = u64::try_from(collection.listed(filter).len()).unwrap_or(u64::MAX);
    Box::new(move |answer| same(&count(answer)?, &expected))
}

fn count(answer: &Value) -> Result<u64, Error> {
    answer["count"].as_u64().ok_or_else(|| Error::new("the answer has no count"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{all_listed, requests};
    use crate::trading::{Filter, TradedCollection};

    #[test]
    fn another_count_is_refused() {
        let collection = TradedCollection::new(2_000);
        let listed = collection.listed(&Filter::default()).len();
        let check = all_listed(&collection).check;
        check(&json!({ "count": listed })).unwrap();
        check(&json!({ "count": listed + 1 })).unwrap_err();
        check(&json!({})).unwrap_err();
    }

    #[test]
    fn a_count_is_below_that_of_all() {
        let collection = TradedCollection::new(2_000);
        let listed = collection.listed(&Filter::default()).len();
        (requests(&collection)[0].check)(&json!({ "count": listed })).unwrap_err();
    }
}
