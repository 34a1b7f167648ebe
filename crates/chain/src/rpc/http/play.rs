//! How one node plays steps: in their order with `eth_simulateV1`, or each for itself with `eth_call`.

use alloy_primitives::{Bytes, U256, hex};
use bourse_market::facts::Block;
use futures_util::future::try_join_all;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{HttpNode, classified, is_revert, is_unknown_method, read};
use crate::node::{Failure, Header};
use crate::rehearsal::{Outcome, Played, Rehearsal, Unable, Way};
use crate::rpc::message::{self, Answer, Refusal, Request};
use crate::rpc::wire::{Data, Number, WireBlock};

/// The most bytes of what a node says of a rehearsal.
const PLAYED_BYTES_MAX: usize = 8 << 20;
/// How far ahead of now, and of the newest block, steps are played, in seconds: about the time until somebody has sent them. What
/// ends before cannot be had any more.
const AHEAD: u64 = 12;
/// How old the newest block may be for what is asked as of it to be believed, in seconds: what begins later would be refused.
const FRESH: u64 = 60;
/// The number by which nodes say that a contract refused.
const REVERTED: i64 = 3;
/// The most bytes that are kept of what a contract refused with.
const REVERT_BYTES_MAX: usize = 4096;

/// A block that was made of calls.
#[derive(Deserialize)]
struct WirePlayed {
    number: Option<Number>,
    calls: Vec<WireCall>,
}

/// What became of a call in it.
#[derive(Deserialize)]
struct WireCall {
    status: Number,
    #[serde(rename = "returnData")]
    returned: Option<Data>,
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct WireError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

impl WireCall {
    fn outcome(&self) -> Outcome {
        if self.status.0 == 1 {
            return Outcome::Done;
        }
        let error = self.error.as_ref();
        // Nodes tell it in one place or in the other.
        let told = error.and_then(|error| error.data.as_str()).map(revert_data);
        let returned = || self.returned.as_ref().map(|data| data.0.clone());
        let data = told.filter(|data| !data.is_empty()).or_else(returned).unwrap_or_default();
        if error.is_some_and(|error| is_limit(error.code, &error.message, &data)) {
            return Outcome::Untried;
        }
        Outcome::Reverted(data.slice(..data.len().min(REVERT_BYTES_MAX)))
    }
}

/// Whether the node gave up, and not the contract. Nodes quote what a contract says, which may be anything: what came with
/// the number of a refusal by a contract, or with its data, is never the node's own word.
fn is_limit(code: i64, message: &str, data: &Bytes) -> bool {
    const WORDS: [&str; 6] = ["out of gas", "gas limit", "intrinsic gas", "timeout", "timed out", "abort"];
    if code == REVERTED || !data.is_empty() {
        return false;
    }
    let message = message.to_lowercase();
    WORDS.iter().any(|word| message.contains(word))
}

/// What became of a call that a node refused to answer.
fn refused_alone(refusal: &Refusal) -> Outcome {
    let data = revert_data(&refusal.detail);
    let is_limit = is_limit(refusal.code, &refusal.message, &data);
    if is_revert(refusal) && !is_limit { Outcome::Reverted(data) } else { Outcome::Untried }
}

/// What is hexadecimal of a text that may be cut off.
fn revert_data(text: &str) -> Bytes {
    let digits = text.trim_matches('"').strip_prefix("0x").unwrap_or_default();
    let count = digits.bytes().take_while(u8::is_ascii_hexdigit).count().min(2 * REVERT_BYTES_MAX);
    hex::decode(&digits[..count - count % 2]).unwrap_or_default().into()
}

/// What every way of playing begins with.
struct Stage {
    head: Block,
    funds: U256,
}

impl HttpNode {
    pub(super) async fn play_steps(&self, rehearsal: &Rehearsal, way: Way) -> Result<Played, Unable> {
        match way {
            Way::InOrder => self.play_in_order(rehearsal).await,
            Way::Alone => self.play_alone(rehearsal).await,
        }
    }

