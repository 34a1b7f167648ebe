//! Somebody who asks for a page: a guest, or a visitor who has signed in.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::http::{Method, Uri, header};
use axum::response::Response;
use bourse_server::Peer;
use bourse_store::{Account, Actor, NewPendingSignIn, NewSession};
use bourse_wire::RecordId;

use super::{Cookie, Proof};
use crate::Console;
use crate::notice::Done;
use crate::refusal::Refusal;
use crate::{Answer, later};

/// How long somebody who has shown the password has for the second factor.
const PENDING_SECONDS: u64 = 300;

/// The whole address, of which the router takes away what it has read.
fn asked_for(parts: &Parts) -> &Uri {
    parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |original| &original.0)
}

/// A browser, whoever sits before it.
pub(crate) struct Guest {
    pub(crate) console: Arc<Console>,
    /// What its cookie as a guest holds, or will hold once it is sent.
    pub(crate) proof: Proof,
    /// What its session's cookie holds.
    session: Option<Proof>,
    /// What its cookie holds while it waits for the second factor.
    pending: Option<Proof>,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) uri: Uri,
}

impl FromRequestParts<Arc<Console>> for Guest {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, Self::Rejection> {
        Ok(Self {
            console: Arc::clone(console),
            proof: Proof::of_browser(&parts.headers, Cookie::Guest).unwrap_or_else(Proof::fresh),
            session: Proof::of_browser(&parts.headers, Cookie::Session),
            pending: Proof::of_browser(&parts.headers, Cookie::Pending),
            peer: Peer::of(&parts.extensions),
            uri: asked_for(parts).clone(),
        })
    }
}

impl Guest {
    /// Makes the browser remember its proof, so that the forms of the page can be sent.
    pub(crate) fn remember(&self, mut response: Response) -> Response {
        let seconds = session_seconds(&self.console);
        set_cookie(&self.console, (Cookie::Guest, seconds), &self.proof, &mut response);
        response
    }

    /// Lets somebody who has shown the password go on to the second factor. That is no session: it is good for that page
    /// alone.
    pub(crate) async fn await_code(&self, account: RecordId, mut response: Response) -> Answer {
        let (proof, now) = (Proof::fresh(), self.console.now());
        let new = NewPendingSignIn { hash: proof.hash(), account, expires_at: later(now, PENDING_SECONDS) };
        self.console.store().await_code(new, now).await?;
        set_cookie(&self.console, (Cookie::Pending, PENDING_SECONDS), &proof, &mut response);
        Ok(response)
    }

    /// Who has shown the password a moment ago, and how they prove it.
    pub(crate) async fn pending(&self) -> Result<Option<(Account, &Proof)>, Refusal> {
        let Some(proof) = &self.pending else { return Ok(None) };
        let account = self.console.store().pending_account(proof.hash(), self.console.now()).await?;
        Ok(account.map(|account| (account, proof)))
    }

    /// Who is signed in, if anybody is.
    pub(crate) async fn account(&self) -> Result<Option<Account>, Refusal> {
        let Some(session) = &self.session else { return Ok(None) };
        Ok(self.console.store().session_account(session.hash(), self.console.now()).await?)
    }

    /// Notes that somebody was not let in, as this account if there is one.
    pub(crate) async fn note_refused(&self, account: Option<&Account>) -> Result<(), Refusal> {
        Ok(self.console.store().note_refused_sign_in(account, self.peer, self.console.now()).await?)
    }

    /// Signs somebody in. The cookie is a new one: what was in the browser before is worth nothing.
    pub(crate) async fn sign_in(&self, account: RecordId, mut response: Response) -> Answer {
        let (proof, now) = (Proof::fresh(), self.console.now());
        let expires_at = later(now, session_seconds(&self.console));
        let new = NewSession { hash: proof.hash(), account, expires_at };
        self.console.store().open_session(new, self.peer, now).await?;
        let seconds = session_seconds(&self.console);
        set_cookie(&self.console, (Cookie::Session, seconds), &proof, &mut response);
        Ok(response)
    }
}

fn set_cookie(console: &Console, (kind, seconds): (Cookie, u64), proof: &Proof, response: &mut Response) {
    let is_https = console.settings().public_url().starts_with("https://");
    if let Some(cookie) = proof.cookie(kind, seconds, is_https) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}

fn session_seconds(console: &Console) -> u64 {
    console.settings().console.session_hours * 3600
}

/// Somebody who has signed in.
pub(crate) struct Visitor {
    pub(crate) console: Arc<Console>,
    pub(crate) account: Account,
    pub(crate) proof: Proof,
    /// The address that the visitor comes from, where it is known.
    pub(crate) peer: Option<IpAddr>,
    /// The path that was asked for.
    pub(crate) path: String,
    /// What the visitor did just before, told by the address.
    pub(crate) done: Option<Done>,
}

impl FromRequestParts<Arc<Console>> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, Refusal> {
        let proof = Proof::of_browser(&parts.headers, Cookie::Session);
        let account = match &proof {
            Some(proof) => console.store().session_account(proof.hash(), console.now()).await?,
            None => None,
        };
        let (Some(proof), Some(account)) = (proof, account) else {
            // What was asked for is shown after signing in; what was sent cannot be sent again by us.
            let next = if parts.method == Method::GET { asked_for(parts).to_string() } else { String::new() };
            let is_from_elsewhere =
                parts.headers.get("sec-fetch-site").is_some_and(|site| site.as_bytes() == b"cross-site");
            return Err(match (is_from_elsewhere, next.is_empty()) {
                (true, false) => Refusal::AskAgain { next },
                _ => Refusal::SignIn { next },
            });
        };
        let uri = asked_for(parts);
        let done = Done::in_query(uri.query().unwrap_or_default());
        let (path, peer) = (uri.path().to_owned(), Peer::of(&parts.extensions));
        Ok(Self { console: Arc::clone(console), account, proof, peer, path, done })
    }
}

impl Visitor {
    /// The visitor as the audit log names them.
    pub(crate) fn actor(&self) -> Actor {
        Actor::account(&self.account, self.peer, self.console.now())
    }
}

/// A visitor who may do everything.
pub(crate) struct Administrator(pub(crate) Visitor);

impl FromRequestParts<Arc<Console>> for Administrator {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, Refusal> {
        let visitor = Visitor::from_request_parts(parts, console).await?;
        if visitor.account.administrator { Ok(Self(visitor)) } else { Err(Refusal::for_administrators()) }
    }
}
