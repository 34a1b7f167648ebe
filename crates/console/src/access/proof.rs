//! Random words that prove something: that a browser is the one that signed in, that somebody got a link, that a form
//! was sent from a page of ours.

use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bourse_store::ProofHash;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use bourse_server::entropy;

/// The cookies. They are apart because a page of another site can make a browser ask without its strict cookies: what
/// a guest then gets must not take the place of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cookie {
    /// Of somebody who has signed in.
    Session,
    /// Of a browser before that, so that its forms can be told from others'.
    Guest,
    /// Of somebody who has shown the password and not yet the second factor.
    Pending,
}

impl Cookie {
    fn name(self) -> &'static str {
        match self {
            Self::Session => "bourse_console",
            Self::Guest => "bourse_console_guest",
            Self::Pending => "bourse_console_pending",
        }
    }
}

/// A random word of 256 bits. `Debug` is left out on purpose: it is in no log.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Proof(String);

impl Proof {
    pub(crate) fn fresh() -> Self {
        Self(URL_SAFE_NO_PAD.encode(entropy::bytes::<32>()))
    }

    /// Reads a word that has the form of one of ours.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == 32).then(|| Self(text.to_owned()))
    }

    /// The word in a cookie that a browser sent.
    pub(crate) fn of_browser(headers: &HeaderMap, cookie: Cookie) -> Option<Self> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find_map(|(name, value)| if name == cookie.name() { Self::parse(value) } else { None })
    }

    /// What is stored of it.
    pub(crate) fn hash(&self) -> ProofHash {
        ProofHash(const_hex::encode(Sha256::digest(&self.0)))
    }

    /// The word itself, for a link.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// What forms carry: it follows from the cookie, which no other site can read.
    pub(crate) fn form_token(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(b"bourse console form ");
        digest.update(&self.0);
        URL_SAFE_NO_PAD.encode(digest.finalize())
    }

    /// Whether a form carried the right word; the time it takes tells nothing.
    pub(crate) fn allows(&self, form_token: &str) -> bool {
        self.form_token().as_bytes().ct_eq(form_token.as_bytes()).into()
    }

    /// The cookie that makes a browser remember it.
    pub(crate) fn cookie(&self, cookie: Cookie, seconds: u64, is_https: bool) -> Option<HeaderValue> {
        let secure = if is_https { "; Secure" } else { "" };
        let text = format!(
            "{}={}; Path=/console; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}",
            cookie.name(),
            self.0
        );
        HeaderValue::from_str(&text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others_and_read_strictly() {
        let proof = Proof::fresh();
        let mut headers = HeaderMap::new();
        let sent = format!("a=b; bourse_console=short; bourse_console={}; c=d", proof.expose());
        headers.insert(header::COOKIE, sent.parse().unwrap());
        assert!(Proof::of_browser(&headers, Cookie::Session) == Some(proof));
        assert!(Proof::of_browser(&headers, Cookie::Guest).is_none());
        headers.insert(header::COOKIE, "bourse_console=\"<script>\"".parse().unwrap());
        assert!(Proof::of_browser(&headers, Cookie::Session).is_none());
    }

    #[test]
    fn a_form_of_another_browser_is_not_allowed() {
        let (own, other) = (Proof::fresh(), Proof::fresh());
        assert!(own.allows(&own.form_token()));
        assert!(!own.allows(&other.form_token()) && !own.allows("") && !own.allows(own.expose()));
    }

    #[test]
    fn the_cookie_is_for_us_alone() {
        let cookie = Proof::fresh().cookie(Cookie::Session, 60, true).unwrap();
        let text = cookie.to_str().unwrap();
        for word in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/console", "Max-Age=60"] {
            assert!(text.contains(word), "{text}");
        }
    }
}
