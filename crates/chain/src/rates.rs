//! Exchange rates from wherever the operator says: the settings themselves, or a link and where in its JSON the number
//! stands.

use std::time::Duration;

use bourse_store::{Store, StoreError};
use bourse_wire::{
    Address, ChainId, Currency, DatedRate, ExchangeRate, JSON_DEPTH_LIMIT, Timestamp, parse_json,
};
use serde_json::Value;

use crate::pace::{Pace, between, later};
use crate::rpc::{NodeUrl, client};

/// The most bytes of an answer.
const RESPONSE_BYTES_MAX: usize = 1 << 20;
/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How many digits an exchange rate may have on either side of the point.
const DIGITS_MAX: usize = 40;

/// Where the rate of a currency comes from.
#[derive(Clone, Debug)]
pub struct RateSource {
    /// The currency's chain.
    pub chain: ChainId,
    /// The currency.
    pub currency: Address,
    /// Who tells it.
    pub teller: RateTeller,
    /// How often it is asked.
    pub interval: Duration,
}

/// Who tells a rate.
#[derive(Clone, Debug)]
pub enum RateTeller {
    /// The operator, once and for all.
    Operator(ExchangeRate),
    /// A link.
    Link {
        /// The link. Like that of a node it may hold a key, and is never shown whole.
        url: NodeUrl,
        /// Members and places on the way to the number, with dots between: `data.0.price`.
        path: String,
    },
}

/// Why there is no rate.
#[derive(Debug, thiserror::Error)]
pub enum RateError {
    /// The source does not answer.
    #[error("{url}: {reason}")]
    Source {
        /// The source, without what may be secret.
        url: NodeUrl,
        /// What is wrong.
        reason: String,
    },
    /// Nobody said what the currency is called and how many decimals it has.
    #[error("currency {currency} of chain {chain} is not known: import it first")]
    Unknown {
        /// The chain.
        chain: ChainId,
        /// The currency.
        currency: Address,
    },
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl RateSource {
    /// Asks once and stores what is told, with the time of it. What the operator says was told when it first was so.
    pub async fn ask(&self, store: &Store, now: Timestamp) -> Result<DatedRate, RateError> {
        let rate = match &self.teller {
            RateTeller::Operator(rate) => match self.stored(store).await? {
                Some(told) if told.rate == *rate => return Ok(told),
                _ => rate.clone(),
            },
            RateTeller::Link { url, path } => {
                let refused = |reason| RateError::Source { url: url.clone(), reason };
                rate_at(&fetch(url).await.map_err(refused)?, path).map_err(refused)?
            }
        };
        let told = DatedRate { rate, at: now };
        if store.set_rate(self.chain, self.currency, told.clone()).await? {
            return Ok(told);
        }
        Err(RateError::Unknown { chain: self.chain, currency: self.currency })
    }

    /// How long it is left alone after it was asked.
    fn pause(&self) -> Duration {
        self.interval.max(Duration::from_secs(1))
    }

    async fn stored(&self, store: &Store) -> Result<Option<DatedRate>, StoreError> {
        let is_meant = |currency: &Currency| {
            (currency.chain_id, currency.contract_address) == (self.chain, self.currency)
        };
        Ok(store.currencies().await?.into_iter().find(is_meant).and_then(|currency| currency.rate))
    }
}

/// Asks sources whenever their time has come, until whoever waits for this stops waiting.
pub async fn follow_rates(sources: &[RateSource], store: &Store, pace: &impl Pace) {
    let mut due: Vec<(Timestamp, &RateSource)> =
        sources.iter().map(|source| (Timestamp::ZERO, source)).collect();
    loop {
        let now = pace.now();
        // A clock that was ahead and is set back must not make a source wait for longer than its interval.
        for (at, source) in &mut due {
            *at = (*at).min(later(now, source.pause()));
        }
        let Some(next) = due.iter().map(|(at, _)| *at).min() else { return };
        if next > now {
            pace.sleep(between(now, next)).await;
        }
        store.until_reached().await;
        // So much time has passed, whatever the clock says by now.
        let until = pace.now().max(next);
        for (at, source) in due.iter_mut().filter(|(at, _)| *at <= until) {
            if let Err(error) = source.ask(store, pace.now()).await {
                tracing::warn!(%error, currency = %source.currency, "a rate could not be read");
            }
            *at = later(pace.now(), source.pause());
        }
    }
}

async fn fetch(url: &NodeUrl) -> Result<Vec<u8>, String> {
    let failed = |error: reqwest::Error| error.without_url().to_string();
    let mut response = client(TIMEOUT)?.get(url.whole().clone()).send().await.map_err(failed)?;
    if !response.status().is_success() {
        return Err(format!("answered with status {}", response.status()));
    }
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if text.len() + chunk.len() > RESPONSE_BYTES_MAX {
            return Err(format!("answered more than {RESPONSE_BYTES_MAX} bytes"));
        }
        text.extend_from_slice(&chunk);
    }
    Ok(text)
}

