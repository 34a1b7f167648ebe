//! `ListCollectibles`: tokens for sale with two properties, cheapest first.

use super::answer::{PAGE_SIZE, Page, list_body, same};
use super::draw::{MODEL_EVERY, distinct, two_properties};
use super::{Check, Request, Scenario};
use crate::trading::{Filter, TradedCollection};
use bourse_random::Random;

/// See the module.
pub(crate) const SCENARIO: Scenario<TradedCollection> = Scenario {
    name: "list-by-property",
    title: "30 listed tokens, two property filters, price order",
    path: "/rpc/Marketplace/ListCollectibles",
    ratio_goal: 0.5,
    requests,
};

const SEED: u64 = 101;

fn requests(collection: &TradedCollection) -> Vec<Request> {
    let mut random = Random::new(SEED);
    let drawn = distinct(|| {
        let filter = two_properties(&mut random);
        // Full pages alone, so that requests cost about the same on small and on large data.
        collection.lists_at_least(PAGE_SIZE, &filter).then(|| (filter.clone(), list_body(&filter, 1)))
    });
    let request = |(index, (filter, body)): (usize, (Filter, String))| Request {
        body,
        check: if index % MODEL_EVERY == 0 { is_first_page(collection, &filter) } else { Box::new(is_full) },
    };
    drawn.into_iter().enumerate().map(request).collect()
}

fn is_first_page(collection: &TradedCollection, filter: &Filter) -> Check {
    let expected = Page::of(&collection.listed(filter), 1);
    Box::new(move |answer| same(&Page::read(answer)?, &expected))
}

fn is_full(answer: &serde_json::Value) -> Result<(), crate::error::Error> {
    same(&Page::read(answer)?.rows.len(), &PAGE_SIZE)
}

#[cfg(test)]
mod tests {
    use super::requests;
    use crate::scenario::answer::tests::page;
    use crate::trading::{Filter, TradedCollection};

    #[test]
    fn requests_are_the_same_every_time() {
        let collection = TradedCollection::new(10_000);
        let bodies = || requests(&collection).into_iter().map(|request| request.body).collect::<Vec<_>>();
        assert_eq!(bodies(), bodies());
    }

    #[test]
    fn rows_of_another_filter_are_refused() {
        let collection = TradedCollection::new(10_000);
        let unfiltered = collection.listed(&Filter::default());
        let requests = requests(&collection);
        (requests[0].check)(&page(&unfiltered[..30], true)).unwrap_err();
        // Only the shape is known here.
        (requests[1].check)(&page(&unfiltered[..30], true)).unwrap();
        (requests[1].check)(&page(&unfiltered[..29], false)).unwrap_err();
    }
}
