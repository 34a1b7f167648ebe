//! How much an account has of the own currency of several chains.

use bourse_wire::ChainId;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;

use super::chains::OfChains;
use crate::call::Call;
use crate::failure::Failure;
use crate::rpc::indexer::native::{self, NativeTokenBalance, account_of};

/// How much an account has.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GatewayGetNativeTokenBalanceAnswer")]
pub(crate) struct Answer {
    /// One for each chain.
    balances: Vec<OfChain>,
}

/// How much it has on one chain.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GatewayNativeTokenBalance")]
struct OfChain {
    /// Chain.
    chain_id: ChainId,
    /// Why nothing is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_reason: Option<String>,
    /// How much; nothing where there is a reason.
    result: NativeTokenBalance,
}

pub(crate) async fn handle(call: Call, request: OfChains<native::Request>) -> Result<Answer, Failure> {
    let chains = request.chains.read(&call)?;
    let account = account_of(&request.asked)?;
    let omit_prices = request.asked.omit_prices;
    let accounts = [account];
    let asked = chains.iter().map(|chain| native::balances(&call, *chain, &accounts, omit_prices));
    let found = join_all(asked).await;
    let of_chain = |(chain, result): (&ChainId, NativeTokenBalance)| {
        let error_reason = result.error_reason.clone();
        OfChain { chain_id: *chain, error_reason, result }
    };
    let balances = chains.iter().zip(found.into_iter().flatten()).map(of_chain).collect();
    Ok(Answer { balances })
}
