//! HTTP GET of addresses that nobody vouches for. Redirects are followed, each hop checked by the [`Guard`]; size and time have
//! limits, whatever the other side claims.

use std::io::Read as _;
use std::sync::Arc;

use flate2::read::GzDecoder;
use reqwest::header::{ACCEPT, CONTENT_ENCODING, HeaderMap, LOCATION};
use reqwest::{Response, StatusCode, Url};

use super::guard::{GetError, Guard, Lookup, Rules, failure, retry_after};

/// Redirects that are followed, one after another.
pub(super) const REDIRECTS_MAX: usize = 5;

/// Fetches.
#[derive(Clone)]
pub struct Getter(Guard);

impl Getter {
    /// One that follows these rules and looks names up there.
    pub fn new(rules: Rules, lookup: Arc<dyn Lookup>) -> Result<Self, GetError> {
        Guard::new(rules, lookup).map(Self)
    }

    /// The body at an address, within all limits.
    pub async fn get(&self, url: Url) -> Result<Vec<u8>, GetError> {
        let timeout = self.0.rules.timeout;
        tokio::time::timeout(timeout, self.follow(url)).await.unwrap_or(Err(GetError::TooSlow(timeout)))
    }

    async fn follow(&self, mut url: Url) -> Result<Vec<u8>, GetError> {
        for _ in 0..=REDIRECTS_MAX {
            let response = self.hop(&url).await?;
            let status = response.status();
            if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
                url = next_hop(&url, response.headers())?;
            } else if status.is_success() {
                return self.body(response).await;
            } else {
                let retry_after = retry_after(response.headers());
                return Err(GetError::Status { status: status.as_u16(), retry_after });
            }
        }
        Err(GetError::Redirects)
    }

    async fn hop(&self, url: &Url) -> Result<Response, GetError> {
        let accept = self.0.rules.accept;
        self.0.send(url, |client| client.get(url.clone()).header(ACCEPT, accept)).await
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, GetError> {
        let bytes_max = self.0.rules.body_bytes_max;
        let too_large = GetError::TooLarge { bytes_max };
        if response.content_length().is_some_and(|length| length > bytes_max as u64) {
            return Err(too_large);
        }
        let encoding = encoding(response.headers())?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
            if body.len() + chunk.len() > bytes_max {
                return Err(too_large);
            }
            body.extend_from_slice(&chunk);
        }
        match encoding {
            Encoding::Identity => Ok(body),
            Encoding::Gzip => inflate(&body, bytes_max),
        }
    }
}

fn next_hop(url: &Url, headers: &HeaderMap) -> Result<Url, GetError> {
    let refused = || GetError::Refused("the redirect leads nowhere".to_owned());
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok()).ok_or_else(refused)?;
    url.join(location).map_err(|_| refused())
}

enum Encoding {
    Identity,
    Gzip,
}

fn encoding(headers: &HeaderMap) -> Result<Encoding, GetError> {
    let mut words = headers.get_all(CONTENT_ENCODING).iter();
    let first = words.next().map(|value| value.to_str().unwrap_or("?").trim().to_ascii_lowercase());
    match (first.as_deref(), words.next()) {
        (None | Some("" | "identity"), None) => Ok(Encoding::Identity),
        (Some("gzip" | "x-gzip"), None) => Ok(Encoding::Gzip),
        (word, _) => Err(GetError::Encoding(word.unwrap_or_default().chars().take(32).collect())),
    }
}

/// Inflates, up to a limit.
fn inflate(body: &[u8], bytes_max: usize) -> Result<Vec<u8>, GetError> {
    let wrong = |error: std::io::Error| GetError::Encoding(error.to_string());
    let (mut decoder, mut inflated) = (GzDecoder::new(body), Vec::new());
    decoder.by_ref().take(bytes_max as u64).read_to_end(&mut inflated).map_err(wrong)?;
    match decoder.read(&mut [0]).map_err(wrong)? {
        0 => Ok(inflated),
        _ => Err(GetError::TooLarge { bytes_max }),
    }
}
