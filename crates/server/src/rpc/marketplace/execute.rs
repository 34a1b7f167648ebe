//! Takes the signature that a step asked for.

use bourse_market::protocols::blur;
use bourse_market::protocols::native::Proof;
use bourse_store::{Batch, Change, SignedOrder};
use bourse_wire::{Address, ChainRef, Error, Marketplace, Text, from_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{Chains, Reader, SignedOrderInput};
use crate::route::request;
use crate::rpc::ingest::signed;

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

/// What the body says of a message that logs somebody in.
pub(crate) const LOGIN: &str = "login";

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let Request { chain_id, signature, body, params } = request;
    let params = params.unwrap_or(Params { chain_id, signature, body });
    let signature = params.signature.ok_or_else(|| Error::invalid("signature", "is required"))?;
    let mut body = params.body.ok_or_else(|| Error::invalid("body", "is required"))?;
    if body.get("kind").and_then(Value::as_str) == Some(LOGIN) {
        return log_in(&call, body, signature.as_str()).await;
    }
    body.insert("signature".to_owned(), Value::from(signature.as_str()));
    let input: SignedOrderInput = from_value(Value::Object(body)).map_err(Error::from)?;
    let app = &call.app;
    let chains = match params.chain_id {
        Some(chain) => Chains::Usually(call.chain(Some(&chain))?),
        None => call.chain(None).map_or(Chains::Named, Chains::Usually),
    };
    let networks = &app.settings.networks;
    let reader = Reader { service: &app.service_name, networks, chains, now: call.now };
    let (collection, admitted) = reader.signed_order(input).map_err(Error::from)?;
    let order_id = admitted.facts.order_id.clone();
    // Whoever has an access key may call this: what nobody has signed is not taken, nor what is of no collection here.
    if admitted.proof == Proof::Held {
        return Err(Error::invalid("signature", "is kept by the marketplace").into());
    }
    let missing =
        || Error::not_found(format_args!("collection {} on chain {}", collection.address, collection.chain));
    app.store.collection(collection).await?.ok_or_else(missing)?;
    signed::not_over(&admitted.facts, call.now).map_err(Error::from)?;
    for (_, checked) in signed::check(app, collection.chain, vec![(0, admitted)]).await {
        let signed = checked.map_err(Error::from)?;
        let facts = signed::dated(signed.facts, call.now);
        let change = Change::SignedOrder(Box::new(SignedOrder { facts, ..signed }));
        let _turn = app.turns.share(collection).await;
        app.commit(Batch { collection, changes: vec![change], key: None }).await?;
    }
    Ok(Answer { order_id })
}

/// Who logs in, and with what.
#[derive(Deserialize)]
struct Login {
    wallet: Address,
    challenge: Value,
}

/// Logs somebody in at a marketplace whose message they have signed.
async fn log_in(call: &Call, body: Map<String, Value>, signature: &str) -> Result<Answer, Failure> {
    let Login { wallet, challenge } = from_value(Value::Object(body)).map_err(Error::from)?;
    let challenge =
        blur::read_challenge(&challenge, wallet).map_err(|fault| Error::invalid("body.challenge", fault))?;
    let request = blur::login(&challenge.rest, signature);
    let answers = call.app.sources.ask(Marketplace::Blur, vec![request]).await.map_err(Error::from)?;
    let answer = answers.first().unwrap_or(&Value::Null);
    let token = blur::read_login(answer).map_err(|fault| Error::conflict(format!("blur: {fault}")))?;
    call.app.logins.put(Marketplace::Blur, wallet, token, call.now);
    Ok(Answer { order_id: String::new() })
}
