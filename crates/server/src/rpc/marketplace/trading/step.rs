//! Steps: what a wallet has to do, one after another.

use std::collections::BTreeMap;

use bourse_protocols::native::TypedData;
use bourse_protocols::{Call, OrderSigning, SigningPayload};
use bourse_wire::{Address, Amount, ChainId, OrderSide};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::Simulation;

/// What a wallet has to do.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StepsAnswer")]
pub(crate) struct Answer {
    /// The steps, in the order to be performed.
    pub(crate) steps: Vec<Step>,
    /// Whether the transactions among them were tried.
    pub(crate) simulation: Simulation,
}

/// The steps to fill orders, in both places where clients look for them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FillStepsAnswer")]
pub(crate) struct FillAnswer {
    #[serde(flatten)]
    answer: Answer,
    /// The same steps, where newer clients look for them.
    resp: FillSteps,
}

/// The steps to fill orders.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FillSteps {
    /// The steps, in the order to be performed.
    steps: Vec<Step>,
    /// Whether another service can send them for the wallet: all are transactions, and whoever sends them, the wallet gets what
    /// they buy.
    can_be_used_with_trails: bool,
}

impl FillAnswer {
    /// What is signed before there are any transactions.
    pub(crate) fn to_sign(steps: Vec<Step>) -> Self {
        Self::new(Answer { steps, simulation: Simulation::default() }, false)
    }

    /// Transactions, and whether anybody may send them.
    pub(crate) fn new(answer: Answer, can_be_used_with_trails: bool) -> Self {
        let steps = answer.steps.clone();
        Self { answer, resp: FillSteps { steps, can_be_used_with_trails } }
    }
}

/// One thing that a wallet has to do: send a transaction, or sign something.
#[derive(Clone, Serialize, JsonSchema)]
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
    /// What it assumes, in words; left out where there is nothing to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
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
    /// Signs typed data (EIP-712); the signature goes to `Execute`.
    #[serde(rename = "signEIP712")]
    SignEip712,
    /// Signs a message (EIP-191); the signature goes to `Execute`.
    #[serde(rename = "signEIP191")]
    SignEip191,
}

impl StepId {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::TokenApproval => "tokenApproval",
            Self::Buy => "buy",
            Self::Sell => "sell",
            Self::CreateListing => "createListing",
            Self::CreateOffer => "createOffer",
            Self::Cancel => "cancel",
            Self::SignEip712 => "signEIP712",
            Self::SignEip191 => "signEIP191",
        }
    }
}

/// Typed data to sign, after EIP-712.
#[derive(Clone, Serialize, JsonSchema)]
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
#[derive(Clone, Serialize, JsonSchema)]
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
#[derive(Clone, Serialize, JsonSchema)]
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
pub(crate) enum ExecuteType {
    /// An order that is filled.
    Order,
    /// A listing that is made.
    CreateListing,
    /// An offer that is made.
    CreateItemOffer,
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
            note: None,
            signature: None,
            post: None,
            execute_type: None,
        }
    }

    /// The same with what it assumes.
    pub(crate) fn with_note(self, note: Option<String>) -> Self {
        Self { note, ..self }
    }

    /// A transaction that allows what later ones need.
    pub(crate) fn approval(call: &Call, note: Option<String>) -> Self {
        Self::transaction(StepId::TokenApproval, call).with_note(note)
    }

    /// Typed data to sign, which makes an order.
    pub(crate) fn signature(
        signing: OrderSigning,
        side: OrderSide,
        chain: ChainId,
        marketplace: &str,
    ) -> Self {
        let OrderSigning { typed, native, price } = signing;
        let body = [
            ("chainId".to_owned(), json!(chain)),
            ("marketplace".to_owned(), json!(marketplace)),
            ("native".to_owned(), Value::Object(native)),
        ];
        let execute_type = match side {
            OrderSide::Offer => ExecuteType::CreateItemOffer,
            OrderSide::Listing | OrderSide::Unknown => ExecuteType::CreateListing,
        };
        Self {
            id: StepId::SignEip712,
            data: String::new(),
            to: Address::ZERO,
            value: Amount::ZERO,
            price,
            note: None,
            signature: Some(typed.into()),
            post: Some(PostRequest::to_execute(body.into_iter().collect())),
            execute_type: Some(execute_type),
        }
    }

    /// Something that a taker signs before orders can be filled.
    pub(crate) fn consent(what: SigningPayload, price: Amount, body: BTreeMap<String, Value>) -> Self {
        let (id, data, signature) = match what {
            SigningPayload::Message(message) => (StepId::SignEip191, message, None),
            SigningPayload::Typed(typed) => (StepId::SignEip712, String::new(), Some((*typed).into())),
        };
        Self {
            id,
            data,
            to: Address::ZERO,
            value: Amount::ZERO,
            price,
            note: None,
            signature,
            post: Some(PostRequest::to_execute(body)),
            execute_type: Some(ExecuteType::Order),
        }
    }
}

impl From<TypedData> for SignatureRequest {
    fn from(typed: TypedData) -> Self {
        let domain = SignatureDomain {
            name: typed.domain.name.into_owned(),
            version: typed.domain.version.into_owned(),
            chain_id: typed.domain.chain.0,
            verifying_contract: typed.domain.contract,
        };
        Self {
            domain,
            types: typed.types.into_iter().collect(),
            primary_type: typed.primary_type,
            value: typed.value.into_iter().collect(),
        }
    }
}

impl PostRequest {
    /// What `Execute` is called with, beside the signature.
    fn to_execute(body: BTreeMap<String, Value>) -> Self {
        Self { endpoint: "/rpc/Marketplace/Execute".to_owned(), method: "POST".to_owned(), body }
    }
}
