//! The cryptography of secret tokens: HMAC-SHA256 (HS256), and no other algorithm.
//!
//! `jsonwebtoken` reads and checks tokens. The providers of cryptography that it has itself bring elliptic curves and RSA
//! along, which nobody here asks for and everybody would wait for at each build.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jsonwebtoken::Algorithm;
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Signer, Verifier};
use sha2::Sha256;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(Hs256::new(*algorithm, key.as_bytes())?)),
    verifier_factory: |algorithm, key| Ok(Box::new(Hs256::new(*algorithm, key.try_get_as_bytes()?)?)),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Tells the library whom to ask.
pub(super) fn install() {
    // It refuses when it was told before, which was of this one as well.
    let _was_told_before = PROVIDER.install_default().is_err();
}

/// Something that is no token, as it would be signed: no token begins so.
pub(super) fn sealing(secret: &[u8], message: &[u8]) -> Option<Hmac<Sha256>> {
    let mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    Some(mac.chain_update(b"\0data-version\0").chain_update(message))
}

/// A key for something else than tokens, from which nobody learns the secret.
pub(super) fn derived(secret: &[u8], purpose: &str) -> Option<[u8; 32]> {
    let mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    Some(mac.chain_update(b"\0key\0").chain_update(purpose.as_bytes()).finalize().into_bytes().into())
}

/// Everything that is needed to sign or to check, but the message.
struct Hs256(Hmac<Sha256>);

impl Hs256 {
    fn new(algorithm: Algorithm, secret: &[u8]) -> Result<Self, Error> {
        if algorithm != Algorithm::HS256 {
            return Err(ErrorKind::InvalidAlgorithm.into());
        }
        Hmac::new_from_slice(secret).map(Self).map_err(|_| ErrorKind::InvalidKeyFormat.into())
    }

    fn of(&self, message: &[u8]) -> Hmac<Sha256> {
        self.0.clone().chain_update(message)
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        Ok(self.of(message).finalize().into_bytes().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    /// In constant time.
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        self.of(message).verify_slice(signature).map_err(signature::Error::from_source)
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn the_example_of_the_standard_is_signed_and_believed() {
        // RFC 7515, appendix A.1.
        let secret = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
        let message = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9\
            .eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let decode = |text| URL_SAFE_NO_PAD.decode(text).unwrap();
        let signature = decode("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        let hs256 = Hs256::new(Algorithm::HS256, &decode(secret)).ok().unwrap();
        assert_eq!(hs256.try_sign(message.as_bytes()).unwrap(), signature);
        assert!(hs256.verify(message.as_bytes(), &signature).is_ok());
        assert!(hs256.verify(b"another message", &signature).is_err());
        assert!(hs256.verify(message.as_bytes(), &signature[..31].to_vec()).is_err());
    }

    #[test]
    fn there_is_one_algorithm() {
        for algorithm in [Algorithm::HS384, Algorithm::HS512, Algorithm::RS256, Algorithm::ES256] {
            assert!(Hs256::new(algorithm, &[7; 32]).is_err(), "{algorithm:?}");
        }
    }
}
