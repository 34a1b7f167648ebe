//! Somebody who asks for a page: a guest, or a visitor who has signed in.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::http::{Method, Uri, header};
use axum::response::Response;
use bourse_store::{Account, NewSession};
use bourse_wire::RecordId;

use super::{Cookie, Proof};
use crate::app::App;
use crate::console::notice::Done;
use crate::console::refusal::Refusal;
use crate::console::{Answer, later};

/// The whole address, of which the router takes away what it has read.
fn asked_for(parts: &Parts) -> &Uri {
    parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |original| &original.0)
}

/// A browser, whoever sits before it.
pub(in crate::console) struct Guest {
    pub(in crate::console) app: Arc<App>,
    /// What its cookie as a guest holds, or will hold once it is sent.
    pub(in crate::console) proof: Proof,
    /// What its session's cookie holds.
    session: Option<Proof>,
    pub(in crate::console) peer: Option<IpAddr>,
    pub(in crate::console) uri: Uri,
}

impl FromRequestParts<Arc<App>> for Guest {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Self::Rejection> {
        Ok(Self {
            app: Arc::clone(app),
            proof: Proof::of_browser(&parts.headers, Cookie::Guest).unwrap_or_else(Proof::fresh),
            session: Proof::of_browser(&parts.headers, Cookie::Session),
            peer: parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip()),
            uri: asked_for(parts).clone(),
        })
    }
}

impl Guest {
    /// Makes the browser remember its proof, so that the forms of the page can be sent.
    pub(in crate::console) fn remember(&self, mut response: Response) -> Response {
        set_cookie(&self.app, Cookie::Guest, &self.proof, &mut response);
        response
    }

    /// Who is signed in, if anybody is.
    pub(in crate::console) async fn account(&self) -> Result<Option<Account>, Refusal> {
        let Some(session) = &self.session else { return Ok(None) };
        Ok(self.app.store.session_account(session.hash(), self.app.clock.now()).await?)
    }

    /// Signs somebody in. The cookie is a new one: what was in the browser before is worth nothing.
    pub(in crate::console) async fn sign_in(&self, account: RecordId, mut response: Response) -> Answer {
        let (proof, now) = (Proof::fresh(), self.app.clock.now());
        let expires_at = later(now, session_seconds(&self.app));
        let new = NewSession { hash: proof.hash(), account, expires_at };
        self.app.store.open_session(new, now).await?;
        set_cookie(&self.app, Cookie::Session, &proof, &mut response);
        Ok(response)
    }
}

fn set_cookie(app: &App, kind: Cookie, proof: &Proof, response: &mut Response) {
    let is_https = app.settings.public_url().starts_with("https://");
    if let Some(cookie) = proof.cookie(kind, session_seconds(app), is_https) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}

fn session_seconds(app: &App) -> u64 {
    app.settings.console.session_hours * 3600
}

/// Somebody who has signed in.
pub(in crate::console) struct Visitor {
    pub(in crate::console) app: Arc<App>,
    pub(in crate::console) account: Account,
    pub(in crate::console) proof: Proof,
    /// The path that was asked for.
    pub(in crate::console) path: String,
    /// What the visitor did just before, told by the address.
    pub(in crate::console) done: Option<Done>,
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let proof = Proof::of_browser(&parts.headers, Cookie::Session);
        let account = match &proof {
            Some(proof) => app.store.session_account(proof.hash(), app.clock.now()).await?,
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
        Ok(Self { app: Arc::clone(app), account, proof, path: uri.path().to_owned(), done })
    }
}

/// A visitor who may do everything.
pub(in crate::console) struct Administrator(pub(in crate::console) Visitor);

impl FromRequestParts<Arc<App>> for Administrator {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let visitor = Visitor::from_request_parts(parts, app).await?;
        if visitor.account.administrator { Ok(Self(visitor)) } else { Err(Refusal::for_administrators()) }
    }
}
