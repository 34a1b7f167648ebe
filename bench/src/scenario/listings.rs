//! `ListListingsForCollectible`: what one token is for sale for.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::answer::{PAGE_SIZE, body, list, same, text};
use super::draw::{MODEL_EVERY, distinct};
use super::{Check, Request, Scenario};
use crate::error::Error;
use crate::trading::{Order, TradedCollection, token_id};
use bourse_random::Random;

/// See the module.
pub(crate) const SCENARIO: Scenario<TradedCollection> =
    Scenario { name: "listings", title: "listings of one token", path: PATH, ratio_goal: 0.6, requests };

/// The path that requests are posted to.
pub(crate) const PATH: &str = "/rpc/Marketplace/ListListingsForCollectible";

const SEED: u64 = 106;

/// The body that asks for the listings of a token.
pub(crate) fn listings_body(token: usize) -> String {
    body(&json!({
        "tokenId": token_id(token),
        "filter": {},
        "page": { "page": 1, "pageSize": PAGE_SIZE },
    }))
}

fn requests(collection: &TradedCollection) -> Vec<Request> {
    let mut random = Random::new(SEED);
    let listed: BTreeSet<usize> = collection.active_listings().map(|order| order.token).collect();
    let listed: Vec<usize> = listed.into_iter().collect();
    let drawn = distinct(|| {
        let token = listed[random.index(listed.len())];
        Some((token, listings_body(token)))
    });
    let request = |(index, (token, body)): (usize, (usize, String))| Request {
        body,
        check: if index % MODEL_EVERY == 0 { is_all(collection, token) } else { is_of(token) },
    };
    drawn.into_iter().enumerate().map(request).collect()
}

fn is_all(collection: &TradedCollection, token: usize) -> Check {
    let expected: Vec<String> = collection.listings_of(token).into_iter().map(Order::order_id).collect();
    Box::new(move |answer| same(&order_ids(answer)?, &expected))
}

fn is_of(token: usize) -> Check {
    let token = token_id(token);
    Box::new(move |answer| {
        let listings = list(answer, "listings")?;
        if listings.is_empty() || listings.iter().any(|listing| listing["tokenId"] != token.as_str()) {
            return Err(Error::new(format!("there are listings of token {token}, but others were answered")));
        }
        Ok(())
    })
}

fn order_ids(answer: &Value) -> Result<Vec<String>, Error> {
    let id = |listing: &Value| text(&listing["orderId"], "orderId").map(ToOwned::to_owned);
    list(answer, "listings")?.iter().map(id).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_all, is_of};
    use crate::trading::{Order, TradedCollection, token_id};

    fn answer(orders: &[&Order]) -> Value {
        let listing =
            |order: &&Order| json!({ "orderId": order.order_id(), "tokenId": token_id(order.token) });
        json!({ "listings": orders.iter().map(listing).collect::<Vec<_>>() })
    }

    #[test]
    fn listings_come_all_and_cheapest_first() {
        let collection = TradedCollection::new(2_000);
        let listed_twice = (0..2_000).find(|token| collection.listings_of(*token).len() == 2).unwrap();
        let mut listings = collection.listings_of(listed_twice);
        is_all(&collection, listed_twice)(&answer(&listings)).unwrap();
        is_all(&collection, listed_twice)(&answer(&listings[..1])).unwrap_err();
        listings.reverse();
        is_all(&collection, listed_twice)(&answer(&listings)).unwrap_err();
        is_of(listed_twice)(&answer(&listings)).unwrap();
        is_of(listed_twice + 1)(&answer(&listings)).unwrap_err();
        is_of(listed_twice)(&answer(&[])).unwrap_err();
    }
}
