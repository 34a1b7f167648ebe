//! `ListCollectibles`: pages far behind, compared with the first ones.

use super::Request;
use super::answer::{PAGE_SIZE, Page, list_body, same};
use crate::trading::{Filter, Order, Text, TradedCollection};

/// Deep pages without a filter.
pub(crate) const PLAIN: Paging =
    Paging { name: "deep-paging", title: "all listed tokens", filter: Filter::default };

/// Deep pages behind a filter that most tokens pass.
pub(crate) const FILTERED: Paging =
    Paging { name: "deep-paging-filtered", title: "listed tokens of two rarities", filter: two_rarities };

/// The page to reach, where there are so many.
const DEEP_PAGE: usize = 10_000;

/// Pages asked for at either end: a single one would be the same request again and again.
const NEIGHBOURS: usize = 64;

/// A list, and how to filter it.
#[derive(Debug)]
pub(crate) struct Paging {
    /// What `--only` picks it by.
    pub(crate) name: &'static str,
    /// What is listed, in words.
    pub(crate) title: &'static str,
    filter: fn() -> Filter,
}

/// The requests for both ends of a list.
pub(crate) struct PagingRequests {
    /// The pages at the start.
    pub(crate) first: Vec<Request>,
    /// As many pages up to the deep one.
    pub(crate) deep: Vec<Request>,
    /// The number of the last of them.
    pub(crate) deep_page: usize,
}

impl Paging {
    /// The path that requests are posted to.
    pub(crate) const PATH: &str = "/rpc/Marketplace/ListCollectibles";

    /// The requests per second for deep pages, divided by those for first ones, that we want at least: no more
    /// than three times slower.
    pub(crate) const RATIO_GOAL: f64 = 1.0 / 3.0;

    /// The requests, the same in every run on the same data. The deep page is the last full one of small data.
    pub(crate) fn requests(&self, collection: &TradedCollection) -> PagingRequests {
        let filter = (self.filter)();
        let all = collection.listed(&filter);
        let deep_page = (all.len() / PAGE_SIZE).clamp(1, DEEP_PAGE);
        let neighbours = NEIGHBOURS.min(deep_page.div_ceil(2));
        let request = |number| page_request(&filter, &all, number);
        PagingRequests {
            first: (1..=neighbours).map(request).collect(),
            deep: (deep_page + 1 - neighbours..=deep_page).map(request).collect(),
            deep_page,
        }
    }
}

fn two_rarities() -> Filter {
    Filter { texts: vec![(Text::Rarity, vec![0, 1])], ..Filter::default() }
}

/// A request for one page of all rows.
pub(super) fn page_request(filter: &Filter, all: &[&Order], number: usize) -> Request {
    let expected = Page::of(all, number);
    Request {
        body: list_body(filter, number),
        check: Box::new(move |answer| same(&Page::read(answer)?, &expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::{FILTERED, PLAIN};
    use crate::scenario::answer::tests::page;
    use crate::trading::{Filter, TradedCollection};

    #[test]
    fn the_deep_page_of_small_data_is_the_last_full_one() {
        let collection = TradedCollection::new(2_000);
        let all = collection.listed(&Filter::default());
        let requests = PLAIN.requests(&collection);
        assert_eq!(requests.deep_page, all.len() / 30);
        assert_eq!(requests.deep.len(), requests.first.len());
        let start = (requests.deep_page - 1) * 30;
        let more = all.len() > start + 30;
        (requests.deep.last().unwrap().check)(&page(&all[start..start + 30], more)).unwrap();
        (requests.first[0].check)(&page(&all[..30], true)).unwrap();
        (requests.first[0].check)(&page(&all[1..31], true)).unwrap_err();
    }

    #[test]
    fn most_tokens_pass_the_filter() {
        let collection = TradedCollection::new(10_000);
        let share = |paging: &super::Paging| paging.requests(&collection).deep_page * 100;
        assert!((82..=94).contains(&(share(&FILTERED) / PLAIN.requests(&collection).deep_page)));
    }
}
