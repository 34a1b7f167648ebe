//! `ListCollectibles`: what one account sells in one currency.

use super::answer::{Page, list_body, same};
use super::draw::{MODEL_EVERY, distinct};
use super::{Check, Request, Scenario};
use crate::error::Error;
use crate::trading::{Filter, Order, TradedCollection};
use bourse_random::Random;

/// See the module.
pub(crate) const SCENARIO: Scenario<TradedCollection> = Scenario {
    name: "list-by-owner",
    title: "listed tokens of one account in one currency",
    path: "/rpc/Marketplace/ListCollectibles",
    ratio_goal: 0.5,
    requests,
};

const SEED: u64 = 102;

fn requests(collection: &TradedCollection) -> Vec<Request> {
    let mut random = Random::new(SEED);
    let listings: Vec<&Order> = collection.active_listings().collect();
    let drawn = distinct(|| {
        // Somebody's listing, so that there is at least one row.
        let order = listings[random.index(listings.len())];
        let filter = Filter { owner: Some(order.maker), currency: Some(order.currency), ..Filter::default() };
        let body = list_body(&filter, 1);
        Some((filter, body))
    });
    let request = |(index, (filter, body)): (usize, (Filter, String))| Request {
        body,
        check: if index % MODEL_EVERY == 0 { is_first_page(collection, &filter) } else { Box::new(has_rows) },
    };
    drawn.into_iter().enumerate().map(request).collect()
}

fn is_first_page(collection: &TradedCollection, filter: &Filter) -> Check {
    let expected = Page::of(&collection.listed(filter), 1);
    Box::new(move |answer| same(&Page::read(answer)?, &expected))
}

fn has_rows(answer: &serde_json::Value) -> Result<(), Error> {
    if Page::read(answer)?.rows.is_empty() {
        return Err(Error::new("the account has listings, but none was answered"));
    }
    Ok(())
}
