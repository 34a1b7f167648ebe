//! What is measured. A further operation is one more file here and one more line in one of the lists.

mod answer;
mod balances;
mod count;
mod draw;
mod list_by_owner;
mod list_by_property;
mod list_plain;
mod listing_floor;
mod listings;
mod orders;
mod paging;
mod search;
mod token_metadata_batch;

use serde_json::Value;

pub(crate) use answer::PAGE_SIZE;
pub(crate) use count::{PATH as FIRST_TOUCH_PATH, all_listed as first_touch};
pub(crate) use listings::{PATH as LISTINGS_PATH, listings_body};
pub(crate) use paging::{Paging, PagingRequests};

use crate::error::Error;
use crate::relics::Relics;
use crate::trading::TradedCollection;

/// The scenarios on the relics, in the order in which they run.
pub(crate) const ON_RELICS: &[Scenario<Relics>] = &[token_metadata_batch::SCENARIO];

/// The scenarios on the traded collection, in the order in which they run.
pub(crate) const ON_TRADING: &[Scenario<TradedCollection>] = &[
    list_by_property::SCENARIO,
    list_plain::SCENARIO,
    list_by_owner::SCENARIO,
    count::SCENARIO,
    listing_floor::SCENARIO,
    search::SCENARIO,
    listings::SCENARIO,
    balances::OF_ACCOUNT,
    balances::OF_CONTRACT,
    orders::WITH_TOKENS,
    orders::LISTINGS,
    orders::OFFERS,
    orders::COUNT,
];

/// The scenarios that compare a deep page with the first.
pub(crate) const DEEP_PAGES: &[Paging] = &[paging::PLAIN, paging::FILTERED];

/// The reads that must stay quick while orders change.
pub(crate) const READS_DURING_WRITES: &[Scenario<TradedCollection>] =
    &[list_by_property::SCENARIO, list_by_owner::SCENARIO];

/// One operation under load.
#[derive(Debug)]
pub(crate) struct Scenario<Data> {
    /// What `--only` picks it by.
    pub(crate) name: &'static str,
    /// What a request asks for, in words.
    pub(crate) title: &'static str,
    /// The path that requests are posted to.
    pub(crate) path: &'static str,
    /// The requests per second of Bourse, divided by those of the bare server, that we want at least.
    pub(crate) ratio_goal: f64,
    /// The requests, the same in every run on the same data.
    pub(crate) requests: fn(&Data) -> Vec<Request>,
}

/// A request, and how to know a right answer to it.
pub(crate) struct Request {
    /// The body.
    pub(crate) body: String,
    /// Refuses an answer that is wrong.
    pub(crate) check: Check,
}

/// Refuses the body of an answer, read as JSON, if it is wrong.
pub(crate) type Check = Box<dyn Fn(&Value) -> Result<(), Error> + Send + Sync>;
