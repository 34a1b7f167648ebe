//! How a receiver knows who sent a message, and that it is the one that was sent.

use bourse_wire::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The headers of a message: its name, by which a receiver knows that it has it already, when it is sent, in seconds since 1970, and
/// the signature over both that instant and the body.
pub(super) fn headers(name: &str, now: Timestamp, secret: &str, body: &str) -> [(&'static str, String); 3] {
    let at = now.unix_seconds().to_string();
    let signature = signature(secret, &at, body);
    [("x-webhook-id", name.to_owned()), ("x-webhook-timestamp", at), ("x-webhook-signature", signature)]
}

/// HMAC-SHA256 over `timestamp.body`, in hexadecimal.
fn signature(secret: &str, at: &str, body: &str) -> String {
    // Keys may have any length; without one nothing verifies.
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    let mac = mac.chain_update(at).chain_update(".").chain_update(body);
    const_hex::encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_signed_as_others_sign_it() {
        // printf '1741953600.{}' | openssl dgst -sha256 -hmac secret
        let expected = "754435fec9a8027eb573efdb61b1bed2639502e2694a1b03491f8fd186c7610f";
        assert_eq!(signature("secret", "1741953600", "{}"), expected);
        let headers = headers("7-2-0.1", "2025-03-14T12:00:00Z".parse().unwrap(), "secret", "{}");
        let values = headers.each_ref().map(|(_, value)| value.as_str());
        assert_eq!(values, ["7-2-0.1", "1741953600", expected]);
    }
}
