//! HTTP POST to addresses that nobody vouches for. No redirect is followed: what is sent is meant for the address that was named.

use std::sync::Arc;

use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};

use super::guard::{GetError, Guard, Lookup, Rules, retry_after};

/// Sends.
#[derive(Clone)]
pub struct Poster {
    guard: Guard,
    user_agent: &'static str,
}

impl Poster {
    /// One that follows these rules, looks names up there, and says that it is this.
    pub fn new(rules: Rules, lookup: Arc<dyn Lookup>, user_agent: &'static str) -> Result<Self, GetError> {
        Ok(Self { guard: Guard::new(rules, lookup)?, user_agent })
    }

    /// Reads an address, and refuses one that can be refused without asking anybody.
    pub fn address(&self, text: &str) -> Result<Url, GetError> {
        let url = Url::parse(text).map_err(|error| GetError::Refused(error.to_string()))?;
        self.guard.check(&url)?;
        Ok(url)
    }

    /// Sends JSON to an address. It arrived where the answer says so in time; what else it says is not read.
    pub async fn post(
        &self,
        url: &Url,
        headers: &[(&'static str, String)],
        json: &str,
    ) -> Result<(), GetError> {
        let timeout = self.guard.rules.timeout;
        let sent = tokio::time::timeout(timeout, self.send(url, headers, json));
        sent.await.unwrap_or(Err(GetError::TooSlow(timeout)))
    }

    async fn send(&self, url: &Url, headers: &[(&'static str, String)], json: &str) -> Result<(), GetError> {
        let (accept, user_agent) = (self.guard.rules.accept, self.user_agent);
        let response = self.guard.send(url, |client| {
            let request = client.post(url.clone()).header(ACCEPT, accept).header(USER_AGENT, user_agent);
            let request = request.header(CONTENT_TYPE, "application/json").body(json.to_owned());
            headers.iter().fold(request, |request, (name, value)| request.header(*name, value))
        });
        let response = response.await?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        Err(GetError::Status { status: status.as_u16(), retry_after: retry_after(response.headers()) })
    }
}
