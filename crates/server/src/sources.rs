//! The own services of marketplaces, as the settings name them.

use std::collections::BTreeMap;
use std::time::Duration;

use bourse_chain::{Source, SourceError, SourceOptions};
use bourse_protocols::native::SourceRequest;
use bourse_wire::{Error, Marketplace, ServiceName};
use futures_util::future::try_join_all;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use crate::settings::{SourceSettings, Sources as Section};

/// The own services of marketplaces.
#[derive(Default)]
pub(crate) struct Sources(BTreeMap<Marketplace, Source>);

impl Sources {
    /// The services that the settings name. None is asked anything yet.
    pub(crate) fn open(section: &Section) -> Result<Self, String> {
        let mut sources = BTreeMap::new();
        for SourceSettings { marketplace, api, url, key } in section.services() {
            let (url, key) = (url.expose_secret(), key.expose_secret());
            if url.is_empty() {
                continue;
            }
            let name = marketplace.word(&ServiceName::new("service"));
            let reason = |reason: String| format!("sources.{name}_url: {reason}");
            let options = SourceOptions {
                url: url.parse().map_err(|error| reason(format!("{error}")))?,
                key: (!key.is_empty()).then(|| (api.key_header(), key.to_owned())),
                timeout: Duration::from_millis(section.timeout_ms),
                attempts_max: section.attempts_max,
            };
            sources.insert(marketplace, Source::new(options).map_err(reason)?);
        }
        Ok(Self(sources))
    }

    /// Refuses what the service of a marketplace must agree to where the settings name none.
    pub(crate) fn check_configured(&self, marketplace: Marketplace) -> Result<(), Unanswered> {
        self.of(marketplace).map(drop)
    }

    fn of(&self, marketplace: Marketplace) -> Result<(&Source, String), Unanswered> {
        let name = marketplace.word(&ServiceName::new("service"));
        match self.0.get(&marketplace) {
            Some(source) => Ok((source, name)),
            None => Err(Unanswered::Missing { name }),
        }
    }

    /// What the service of a marketplace answers to each of some questions.
    pub(crate) async fn ask(
        &self,
        marketplace: Marketplace,
        requests: Vec<SourceRequest>,
    ) -> Result<Vec<Value>, Unanswered> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let (source, name) = self.of(marketplace)?;
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
