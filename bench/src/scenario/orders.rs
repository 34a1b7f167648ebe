//! The orders of a collection, each by itself: `ListOrdersWithCollectibles`, `ListListings`, `ListOffers` and
//! `GetCountOfFilteredOrders`.

use serde_json::{Value, json};

use super::answer::{PAGE_SIZE, body, list, more, same, text};
use super::draw::{MODEL_EVERY, REQUESTS, distinct, two_properties};
use super::{Check, Request, Scenario};
use crate::error::Error;
use crate::trading::{Filter, Order, Side, TradedCollection, account, token_id};
use bourse_random::Random;

/// Listings of the tokens that have two properties, with their tokens.
pub(crate) const WITH_TOKENS: Scenario<TradedCollection> = Scenario {
    name: "orders",
    title: "30 listings with their tokens, two property filters",
    path: "/rpc/Marketplace/ListOrdersWithCollectibles",
    ratio_goal: 0.5,
    requests: with_tokens,
};

/// All listings, page after page.
pub(crate) const LISTINGS: Scenario<TradedCollection> = Scenario {
    name: "orders-listings",
    title: "all listings, pages of 30 in price order",
    path: "/rpc/Marketplace/ListListings",
    ratio_goal: 0.5,
    requests: all_listings,
};

/// What one account offers for tokens of the collection. Accounts are drawn by what they offer.
pub(crate) const OFFERS: Scenario<TradedCollection> = Scenario {
    name: "orders-offers",
    title: "offers of one account, dearest first",
    path: "/rpc/Marketplace/ListOffers",
    ratio_goal: 0.5,
    requests: offers_of_accounts,
};

/// How many listings are of tokens that have two properties.
pub(crate) const COUNT: Scenario<TradedCollection> = Scenario {
    name: "orders-count",
    title: "count of listings, two property filters",
    path: "/rpc/Marketplace/GetCountOfFilteredOrders",
    ratio_goal: 0.5,
    requests: counts,
};

const SEEDS: [u64; 3] = [108, 109, 110];

fn with_tokens(collection: &TradedCollection) -> Vec<Request> {
    let mut random = Random::new(SEEDS[0]);
    let drawn = distinct(|| {
        let filter = two_properties(&mut random);
        let page = json!({ "page": 1, "pageSize": PAGE_SIZE });
        let body = body(&json!({ "side": "listing", "filter": filter.to_json(), "page": page }));
        // Full pages alone, so that requests cost about the same on small and on large data.
        collection.lists_at_least(PAGE_SIZE, &filter).then_some((filter, body))
    });
    let request = |(index, (filter, body)): (usize, (Filter, String))| Request {
        body,
        check: if index % MODEL_EVERY == 0 {
            let expected = Rows::of(&collection.orders_by_price(Side::Listing, &filter), 1);
            Box::new(move |answer| same(&Rows::with_tokens(answer)?, &expected))
        } else {
            Box::new(|answer| same(&Rows::with_tokens(answer)?.rows.len(), &PAGE_SIZE))
        },
    };
    drawn.into_iter().enumerate().map(request).collect()
}

fn all_listings(collection: &TradedCollection) -> Vec<Request> {
    let all = collection.orders_by_price(Side::Listing, &Filter::default());
    let pages = (all.len() / PAGE_SIZE).clamp(1, REQUESTS);
    let request = |number| Request {
        body: body(&json!({ "page": { "page": number, "pageSize": PAGE_SIZE } })),
        check: is_page("listings", Rows::of(&all, number)),
    };
    (1..=pages).map(request).collect()
}

fn offers_of_accounts(collection: &TradedCollection) -> Vec<Request> {
    let mut random = Random::new(SEEDS[1]);
    let all = collection.orders_by_price(Side::Offer, &Filter::default());
    let drawn = distinct(|| {
        let maker = all[random.index(all.len())].maker;
        let page = json!({ "page": 1, "pageSize": PAGE_SIZE });
        Some((maker, body(&json!({ "filter": { "createdBy": [account(maker)] }, "page": page }))))
    });
    let request = |(maker, body): (usize, String)| {
        let own: Vec<&Order> = all.iter().copied().filter(|order| order.maker == maker).collect();
        Request { body, check: is_page("offers", Rows::of(&own, 1)) }
    };
    drawn.into_iter().map(request).collect()
}

fn counts(collection: &TradedCollection) -> Vec<Request> {
    let mut random = Random::new(SEEDS[2]);
    let drawn = distinct(|| {
        let filter = two_properties(&mut random);
        let body = body(&json!({ "side": "listing", "filter": filter.to_json() }));
        Some((filter, body))
    });
    let request = |(index, (filter, body)): (usize, (Filter, String))| Request {
        body,
        check: if index % MODEL_EVERY == 0 {
            is_count(collection.orders_by_price(Side::Listing, &filter).len())
        } else {
            Box::new(|answer| count(answer).map(drop))
        },
    };
    drawn.into_iter().enumerate().map(request).collect()
}

