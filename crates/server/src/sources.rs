//! The own services of marketplaces, as the settings name them, and who has logged in there.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bourse_chain::{Source, SourceError, SourceOptions};
use bourse_market::protocols::native::Request;
use bourse_wire::{Address, Error, Marketplace, ServiceName, Timestamp};
use futures_util::future::try_join_all;
use serde_json::Value;

use crate::settings::Sources as Section;

/// For how long somebody is taken to be logged in; services allow more.
const LOGIN_SECONDS: i64 = 3600;
/// People who may be logged in at once.
const LOGINS_MAX: usize = 10_000;

/// The own services of marketplaces.
#[derive(Default)]
pub(crate) struct Sources(BTreeMap<Marketplace, Source>);

impl Sources {
    /// The services that the settings name. None is asked anything yet.
    pub(crate) fn open(section: &Section) -> Result<Self, String> {
        let mut sources = BTreeMap::new();
        for (marketplace, api, url, key) in section.named() {
            if url.expose().is_empty() {
                continue;
            }
            let name = marketplace.word(&ServiceName::new("service"));
            let reason = |reason: String| format!("sources.{name}_url: {reason}");
            let options = SourceOptions {
                url: url.expose().parse().map_err(|error| reason(format!("{error}")))?,
                key: (!key.expose().is_empty()).then(|| (api.key_header(), key.expose().to_owned())),
                timeout: Duration::from_millis(section.timeout_ms),
                attempts_max: section.attempts_max,
            };
            sources.insert(marketplace, Source::new(options).map_err(reason)?);
        }
        Ok(Self(sources))
    }

    /// What the service of a marketplace answers to each of some questions.
    pub(crate) async fn ask(
        &self,
        marketplace: Marketplace,
        requests: Vec<Request>,
    ) -> Result<Vec<Value>, Unanswered> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let name = marketplace.word(&ServiceName::new("service"));
        let Some(source) = self.0.get(&marketplace) else { return Err(Unanswered::Missing { name }) };
        let failed = |error: SourceError| Unanswered::Failed { name, error };
        try_join_all(requests.iter().map(|request| source.ask(request))).await.map_err(failed)
    }
}

/// Why the service of a marketplace does not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    /// The settings name none.
    #[error(
        "{name} must agree to each fill of these orders, and no service of it is configured (sources.{name}_url)"
    )]
    Missing {
        /// The marketplace.
        name: String,
    },
    /// It was asked in vain.
    #[error("the service of {name} {error}")]
    Failed {
        /// The marketplace.
        name: String,
        /// Why.
        error: SourceError,
    },
}

impl Unanswered {
    /// Whether it does not know, or no longer, who asks.
    pub(crate) fn is_unauthorized(&self) -> bool {
        matches!(self, Self::Failed { error: SourceError::Unauthorized(_), .. })
    }
}

impl From<Unanswered> for Error {
    fn from(unanswered: Unanswered) -> Self {
        Self::conflict(unanswered.to_string())
    }
}

/// Who has logged in at marketplaces that want it. Kept in memory: whoever is forgotten logs in again.
#[derive(Default)]
pub(crate) struct Logins(Mutex<HashMap<(Marketplace, Address), (String, Timestamp)>>);

impl Logins {
    /// What shows that somebody has logged in.
    pub(crate) fn get(&self, marketplace: Marketplace, who: Address, now: Timestamp) -> Option<String> {
        let logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (token, at) = logins.get(&(marketplace, who))?;
        (now.unix_seconds() - at.unix_seconds() < LOGIN_SECONDS).then(|| token.clone())
    }

    /// Forgets somebody whom the marketplace no longer knows.
    pub(crate) fn forget(&self, marketplace: Marketplace, who: Address) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(marketplace, who));
    }

    /// Remembers that somebody has logged in.
    pub(crate) fn put(&self, marketplace: Marketplace, who: Address, token: String, now: Timestamp) {
        let mut logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logins.retain(|_, (_, at)| now.unix_seconds() - at.unix_seconds() < LOGIN_SECONDS);
        if logins.len() < LOGINS_MAX {
            logins.insert((marketplace, who), (token, now));
        }
    }
}
