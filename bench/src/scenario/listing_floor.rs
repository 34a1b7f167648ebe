//! `GetFloorOrder`: the cheapest token with one value of one property.

use serde_json::{Value, json};

use super::answer::{Row, body, same};
use super::{Request, Scenario};
use crate::error::Error;
use crate::trading::{Filter, Text, TradedCollection};
use bourse_random::Random;

/// See the module.
pub(crate) const SCENARIO: Scenario<TradedCollection> = Scenario {
    name: "listing-floor",
    title: "cheapest token with one value of a property",
    path: "/rpc/Marketplace/GetFloorOrder",
    ratio_goal: 0.6,
    requests,
};

const SEED: u64 = 104;

/// One for each value of each property: there are no more different ones.
fn requests(collection: &TradedCollection) -> Vec<Request> {
    let values = |property: Text| (0..property.value_count()).map(move |value| (property, value));
    let all: Vec<(Text, usize)> = Text::ALL.into_iter().flat_map(values).collect();
    let mut random = Random::new(SEED);
    // Mixed, so that common and rare values take turns.
    let order = random.shuffled(all.len());
    order.into_iter().filter_map(|index| request(collection, all[index])).collect()
}

/// The request for the listing floor under a value; none on small data where no token for sale has it.
fn request(collection: &TradedCollection, (property, value): (Text, usize)) -> Option<Request> {
    let filter = Filter { texts: vec![(property, vec![value])], ..Filter::default() };
    let priced = |order: &&crate::trading::Order| order.currency().has_rate();
    let expected = Row::from(collection.listed(&filter).into_iter().find(priced)?);
    Some(Request {
        body: body(&json!({ "filter": filter.to_json() })),
        check: Box::new(move |answer| same(&collectible(answer)?, &expected)),
    })
}

fn collectible(answer: &Value) -> Result<Row, Error> {
    Row::read(&answer["collectible"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::requests;
    use crate::scenario::answer::tests::collectible;
    use crate::trading::{Filter, TradedCollection};

    #[test]
    fn every_value_is_asked_for() {
        assert_eq!(requests(&TradedCollection::new(10_000)).len(), 12 + 40 + 120 + 5);
    }

    #[test]
    fn the_cheapest_of_all_is_the_listing_floor_of_its_values_only() {
        let collection = TradedCollection::new(10_000);
        let answer = json!({ "collectible": collectible(collection.listed(&Filter::default())[0]) });
        let right = requests(&collection).iter().filter(|request| (request.check)(&answer).is_ok()).count();
        assert_eq!(right, 4);
    }
}
