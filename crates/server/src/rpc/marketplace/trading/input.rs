//! Members that several requests have.

use bourse_protocols::RequestedFee;
use bourse_wire::{Address, Amount, ServiceName, Text, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

/// How much of which order.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OrderDataInput")]
pub(crate) struct OrderData {
    /// The marketplace's own name for the order.
    pub(crate) order_id: Text<256>,
    /// How many units of it.
    pub(crate) quantity: Amount,
    /// The token, to make sure that the order is for it.
    pub(crate) token_id: Option<TokenId>,
}

/// A share for somebody else.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[schemars(rename = "AdditionalFeeInput")]
pub(crate) struct AdditionalFee {
    /// How much: up to 10000 it is in basis points of the whole price, beyond that an amount of the currency.
    amount: Amount,
    /// Who gets it.
    receiver: Address,
}

/// The fees as the protocols take them.
pub(crate) fn fees_of(given: Option<Vec<AdditionalFee>>) -> Vec<RequestedFee> {
    let given = given.unwrap_or_default();
    given.iter().map(|fee| RequestedFee { amount: fee.amount, receiver: fee.receiver }).collect()
}

/// Whether a wallet is of the kind that makes approvals by itself, in the same transaction.
pub(crate) fn batches(wallet: Option<&Text<64>>, service: &ServiceName) -> bool {
    wallet.is_some_and(|word| ["sequence", "service", service.as_str()].contains(&word.as_str()))
}
