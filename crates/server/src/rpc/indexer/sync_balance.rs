//! Makes sure that a balance is that of the chain. Those of followed contracts are, as every block is read; nobody needs to ask.

use bourse_wire::{Address, ChainRef, Error, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which balance.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SyncBalanceRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Whose; it makes no difference.
    #[serde(rename = "accountAddress")]
    _account_address: Address,
    /// Of which contract.
    contract_address: Address,
    /// Of which token; it makes no difference.
    #[serde(rename = "tokenID")]
    _token_id: Option<TokenId>,
}
request!(Request);

/// That it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SyncBalanceAnswer")]
pub(crate) struct Answer {}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    if call.app.followed.has(&call.app.store, key, call.now).await? {
        return Ok(Answer {});
    }
    let what = format_args!("{} among the contracts that are followed on chain {}", key.address, key.chain);
    Err(Error::not_found(what).into())
}
