//! The marketplaces whose orders are kept here.

use bourse_protocols::venues::{VenueProfile, profiles};
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
    let word = |profile: VenueProfile| profile.marketplace.word(&call.app.service_name);
    Ok(Answer { marketplaces: profiles().into_iter().map(word).collect() })
}
