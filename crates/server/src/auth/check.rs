//! The credential check: from request headers to a project scope.

use axum::http::{HeaderMap, HeaderName, header};
use bourse_store::{CredentialId, ProjectScope, Sender};
use bourse_wire::{Code, Error, ProjectId, RecordId, Timestamp};

use super::{AccessKey, Credentials, TokenSigner};
use crate::limits::Bucket;
use crate::route::{Credential, Service};

/// The header of an access key.
pub(crate) const ACCESS_KEY: HeaderName = HeaderName::from_static("x-access-key");

/// Who calls: proof that the credential of this request names this project.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    scope: ProjectScope,
    credential: Credential,
    /// Which key, token or account it was.
    id: CredentialId,
    /// Whether the access key was made for this very service, not for all.
    key_names_service: bool,
}

impl Caller {
    /// A member of a project who asks through the console, by right of what the operation asks for.
    pub(crate) fn by_session(scope: ProjectScope, account: RecordId, credential: Credential) -> Self {
        Self { scope, credential, id: CredentialId::Account(account), key_names_service: true }
    }

    /// Who the caller is to others: the project, and by what right it calls.
    pub(crate) fn sender(&self) -> Sender {
        Sender { project: self.project(), credential: self.id.clone() }
    }

    /// The account of whoever asks through the console.
    pub(crate) fn account(&self) -> Option<RecordId> {
        match self.id {
            CredentialId::Account(account) => Some(account),
            CredentialId::AccessKey(_) | CredentialId::SecretToken(_) => None,
        }
    }

    pub(crate) fn scope(&self) -> ProjectScope {
        self.scope
    }

    pub(crate) fn project(&self) -> ProjectId {
        self.scope.project()
    }

    /// Who shares an allowance for what strangers send: whoever has the same key.
    pub(crate) fn bucket(&self) -> Bucket {
        match self.id {
            CredentialId::AccessKey(key) => Bucket::Key(self.project(), key),
            CredentialId::SecretToken(_) | CredentialId::Account(_) => Bucket::Project(self.project()),
        }
    }

    /// Whether the caller presented a secret token, rather than a public key.
    pub(crate) fn is_secret(&self) -> bool {
        self.credential == Credential::SecretToken
    }

    /// Whether the caller may do what a public key may do only when it was made for that: a secret token always may.
    pub(crate) fn is_meant_for_service(&self) -> bool {
        self.is_secret() || self.key_names_service
    }

    /// What the caller presented, in the words of the `Session-Type` header.
    pub(crate) fn session_type(&self) -> &'static str {
        match self.credential {
            Credential::None => "Public",
            Credential::AccessKey | Credential::ServiceKey => "AccessKey",
            Credential::SecretToken => "Project",
        }
    }
}

/// What credentials are checked against.
#[derive(Clone, Copy)]
pub(crate) struct Authority<'a> {
    pub(crate) credentials: &'a Credentials,
    pub(crate) signer: &'a TokenSigner,
}

/// Why a credential is not enough.
#[derive(Debug)]
pub(crate) struct Denial {
    pub(crate) error: Error,
    /// The project whose credential it is all the same: its people will want to know.
    pub(crate) project: Option<ProjectId>,
    /// Whether it is not known here, and may be in the store.
    pub(crate) is_unknown: bool,
}

impl Denial {
    fn of(project: ProjectId, error: Error) -> Self {
        Self { error, project: Some(project), is_unknown: false }
    }

    fn unknown(code: Code, what: &str) -> Self {
        Self { error: Error::new(code, format!("the {what} is not known")), project: None, is_unknown: true }
    }
}

impl From<Error> for Denial {
    fn from(error: Error) -> Self {
        Self { error, project: None, is_unknown: false }
    }
}

/// The credentials in a request's headers, not believed yet.
#[derive(Default)]
pub(crate) struct RequestCredentials<'h> {
    key: Option<&'h str>,
    token: Option<&'h str>,
    origin: Option<&'h str>,
}

impl<'h> RequestCredentials<'h> {
    /// Reads the headers. A token in the key's header is taken as a token: some documentation says so.
    pub(crate) fn read(headers: &'h HeaderMap) -> Result<Self, Error> {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let mut presented = Self { origin: text(header::ORIGIN), ..Self::default() };
        if let Some(value) = headers.get(header::AUTHORIZATION) {
            let malformed =
                || Error::new(Code::Unauthorized, "the Authorization header must be `Bearer <secret token>`");
            let (scheme, token) =
                value.to_str().ok().and_then(|text| text.trim().split_once(' ')).ok_or_else(malformed)?;
            if !scheme.eq_ignore_ascii_case("bearer") {
                return Err(malformed());
            }
            presented.token = Some(token.trim());
        }
        match text(ACCESS_KEY) {
            Some(value) if value.matches('.').count() == 2 => {
                presented.token = presented.token.or(Some(value));
            }
            Some(value) if !value.is_empty() => presented.key = Some(value),
            _ => {}
        }
        Ok(presented)
    }

