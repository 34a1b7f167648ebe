//! The marketplaces whose orders are kept here.

use bourse_wire::Marketplace;
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
    let known = (0..).map_while(Marketplace::from_number).filter(|known| *known != Marketplace::Unknown);
    Ok(Answer { marketplaces: known.map(|known| known.word(&call.app.service_name)).collect() })
}
