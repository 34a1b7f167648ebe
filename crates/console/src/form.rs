//! What people send. A `Form` exists only if it was sent from a page of ours: the word that only those pages carry came
//! with it, and the browser named no other site.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::multipart::MultipartError;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::{HeaderMap, StatusCode, header};
use bourse_wire::{Code, Error};

use super::access::{Cookie, Proof};
use super::refusal::Refusal;
use crate::Console;

/// The longest form of somebody who has not signed in.
const GUEST_BYTES_MAX: usize = 16 * 1024;
/// The name of the field that proves where a form comes from.
pub(crate) const TOKEN_FIELD: &str = "form_token";

/// A form that was filled in.
#[derive(Default)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
    files: Vec<Upload>,
}

/// A file in a form.
pub(crate) struct Upload {
    field: String,
    /// What it is called on the sender's machine.
    pub(crate) filename: String,
    pub(crate) content: Bytes,
}

impl Form {
    /// The fields of a query or of a body in the form that links have.
    pub(crate) fn of_query(text: &str) -> Self {
        let fields = form_urlencoded::parse(text.as_bytes()).into_owned().collect();
        Self { fields, files: Vec::new() }
    }

    /// A field; empty when it was not sent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// Every value of a field that may come several times.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.fields.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| value.trim())
    }

    /// Every field.
    pub(crate) fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// Whether a box was ticked.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        !self.text(name).is_empty()
    }

    /// A field, read; an error that names it when it cannot be.
    pub(crate) fn read<T: FromStr<Err: std::fmt::Display>>(&self, name: &'static str) -> Result<T, Error> {
        self.text(name).parse().map_err(|error| Error::invalid(name, error))
    }

    /// The same where the field may be left empty.
    pub(crate) fn read_if_set<T: FromStr<Err: std::fmt::Display>>(
        &self,
        name: &'static str,
    ) -> Result<Option<T>, Error> {
        if self.is_set(name) { self.read(name).map(Some) } else { Ok(None) }
    }

    /// The lines of a field that takes one thing a line.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        self.text(name).lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// A file that was chosen.
    pub(crate) fn file(&self, name: &str) -> Option<&Upload> {
        self.files.iter().find(|file| file.field == name && !file.content.is_empty())
    }
}

impl FromRequest<Arc<Console>> for Form {
    type Rejection = Refusal;

    async fn from_request(request: Request, console: &Arc<Console>) -> Result<Self, Refusal> {
        let sender = Sender::of(request.headers(), console)?;
        let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let form = if content_type.is_some_and(|value| value.starts_with("multipart/form-data")) {
            let form = Multipart::from_request(request, console).await;
            let form = form.map_err(|error| unreadable(&error.body_text()))?;
            read_multipart(form, &sender, console).await?
        } else {
            read_fields(request, console, console.settings().limits.body_bytes_max).await?
        };
        if sender.sent(&form) { Ok(form) } else { Err(Refusal::forged()) }
    }
}

/// A form that somebody may send who has not signed in: a few short fields.
pub(crate) struct GuestForm(pub(crate) Form);

impl FromRequest<Arc<Console>> for GuestForm {
    type Rejection = Refusal;

    async fn from_request(request: Request, console: &Arc<Console>) -> Result<Self, Refusal> {
        let sender = Sender::of(request.headers(), console)?;
        let limit_ms = console.settings().limits.request_timeout_ms;
        let reading = read_fields(request, console, GUEST_BYTES_MAX);
        let late = |_| Error::new(Code::Timeout, "the form did not come in time");
        let form = tokio::time::timeout(Duration::from_millis(limit_ms), reading).await.map_err(late)??;
        if sender.sent(&form) { Ok(Self(form)) } else { Err(Refusal::forged()) }
    }
}

/// The browser that sends a form, by what its cookies hold.
struct Sender([Option<Proof>; 2]);

impl Sender {
    /// Refuses what a page of another site sends.
    fn of(headers: &HeaderMap, console: &Console) -> Result<Self, Refusal> {
        if names_another_site(headers, &console.settings().public_url()) {
            return Err(Refusal::forged());
        }
        Ok(Self([Cookie::Session, Cookie::Guest].map(|cookie| Proof::of_browser(headers, cookie))))
    }

