//! How servers of one installation prove to each other who they are: by a code over what they say, with a key that is derived
//! from the secret that they share.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::server::ServerId;

/// By which a server proves that one of the installation asks another.
pub const FORWARDED: HeaderName = HeaderName::from_static("bourse-forwarded");
/// By which the other proves that it is the one that was asked.
pub const ANSWERED: HeaderName = HeaderName::from_static("bourse-answered");
/// Of an answer from memory: how old it may be.
pub const DATA_AGE: HeaderName = HeaderName::from_static("data-age");

/// What goes along of the headers of a request: everything that its answer depends on.
pub(crate) const CARRIED: [HeaderName; 6] = [
    header::AUTHORIZATION,
    HeaderName::from_static("x-access-key"),
    header::ORIGIN,
    header::ACCEPT,
    header::CONTENT_TYPE,
    HeaderName::from_static("data-version"),
];
/// What comes back of the headers of an answer.
const RETURNED: [HeaderName; 2] = [header::CONTENT_TYPE, DATA_AGE];

type Code = [u8; 32];

/// How far the counter of a server may be beyond what its sender had seen of it: whoever kept a request can send it again for about
/// so many seconds. Looks at the database may come late, and while it is away no counter moves.
const BEATS_BEHIND_MAX: u64 = 30;

/// A server at a moment by its own counter: the one that a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Receiver {
    /// Which one.
    pub(crate) id: ServerId,
    /// Its counter.
    pub(crate) beat: u64,
}

/// The key that the servers of an installation share.
#[derive(Clone)]
pub struct Seal(Code);

/// A request that a server of this installation sent.
#[derive(Clone, Debug)]
pub struct Admission {
    code: Code,
    body: Code,
}

impl Admission {
    /// Whether a body is the one that was sent.
    pub fn has_body(&self, body: &[u8]) -> bool {
        bool::from(self.body.ct_eq(&hash(body)))
    }
}

impl Seal {
    /// A seal with this key.
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// What the key is known by, which does not tell it.
    pub fn fingerprint(&self) -> String {
        let code = Sealing::begin(&self.0, b"fingerprint").map(Sealing::end).unwrap_or_default();
        URL_SAFE_NO_PAD.encode(code.first_chunk::<9>().unwrap_or(&[0; 9]))
    }

