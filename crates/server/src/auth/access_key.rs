//! Access keys in the form that existing clients and tools know: 26 bytes (a version, the project id, 17 random
//! bytes) in base64url without padding. The project can be read from the key; only the store says whether it is good.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bourse_wire::ProjectId;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::entropy;

const VERSION: u8 = 1;
const KEY_BYTES: usize = 26;
const PROJECT_BYTES: std::ops::Range<usize> = 1..9;

/// An access key. Shown only where it is made; `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessKey {
    project: ProjectId,
    text: String,
}

impl AccessKey {
    /// A new key of a project.
    pub fn generate(project: ProjectId) -> Self {
        let mut bytes: [u8; KEY_BYTES] = entropy::bytes();
        bytes[0] = VERSION;
        bytes[PROJECT_BYTES].copy_from_slice(&project.get().to_be_bytes());
        Self { project, text: URL_SAFE_NO_PAD.encode(bytes) }
    }

    /// Reads a key; `None` when it does not have the form of one.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        if bytes.len() != KEY_BYTES || bytes[0] != VERSION {
            return None;
        }
        let number = u64::from_be_bytes(bytes[PROJECT_BYTES].try_into().ok()?);
        Some(Self { project: number.try_into().ok()?, text: text.to_owned() })
    }

    /// The project the key names.
    pub fn project(&self) -> ProjectId {
        self.project
    }

    /// What is stored of the key.
    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(&self.text).into())
    }

    /// The key itself, for whoever made it.
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for AccessKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AccessKey(project {})", self.project)
    }
}

/// SHA-256 of an access key. A key has 136 random bits, so a fast hash is enough.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Compares in constant time.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// Reads the stored form.
    pub fn from_hex(text: &str) -> Option<Self> {
        const_hex::decode_to_array(text).ok().map(Self)
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&const_hex::encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_can_be_read_from_a_key() {
        let project = ProjectId::try_from(7).unwrap();
        let key = AccessKey::generate(project);
        assert_eq!(key.expose().len(), 35);
        assert!(key.expose().starts_with("AQAAAAAAAA"), "{}", key.expose());
        assert_eq!(AccessKey::parse(key.expose()), Some(key.clone()));
        assert_eq!(key.project(), project);
        assert!(KeyHash::from_hex(&key.hash().to_string()).unwrap().matches(&key.hash()));
        assert_ne!(AccessKey::generate(project), key);
        assert!(!format!("{key:?}").contains(key.expose()));
    }

    #[test]
    fn other_texts_are_no_keys() {
        let zero_project = URL_SAFE_NO_PAD.encode([&[VERSION][..], &[0; 25]].concat());
        let other_version = URL_SAFE_NO_PAD.encode([&[2][..], &[1; 25]].concat());
        for text in ["", "AQAAAAAAAA", "not a key", "é", &zero_project, &other_version, &"A".repeat(36)] {
            assert_eq!(AccessKey::parse(text), None, "{text}");
        }
    }
}
