//! Requests about collections that another server holds: that one is asked, and asks nobody else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use bourse_peers::{ANSWERED, Admission, DATA_AGE, FORWARDED, Peers, Question, Reply, Server, ServerId};
use bourse_store::CollectionKey;
use bourse_wire::{Code, Error};
use futures_util::future::join_all;
use hashbrown::HashMap;
use http_body_util::{BodyExt as _, Collected};
use serde_json::value::RawValue;

use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::{Effect, Handler, Route};

/// A request as other servers can be asked it.
pub(crate) struct Elsewhere {
    peers: Arc<Peers>,
    path: String,
    headers: HeaderMap,
    /// How old answers of others may be, in seconds; 0 where they told nothing of it.
    age: AtomicU64,
}

/// What another server sent on; nothing of a request that came from a client. What claims to come from a server and does not is
/// refused.
pub(crate) fn admission(app: &App, parts: &Parts) -> Result<Option<Admission>, Error> {
    if !parts.headers.contains_key(FORWARDED) {
        return Ok(None);
    }
    let admitted = app.peers.as_ref().and_then(|peers| peers.admit(path_of(parts), &parts.headers));
    admitted.map(Some).ok_or_else(not_forwarded)
}

/// Why a request is refused that no server of this installation sent on.
pub(crate) fn not_forwarded() -> Error {
    let message = format!("the {FORWARDED} header is for servers of this installation alone: leave it out");
    Error::new(Code::PermissionDenied, message)
}

fn path_of(parts: &Parts) -> &str {
    parts.uri.path_and_query().map_or("", |path| path.as_str())
}

/// An answer with the proof that it is this server's.
pub(crate) async fn proven(app: &App, to: &Admission, response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    // What is whole already cannot fail; without a proof nobody believes it.
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    let peers = app.peers.as_ref();
    let proof = peers.and_then(|peers| peers.prove(to, parts.status.as_u16(), &parts.headers, &body));
    if let Some(proof) = proof {
        parts.headers.insert(ANSWERED, proof);
    }
    Response::from_parts(parts, Body::from(body))
}

impl Elsewhere {
    /// Of a request that may be asked of others: servers share collections, it changes nothing, so that it may be asked twice,
    /// and a client sent it.
    pub(crate) fn of(app: &App, route: &Route, parts: &Parts, is_forwarded: bool) -> Option<Arc<Self>> {
        let peers = app.peers.as_ref().filter(|_| route.effect == Effect::Reads && !is_forwarded)?;
        let (path, headers) = (path_of(parts).to_owned(), parts.headers.clone());
        Some(Arc::new(Self { peers: Arc::clone(peers), path, headers, age: AtomicU64::new(0) }))
    }

    /// Answers a request here, or where its collection is held.
    pub(crate) async fn answer(
        &self,
        handler: &Handler,
        call: Call,
        body: Bytes,
    ) -> Result<Vec<u8>, Failure> {
        let here = Call { elsewhere: None, ..call.clone() };
        match handler.answer(call, body.clone()).await {
            Err(Failure::HeldElsewhere(key)) => match self.ask(key, body.clone()).await {
                Some(answer) => answer.map(Into::into),
                None => handler.answer(here, body).await,
            },
            answer => answer,
        }
    }

    /// The other server that holds a collection which is not resident here, if that is not for this one.
    pub(crate) fn holder(&self, key: CollectionKey) -> Option<ServerId> {
        self.peers.holder(key, &[]).map(|Server { id, .. }| id)
    }

    /// Notes that another server is asked for a collection; tells whether this one had better hold it too.
    pub(crate) fn note_asked(&self, key: CollectionKey) -> bool {
        self.peers.note_asked(key)
    }

    /// Asks whoever holds a collection; `None` when that is this server by now.
    async fn ask(&self, key: CollectionKey, body: Bytes) -> Option<Result<Bytes, Failure>> {
        let question = Question { path: self.path.clone(), headers: self.headers.clone(), body };
        let Reply { status, headers, body } = self.peers.ask(key, &question).await?;
        self.age.fetch_max(age_in(&headers), Ordering::Relaxed);
        Some(match status {
            200 => Ok(body),
            _ => Err(Error::read(status, &body).map_or_else(|| unreadable(status), Failure::Refused)),
        })
    }

    /// How old the answers of others may be, as the header tells it.
    pub(crate) fn age(&self) -> Option<HeaderValue> {
        let seconds = self.age.load(Ordering::Relaxed);
        (seconds > 0).then(|| seconds.into())
    }
}

fn unreadable(status: u16) -> Failure {
    Failure::Internal(format!("another server answered with status {status} and no error").into())
}

/// The age that headers tell, in seconds; 0 where they tell none.
pub(crate) fn age_in(headers: &HeaderMap) -> u64 {
    headers.get(DATA_AGE).and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or_default()
}

/// What other servers answered of a batch, by contract: `None` of one of which they know nothing.
pub(crate) type AnsweredParts<'c> = HashMap<&'c str, Option<Box<RawValue>>>;

impl Call {
    /// Asks other servers for the part of a batch that they hold, each once. `body` makes a request of some of the contracts,
    /// and the answer has a map by contract as `member`. What is not in the result is for this server to answer.
    pub(crate) async fn ask_holders<'c>(
        &self,
        contracts: impl Iterator<Item = (&'c str, CollectionKey)>,
        member: &str,
        body: impl Fn(&[&'c str]) -> serde_json::Value,
    ) -> Result<AnsweredParts<'c>, Failure> {
        let mut answered = AnsweredParts::new();
        let Some(elsewhere) = &self.elsewhere else { return Ok(answered) };
        let mut held: BTreeMap<ServerId, (CollectionKey, Vec<&str>)> = BTreeMap::new();
        for (contract, key) in contracts {
            if let Some(holder) = self.app.resident.holder(key, elsewhere) {
                held.entry(holder).or_insert_with(|| (key, Vec::new())).1.push(contract);
            }
        }
        let asked = held.into_values().map(|(key, contracts)| {
            let body = body(&contracts).to_string().into();
            async move { (contracts, elsewhere.ask(key, body).await) }
        });
        for (contracts, answer) in join_all(asked).await {
            let Some(answer) = answer else { continue };
            let mut maps: BTreeMap<String, BTreeMap<String, Box<RawValue>>> =
                serde_json::from_slice(&answer?)?;
            let mut parts = maps.remove(member).unwrap_or_default();
            answered.extend(contracts.into_iter().map(|contract| (contract, parts.remove(contract))));
        }
        Ok(answered)
    }
}
