//! Somebody before a browser: it keeps its cookie and sends forms as pages of the console carry them.

use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bourse_store::testing::operator_at;
use bourse_store::{Invited, NewAccount, NewInvite, NewSession, ProofHash, Role};
use bourse_wire::{ProjectId, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::support::TestApp;
use crate::support::actor::Actor;

const BOUNDARY: &str = "a-boundary-of-a-form";

/// A browser in which somebody is signed in.
pub(crate) struct Browser {
    actor: Actor,
}

/// What a browser shows.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) html: String,
}

impl Page {
    /// Where it sends the browser on to; empty when it does not.
    pub(crate) fn location(&self) -> &str {
        self.headers.get(header::LOCATION).map_or("", |value| value.to_str().unwrap())
    }

    /// Whether it has this, as a person reads it: escaped as text is.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.html.contains(&escaped(text))
    }

    /// The value of the first control of this name.
    pub(crate) fn value(&self, name: &str) -> String {
        let control = self.html.split(&format!("name=\"{name}\"")).nth(1);
        let rest = control.unwrap_or_else(|| panic!("no control {name} in {}", self.html));
        let value = rest.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
        pairs.iter().fold(value.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

/// Text as it stands in a page.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Browser {
    pub(crate) async fn of_owner(app: &TestApp, project: ProjectId) -> Self {
        Self::of(app, Invited::Member(project, Role::Owner)).await
    }

    pub(crate) async fn of_viewer(app: &TestApp, project: ProjectId) -> Self {
        Self::of(app, Invited::Member(project, Role::Viewer)).await
    }

    /// Somebody new who accepted an invitation and signed in.
    pub(crate) async fn of(app: &TestApp, invited: Invited) -> Self {
        let (now, later) =
            (app.now(), Timestamp::from_unix_nanos(app.now().unix_nanos() + 3600 * 1_000_000_000));
        let cookie = URL_SAFE_NO_PAD.encode(bourse_server::entropy::bytes::<32>());
        let hash = ProofHash(const_hex::encode(Sha256::digest(&cookie)));
        let invite = NewInvite { hash: hash.clone(), invited, made_by: None, expires_at: later };
        app.store.create_invite(invite, operator_at(now)).await.unwrap();
        let email = format!("{}@mail.example", &hash.0[..12]).parse().unwrap();
        let new = NewAccount { email, password_hash: "no password fits this".to_owned() };
        let account = app.store.accept_as_new(hash.clone(), new, None, now).await.unwrap().id;
        app.store.open_session(NewSession { hash, account, expires_at: later }, None, now).await.unwrap();
        Self { actor: app.anonymous.with("cookie", &format!("bourse_console={cookie}")) }
    }

    pub(crate) async fn get(&self, path: &str) -> Page {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    /// Sends a form with the word that the console's pages carry.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let token = self.form_token().await;
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("form_token", &token).extend_pairs(fields);
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request.body(body.finish().into()).unwrap()).await
    }

    /// Sends a form with a file in the field `file`.
    pub(crate) async fn post_file(&self, path: &str, fields: &[(&str, &str)], file: (&str, &[u8])) -> Page {
        let token = self.form_token().await;
        let mut body = Vec::new();
        let mut part = |head: &str, content: &[u8]| {
            body.extend_from_slice(
                format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes(),
            );
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        };
        part("name=\"form_token\"", token.as_bytes());
        for (name, value) in fields {
            part(&format!("name=\"{name}\""), value.as_bytes());
        }
        part(&format!("name=\"file\"; filename=\"{}\"", file.0), file.1);
        body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        let request = Request::post(path).header(header::CONTENT_TYPE, content_type);
        self.send(request.body(body.into()).unwrap()).await
    }

    async fn form_token(&self) -> String {
        self.get("/console/account").await.value("form_token")
    }

    async fn send(&self, request: Request<Body>) -> Page {
        let answer = self.actor.send(request).await;
        Page { status: answer.status, html: answer.text(), headers: answer.headers }
    }
}
