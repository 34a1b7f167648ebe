//! By what right somebody listens, which is looked at again and again: a stream may outlive the key that opened it.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::request::Parts;
use bourse_wire::{Code, Dialect, Error, ProjectId};

use crate::app::App;
use crate::auth::{Authority, RequestCredentials};
use crate::call::Call;
use crate::route::{Credential, Service};

/// By what right somebody listens.
pub(crate) struct Standing {
    headers: HeaderMap,
    service: Service,
    credential: Credential,
    project: ProjectId,
    /// The address from which it listens, where that is known.
    peer: Option<IpAddr>,
}

impl Standing {
    /// Of an operation that was called.
    pub(crate) fn new(parts: &Parts, (service, credential): (Service, Credential), call: &Call) -> Self {
        let (headers, project) = (parts.headers.clone(), call.caller.project());
        Self { headers, service, credential, project, peer: call.peer }
    }

    /// Of a page, whose key may be in its address.
    pub(crate) fn of_page(headers: HeaderMap, project: ProjectId, peer: Option<IpAddr>) -> Self {
        Self { headers, service: Service::Marketplace, credential: Credential::AccessKey, project, peer }
    }

    /// In whose words it is told of errors.
    pub(super) fn dialect(&self) -> Dialect {
        self.service.dialect()
    }

    /// Whether it may go on, by the credential that it came with. What is known of those is in memory.
    pub(super) fn check(&self, app: &App) -> Result<(), Error> {
        let authority = Authority { credentials: &app.credentials, signer: &app.signer };
        let presented = RequestCredentials::read(&self.headers)?;
        let checked = presented.check(self.credential, self.service, authority, app.clock.now());
        checked.map(drop).map_err(|denied| denied.error)
    }

    /// Pays for a minute, or for some of what was missed: each costs as much as a request.
    pub(super) fn charge(&self, app: &App) -> Result<(), Error> {
        let now = app.clock.now();
        let presented = RequestCredentials::read(&self.headers)?;
        // Whoever has a token of the project is no stranger.
        let is_stranger = presented.token().is_none();
        if let Some(trial) = app.trial.as_ref().filter(|trial| is_stranger && trial.is_key(presented.key())) {
            trial.take(self.peer, 1, now).map_or(Ok(()), |allowance| allowance.check(true))?;
            trial.charge(1, now)?;
        }
        let quota = app.meter.charge(self.project, self.service, 1, now);
        if quota.is_some_and(|quota| quota.refused) {
            let message = "the month's compute units of this service are used up";
            return Err(Error::new(Code::QuotaExceeded, message));
        }
        Ok(())
    }
}