    /// Whether the form carries the word that only pages of ours carry.
    fn sent(&self, form: &Form) -> bool {
        self.0.iter().flatten().any(|proof| proof.allows(form.text(TOKEN_FIELD)))
    }
}

async fn read_fields(request: Request, console: &Console, bytes_max: usize) -> Result<Form, Refusal> {
    let (parts, mut body) = request.into_parts();
    let body = console.read_body(&parts.headers, &mut body, bytes_max).await?;
    Ok(Form::of_query(&String::from_utf8_lossy(&body.bytes)))
}

/// Reads fields and files. The word comes first, so that nobody else makes us keep a file.
async fn read_multipart(mut form: Multipart, sender: &Sender, console: &Console) -> Result<Form, Refusal> {
    let bytes_max = console.settings().limits.upload_bytes_max;
    let unreadable = |error: MultipartError| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Error::new(
            Code::BodyTooLarge,
            format!("that is larger than the {bytes_max} bytes that are allowed"),
        ),
        _ => unreadable(&error.body_text()),
    };
    let mut read = Form::default();
    let (mut memory, mut bytes) = (console.body_memory(), 0);
    while let Some(mut field) = form.next_field().await.map_err(unreadable)? {
        let name = field.name().unwrap_or_default().to_owned();
        let filename = field.file_name().map(str::to_owned);
        if name != TOKEN_FIELD && !sender.sent(&read) {
            return Err(Refusal::forged());
        }
        let mut content = Vec::new();
        while let Some(piece) = field.chunk().await.map_err(unreadable)? {
            bytes += piece.len();
            memory.hold(bytes)?;
            content.extend_from_slice(&piece);
        }
        match filename {
            Some(filename) => read.files.push(Upload { field: name, filename, content: content.into() }),
            None => read.fields.push((name, String::from_utf8_lossy(&content).into_owned())),
        }
    }
    Ok(read)
}

fn unreadable(reason: &str) -> Error {
    Error::new(Code::BadRequest, "the form could not be read").with_cause(reason.to_owned())
}

/// Whether the browser says that another site's page sent this. The service has the name that it is asked by, and the one
/// that the settings say it is known by: a proxy may ask by another.
fn names_another_site(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
        return true;
    }
    let host = text(header::HOST.as_str()).unwrap_or_default();
    let is_ours = |origin: &str| {
        let is_public =
            public_url.strip_prefix(origin).is_some_and(|path| path.is_empty() || path.starts_with('/'));
        is_public || origin.split_once("://").is_some_and(|(_, origin_host)| origin_host == host)
    };
    text(header::ORIGIN.as_str()).is_some_and(|origin| !is_ours(origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_come_several_times() {
        let form = Form::of_query("a=1&b=+x+&a=2&lines=one%0D%0A%0D%0Atwo");
        assert_eq!(form.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!((form.text("b"), form.text("c"), form.is_set("c")), ("x", "", false));
        assert_eq!(form.lines("lines"), ["one", "two"]);
        assert_eq!(form.read::<u64>("a").unwrap(), 1);
        assert!(form.read::<u64>("b").unwrap_err().to_string().contains('b'));
    }

    #[test]
    fn other_sites_are_told_apart() {
        let named = |pairs: &[(&'static str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            names_another_site(&pairs.collect::<HeaderMap>(), "https://public.example/bourse")
        };
        assert!(!named(&[("host", "a.example:1")]));
        assert!(!named(&[("host", "a.example:1"), ("origin", "https://a.example:1")]));
        assert!(!named(&[("host", "a"), ("sec-fetch-site", "same-origin")]));
        assert!(named(&[("host", "a.example:1"), ("origin", "https://a.example")]));
        assert!(named(&[("host", "a"), ("origin", "null")]));
        assert!(!named(&[("host", "127.0.0.1:4010"), ("origin", "https://public.example")]));
        assert!(named(&[("host", "127.0.0.1:4010"), ("origin", "https://public.exampl")]));
        assert!(named(&[("host", "127.0.0.1:4010"), ("origin", "https://public.example.evil")]));
        assert!(named(&[("host", "127.0.0.1:4010"), ("origin", "")]));
        assert!(named(&[("host", "a"), ("sec-fetch-site", "same-site")]));
    }
}
