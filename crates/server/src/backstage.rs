//! What the service lets its own process do for people. Pages that are served beside the operations, such as the
//! console's, ask here by right of a person's session, where a program would present a credential.
//!
//! This is all that such pages see of the service: whoever serves them proves first who asks, and then acts here.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use bourse_protocols::venues::Registry;
use bourse_protocols::{Royalty, Sale};
use bourse_store::{AssetRecord, ProjectScope, Store, StoreError};
use bourse_wire::{Amount, Asset, ChainId, Error, ProjectId, RecordId, Text, Timestamp};

use crate::app::App;
use crate::auth::{ACCESS_KEY, Caller, IssuedToken};
use crate::body::{BodyMemory, ReceivedBody, read_body};
use crate::call::{Call, Media, resolve};
use crate::chains::Nodes;
use crate::dispatch::{Target, ask, bounded};
use crate::door::Peer;
use crate::failure::Failure;
use crate::limits::{Allowance, Bucket};
use crate::outcomes::Outcomes;
use crate::rest::{self, AssetOwner, PublicFile, StoredFile};
use crate::route::{Route, Service};
use crate::rpc::collections::types;
use crate::settings::Settings;
use crate::storefronts::Parts as StorefrontParts;
use crate::webhooks;

/// The service as the pages beside it see it.
#[derive(Clone)]
pub struct Backstage(Arc<App>);

/// A member of a project who asks an operation through a page.
#[derive(Clone, Copy, Debug)]
pub struct Asker {
    /// The project, which their membership lets them act for.
    pub scope: ProjectScope,
    /// Who asks.
    pub account: RecordId,
    /// The address they ask from, where it is known.
    pub peer: Option<IpAddr>,
}

/// Somebody before a page that anybody may open. It asks with the public key of the project whose page it is.
#[derive(Clone, Copy, Debug)]
pub struct Guest<'g> {
    /// The key, not believed yet.
    pub key: &'g str,
    /// The origin of the page, by which the key may be limited.
    pub origin: &'g str,
    /// The address they come from, where it is known.
    pub peer: Option<IpAddr>,
}

impl Backstage {
    /// The backstage of an open application.
    pub fn new(app: Arc<App>) -> Self {
        Self(app)
    }

    /// The settings it runs with.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The records. What is a project's own takes a [`ProjectScope`], which a membership proves.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// Reads a body that somebody sends to a page.
    pub async fn read_body(
        &self,
        headers: &HeaderMap,
        body: &mut Body,
        bytes_max: usize,
    ) -> Result<ReceivedBody, Error> {
        read_body(&self.0, None, headers, body, bytes_max).await
    }

