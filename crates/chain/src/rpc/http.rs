//! One node over HTTP.

mod play;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use alloy_primitives::{B256, Bytes, U256, hex};
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{Address, ChainId};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::message::{self, Answer, Refusal, Request};
use super::refusals;
use super::urls::NodeUrl;
use super::wire::{Data, Fixed, Number, WireBlock, WireLog, WireReceipt, WireTransactions, WireWholeReceipt};
use crate::node::{Call, CallResults, Failure, Header, LogFilter, Node, Reverted, Span, SpanLogs, TimedLog};
use crate::receipt::Receipt;
use crate::rehearsal::{Played, Rehearsal, Unable, Way};
use crate::tls;

/// A client for hosts that the operator chose. It asks no proxy that the surroundings name, and goes nowhere else: keys
/// go with what is asked.
pub(crate) fn client(timeout: Duration) -> Result<reqwest::Client, String> {
    let config = tls::config().map_err(|error| error.to_string())?;
    let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let builder = builder.timeout(timeout).connect_timeout(timeout);
    builder.tls_backend_preconfigured(config).build().map_err(|error| error.to_string())
}

/// How a node is asked.
#[derive(Clone, Copy, Debug)]
pub struct HttpOptions {
    /// How long it may take to answer.
    pub timeout: Duration,
    /// The most bytes of an answer.
    pub response_bytes_max: usize,
    /// The most requests in one batch.
    pub batch_max: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(20), response_bytes_max: 64 << 20, batch_max: 100 }
    }
}

/// A node that speaks JSON-RPC over HTTP.
pub struct HttpNode {
    client: reqwest::Client,
    url: NodeUrl,
    options: HttpOptions,
    /// How many requests go into a batch; it shrinks when the node refuses, down to one.
    batch: AtomicUsize,
    requests: Arc<AtomicU64>,
}

impl HttpNode {
    /// A node at this address; what is asked of it is counted.
    pub fn new(url: NodeUrl, options: HttpOptions, requests: Arc<AtomicU64>) -> Result<Self, Failure> {
        let client = client(options.timeout)
            .map_err(|reason| Failure::Stop { reason: format!("no HTTP client for {url}: {reason}") })?;
        let batch = AtomicUsize::new(options.batch_max.max(1));
        Ok(Self { client, url, options, batch, requests })
    }

    /// The address, without what may be secret.
    pub fn url(&self) -> &NodeUrl {
        &self.url
    }

    /// Asks in as few batches as the node allows.
    async fn ask(&self, requests: &[Request]) -> Result<Vec<Answer>, Failure> {
        let mut answers = Vec::with_capacity(requests.len());
        while answers.len() < requests.len() {
            let size = self.batch.load(Ordering::Relaxed);
            let rest = &requests[answers.len()..];
            let asked = &rest[..size.min(rest.len())];
            let text = self.post(asked).await?;
            match message::answers(&text, asked.len()) {
                Some(found) => answers.extend(found),
                None => self.refused(&text, asked.len())?,
            }
        }
        Ok(answers)
    }

    /// What to do about an answer that does not answer: ask for less at once, or give up.
    fn refused(&self, text: &[u8], asked: usize) -> Result<(), Failure> {
        if let Some(Err(refusal)) = message::one(text) {
            let failure = classified(&refusal);
            let is_busy = matches!(failure, Failure::Retry { after: Some(_), .. });
            if asked == 1 || is_busy {
                return Err(failure);
            }
        } else if asked == 1 {
            let text = String::from_utf8_lossy(&text[..text.len().min(200)]).into_owned();
            return Err(Failure::retry(format!("{} answered no JSON-RPC: {text}", self.url)));
        }
        self.batch.store((asked / 2).max(1), Ordering::Relaxed);
        tracing::debug!(node = %self.url, asked, "the node refused a batch");
        Ok(())
    }

    /// Whether a batch of so many requests may be sent, as far as that is known.
    fn takes_batches_of(&self, requests: usize) -> bool {
        self.batch.load(Ordering::Relaxed) >= requests
    }