/// The number at a place of a JSON text, digit by digit as it is written there.
fn rate_at(text: &[u8], path: &str) -> Result<ExchangeRate, String> {
    let whole = parse_json(text, JSON_DEPTH_LIMIT).map_err(|error| format!("answered what is {error}"))?;
    let mut value = &whole;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let next = match value {
            Value::Array(items) => step.parse().ok().and_then(|place: usize| items.get(place)),
            other => other.get(step),
        };
        value = next.ok_or_else(|| format!("has no `{step}` on the way `{path}`"))?;
    }
    let written = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return Err(format!("has no number at `{path}`")),
    };
    let plain =
        plain(&written).ok_or_else(|| format!("has `{written:.40}` at `{path}`, which is no rate"))?;
    plain.parse().map_err(|error: _| format!("{error}"))
}

/// A decimal number without an exponent, and without digits that are too small to count.
fn plain(written: &str) -> Option<String> {
    let (digits, exponent) = written.split_once(['e', 'E']).unwrap_or((written, "0"));
    let exponent: i32 = exponent.parse().ok().filter(|exponent: &i32| exponent.abs() <= 80)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all: String = [whole, fraction].concat();
    if whole.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let lacking = usize::try_from(-point).unwrap_or(0);
    let all = format!("{}{all}", "0".repeat(lacking));
    let point = usize::try_from(point.max(0)).ok()?;
    let all = format!("{all:0<point$}");
    let (whole, fraction) = all.split_at(point);
    let fraction: String = fraction.chars().take(DIGITS_MAX).collect();
    let or_zero = |part: &str| if part.is_empty() { "0".to_owned() } else { part.to_owned() };
    Some(format!("{}.{}", or_zero(whole), or_zero(&fraction)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_found_and_kept_digit_by_digit() {
        for (text, path, rate) in [
            (r#"{"ethereum":{"usd":1834.25}}"#, "ethereum.usd", "1834.25"),
            (r#"{"data":[{"price":"0.99990000000000000001"}]}"#, "data.0.price", "0.99990000000000000001"),
            ("3000", "", "3000"),
            (r#"{"p":1.5e-7}"#, "p", "0.00000015"),
            (r#"{"p":12E3}"#, "p", "12000"),
            (r#"{"p":1.25e1}"#, "p", "12.5"),
            (r#"{"p":0}"#, "p", "0"),
        ] {
            assert_eq!(rate_at(text.as_bytes(), path).unwrap().to_string(), rate, "{text}");
        }
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for (text, path) in [
            (r#"{"p":-1}"#, "p"),
            (r#"{"p":"NaN"}"#, "p"),
            (r#"{"p":1e999}"#, "p"),
            (r#"{"p":{}}"#, "p"),
            (r#"{"p":1}"#, "q"),
            (r#"{"p":[1]}"#, "p.1"),
            ("<html>", "p"),
        ] {
            assert!(rate_at(text.as_bytes(), path).is_err(), "{text}");
        }
    }
}
