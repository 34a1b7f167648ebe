//! Balances.

use bourse_store::{Change, CollectionKey};
use bourse_wire::{Address, Amount, ChainRef, JsonObject, TokenId, from_value};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Reader, Reason, Rejection};

/// What an account holds of a token.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BalanceInput {
    /// Chain; may be left out where the request names it.
    chain_id: Option<ChainRef>,
    /// Contract.
    contract_address: Address,
    /// Token id.
    token_id: TokenId,
    /// The holder.
    account: Address,
    /// How much, in base units; zero for nothing.
    balance: Amount,
}

/// Refuses a balance that nobody but its chain may state: of a collection that is followed.
pub fn balance_not_stated(collection: CollectionKey, is_followed: bool) -> Result<(), Rejection> {
    if !is_followed {
        return Ok(());
    }
    let CollectionKey { chain, address } = collection;
    let message = format!("chain {chain} is followed for {address} and states its balances");
    Err(Rejection::new(Reason::StatedByChain, message))
}

impl Reader<'_> {
    /// Reads a balance.
    pub fn balance(&self, members: JsonObject) -> Result<(CollectionKey, Change), Rejection> {
        let input: BalanceInput = from_value(Value::Object(members))?;
        let chain = self.chain(input.chain_id.as_ref())?;
        let collection = CollectionKey { chain, address: input.contract_address };
        let change =
            Change::Balance { token_id: input.token_id, account: input.account, balance: input.balance };
        Ok((collection, change))
    }
}