    /// The header of a request to a server, and what its answer is then known by.
    pub(crate) fn forwarded(
        &self,
        receiver: Receiver,
        path: &str,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<(HeaderValue, Admission)> {
        let body = hash(body);
        let code = self.request_code(receiver, path, headers, &body)?;
        let (beat, told) = (receiver.beat, URL_SAFE_NO_PAD.encode(body));
        let text = format!("{beat}.{told}.{}", URL_SAFE_NO_PAD.encode(code));
        Some((HeaderValue::try_from(text).ok()?, Admission { code, body }))
    }

    /// Believes that a server of this installation sent a request to this one as it is now; `None` where nobody of them did, or
    /// too long ago. What its body must be, the admission knows. Told in constant time.
    pub(crate) fn admit(&self, now: Receiver, path: &str, headers: &HeaderMap) -> Option<Admission> {
        let mut all = headers.get_all(FORWARDED).iter();
        let (beat, codes) = all.next()?.to_str().ok()?.split_once('.')?;
        let receiver = Receiver { beat: beat.parse().ok()?, ..now };
        if now.beat.checked_sub(receiver.beat)? > BEATS_BEHIND_MAX {
            return None;
        }
        let (body, code) = codes.split_once('.')?;
        let read = |text: &str| Code::try_from(URL_SAFE_NO_PAD.decode(text).ok()?).ok();
        let (body, code) = (read(body)?, read(code)?);
        let is_ours = self.request_code(receiver, path, headers, &body)?.ct_eq(&code);
        (bool::from(is_ours) && all.next().is_none()).then_some(Admission { code, body })
    }

    /// The header of the answer to a request.
    pub(crate) fn answered(
        &self,
        to: &Admission,
        status: u16,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<HeaderValue> {
        let code = self.answer_code(to, status, headers, body)?;
        HeaderValue::try_from(URL_SAFE_NO_PAD.encode(code)).ok()
    }

    /// Whether the server that was asked gave this answer. Told in constant time.
    pub(crate) fn is_answer(&self, to: &Admission, status: u16, headers: &HeaderMap, body: &[u8]) -> bool {
        let told = headers.get(ANSWERED).and_then(|value| URL_SAFE_NO_PAD.decode(value.as_bytes()).ok());
        let code = self.answer_code(to, status, headers, body);
        told.zip(code).is_some_and(|(told, code)| bool::from(told.ct_eq(&code)))
    }

    fn request_code(&self, receiver: Receiver, path: &str, headers: &HeaderMap, body: &Code) -> Option<Code> {
        let mut mac = Sealing::begin(&self.0, b"request")?;
        mac.put(&receiver.id.0.to_be_bytes());
        mac.put(&receiver.beat.to_be_bytes());
        mac.put(b"POST");
        mac.put(path.as_bytes());
        mac.put_headers(headers, &CARRIED);
        mac.put(body);
        Some(mac.end())
    }

    fn answer_code(&self, to: &Admission, status: u16, headers: &HeaderMap, body: &[u8]) -> Option<Code> {
        let mut mac = Sealing::begin(&self.0, b"answer")?;
        mac.put(&to.code);
        mac.put(&status.to_be_bytes());
        mac.put_headers(headers, &RETURNED);
        mac.put(&hash(body));
        Some(mac.end())
    }
}

fn hash(bytes: &[u8]) -> Code {
    Sha256::digest(bytes).into()
}

/// A code under way. Every part comes behind its length, so that no two lists of parts read the same.
struct Sealing(Hmac<Sha256>);

impl Sealing {
    fn begin(key: &Code, what: &[u8]) -> Option<Self> {
        let mut sealing = Self(Hmac::<Sha256>::new_from_slice(key).ok()?);
        sealing.put(what);
        Some(sealing)
    }

    fn put(&mut self, part: &[u8]) {
        self.0.update(&(part.len() as u64).to_be_bytes());
        self.0.update(part);
    }

    fn put_headers(&mut self, headers: &HeaderMap, names: &[HeaderName]) {
        for name in names {
            let values: Vec<&HeaderValue> = headers.get_all(name).iter().collect();
            self.put(&(values.len() as u64).to_be_bytes());
            for value in values {
                self.put(value.as_bytes());
            }
        }
    }

    fn end(self) -> Code {
        self.0.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Receiver = Receiver { id: ServerId(7), beat: 100 };
    const PATH: &str = "/rpc/Metadata/GetTokenMetadata";

    fn carried() -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("x-access-key", HeaderValue::from_static("key"));
        headers.append("data-version", HeaderValue::from_static("one"));
        headers.append("data-version", HeaderValue::from_static("two"));
        headers
    }

    fn sent(seal: &Seal, headers: &HeaderMap, body: &[u8]) -> (HeaderMap, Admission) {
        let (proof, asked) = seal.forwarded(ME, PATH, headers, body).unwrap();
        let mut all = headers.clone();
        all.insert(FORWARDED, proof);
        (all, asked)
    }

    #[test]
    fn what_a_server_sends_is_believed_and_so_is_its_answer() {
        let seal = Seal::new([1; 32]);
        let (headers, asked) = sent(&seal, &carried(), b"{}");
        let admitted = seal.admit(ME, PATH, &headers).unwrap();
        assert!(admitted.has_body(b"{}") && !admitted.has_body(b"{ }"));
        let mut answer = HeaderMap::new();
        answer.insert(DATA_AGE, HeaderValue::from_static("3"));
        answer.insert(ANSWERED, seal.answered(&admitted, 200, &answer, b"[1]").unwrap());
        assert!(seal.is_answer(&asked, 200, &answer, b"[1]"));
        assert!(!seal.is_answer(&asked, 200, &answer, b"[2]"), "another body");
        assert!(!seal.is_answer(&asked, 404, &answer, b"[1]"), "another status");
        let other = sent(&seal, &carried(), b"[]").1;
        assert!(!seal.is_answer(&other, 200, &answer, b"[1]"), "the answer to another question");
        answer.remove(DATA_AGE);
        assert!(!seal.is_answer(&asked, 200, &answer, b"[1]"), "another age");
        answer.remove(ANSWERED);
        assert!(!seal.is_answer(&asked, 200, &answer, b"[1]"), "no proof");
    }

    #[test]
    fn what_anybody_changes_or_makes_up_is_not_believed() {
        let seal = Seal::new([1; 32]);
        let (headers, _) = sent(&seal, &carried(), b"{}");
        let other = Receiver { id: ServerId(8), ..ME };
        assert!(seal.admit(other, PATH, &headers).is_none(), "sent to another server");
        assert!(seal.admit(ME, "/rpc/Metadata/GetContractInfo", &headers).is_none(), "another path");
        assert!(Seal::new([2; 32]).admit(ME, PATH, &headers).is_none(), "of another installation");
        let changed = |change: &dyn Fn(&mut HeaderMap)| {
            let mut headers = headers.clone();
            change(&mut headers);
            seal.admit(ME, PATH, &headers)
        };
        let value = HeaderValue::from_static;
        assert!(changed(&|headers| drop(headers.insert("x-access-key", value("other")))).is_none());
        assert!(changed(&|headers| drop(headers.remove("x-access-key"))).is_none());
        assert!(changed(&|headers| drop(headers.insert("authorization", value("Bearer x")))).is_none());
        assert!(changed(&|headers| drop(headers.insert("data-version", value("onetwo")))).is_none());
        assert!(changed(&|headers| drop(headers.remove(FORWARDED))).is_none());
        let twice = |headers: &mut HeaderMap| assert!(headers.append(FORWARDED, value("twice")));
        assert!(changed(&twice).is_none());
        let (later, rest) = ("101", headers[FORWARDED].to_str().unwrap().split_once('.').unwrap().1);
        let moved = HeaderValue::try_from(format!("{later}.{rest}")).unwrap();
        let at_another_beat = changed(&|headers| drop(headers.insert(FORWARDED, moved.clone())));
        assert!(at_another_beat.is_none(), "another beat");
        for made_up in ["", ".", "x.y", "1.2", "100.x.y", "100.AAAA.AAAA"] {
            let made_up = HeaderValue::from_static(made_up);
            assert!(changed(&|headers| drop(headers.insert(FORWARDED, made_up.clone()))).is_none());
        }
        assert!(changed(&|headers| drop(headers.insert("accept-encoding", value("br")))).is_some());
    }

    #[test]
    fn what_was_sent_long_ago_is_not_believed_again() {
        let seal = Seal::new([1; 32]);
        let (headers, _) = sent(&seal, &carried(), b"{}");
        let at = |beat| seal.admit(Receiver { beat, ..ME }, PATH, &headers);
        assert!(at(ME.beat).is_some() && at(ME.beat + BEATS_BEHIND_MAX).is_some());
        assert!(at(ME.beat + BEATS_BEHIND_MAX + 1).is_none(), "somebody kept it");
        assert!(at(ME.beat - 1).is_none(), "nobody can have seen that yet");
    }

    #[test]
    fn a_key_is_known_by_what_does_not_tell_it() {
        let told = |key| Seal::new([key; 32]).fingerprint();
        assert_eq!(told(1), told(1));
        assert_ne!(told(1), told(2));
        assert_eq!(told(1).len(), 12);
    }
}
