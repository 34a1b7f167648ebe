//! One node over a WebSocket, asked for nothing but to tell of new blocks.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bourse_market::facts::Block;
use bourse_wire::ChainId;
use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::StatusCode;
use reqwest::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};
use tokio_websockets::{ClientBuilder, Limits, Message, WebSocketStream};

use super::http::explained;
use super::message::{self, Request};
use super::urls::SocketUrl;
use super::wire::{Number, WireBlock};
use crate::node::Header;

/// The most bytes of one thing that a node says: the head of a block has some thousands.
const MESSAGE_BYTES_MAX: usize = 256 << 10;
/// What the protocol adds to the word that a connection is asked for with (RFC 6455).
const ACCEPT_SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A connection over which a node tells of new blocks.
pub(super) struct Socket {
    stream: WebSocketStream<reqwest::Upgraded>,
    timeout: Duration,
}

/// What is heard over it.
#[derive(Debug)]
pub(super) enum Heard {
    /// A new block.
    Head(Block),
    /// The answer to a ping.
    Pong(Vec<u8>),
    /// Nothing that matters.
    Else,
}

/// Something that a node says: word of a block has parameters, an answer has none.
#[derive(Deserialize)]
struct Said<'a> {
    #[serde(default, borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    result: &'a RawValue,
}

impl Socket {
    /// Connects to a node of a chain and subscribes to its new blocks. `nonce` is drawn at random.
    pub(super) async fn open(
        client: &reqwest::Client,
        url: &SocketUrl,
        chain: ChainId,
        nonce: [u8; 16],
        timeout: Duration,
    ) -> Result<Self, String> {
        let stream = upgraded(client, url, nonce).await?;
        let limits = Limits::default().max_payload_len(Some(MESSAGE_BYTES_MAX));
        let mut socket = Self { stream: ClientBuilder::new().limits(limits).take_over(stream), timeout };
        let Number(found) = socket.ask("eth_chainId", json!([])).await?;
        if found != chain.0 {
            return Err(format!("it is a node of chain {found}, not of {chain}"));
        }
        socket.ask::<Box<RawValue>>("eth_subscribe", json!(["newHeads"])).await?;
        Ok(socket)
    }

    /// What comes next.
    pub(super) async fn next(&mut self) -> Result<Heard, String> {
        let message = self.message().await?;
        if message.is_pong() {
            return Ok(Heard::Pong(message.as_payload().to_vec()));
        }
        let Some(text) = message.as_text() else { return Ok(Heard::Else) };
        let said: Said<'_> = serde_json::from_str(text).map_err(|_| strange(text))?;
        let head = said.params.and_then(|params| serde_json::from_str::<WireBlock>(params.result.get()).ok());
        head.map(|head| Heard::Head(Header::from(head).block)).ok_or_else(|| strange(text))
    }

    /// Wants to hear the same back.
    pub(super) async fn ping(&mut self, word: Vec<u8>) -> Result<(), String> {
        self.send(Message::ping(word)).await
    }

    async fn ask<T: DeserializeOwned>(&mut self, method: &'static str, params: Value) -> Result<T, String> {
        self.send(Message::text(message::body(&[Request::new(method, params)]))).await?;
        let timeout = self.timeout;
        let answered = tokio::time::timeout(timeout, self.answer(method)).await;
        answered.unwrap_or_else(|_| Err(format!("it does not answer {method}")))
    }

    async fn answer<T: DeserializeOwned>(&mut self, method: &'static str) -> Result<T, String> {
        loop {
            let message = self.message().await?;
            let Some(text) = message.as_text() else { continue };
            let said: Said<'_> = serde_json::from_str(text).map_err(|_| strange(text))?;
            if said.params.is_some() {
                continue;
            }
            let answer = message::one(text.as_bytes()).ok_or_else(|| strange(text))?;
            let answer = answer.map_err(|refusal| format!("it refuses {method}: {}", refusal.message))?;
            return serde_json::from_str(answer.get()).map_err(|_| strange(text));
        }
    }

    async fn message(&mut self) -> Result<Message, String> {
        match self.stream.next().await {
            None => Err("it closed the connection".to_owned()),
            Some(Ok(message)) if message.is_close() => Err("it closed the connection".to_owned()),
            Some(message) => message.map_err(|error| explained(&error)),
        }
    }

    /// A node that does not read what it is sent is not waited for.
    async fn send(&mut self, message: Message) -> Result<(), String> {
        match tokio::time::timeout(self.timeout, self.stream.send(message)).await {
            Ok(sent) => sent.map_err(|error| explained(&error)),
            Err(_) => Err("it reads nothing of what it is sent".to_owned()),
        }
    }
}

/// Asks for a connection like for anything else: by the same client, with the same certificates, proxies and limits.
async fn upgraded(
    client: &reqwest::Client,
    url: &SocketUrl,
    nonce: [u8; 16],
) -> Result<reqwest::Upgraded, String> {
    let key = STANDARD.encode(nonce);
    let broken = |error: reqwest::Error| explained(&error.without_url());
    let request =
        client.get(url.over_http().clone()).header(CONNECTION, "Upgrade").header(UPGRADE, "websocket");
    let request = request.header(SEC_WEBSOCKET_VERSION, "13").header(SEC_WEBSOCKET_KEY, &key);
    let answer = request.send().await.map_err(broken)?;
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        let status = answer.status().as_u16();
        return Err(format!("it answers with status {status} where a WebSocket was asked for"));
    }
    let accepted = STANDARD.encode(Sha1::digest(format!("{key}{ACCEPT_SUFFIX}")));
    if answer.headers().get(SEC_WEBSOCKET_ACCEPT).is_none_or(|word| *word != accepted) {
        return Err("it answers what another connection asked for".to_owned());
    }
    answer.upgrade().await.map_err(broken)
}

/// Something that is no word of a block, nor an answer.
fn strange(text: &str) -> String {
    let told: String = text.chars().take(100).collect();
    format!("what it tells is no head of a block: {told}")
}