    async fn post(&self, requests: &[Request]) -> Result<Vec<u8>, Failure> {
        self.post_within(requests, self.options.response_bytes_max).await
    }

    /// What a node answers, unless that is more than so many bytes.
    async fn post_within(&self, requests: &[Request], bytes_max: usize) -> Result<Vec<u8>, Failure> {
        self.requests.fetch_add(requests.len() as u64, Ordering::Relaxed);
        let sent = self.client.post(self.url.whole().clone()).header(CONTENT_TYPE, "application/json");
        let mut response =
            sent.body(message::body(requests)).send().await.map_err(|error| self.broken(error))?;
        let status = response.status();
        let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let mut text = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error))? {
            if text.len() + chunk.len() > bytes_max {
                let reason = format!("an answer of {} has more than {bytes_max} bytes", self.url);
                return Err(Failure::SmallerRange { suggested: None, reason });
            }
            text.extend_from_slice(&chunk);
        }
        // Providers answer refusals of JSON-RPC with any status; their words say more than the number.
        if status.is_success() || (status.as_u16() != 429 && message::one(&text).is_some()) {
            return Ok(text);
        }
        let body = String::from_utf8_lossy(&text[..text.len().min(300)]).into_owned();
        let after = after.map(Duration::from_secs);
        // A batch that is too large for a proxy may pass in parts.
        if requests.len() > 1 && status.is_client_error() && status.as_u16() != 429 {
            return Ok(text);
        }
        Err(refusals::classify_status(status.as_u16(), after, &body))
    }

    fn broken(&self, error: reqwest::Error) -> Failure {
        let is_timeout = error.is_timeout();
        let reason = format!("{}: {}", self.url, explained(&error.without_url()));
        if is_timeout { Failure::SmallerRange { suggested: None, reason } } else { Failure::retry(reason) }
    }

    /// The receipts of a block, asked for one by one.
    async fn receipts_of(&self, block: BlockHash) -> Result<Vec<WireReceipt>, Failure> {
        let block: Option<WireTransactions> =
            self.ask_one("eth_getBlockByHash", json!([block.to_string(), false])).await?;
        let transactions = block.ok_or_else(gone)?.transactions;
        let request = |hash: &Fixed<32>| {
            Request::new("eth_getTransactionReceipt", json!([hex::encode_prefixed(hash.0)]))
        };
        let requests: Vec<Request> = transactions.iter().map(request).collect();
        let answers = self.ask(&requests).await.map_err(not_smaller)?;
        let receipts = answers.into_iter().map(|answer| {
            let text = answer.map_err(|refusal| not_smaller(classified(&refusal)))?;
            read::<Option<WireReceipt>>(&text)?.ok_or_else(gone)
        });
        receipts.collect()
    }

    /// Asks one thing that has nothing to do with ranges, by its method. It is asked once: whoever sends something finds out by
    /// other means what became of it.
    pub async fn ask_one<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<T, Failure> {
        let mut answers = self.ask(&[Request::new(method, params)]).await.map_err(not_smaller)?;
        let answer = answers.pop().ok_or_else(|| Failure::retry("no answer"))?;
        read(&answer.map_err(|refusal| not_smaller(classified(&refusal)))?)
    }
}

