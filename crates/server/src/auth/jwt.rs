//! JSON Web Tokens of the one kind that is used here: compact, signed with HMAC-SHA256 (HS256).
//!
//! Crates for such tokens bring the other algorithms of the standard along, elliptic curves and RSA, which nobody here
//! asks for and everybody would wait for at each build. What is left of them for one algorithm is this page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::digest::InvalidLength;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretSlice};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The header of every token that is made here.
const HEADER: &str = r#"{"typ":"JWT","alg":"HS256"}"#;
const ALGORITHM: &str = "HS256";

/// Signs claims, and believes what it signed itself.
pub(super) struct Jwt {
    secret: SecretSlice<u8>,
}

/// The other members of a header are not looked at.
#[derive(Deserialize)]
struct Header {
    alg: String,
}

/// Why a token is not believed. Callers read this as the cause of a refusal.
#[derive(Debug, thiserror::Error)]
pub(super) enum JwtError {
    /// It is not made of three parts.
    #[error("InvalidToken")]
    Parts,
    /// It is signed in another way, or says that it is not signed.
    #[error("InvalidAlgorithm")]
    Algorithm,
    #[error("InvalidSignature")]
    Signature,
    #[error("Base64 error: {0}")]
    Base64(#[from] base64::DecodeError),
    #[error("JSON error: {0}")]
    Json(#[from] serde_json::Error),
    /// HMAC takes secrets of any length; its interface does not say so.
    #[error("InvalidKeyFormat")]
    Secret(#[from] InvalidLength),
}

impl Jwt {
    pub(super) fn new(secret: &[u8]) -> Self {
        Self { secret: secret.to_vec().into() }
    }

    pub(super) fn sign(&self, claims: &impl Serialize) -> Result<String, JwtError> {
        let claims = serde_json::to_vec(claims)?;
        let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(HEADER), URL_SAFE_NO_PAD.encode(claims));
        let signature = self.mac(&message)?.finalize().into_bytes();
        Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// The claims of a token. Nothing of them is looked at before the signature is found to be right.
    pub(super) fn verify<C: DeserializeOwned>(&self, token: &str) -> Result<C, JwtError> {
        let (message, signature) = token.rsplit_once('.').ok_or(JwtError::Parts)?;
        let (header, claims) = message.rsplit_once('.').ok_or(JwtError::Parts)?;
        let header = URL_SAFE_NO_PAD.decode(header)?;
        if serde_json::from_slice::<Header>(&header)?.alg != ALGORITHM {
            return Err(JwtError::Algorithm);
        }
        let signature = URL_SAFE_NO_PAD.decode(signature)?;
        // In constant time.
        self.mac(message)?.verify_slice(&signature).map_err(|_| JwtError::Signature)?;
        Ok(serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims)?)?)
    }

    fn mac(&self, message: &str) -> Result<Hmac<Sha256>, InvalidLength> {
        let mut mac = Hmac::new_from_slice(self.secret.expose_secret())?;
        mac.update(message.as_bytes());
        Ok(mac)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const SECRET: [u8; 32] = [7; 32];

    /// A token of [`SECRET`] with any header and claims.
    fn token(header: &str, claims: &str) -> String {
        let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature = Jwt::new(&SECRET).mac(&message).unwrap().finalize().into_bytes();
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn verify(token: &str) -> Result<Value, String> {
        Jwt::new(&SECRET).verify(token).map_err(|error| error.to_string())
    }

    #[test]
    fn the_example_of_the_standard_is_believed() {
        // RFC 7515, appendix A.1.
        let secret = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
        let token = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9\
            .eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ\
            .dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let claims: Value = Jwt::new(&URL_SAFE_NO_PAD.decode(secret).unwrap()).verify(token).unwrap();
        assert_eq!(claims, json!({ "iss": "joe", "exp": 1_300_819_380, "http://example.com/is_root": true }));
    }

    #[test]
    fn only_our_signature_of_the_one_kind_is_believed() {
        let (header, claims) = (r#"{"alg":"HS256"}"#, r#"{"a":1}"#);
        let good = token(header, claims);
        assert_eq!(verify(&good), Ok(json!({ "a": 1 })));
        assert_eq!(
            verify(&token(r#"{"alg":"HS256","crit":["x"],"kid":"k"}"#, claims)),
            Ok(json!({ "a": 1 }))
        );
        let (message, _) = good.rsplit_once('.').unwrap();
        let foreign = Jwt::new(&[8; 32]).sign(&json!({ "a": 1 })).unwrap();
        let cases = [
            ("", "InvalidToken"),
            ("a.b", "InvalidToken"),
            ("a.b.c", "Base64 error: Invalid input length: 1"),
            (&format!("{good}="), "Base64 error: Invalid padding"),
            (&format!("{message}."), "InvalidSignature"),
            (&format!("{message}.AAAA"), "InvalidSignature"),
            (&foreign, "InvalidSignature"),
            (&token(r#"{"alg":"none"}"#, claims), "InvalidAlgorithm"),
            (&token(r#"{"alg":"HS512"}"#, claims), "InvalidAlgorithm"),
            (&token("{}", claims), "JSON error: missing field `alg` at line 1 column 2"),
            (&token(header, "{"), "JSON error: EOF while parsing an object at line 1 column 1"),
        ];
        for (token, reason) in cases {
            assert_eq!(verify(token), Err(reason.to_owned()), "{token}");
        }
    }
}
