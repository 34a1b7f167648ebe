//! `ListCollectibles`: all tokens for sale, page after page, cheapest first.

use super::answer::PAGE_SIZE;
use super::draw::REQUESTS;
use super::paging::page_request;
use super::{Request, Scenario};
use crate::trading::{Filter, TradedCollection};

/// See the module.
pub(crate) const SCENARIO: Scenario<TradedCollection> = Scenario {
    name: "list-plain",
    title: "all listed tokens, pages of 30 in price order",
    path: "/rpc/Marketplace/ListCollectibles",
    ratio_goal: 0.5,
    requests,
};

fn requests(collection: &TradedCollection) -> Vec<Request> {
    let all = collection.listed(&Filter::default());
    let pages = (all.len() / PAGE_SIZE).clamp(1, REQUESTS);
    (1..=pages).map(|number| page_request(&Filter::default(), &all, number)).collect()
}

#[cfg(test)]
mod tests {
    use super::requests;
    use crate::scenario::answer::tests::page;
    use crate::trading::{Filter, TradedCollection};

    #[test]
    fn each_page_is_the_one_that_was_asked_for() {
        let collection = TradedCollection::new(2_000);
        let all = collection.listed(&Filter::default());
        let requests = requests(&collection);
        assert_eq!(requests.len(), all.len() / 30);
        (requests[1].check)(&page(&all[30..60], true)).unwrap();
        (requests[1].check)(&page(&all[..30], true)).unwrap_err();
    }
}