    /// The memory of a body that somebody sends to a page in parts.
    pub fn body_memory(&self) -> BodyMemory<'_> {
        BodyMemory::new(&self.0, None)
    }

    /// The time by the service's clock.
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// When this process started.
    pub fn started_at(&self) -> Timestamp {
        self.0.started_at
    }

    /// The chain of a network's name or number.
    pub fn chain(&self, text: &str) -> Result<ChainId, Error> {
        resolve(&self.0.settings.networks, text)
    }

    /// The operation of this name in the service of this name.
    pub fn operation(&self, service: &str, name: &str) -> Option<Arc<Route>> {
        self.0.routes.find(service, name).map(|registered| Arc::clone(&registered.route))
    }

    /// Calls an operation on behalf of a member of a project. Nothing is metered, limited or counted; whether the member
    /// may is for the caller to say ([`Route::is_for_viewers`]).
    pub async fn ask(
        &self,
        asker: Asker,
        operation: &Route,
        body: Bytes,
        media: Media,
    ) -> Result<Vec<u8>, Failure> {
        let call = Call {
            app: Arc::clone(&self.0),
            caller: Caller::by_session(asker.scope, asker.account, operation.credential),
            peer: asker.peer,
            network: None,
            now: self.now(),
            media: if operation.is_tabular { media } else { Media::Json },
            written: None,
            elsewhere: None,
        };
        bounded(self.0.settings.limits.request_timeout_ms, operation.handler.answer(call, body)).await?
    }

    /// Calls an operation, `Service/Operation`, as a guest would over HTTP: by right of the key that they hold, with its
    /// limits, metered and counted.
    pub async fn ask_as_guest(
        &self,
        guest: Guest<'_>,
        operation: &str,
        body: Bytes,
    ) -> Result<Vec<u8>, Error> {
        let (service, operation) = operation.split_once('/').unwrap_or_default();
        let unreadable = |_| Error::invalid("key", "is none");
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = Method::POST;
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCESS_KEY, HeaderValue::from_str(guest.key).map_err(unreadable)?);
        headers.insert(header::ORIGIN, HeaderValue::from_str(guest.origin).map_err(unreadable)?);
        if let Some(peer) = guest.peer {
            request.extensions_mut().insert(Peer(peer));
        }
        ask(&self.0, Target { network: None, service, operation }, request).await
    }

    /// What the storefront of a project consists of, as it is known for a moment. Anybody may know it.
    pub async fn storefront(&self, project: ProjectId) -> Result<Arc<StorefrontParts>, StoreError> {
        self.0.storefronts.find(&self.0.store, ProjectScope::for_public_reads(project), self.now()).await
    }

    /// Sends a message again that could not be delivered to a webhook, and forgets it when it arrives; why it did not is returned.
    pub async fn resend_webhook(
        &self,
        scope: ProjectScope,
        letter: RecordId,
    ) -> Result<Option<String>, Failure> {
        webhooks::resend(&self.0, scope, letter).await
    }

    /// The project whose storefront is at a host, as a request names it; as it is known for a moment.
    pub async fn project_at(&self, host: &str) -> Result<Option<ProjectId>, StoreError> {
        let named = (host, &self.0.settings);
        self.0.storefronts.project_at(&self.0.store, named, self.now()).await
    }

    /// Makes a secret token. It works once its record is stored and [`Self::renew_credentials`] was called.
    pub fn issue_token(&self, project: ProjectId, expires: Option<Timestamp>) -> Result<IssuedToken, Error> {
        self.0.signer.issue(project, self.now(), expires)
    }

    /// Takes over what was changed of keys and tokens in the store: from here on requests are checked against that.
    pub async fn renew_credentials(&self) -> Result<(), StoreError> {
        self.0.credentials.refresh(&self.0.store).await
    }

    /// Stores when keys and tokens were last used, which is in memory for a while.
    pub async fn store_last_use(&self) -> Result<(), StoreError> {
        self.0.credentials.flush_last_use(&self.0.store).await
    }

    /// Stores what was metered, which is in memory for a while.
    pub async fn store_usage(&self) -> Result<(), StoreError> {
        self.0.meter.flush(&self.0.store, self.now()).await
    }

    /// Units of a service that a project has in a month; 0 for no limit.
    pub fn quota(&self, service: Service) -> u64 {
        self.0.meter.quota(service)
    }

    /// What a project has left of this minute; `None` when there is no limit. Nothing is taken of it.
    pub fn allowance(&self, project: ProjectId) -> Option<Allowance> {
        self.0.limiter.take(Bucket::Project(project), 0, self.0.clock.steady())
    }

    /// What became of each project's requests.
    pub fn outcomes(&self) -> &Outcomes {
        &self.0.outcomes
    }

    /// The nodes of networks, and how following them goes.
    pub fn nodes(&self) -> &Nodes {
        &self.0.nodes
    }

    /// The marketplaces of every network.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// What of a price a marketplace pays to the makers of a token; `None` when nobody can be asked.
    pub async fn royalty(&self, chain: ChainId, sale: Sale) -> Option<Amount> {
        let answers = self.0.chains.ask_all(chain, vec![sale.inquiry()]).await?;
        Royalty::read(answers.first()?.as_ref()).map(|royalty| royalty.amount)
    }

    /// The public address of a hosted collection.
    pub fn collection_url(&self, project: ProjectId, collection: RecordId) -> String {
        types::collection_url(&self.0, project, collection)
    }

    /// The file of an asset as it is sent, published or not; only that it is as before to who has it.
    pub async fn asset_file(
        &self,
        asset: AssetRecord,
        request: &HeaderMap,
    ) -> Result<(StatusCode, HeaderMap, Body), Failure> {
        rest::read_file(&self.0, asset, request).await
    }

    /// The uploaded file at a plain address of this service, where anybody may have it: a draft is not there.
    pub async fn public_file(&self, path: &str) -> Result<PublicFile, Failure> {
        bounded(self.0.settings.limits.request_timeout_ms, rest::public_file(&self.0, path)).await?
    }

    /// What such a file holds, where that has so many bytes at most.
    pub async fn public_content(&self, file: &PublicFile, bytes_max: usize) -> Result<Vec<u8>, Failure> {
        rest::read_content(&self.0, file, bytes_max).await
    }

    /// Stores an uploaded file, which then belongs to nothing yet.
    pub async fn store_file(&self, filename: &str, content: Bytes) -> Result<StoredFile, Failure> {
        rest::store_file(&self.0, filename, content).await
    }

    /// Gives a stored file to an asset.
    pub async fn set_file(
        &self,
        scope: ProjectScope,
        asset: RecordId,
        file: StoredFile,
    ) -> Result<Asset, Failure> {
        rest::set_file(&self.0, scope, asset, file).await
    }

    /// Gives a stored file to the newest asset for a member of the metadata, which is made when there is none.
    pub async fn set_file_of_member(
        &self,
        scope: ProjectScope,
        owner: AssetOwner,
        member: Text<64>,
        file: StoredFile,
    ) -> Result<Asset, Failure> {
        rest::set_file_of_member(&self.0, scope, owner, member, file).await
    }
}
