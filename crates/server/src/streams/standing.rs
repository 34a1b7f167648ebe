//! By what right somebody listens, which is looked at again and again: a stream may outlive the key that opened it.

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
}

impl Standing {
    /// Of an operation that was called.
    pub(crate) fn new(parts: &Parts, (service, credential): (Service, Credential), call: &Call) -> Self {
        Self { headers: parts.headers.clone(), service, credential, project: call.caller.project() }
    }

    /// Of a page, whose key may be in its address.
    pub(crate) fn of_page(headers: HeaderMap, project: ProjectId) -> Self {
        Self { headers, service: Service::Marketplace, credential: Credential::AccessKey, project }
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

    /// Pays for a minute, which costs as much as a request.
    pub(crate) fn charge(&self, app: &App) -> Result<(), Error> {
        let now = app.clock.now();
        let presented = RequestCredentials::read(&self.headers)?;
        if let Some(trial) = app.trial.as_ref().filter(|trial| trial.is_key(presented.key())) {
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