fn is_page(member: &'static str, expected: Rows) -> Check {
    Box::new(move |answer| same(&Rows::read(answer, list(answer, member)?)?, &expected))
}

fn is_count(expected: usize) -> Check {
    let expected = u64::try_from(expected).unwrap_or(u64::MAX);
    Box::new(move |answer| same(&count(answer)?, &expected))
}

fn count(answer: &Value) -> Result<u64, Error> {
    answer["count"].as_u64().ok_or_else(|| Error::new("the answer has no count"))
}

/// One page of orders with their tokens, by their ids, and whether there are more.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rows {
    rows: Vec<(String, String)>,
    more: bool,
}

impl Rows {
    fn read<'a>(answer: &Value, orders: impl IntoIterator<Item = &'a Value>) -> Result<Self, Error> {
        let row = |order: &Value| {
            let (id, token) = (text(&order["orderId"], "orderId")?, text(&order["tokenId"], "tokenId")?);
            Ok((id.to_owned(), token.to_owned()))
        };
        Ok(Self { rows: orders.into_iter().map(row).collect::<Result<_, Error>>()?, more: more(answer)? })
    }

    /// Reads an answer that has the tokens as well: each must have its name.
    fn with_tokens(answer: &Value) -> Result<Self, Error> {
        let collectibles = list(answer, "collectibles")?;
        for collectible in collectibles {
            text(&collectible["metadata"]["name"], "metadata.name")?;
        }
        Self::read(answer, collectibles.iter().map(|collectible| &collectible["order"]))
    }

    /// The page with this number, from 1, of all orders in their order.
    fn of(all: &[&Order], number: usize) -> Self {
        let start = (number - 1) * PAGE_SIZE;
        let row = |order: &&Order| (order.order_id(), token_id(order.token));
        let rows = all.iter().skip(start).take(PAGE_SIZE).map(row).collect();
        Self { rows, more: all.len() > start + PAGE_SIZE }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{COUNT, LISTINGS, OFFERS, WITH_TOKENS};
    use crate::trading::{Filter, Order, Side, TradedCollection, token_id};

    fn order(order: &Order) -> Value {
        json!({ "orderId": order.order_id(), "tokenId": token_id(order.token) })
    }

    fn page(member: &str, orders: &[&Order], more: bool) -> Value {
        let orders: Vec<Value> = orders.iter().copied().map(order).collect();
        json!({ member: orders, "page": { "more": more } })
    }

    #[test]
    fn many_different_things_are_asked_for() {
        let collection = TradedCollection::new(20_000);
        for scenario in [WITH_TOKENS, LISTINGS, OFFERS, COUNT] {
            let requests = (scenario.requests)(&collection).len();
            assert!(requests > 200, "{}: {requests}", scenario.name);
        }
    }

    #[test]
    fn each_page_is_the_one_that_was_asked_for() {
        let collection = TradedCollection::new(20_000);
        let all = collection.orders_by_price(Side::Listing, &Filter::default());
        let requests = (LISTINGS.requests)(&collection);
        (requests[1].check)(&page("listings", &all[30..60], true)).unwrap();
        (requests[1].check)(&page("listings", &all[30..60], false)).unwrap_err();
        (requests[1].check)(&page("listings", &all[..30], true)).unwrap_err();
    }

    #[test]
    fn offers_are_those_of_the_account_and_the_dearest_comes_first() {
        let collection = TradedCollection::new(20_000);
        let all = collection.orders_by_price(Side::Offer, &Filter::default());
        let right = |orders: &[&Order]| {
            let answer = page("offers", orders, false);
            (OFFERS.requests)(&collection).iter().filter(|request| (request.check)(&answer).is_ok()).count()
        };
        let of = |maker| all.iter().copied().filter(|order| order.maker == maker).collect::<Vec<&Order>>();
        let mut two = all.iter().map(|order| of(order.maker)).find(|own| own.len() == 2).unwrap();
        assert_eq!(right(&two), 1);
        two.reverse();
        assert_eq!(right(&two), 0);
    }

    #[test]
    fn rows_of_another_filter_and_tokens_without_names_are_refused() {
        let collection = TradedCollection::new(20_000);
        let all = collection.orders_by_price(Side::Listing, &Filter::default());
        let with_token = |shown: &&Order| json!({ "order": order(shown), "metadata": { "name": "n" } });
        let rows: Vec<Value> = all[..30].iter().map(with_token).collect();
        let mut answer = json!({ "collectibles": rows, "page": { "more": true } });
        let requests = (WITH_TOKENS.requests)(&collection);
        (requests[0].check)(&answer).unwrap_err();
        // Only the shape is known here.
        (requests[1].check)(&answer).unwrap();
        answer["collectibles"][3]["metadata"]["name"] = Value::Null;
        (requests[1].check)(&answer).unwrap_err();
    }

    #[test]
    fn another_count_is_refused() {
        let collection = TradedCollection::new(20_000);
        let all = collection.orders_by_price(Side::Listing, &Filter::default()).len();
        ((COUNT.requests)(&collection)[0].check)(&json!({ "count": all })).unwrap_err();
    }
}
