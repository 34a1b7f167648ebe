//! The people of the demo, each with a key: what they sell elsewhere is really signed.

use std::sync::LazyLock;

use alloy_primitives::{B256, keccak256};
use k256::ecdsa::SigningKey;

use super::holdings::WALLETS;
use super::rng::Rng;

/// Keys are looked up by everything that names a wallet, and dear to make.
static PEOPLE: LazyLock<Vec<Person>> = LazyLock::new(|| (0..WALLETS).map(Person::new).collect());

struct Person {
    key: SigningKey,
    address: String,
}

impl Person {
    fn new(number: u64) -> Self {
        let mut rng = Rng::keyed("key", number);
        let key = loop {
            // Hardly any number of this length is no key.
            if let Ok(key) = SigningKey::from_slice(&rng.bytes::<32>()) {
                break key;
            }
        };
        let point = key.verifying_key().to_encoded_point(false);
        // The first byte tells how the point is written.
        let hash = keccak256(&point.as_bytes()[1..]);
        Self { address: format!("0x{}", const_hex::encode(&hash[12..])), key }
    }
}

fn person(number: u64) -> &'static Person {
    &PEOPLE[usize::try_from(number % WALLETS).unwrap_or(0)]
}

/// Address of a wallet.
pub(super) fn wallet(number: u64) -> String {
    person(number).address.clone()
}

/// What a wallet signs of typed data, by its hash.
pub(super) fn sign(number: u64, digest: B256) -> Option<String> {
    let (signature, recovery) = person(number).key.sign_prehash_recoverable(digest.as_slice()).ok()?;
    Some(format!("0x{}{:02x}", const_hex::encode(signature.to_bytes()), 27 + recovery.to_byte()))
}
