//! Steps: what a wallet has to do, one after another.

use std::collections::BTreeMap;

use bourse_market::protocols::Call;
use bourse_wire::{Address, Amount};
use schemars::JsonSchema;
use serde::Serialize;

/// What a wallet has to do.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StepsAnswer")]
pub(crate) struct Answer {
    /// The steps, in the order to be performed.
    pub(crate) steps: Vec<Step>,
}

impl Answer {
    /// Approvals, and the transactions that they are for.
    pub(crate) fn of(approvals: Vec<Step>, id: StepId, calls: &[Call]) -> Self {
        let acts = calls.iter().map(|call| Step::transaction(id, call));
        Self { steps: approvals.into_iter().chain(acts).collect() }
    }
}

/// One thing that a wallet has to do: send a transaction, or sign something.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Step {
    /// What it is for.
    id: StepId,
    /// Data of the transaction, in hexadecimal; or the text to sign.
    data: String,
    /// Contract that the transaction goes to.
    to: Address,
    /// How much of the chain's own currency goes with it.
    value: Amount,
    /// What it moves in the currency of the orders: for a purchase all that is paid, with fees.
    price: Amount,
    /// Typed data to sign; left out of a transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<SignatureRequest>,
    /// Where the signature goes; left out of a transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    post: Option<PostRequest>,
    /// What is executed by the signature; left out of a transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    execute_type: Option<ExecuteType>,
}

/// What a step is for.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StepType")]
pub(crate) enum StepId {
    /// Lets the marketplace move the money or the tokens that the next steps need.
    TokenApproval,
    /// Buys.
    Buy,
    /// Sells.
    Sell,
    /// Makes a listing.
    CreateListing,
    /// Makes an offer.
    CreateOffer,
    /// Takes an order back.
    Cancel,
}

/// Typed data to sign, after EIP-712. No marketplace that transactions are made for asks for one.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StepSignature")]
struct SignatureRequest {
    /// For whom it is signed.
    domain: SignatureDomain,
    /// The types of the data.
    types: BTreeMap<String, serde_json::Value>,
    /// The type of the value.
    primary_type: String,
    /// The value.
    value: BTreeMap<String, serde_json::Value>,
}

/// For whom typed data is signed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StepSignatureDomain")]
struct SignatureDomain {
    /// Name.
    name: String,
    /// Version.
    version: String,
    /// Chain.
    chain_id: u64,
    /// Contract.
    verifying_contract: Address,
}

/// Where a signature goes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StepPost")]
struct PostRequest {
    /// Address.
    endpoint: String,
    /// HTTP method.
    method: String,
    /// Body.
    body: BTreeMap<String, serde_json::Value>,
}

/// What is executed by a signature.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents a member that other marketplaces need")]
enum ExecuteType {
    /// An order.
    Order,
}

impl Step {
    /// A transaction.
    pub(crate) fn transaction(id: StepId, call: &Call) -> Self {
        Self {
            id,
            data: format!("0x{}", const_hex::encode(&call.data)),
            to: call.to,
            value: call.value,
            price: call.price,
            signature: None,
            post: None,
            execute_type: None,
        }
    }
}