    async fn play_in_order(&self, rehearsal: &Rehearsal) -> Result<Played, Unable> {
        let mut time = rehearsal.now + AHEAD;
        loop {
            let asked = vec![in_order_request(rehearsal, time)];
            let (stage, answers) = self.on_stage(rehearsal, asked).await?;
            let head_time = u64::try_from(stage.head.at.unix_seconds()).unwrap_or_default();
            if stage.funds < rehearsal.value() {
                return Ok(Played::nothing(rehearsal, stage.funds, stage.head.number));
            }
            if head_time >= time {
                // A chain whose clock is ahead takes no block that is earlier than its newest.
                time = head_time + AHEAD;
                continue;
            }
            return in_order(rehearsal, &stage, answers);
        }
    }

    async fn play_alone(&self, rehearsal: &Rehearsal) -> Result<Played, Unable> {
        let alone = (0..rehearsal.calls.len()).filter(|place| rehearsal.stands_alone(*place));
        let alone: Vec<usize> = alone.collect();
        let mut asked: Vec<Request> = alone.iter().map(|place| alone_request(rehearsal, *place)).collect();
        // What is asked afterwards is the same before only where nothing is done between.
        let is_nothing_done = rehearsal.calls.is_empty();
        let inquiries = rehearsal.asked.iter().filter(|_| is_nothing_done);
        asked.extend(inquiries.map(|inquiry| {
            let call = json!({"to": inquiry.to, "data": hex::encode_prefixed(&inquiry.data)});
            Request::new("eth_call", json!([call, "latest"]))
        }));
        let (stage, answers) = self.on_stage(rehearsal, asked).await?;
        let mut played = Played::nothing(rehearsal, stage.funds, stage.head.number);
        if stage.funds < rehearsal.value() {
            return Ok(played);
        }
        let head_time = u64::try_from(stage.head.at.unix_seconds()).unwrap_or_default();
        let is_fresh = head_time + FRESH >= rehearsal.now;
        let mut answers = answers.into_iter();
        for place in alone {
            played.outcomes[place] = answers.next().map_or(Outcome::Untried, |answer| match answer {
                Ok(_) => Outcome::Done,
                Err(refusal) if is_fresh => refused_alone(&refusal),
                Err(_) => Outcome::Untried,
            });
        }
        for (place, answer) in answers.enumerate() {
            played.answers[place] = answer.ok().and_then(|text| read::<Data>(&text).ok()).map(|data| data.0);
        }
        Ok(played)
    }

    /// Asks something together with what the newest block is, and what the wallet has.
    async fn on_stage(
        &self,
        rehearsal: &Rehearsal,
        asked: Vec<Request>,
    ) -> Result<(Stage, Vec<Answer>), Unable> {
        let mut requests = vec![
            Request::new("eth_getBlockByNumber", json!(["latest", false])),
            Request::new("eth_getBalance", json!([rehearsal.wallet, "latest"])),
        ];
        requests.extend(asked);
        let mut answers = self.ask_at_once(&requests).await.map_err(unable)?;
        let rest = answers.split_off(2);
        let mut answers = answers.into_iter();
        let mut text = || {
            let answer = answers.next().unwrap_or_else(|| Ok(RawValue::NULL.to_owned()));
            answer.map_err(|refusal| unable(classified(&refusal)))
        };
        let head: WireBlock = read(&text()?).map_err(unable)?;
        let funds: String = read(&text()?).map_err(unable)?;
        let funds =
            amount(&funds).ok_or_else(|| unable(Failure::retry("the balance of a wallet is no number")))?;
        Ok((Stage { head: Header::from(head).block, funds }, rest))
    }

