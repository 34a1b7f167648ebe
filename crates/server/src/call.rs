//! What a handler knows of the request beside its body.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use bourse_store::{
    Actor, Batch, CollectionKey, Committed, Identity, Mark, ProjectScope, StoreError, Subject,
};
use bourse_wire::{Address, ChainId, ChainRef, Code, Error, Page, PageInput, Timestamp};

use crate::app::App;
use crate::auth::Caller;
use crate::data_version::WrittenVersions;
use crate::failure::Failure;
use crate::forwarding::Elsewhere;
use crate::ingest::Rejection;
use crate::resident::Patience;
use crate::route::Request;
use crate::settings::Networks;

/// One authenticated call.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Caller,
    /// The address it comes from, where it is known.
    pub(crate) peer: Option<IpAddr>,
    /// The network in the path, if there was one.
    pub(crate) network: Option<ChainId>,
    pub(crate) now: Timestamp,
    /// What the answer is to be, where there is a choice.
    pub(crate) media: Media,
    /// Where it is noted what the call writes; nowhere for those who cannot be told.
    pub(crate) written: Option<Arc<WrittenVersions>>,
    /// How other servers are asked for what they hold; nothing of a call that is answered here whatever it takes.
    pub(crate) elsewhere: Option<Arc<Elsewhere>>,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// What every operation answers with.
    Json,
    /// A table for spreadsheets.
    Csv,
}

impl Media {
    /// What the `Accept` header asks for: a table only when it names it.
    pub(crate) fn asked(headers: &HeaderMap) -> Self {
        let names_csv = |value: &HeaderValue| {
            let text = value.to_str().unwrap_or_default();
            let mut types = text.split(',').map(|item| item.split(';').next().unwrap_or_default().trim());
            types.any(|media| media.eq_ignore_ascii_case("text/csv"))
        };
        if headers.get_all(header::ACCEPT).iter().any(names_csv) { Self::Csv } else { Self::Json }
    }
}

impl Call {
    /// How long it waits for collections, and whether it leaves those to others that they hold.
    pub(crate) fn patience(&self) -> Patience {
        self.app.resident.patience().or_elsewhere(self.elsewhere.clone())
    }

    /// The right to the records of the caller's project.
    pub(crate) fn scope(&self) -> ProjectScope {
        self.caller.scope()
    }

    /// The caller as the audit log names it.
    pub(crate) fn actor(&self) -> Actor {
        Actor { identity: Identity::Program(self.caller.sender()), address: self.peer, at: self.now }
    }

    /// Commits changes of a collection. Once this returns, whoever reads through this process sees them, and whoever reads
    /// elsewhere with the header of the answer.
    pub(crate) async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        let collection = batch.collection;
        let committed = self.app.store.commit(batch).await?;
        self.follow(collection, committed.mark()).await;
        Ok(committed)
    }

    /// Shows a version of a collection that was just committed.
    pub(crate) async fn follow(&self, collection: CollectionKey, committed: Mark) {
        if let Some(written) = &self.written {
            written.note(collection, committed);
        }
        self.app.resident.follow(collection, committed).await;
    }

    /// Refuses what the caller's project may not state of a contract.
    pub(crate) fn check_grant(&self, subject: Subject, contract: CollectionKey) -> Result<(), Rejection> {
        let project = self.caller.project();
        let is_granted = self.app.credentials.may_state(project, subject, contract);
        if is_granted { Ok(()) } else { Err(Rejection::not_granted(project, subject, contract)) }
    }

    /// Reads the body, and refuses one that names another project than the credential.
    pub(crate) fn read<Q: Request>(&self, body: &[u8]) -> Result<Q, Error> {
        let request = Q::read(body, self.app.settings.limits.json_depth_max)?;
        match request.claimed_project() {
            Some(claimed) if claimed != self.caller.project() => {
                let own = self.caller.project();
                let message =
                    format!("projectId {claimed} is not the project of the credential, which is {own}");
                Err(Error::new(Code::PermissionDenied, message))
            }
            _ => Ok(request),
        }
    }

    /// The chain that body and path name between them.
    pub(crate) fn chain(&self, in_body: Option<&ChainRef>) -> Result<ChainId, Error> {
        self.named_chain(in_body)?.ok_or_else(|| {
            Error::invalid("chainId", "is required: name a chain in the body or a network in the path")
        })
    }

    /// The same where no chain may mean every chain: `None` when none is named and it does not go without saying.
    pub(crate) fn named_chain(&self, in_body: Option<&ChainRef>) -> Result<Option<ChainId>, Error> {
        let networks = &self.app.settings.networks;
        let in_body = in_body.map(|chain| resolve(networks, chain.as_str())).transpose()?;
        match (in_body, self.network) {
            (Some(body), Some(path)) if body != path => {
                let reason = format!("the body names chain {body}, the path chain {path}");
                Err(Error::invalid("chainId", reason))
            }
            (Some(chain), _) | (None, Some(chain)) => Ok(Some(chain)),
            (None, None) => Ok(networks.only_configured().map(ChainId)),
        }
    }

    /// Refuses a chain of which nothing is known: no network has its number, and there is no currency and no collection of it.
    /// Whoever found nothing asks, so that a mistaken number is not taken for an empty chain.
    pub(crate) async fn check_known(&self, chain: ChainId) -> Result<(), Failure> {
        let is_known = self.app.settings.networks.get(chain.0).is_some()
            || !self.app.resident.currencies(chain).is_empty()
            || self.app.store.has_collections(chain).await?;
        let refused = || {
            let message = format!("nothing is known of a chain with the number {chain}");
            Error::new(Code::ChainNotFound, message)
        };
        is_known.then_some(()).ok_or_else(|| refused().into())
    }

    /// A contract on the chain that body and path name.
    pub(crate) fn collection(
        &self,
        chain: Option<&ChainRef>,
        address: Address,
    ) -> Result<CollectionKey, Error> {
        Ok(CollectionKey { chain: self.chain(chain)?, address })
    }

    /// The page to read.
    pub(crate) fn page(&self, page: Option<PageInput>) -> Result<Page, Error> {
        let limits = &self.app.settings.limits;
        page.unwrap_or_default().resolve(limits.page_size_default.into(), limits.page_size_max.into())
    }
}

/// The chain of a name or a number.
pub(crate) fn resolve(networks: &Networks, text: &str) -> Result<ChainId, Error> {
    networks.resolve(text).map(ChainId).ok_or_else(|| {
        let shown: String = text.chars().take(64).collect();
        Error::new(Code::ChainNotFound, format!("`{shown}` is not the name or number of a network"))
    })
}
