//! Takes the signature that a step asked for.

use bourse_protocols::native::{Inquiry, Proof, SourceFault};
use bourse_protocols::{ConsentOutcome, ConsentSignature};
use bourse_store::{Author, Batch, Change, Subject};
use bourse_wire::{Address, ChainId, ChainRef, Code, Error, Marketplace, Text, from_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{Chains, Reader, SignedOrderInput};
use crate::route::request;
use crate::rpc::ingest::{signed, strangers};

/// A signature, and what it is for: under `params`, or as older clients send it without.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExecuteRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// The signature, in hexadecimal.
    signature: Option<Text<4096>>,
    /// The body of the step's `post`, unchanged.
    body: Option<Map<String, Value>>,
    /// The same members.
    params: Option<Params>,
}
request!(Request);

/// A signature, and what the step's `post` says.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExecuteInput")]
struct Params {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// The signature, in hexadecimal.
    signature: Option<Text<4096>>,
    /// The body of the step's `post`, unchanged.
    body: Option<Map<String, Value>>,
}

/// What the signature made.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExecuteAnswer")]
pub(crate) struct Answer {
    /// The order that was made; empty when the signature was for something else.
    order_id: String,
}

/// What the body says of something that is signed so that orders can be filled.
pub(crate) const CONSENT: &str = "consent";

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let Request { chain_id, signature, body, params } = request;
    let params = params.unwrap_or(Params { chain_id, signature, body });
    let given = params.signature.filter(|signature| !matches!(signature.as_str(), "" | "0x"));
    let signature = given.ok_or_else(|| Error::invalid("signature", "is required"))?;
    let mut body = params.body.ok_or_else(|| Error::invalid("body", "is required"))?;
    match body.get("kind").and_then(Value::as_str) {
        Some(CONSENT) => return consent(&call, body, signature.as_str()).await,
        Some(other) => {
            let reason = format!("`{other:.64}` is not known: send the body of the step unchanged");
            return Err(Error::invalid("body.kind", reason).into());
        }
        None => {}
    }
    body.insert("signature".to_owned(), Value::from(signature.as_str()));
    let input: SignedOrderInput = from_value(Value::Object(body)).map_err(Error::from)?;
    let app = &call.app;
    let chains = match params.chain_id {
        Some(chain) => Chains::Usually(call.chain(Some(&chain))?),
        None => call.chain(None).map_or(Chains::Named, Chains::Usually),
    };
    let reader = Reader {
        service: &app.service_name,
        networks: &app.settings.networks,
        registry: &app.registry,
        chains,
        now: call.now,
    };
    let (collection, admitted) = reader.signed_order(&input).map_err(Error::from)?;
    let order_id = admitted.facts.order_id.clone();
    // Whoever has an access key may call this: what nobody has signed is not taken, nor what is of no collection here.
    if admitted.proof == Proof::Held {
        return Err(Error::invalid("signature", "is kept by the marketplace").into());
    }
    let missing =
        || Error::not_found(format_args!("collection {} on chain {}", collection.address, collection.chain));
    app.store.collection(collection).await?.ok_or_else(missing)?;
    signed::not_over(&admitted.facts, call.now).map_err(Error::from)?;
    // Whoever has a key is a stranger: it is public.
    let is_vouched = call.caller.is_secret() && call.check_grant(Subject::Collections, collection).is_ok();
    if !is_vouched {
        strangers::check_rate(&call).map_err(|many| Error::new(Code::QuotaRateLimit, many.message))?;
    }
    let orders = vec![(0, admitted)];
    for (_, checked) in signed::check(app, collection, call.now, orders, is_vouched).await? {
        let order = checked.map_err(Error::from)?;
        let author = Author::Wallet { wallet: Some(order.facts.maker), sender: call.caller.sender() };
        let changes = vec![Change::SignedOrder(Box::new(order))];
        call.commit(Batch { collection, changes, key: None, author, at: call.now }).await?;
    }
    Ok(Answer { order_id })
}

/// What somebody signed so that they can fill orders.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConsentBody {
    chain_id: ChainId,
    marketplace: Text<64>,
    contract: Address,
    wallet: Address,
    terms: Map<String, Value>,
}

/// Remembers what somebody signed so that they can fill orders, once it is sure that they did.
async fn consent(call: &Call, body: Map<String, Value>, signature: &str) -> Result<Answer, Failure> {
    let ConsentBody { chain_id, marketplace, contract, wallet, terms } =
        from_value(Value::Object(body)).map_err(Error::from)?;
    let app = &call.app;
    let unknown = || Error::invalid("body", "names no marketplace where something is signed to fill orders");
    let marketplace = Marketplace::parse(marketplace.as_str(), &app.service_name).ok_or_else(unknown)?;
    let venue = app.registry.venue(chain_id, marketplace).ok_or_else(unknown)?;
    let protocol = venue.protocol_at(contract).ok_or_else(unknown)?;
    let now = u64::try_from(call.now.unix_seconds()).unwrap_or_default();
    let given = ConsentSignature { taker: wallet, terms: &terms, signature, now };
    let consent = match protocol
        .accept_consent(given)
        .map_err(|fault| Error::new(Code::InvalidArgument, fault.to_string()))?
    {
        ConsentOutcome::Given(consent, proof) => {
            check(app, chain_id, proof).await?;
            consent
        }
        ConsentOutcome::AskSource(request) => {
            let answers = app.sources.ask(marketplace, vec![request]).await.map_err(Error::from)?;
            let word = marketplace.word(&app.service_name);
            let fault = |fault: SourceFault| Error::conflict(format!("{word}: {fault}"));
            protocol.consent_from_source(answers.first().unwrap_or(&Value::Null), now).map_err(fault)?
        }
    };
    app.consents.put(&app.store, (marketplace, wallet), consent, call.now).await?;
    Ok(Answer { order_id: String::new() })
}

/// Refuses what the taker did not sign.
async fn check(app: &App, chain: ChainId, proof: Proof) -> Result<(), Failure> {
    let Proof::Ask(question) = proof else { return Ok(()) };
    let inquiry = Inquiry::of(question.to, question.data.clone());
    let answers = app.chains.ask_all(chain, vec![inquiry]).await.unwrap_or_default();
    let answer = answers.first().and_then(Option::as_ref);
    if question.is_yes(answer.map(AsRef::as_ref)) {
        return Ok(());
    }
    Err(Error::invalid("signature", format_args!("was not made by {}", question.to)).into())
}
