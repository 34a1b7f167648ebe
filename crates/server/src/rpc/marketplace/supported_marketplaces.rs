//! The marketplaces whose orders are kept here.

use bourse_protocols::venues::{VENUES, Venue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Nothing.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SupportedMarketplacesRequest")]
pub(crate) struct Request {}
request!(Request);

/// The marketplaces.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SupportedMarketplacesAnswer")]
pub(crate) struct Answer {
    /// As orders name them.
    marketplaces: Vec<String>,
}

pub(crate) async fn handle(call: Call, _: Request) -> Result<Answer, Failure> {
    let word = |venue: Venue| venue.marketplace.word(&call.app.service_name);
    Ok(Answer { marketplaces: VENUES.map(word).to_vec() })
}