/// The causes of an error, down to the one that says something.
pub(super) fn explained(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn classified(refusal: &Refusal) -> Failure {
    refusals::classify(refusal.code, &refusal.message, &refusal.detail)
}

/// What does not ask about a range cannot ask about a smaller one.
fn not_smaller(failure: Failure) -> Failure {
    match failure {
        Failure::SmallerRange { reason, .. } => Failure::retry(reason),
        other => other,
    }
}

fn read<T: DeserializeOwned>(text: &RawValue) -> Result<T, Failure> {
    serde_json::from_str(text.get())
        .map_err(|error| Failure::retry(format!("the node answered what cannot be read: {error}")))
}

fn quantity(number: u64) -> String {
    format!("{number:#x}")
}

fn block_request(number: u64) -> Request {
    Request::new("eth_getBlockByNumber", json!([quantity(number), false]))
}

fn named_block_request(hash: BlockHash) -> Request {
    Request::new("eth_getBlockByHash", json!([hash.to_string(), false]))
}

fn gone() -> Failure {
    Failure::reorg("the node answered nothing about a block that is gone")
}

/// Logs as the node told them, unless one is of a block that is gone.
fn timed(logs: impl IntoIterator<Item = WireLog>) -> Result<Vec<TimedLog>, Failure> {
    let told = |log: WireLog| log.timed().ok_or_else(|| Failure::reorg("a log of a block that is gone"));
    logs.into_iter().map(told).collect()
}

fn logs_request(span: Span, filter: &LogFilter) -> Request {
    let mut sent = match span {
        Span::Range { from, to } => json!({"fromBlock": quantity(from), "toBlock": quantity(to)}),
        Span::Block(hash) => json!({"blockHash": hash.to_string()}),
    };
    match filter.addresses.as_slice() {
        [] => {}
        [one] => sent["address"] = json!(one),
        many => sent["address"] = json!(many),
    }
    let topics = filter.topics.iter().map(|allowed| match allowed.as_slice() {
        [] => Value::Null,
        [one] => json!(one.to_string()),
        many => many.iter().map(ToString::to_string).collect(),
    });
    sent["topics"] = topics.collect();
    Request::new("eth_getLogs", json!([sent]))
}

impl Node for HttpNode {
    async fn chain_id(&self) -> Result<ChainId, Failure> {
        let id: Number = self.ask_one("eth_chainId", json!([])).await?;
        Ok(ChainId(id.0))
    }

    async fn head(&self) -> Result<Block, Failure> {
        let head: Option<WireBlock> = self.ask_one("eth_getBlockByNumber", json!(["latest", false])).await?;
        let head = head.ok_or_else(|| Failure::retry(format!("{} knows no block yet", self.url)))?;
        Ok(Header::from(head).block)
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        let headers = self.headers(numbers).await?;
        Ok(headers.into_iter().map(|header| header.map(|header| header.block)).collect())
    }

    async fn headers(&self, numbers: &[u64]) -> Result<Vec<Option<Header>>, Failure> {
        let requests: Vec<Request> = numbers.iter().map(|number| block_request(*number)).collect();
        let answers = self.ask(&requests).await.map_err(not_smaller)?;
        let headers = answers.into_iter().map(|answer| match answer {
            Ok(text) => Ok(read::<Option<WireBlock>>(&text)?.map(Header::from)),
            Err(refusal) => match not_smaller(classified(&refusal)) {
                Failure::PossibleReorg { .. } => Ok(None),
                failure => Err(failure),
            },
        });
        headers.collect()
    }

    async fn logs(&self, span: Span, filters: &[LogFilter]) -> Result<SpanLogs, Failure> {
        let mut requests: Vec<Request> = filters.iter().map(|filter| logs_request(span, filter)).collect();
        // Many nodes answer "no logs" about blocks that they have not seen yet. Along in the same batch goes the
        // question whether they have.
        requests.push(match span {
            Span::Range { to, .. } => block_request(to),
            Span::Block(hash) => named_block_request(hash),
        });
        let in_span = |failure| match span {
            Span::Range { .. } => failure,
            Span::Block(_) => not_smaller(failure),
        };
        let mut answers = self.ask(&requests).await.map_err(in_span)?;
        let last = answers.pop().ok_or_else(|| Failure::retry("no answer"))?;
        let mut logs = Vec::new();
        for answer in answers {
            let text = answer.map_err(|refusal| in_span(classified(&refusal)))?;
            let found: Vec<WireLog> = read::<Option<Vec<WireLog>>>(&text)?.ok_or_else(gone)?;
            logs.extend(timed(found)?);
        }
        let last = last.map_err(|refusal| not_smaller(classified(&refusal)))?;
        let unknown = || Failure::reorg(format!("{} does not know the last block asked about", self.url));
        let last = read::<Option<WireBlock>>(&last)?.ok_or_else(unknown)?;
        Ok(SpanLogs { logs, last: Some(last.into()) })
    }

    async fn receipt_logs(&self, block: BlockHash) -> Result<Vec<TimedLog>, Failure> {
        let request = Request::new("eth_getBlockReceipts", json!([block.to_string()]));
        let mut answers = self.ask(&[request]).await.map_err(not_smaller)?;
        let receipts: Vec<WireReceipt> = match answers.pop().ok_or_else(|| Failure::retry("no answer"))? {
            Ok(text) => read::<Option<_>>(&text)?.ok_or_else(gone)?,
            // Older nodes tell receipts one by one only.
            Err(refusal) if is_unknown_method(&refusal) => self.receipts_of(block).await?,
            Err(refusal) => return Err(not_smaller(classified(&refusal))),
        };
        timed(receipts.into_iter().flat_map(|receipt| receipt.logs))
    }

    async fn call(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        let block = at.map_or_else(|| json!("latest"), |hash| json!({"blockHash": hash.to_string()}));
        let requests: Vec<Request> = calls
            .iter()
            .map(|call| {
                let mut params = json!({"to": call.to, "data": hex::encode_prefixed(&call.data)});
                if let Some(from) = call.from {
                    params["from"] = json!(from);
                }
                Request::new("eth_call", json!([params, block]))
            })
            .collect();
        let answers = self.ask(&requests).await.map_err(not_smaller)?;
        let called = answers.into_iter().map(|answer| match answer {
            Ok(text) => Ok(Ok(read::<Option<Data>>(&text)?.unwrap_or_default().0)),
            Err(refusal) if is_revert(&refusal) => Ok(Err(Reverted)),
            Err(refusal) => Err(not_smaller(classified(&refusal))),
        });
        called.collect()
    }

    async fn play(&self, rehearsal: &Rehearsal, way: Way) -> Result<Played, Unable> {
        self.play_steps(rehearsal, way).await
    }

    async fn funds(&self, accounts: &[Address]) -> Result<Vec<U256>, Failure> {
        let request = |account: &Address| Request::new("eth_getBalance", json!([account, "latest"]));
        let requests: Vec<Request> = accounts.iter().map(request).collect();
        let answers = self.ask(&requests).await.map_err(not_smaller)?;
        let funds = answers.into_iter().map(|answer| {
            let text = answer.map_err(|refusal| not_smaller(classified(&refusal)))?;
            let digits: String = read(&text)?;
            play::amount(&digits).ok_or_else(|| Failure::retry("the balance of an account is no number"))
        });
        funds.collect()
    }

    async fn receipt(&self, transaction: B256) -> Result<Option<Receipt>, Failure> {
        let params = json!([hex::encode_prefixed(transaction)]);
        let told: Option<WireWholeReceipt> = self.ask_one("eth_getTransactionReceipt", params).await?;
        let Some(told) = told else { return Ok(None) };
        let receipt = told.receipt();
        let receipt = receipt.filter(|receipt| receipt.transaction == transaction);
        receipt.map(Some).ok_or_else(|| Failure::retry(format!("{} told another receipt", self.url)))
    }

    async fn code(&self, addresses: &[Address]) -> Result<Vec<Bytes>, Failure> {
        let requests: Vec<Request> =
            addresses.iter().map(|address| Request::new("eth_getCode", json!([address, "latest"]))).collect();
        let answers = self.ask(&requests).await.map_err(not_smaller)?;
        let codes = answers.into_iter().map(|answer| {
            let text = answer.map_err(|refusal| not_smaller(classified(&refusal)))?;
            Ok(read::<Option<Data>>(&text)?.unwrap_or_default().0)
        });
        codes.collect()
    }
}

/// Whether the node does not know what it was asked to do.
fn is_unknown_method(refusal: &Refusal) -> bool {
    refusal.code == -32601 || matches!(classified(refusal), Failure::Stop { .. })
}

/// Whether the contract refused, and not the node.
fn is_revert(refusal: &Refusal) -> bool {
    const WORDS: [&str; 6] =
        ["revert", "invalid opcode", "vm execution error", "out of gas", "stack underflow", "invalid jump"];
    let message = refusal.message.to_lowercase();
    refusal.code == 3 || WORDS.iter().any(|word| message.contains(word))
}
