//! The own services of marketplaces, asked over HTTP.

use std::time::Duration;

use bourse_protocols::native::SourceRequest;
use bourse_wire::{JSON_DEPTH_LIMIT, parse_json};
use serde_json::Value;

use crate::rpc::{NodeUrl, client};

/// The most bytes of an answer: calls with many orders are long.
const RESPONSE_BYTES_MAX: usize = 4 << 20;
/// How long to wait before something is asked again, times how often it was.
const RETRY: Duration = Duration::from_millis(250);

/// How a service is asked.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Its address, which may hold a key.
    pub url: NodeUrl,
    /// The header that the key goes in, and the key.
    pub key: Option<(&'static str, String)>,
    /// How long it may take to answer.
    pub timeout: Duration,
    /// How often it is asked when it does not answer.
    pub attempts_max: u32,
}

/// A service of a marketplace.
pub struct Source {
    options: SourceOptions,
    client: reqwest::Client,
}

/// Why a service gave no answer.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SourceError {
    /// It cannot be reached, or says that it cannot answer now.
    #[error("does not answer: {0}")]
    Unreachable(String),
    /// It does not let whoever asks in.
    #[error("refuses: {0}")]
    Unauthorized(String),
    /// It does not want to answer.
    #[error("refuses: {0}")]
    Refused(String),
    /// What it answers is no JSON, or too much.
    #[error("answered nothing that can be read: {0}")]
    Unreadable(String),
}

impl Source {
    /// A service that is not asked anything yet.
    pub fn new(options: SourceOptions) -> Result<Self, String> {
        let client = client(options.timeout)?;
        Ok(Self { options, client })
    }

    /// What it answers. A service that cannot be reached, or is busy, is asked again.
    pub async fn ask(&self, request: &SourceRequest) -> Result<Value, SourceError> {
        let mut attempt = 1;
        loop {
            match self.ask_once(request).await {
                Err(SourceError::Unreachable(_)) if attempt < self.options.attempts_max => {
                    tokio::time::sleep(RETRY * attempt).await;
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    async fn ask_once(&self, request: &SourceRequest) -> Result<Value, SourceError> {
        let base = self.options.url.whole().as_str().trim_end_matches('/');
        let body = request.body.to_string();
        let mut sent = self.client.post(format!("{base}{}", request.path));
        sent = sent.header("content-type", "application/json").header("accept", "application/json");
        for (name, value) in self.options.key.iter().chain(&request.headers) {
            sent = sent.header(*name, value);
        }
        // An error of the library would name the whole address.
        let unreachable = |error: reqwest::Error| SourceError::Unreachable(error.without_url().to_string());
        let mut response = sent.body(body).send().await.map_err(unreachable)?;
        let status = response.status();
        let mut text = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if text.len() + chunk.len() > RESPONSE_BYTES_MAX {
                return Err(SourceError::Unreadable(format!("more than {RESPONSE_BYTES_MAX} bytes")));
            }
            text.extend_from_slice(&chunk);
        }
        let read = parse_json(&text, JSON_DEPTH_LIMIT);
        if status.is_success() {
            return read.map_err(|error| SourceError::Unreadable(error.to_string()));
        }
        let reason = read.ok().and_then(|answer| reason(&answer)).unwrap_or_default();
        let message = format!("{} {reason}", status.as_u16()).trim_end().to_owned();
        Err(match status.as_u16() {
            401 => SourceError::Unauthorized(message),
            429 | 500.. => SourceError::Unreachable(message),
            _ => SourceError::Refused(message),
        })
    }
}

/// What an error says, in the words that services use.
fn reason(answer: &Value) -> Option<String> {
    let places = ["/errors/0", "/message", "/error/message", "/error", "/detail"];
    let text = places.iter().find_map(|place| answer.pointer(place).and_then(Value::as_str))?;
    Some(text.chars().take(200).collect())
}
