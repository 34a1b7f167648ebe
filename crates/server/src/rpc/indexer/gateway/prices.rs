//! What tokens on several chains are worth. One file for two operations that differ in how many they ask of.

use bourse_wire::{ChainId, ChainRef, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::{Call, resolve};
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::indexer::token_prices::{Price, Query, check_count, prices};

/// Of what on which chain.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GatewayTokenPriceQueryInput")]
struct OfChain {
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: ChainRef,
    /// Of what there.
    queries: Vec<Query>,
}

/// Of what.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GatewayGetTokenPriceRequest")]
pub(crate) struct Request {
    /// Of what: at most 50 tokens.
    q: OfChain,
}
request!(Request);

/// Of what.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GatewayGetTokenPricesRequest")]
pub(crate) struct SeveralRequest {
    /// Of what: at most 50 tokens on all chains.
    q: Vec<OfChain>,
}
request!(SeveralRequest);

/// What they are worth.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GatewayGetTokenPriceAnswer")]
pub(crate) struct Answer {
    price: PricesOfChain,
}

/// What they are worth.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GatewayGetTokenPricesAnswer")]
pub(crate) struct SeveralAnswer {
    /// In the order asked for.
    prices: Vec<PricesOfChain>,
}

/// What tokens of a chain are worth.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GatewayPrices")]
struct PricesOfChain {
    /// Chain.
    #[serde(rename = "chainID")]
    chain_id: ChainId,
    /// Why nothing is known, where something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_reason: Option<String>,
    /// In the order asked for.
    results: Vec<Price>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    check_count(&call, request.q.queries.len())?;
    Ok(Answer { price: of_chain(&call, &request.q).await? })
}

pub(crate) async fn several(call: Call, request: SeveralRequest) -> Result<SeveralAnswer, Failure> {
    check_count(&call, request.q.len())?;
    check_count(&call, request.q.iter().map(|of| of.queries.len()).sum())?;
    let mut prices = Vec::with_capacity(request.q.len());
    for of in &request.q {
        prices.push(of_chain(&call, of).await?);
    }
    Ok(SeveralAnswer { prices })
}

/// What one chain refuses keeps nobody from what the others answer.
async fn of_chain(call: &Call, of: &OfChain) -> Result<PricesOfChain, Failure> {
    let member = |error: Error| Error::invalid("q.chainID", error.message);
    let chain_id = resolve(&call.app.settings.networks, of.chain_id.as_str()).map_err(member)?;
    match prices(call, chain_id, &of.queries).await {
        Ok(results) => Ok(PricesOfChain { chain_id, error_reason: None, results }),
        Err(Failure::Refused(error)) => {
            Ok(PricesOfChain { chain_id, error_reason: Some(error.message), results: Vec::new() })
        }
        Err(failure) => Err(failure),
    }
}