    /// Asks in one batch; one by one but at once where the node takes none. However it answers, other batches stay as they are.
    async fn ask_at_once(&self, requests: &[Request]) -> Result<Vec<Answer>, Failure> {
        if self.takes_batches_of(requests.len()) {
            let text = self.post_within(requests, PLAYED_BYTES_MAX).await?;
            if let Some(answers) = message::answers(&text, requests.len()) {
                return Ok(answers);
            }
        }
        try_join_all(requests.iter().map(|request| async move {
            let text = self.post_within(std::slice::from_ref(request), PLAYED_BYTES_MAX).await?;
            message::one(&text).ok_or_else(|| Failure::retry("the node answered no JSON-RPC"))
        }))
        .await
    }
}

/// `0x` and a number of up to 256 bits.
pub(super) fn amount(text: &str) -> Option<U256> {
    U256::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn in_order_request(rehearsal: &Rehearsal, time: u64) -> Request {
    let sent = rehearsal.calls.iter().map(|call| {
        json!({"from": rehearsal.wallet, "to": call.to, "data": hex::encode_prefixed(&call.data),
            "value": format!("{:#x}", call.value.value())})
    });
    let asked = rehearsal.asked.iter().map(|inquiry| {
        json!({"from": rehearsal.wallet, "to": inquiry.to, "data": hex::encode_prefixed(&inquiry.data)})
    });
    let calls: Vec<Value> = sent.chain(asked).collect();
    let block = json!({"blockOverrides": {"time": format!("{time:#x}")}, "calls": calls});
    Request::new("eth_simulateV1", json!([{"blockStateCalls": [block], "validation": false}, "latest"]))
}

fn alone_request(rehearsal: &Rehearsal, place: usize) -> Request {
    let call = &rehearsal.calls[place];
    let params = json!({"from": rehearsal.wallet, "to": call.to, "data": hex::encode_prefixed(&call.data),
        "value": format!("{:#x}", call.value.value())});
    Request::new("eth_call", json!([params, "latest"]))
}

/// What a node says of calls in their order. One that says something else does not know how to.
fn in_order(rehearsal: &Rehearsal, stage: &Stage, answers: Vec<Answer>) -> Result<Played, Unable> {
    let text = match answers.into_iter().next() {
        Some(Ok(text)) => text,
        Some(Err(refusal)) => return Err(unplayable(&refusal)),
        None => return Err(Unable::Unknown),
    };
    let blocks: Vec<WirePlayed> = serde_json::from_str(text.get()).map_err(|_| Unable::Unknown)?;
    let [block] = blocks.as_slice() else { return Err(Unable::Unknown) };
    let (count, asked) = (rehearsal.calls.len(), rehearsal.asked.len());
    if block.calls.len() != count + asked || block.calls.iter().any(|call| call.status.0 > 1) {
        return Err(Unable::Unknown);
    }
    let (calls, inquiries) = block.calls.split_at(count);
    let answer = |call: &WireCall| {
        let data = call.returned.as_ref().filter(|_| call.status.0 == 1)?;
        Some(data.0.clone())
    };
    Ok(Played {
        funds: stage.funds,
        outcomes: calls.iter().map(WireCall::outcome).collect(),
        answers: inquiries.iter().map(answer).collect(),
        block: block.number.map_or(stage.head.number, |number| number.0.min(stage.head.number)),
    })
}

/// Why a node plays nothing in order: it does not know the method, or something else is wrong.
fn unplayable(refusal: &Refusal) -> Unable {
    const WORDS: [&str; 6] =
        ["not supported", "unsupported", "not found", "not exist", "not available", "not allowed"];
    let said = refusal.message.to_lowercase();
    let is_unknown = is_unknown_method(refusal) || WORDS.iter().any(|word| said.contains(word));
    if is_unknown {
        return Unable::Unknown;
    }
    match classified(refusal) {
        // It wants to be left alone.
        failure @ Failure::Retry { after: Some(_), .. } => unable(failure),
        failure => Unable::Refused { reason: failure.to_string() },
    }
}

fn unable(failure: Failure) -> Unable {
    match failure {
        // It took too long, or is too large.
        Failure::SmallerRange { reason, .. } => Unable::Refused { reason },
        Failure::Retry { after, reason } => Unable::Failed { after, reason },
        other => Unable::Failed { after: None, reason: other.to_string() },
    }
}