    /// The key, if there is one.
    pub(crate) fn key(&self) -> Option<&'h str> {
        self.key
    }

    /// The token, if there is one.
    pub(crate) fn token(&self) -> Option<&'h str> {
        self.token
    }

    /// Checks what was presented against what an operation needs. `None` only where it needs nothing.
    pub(crate) fn check(
        &self,
        required: Credential,
        service: Service,
        authority: Authority<'_>,
        now: Timestamp,
    ) -> Result<Option<Caller>, Denial> {
        let key = self
            .key
            .map(|key| check_key(key, self.origin, service, authority.credentials, now))
            .transpose()?;
        let token = self.token.map(|token| check_token(token, authority, now)).transpose()?;
        let (key, key_names_service) = key.map(|key| ((key.project, key.id), key.names_service)).unzip();
        if let (Some((key, _)), Some((token, _))) = (&key, &token)
            && key != token
        {
            let message = format!("the access key is of project {key}, the secret token of project {token}");
            return Err(Error::new(Code::AccessKeyMismatch, message).into());
        }
        let caller = |(project, id), credential| Caller {
            scope: ProjectScope::proven_by_credential(project),
            credential,
            id,
            key_names_service: key_names_service == Some(true),
        };
        match (required, key, token) {
            (_, _, Some(token)) => Ok(Some(caller(token, Credential::SecretToken))),
            (Credential::None | Credential::AccessKey | Credential::ServiceKey, Some(key), None) => {
                Ok(Some(caller(key, Credential::AccessKey)))
            }
            (Credential::None, None, None) => Ok(None),
            (Credential::AccessKey | Credential::ServiceKey, None, None) => {
                Err(missing("an access key in the X-Access-Key header").into())
            }
            (Credential::SecretToken, None, None) => {
                let what =
                    "a secret token in the Authorization header: `Authorization: Bearer <secret token>`";
                Err(missing(what).into())
            }
            (Credential::SecretToken, Some((project, _)), None) => {
                let message = "this operation needs a secret token: `Authorization: Bearer <secret token>`; \
                    an access key is public and not enough";
                Err(Denial::of(project, Error::new(Code::PermissionDenied, message)))
            }
        }
    }
}

fn missing(what: &str) -> Error {
    Error::new(Code::Unauthorized, format!("no credential: send {what}"))
}

/// A key that may be used.
struct GoodKey {
    project: ProjectId,
    id: CredentialId,
    /// Whether it was made for this very service.
    names_service: bool,
}

fn check_key(
    text: &str,
    origin: Option<&str>,
    service: Service,
    credentials: &Credentials,
    now: Timestamp,
) -> Result<GoodKey, Denial> {
    let key = AccessKey::parse(text).ok_or_else(|| {
        Error::new(Code::Unauthorized, "the access key is malformed: it is not a key of this service")
    })?;
    let found =
        credentials.key(&key, now).ok_or_else(|| Denial::unknown(Code::AccessKeyNotFound, "access key"))?;
    let record = &found.record;
    let denied = |error| Err(Denial::of(record.project, error));
    if !record.active {
        return denied(Error::new(Code::AccessKeyNotFound, "the access key is disabled"));
    }
    if !origin_allowed(record.require_origin, &record.allowed_origins, origin) {
        let message = format!("the access key is not for the origin {}", origin.unwrap_or("(none)"));
        return denied(Error::new(Code::InvalidOrigin, message));
    }
    let names_service = record.allowed_services.iter().any(|name| service.takes_key_of(name));
    if !record.allowed_services.is_empty() && !names_service {
        let message = format!("the access key is not for the service {}", service.short());
        return denied(Error::new(Code::InvalidService, message));
    }
    Ok(GoodKey { project: record.project, id: CredentialId::AccessKey(record.id), names_service })
}

fn check_token(
    text: &str,
    authority: Authority<'_>,
    now: Timestamp,
) -> Result<(ProjectId, CredentialId), Denial> {
    let verified = authority.signer.verify(text, now)?;
    let refusal = |message: &str| Error::new(Code::Unauthorized, message);
    match authority.credentials.token(&verified.id, now) {
        Some(token) if token.record.project != verified.project => {
            Err(refusal("the secret token is not known").into())
        }
        Some(token) if token.record.revoked_at.is_some() => {
            Err(Denial::of(verified.project, refusal("the secret token is revoked")))
        }
        Some(_) => Ok((verified.project, CredentialId::SecretToken(verified.id.into()))),
        None => Err(Denial::unknown(Code::Unauthorized, "secret token")),
    }
}

/// An empty list allows every origin. Origins are compared as browsers send them; a `*` in an entry stands for one or more
/// letters, digits, hyphens and dots of a host's name.
pub(crate) fn origin_allowed(required: bool, allowed: &[String], origin: Option<&str>) -> bool {
    let Some(origin) = origin else { return !required };
    allowed.is_empty() || allowed.iter().any(|entry| origin_matches(entry, origin))
}

fn origin_matches(entry: &str, origin: &str) -> bool {
    // As people copy it from their browser.
    let entry = entry.trim_end_matches('/').to_ascii_lowercase();
    let Some((start, end)) = entry.split_once('*').filter(|_| entry != "*") else {
        return entry == "*" || entry == origin;
    };
    let name = origin.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(is_of_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins() {
        let allowed =
            |pattern: &str, origin: &str| origin_allowed(false, &[pattern.to_owned()], Some(origin));
        assert!(allowed("https://A.example/", "https://a.example"));
        assert!(!allowed("https://a.example", "https://a.example/"));
        assert!(!allowed("https://a.example", "https://A.example"));
        assert!(allowed("https://*.example", "https://a.b.example"));
        assert!(!allowed("https://*.example", "https://evil/.example"));
        assert!(!allowed("https://*", "https://a.example:8443"));
        assert!(!allowed("https://*.example", "null"));
        assert!(allowed("*", "https://any"));
        assert!(!allowed("https://*.example", "https://.example"));
        assert!(!allowed("https://a.example", "https://a.example.evil"));
        assert!(!allowed("https://*.example", "http://a.example"));
        assert!(origin_allowed(false, &["https://a".into()], None));
        assert!(!origin_allowed(true, &[], None));
        assert!(origin_allowed(true, &[], Some("https://any")));
    }
}
