//! What a plain address names.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use bourse_store::ProjectScope;
use bourse_wire::{Error, ProjectId, RecordId, TokenId};

use super::{ASSET, TOKEN_ASSET};
use crate::app::App;
use crate::auth::{Authority, Caller, RequestCredentials};
use crate::dispatch::{bad_route, error_response};
use crate::route::{Credential, Service};

/// The names in the path, and who asks.
pub(super) struct Params {
    names: Vec<(String, String)>,
    caller: Option<Caller>,
}

impl FromRequestParts<Arc<App>> for Params {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let refuse = |error: Error| error_response(app, error.into(), HeaderMap::new());
        let raw = RawPathParams::from_request_parts(parts, app)
            .await
            .map_err(|_| refuse(bad_route(parts.uri.path())))?;
        let names = raw.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let presented = RequestCredentials::read(&parts.headers).map_err(refuse)?;
        let authority = Authority { credentials: &app.credentials, signer: &app.signer };
        let check = || presented.check(Credential::None, Service::Collections, authority, app.clock.now());
        let mut checked = check();
        if checked.as_ref().is_err_and(|denied| denied.is_unknown) {
            app.credentials.look(&app.store).await;
            checked = check();
        }
        let caller = checked.map_err(|denied| refuse(denied.error))?;
        Ok(Self { names, caller })
    }
}

impl Params {
    /// What the path of an uploaded file names to somebody who presents no credential; nothing where it is no such path, to the
    /// letter. It is read part by part: one with `..` in it would lead anywhere.
    pub(super) fn of_file(path: &str) -> Option<Self> {
        let names = [ASSET, TOKEN_ASSET].into_iter().find_map(|pattern| named_by(pattern, path))?;
        Some(Self { names, caller: None })
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.names.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    fn number(&self, name: &str) -> Result<u64, Error> {
        let text = self.text(name);
        let digits = text.strip_suffix(".json").unwrap_or(text);
        digits.parse().map_err(|_| Error::not_found(format_args!("{name} {}", self.shown(name))))
    }

    fn shown(&self, name: &str) -> String {
        self.text(name).chars().take(96).collect()
    }

    pub(super) fn project(&self) -> Result<ProjectId, Error> {
        let missing = |_| Error::not_found(format_args!("project {}", self.shown("project")));
        ProjectId::try_from(self.number("project")?).map_err(missing)
    }

    pub(super) fn id(&self, name: &str) -> Result<RecordId, Error> {
        let missing = |_| Error::not_found(format_args!("{name} {}", self.shown(name)));
        RecordId::try_from(self.number(name)?).map_err(missing)
    }

    /// A token by its decimal id, or by the 64 hexadecimal digits that ERC-1155 clients put for `{id}`. Sixty-four
    /// digits that could be either are decimal, unless they begin with the zero that padding leaves.
    pub(super) fn token(&self) -> Result<TokenId, Error> {
        let text = self.text("token");
        let text = text.strip_suffix(".json").unwrap_or(text);
        let missing = || Error::not_found(format_args!("token {}", self.shown("token")));
        let padded =
            text.len() == 64 && (text.starts_with('0') || text.bytes().any(|byte| !byte.is_ascii_digit()));
        if padded { TokenId::from_hex(text).ok_or_else(missing) } else { text.parse().map_err(|_| missing()) }
    }

    /// Who may see what is private: the project itself, by its secret token.
    pub(super) fn is_owner(&self) -> bool {
        self.caller
            .as_ref()
            .is_some_and(|caller| Ok(caller.project()) == self.project() && caller.is_secret())
    }

    /// The scope of a reader, who sees what is public, or everything when it is the owner.
    pub(super) fn reader(&self) -> Result<ProjectScope, Error> {
        Ok(ProjectScope::for_public_reads(self.project()?))
    }

    /// The scope of a writer: the project itself, by its secret token.
    pub(super) fn writer(&self) -> Result<ProjectScope, Error> {
        use bourse_wire::Code;
        let message = "uploads need a secret token: `Authorization: Bearer <secret token>`";
        let caller = self.caller.as_ref().ok_or_else(|| Error::new(Code::Unauthorized, message))?;
        if !caller.is_secret() {
            return Err(Error::new(Code::PermissionDenied, message));
        }
        if caller.project() != self.project()? {
            let message = format!("the secret token is of project {}", caller.project());
            return Err(Error::new(Code::PermissionDenied, message));
        }
        Ok(caller.scope())
    }
}

/// What a path names by a pattern; nothing where it has another shape.
fn named_by(pattern: &str, path: &str) -> Option<Vec<(String, String)>> {
    let (wanted, parts): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    if wanted.len() != parts.len() {
        return None;
    }
    let mut named = Vec::new();
    for (wanted, part) in wanted.into_iter().zip(parts) {
        match wanted.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) if is_plain(name, part) => named.push((name.to_owned(), part.to_owned())),
            None if wanted == part => {}
            _ => return None,
        }
    }
    Some(named)
}

/// Whether a part of a path may be what it is named: all are numbers, but for the field of a token.
fn is_plain(name: &str, part: &str) -> bool {
    let is_of = |byte: u8| match name {
        "field" => byte.is_ascii_alphanumeric() || b"_-".contains(&byte),
        _ => byte.is_ascii_digit(),
    };
    !part.is_empty() && part.bytes().all(is_of)
}

/// Whether a path is that of an uploaded file.
pub fn is_file_path(path: &str) -> bool {
    Params::of_file(path).is_some()
}
