//! What is resident of a collection, ready to be copied into answers. Pure: no I/O, no clock.

use std::collections::HashMap;

use bourse_wire::TokenId;
use bytes::Bytes;

/// A resident collection: every token's metadata as the JSON text that answers are put together from.
#[derive(Debug, Default)]
pub struct Collection {
    version: u64,
    contract: Option<Bytes>,
    /// Token id to ordinal: tokens are numbered densely in the order they came.
    ordinals: HashMap<TokenId, u32>,
    /// Ordinal to metadata.
    fragments: Vec<Bytes>,
    bytes: usize,
}

/// A state to start from, or what changed since the last one.
#[derive(Debug, Default)]
pub struct Update {
    /// The version that the collection has after it.
    pub version: u64,
    /// Whether this is everything rather than what changed.
    pub whole: bool,
    /// Contract information as JSON text, when it changed.
    pub contract: Option<String>,
    /// Tokens with their metadata as JSON text.
    pub tokens: Vec<(TokenId, String)>,
}

/// What a token takes up beyond its text: its slots in both tables.
const TOKEN_OVERHEAD_BYTES: usize = size_of::<(TokenId, u32)>() + size_of::<Bytes>() + 16;

impl Collection {
    /// Takes over an update.
    pub fn apply(&mut self, update: Update) {
        if update.whole {
            *self = Self::default();
        }
        self.version = update.version;
        if let Some(info) = update.contract {
            self.contract = Some(info.into());
        }
        for (token, metadata) in update.tokens {
            self.put(token, metadata.into());
        }
    }

    fn put(&mut self, token: TokenId, fragment: Bytes) {
        self.bytes += fragment.len();
        // Ordinals are 32 bits: a collection has fewer tokens than that, or does not fit in memory anyway.
        let next = u32::try_from(self.fragments.len()).unwrap_or(u32::MAX);
        let ordinal = *self.ordinals.entry(token).or_insert(next);
        if let Some(known) = self.fragments.get_mut(ordinal as usize) {
            self.bytes -= known.len();
            *known = fragment;
        } else {
            self.bytes += TOKEN_OVERHEAD_BYTES;
            self.fragments.push(fragment);
        }
    }

    /// The version whose state this is.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The metadata of a token, as JSON text.
    pub fn token(&self, token: TokenId) -> Option<&Bytes> {
        self.ordinals.get(&token).and_then(|ordinal| self.fragments.get(*ordinal as usize))
    }

    /// The contract information, as JSON text.
    pub fn contract(&self) -> Option<&Bytes> {
        self.contract.as_ref()
    }

    /// Memory it takes up, about.
    pub fn bytes(&self) -> usize {
        self.bytes + size_of::<Self>()
    }

    /// How many tokens it has.
    pub fn len(&self) -> usize {
        self.fragments.len()
    }

    /// Whether it has no tokens.
    pub fn is_empty(&self) -> bool {
        self.fragments.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(version: u64, whole: bool, tokens: &[(u64, &str)]) -> Update {
        let tokens = tokens.iter().map(|(id, text)| (TokenId::from(*id), (*text).to_owned())).collect();
        Update { version, whole, contract: None, tokens }
    }

    #[test]
    fn updates_replace_and_add_and_a_whole_one_starts_over() {
        let mut collection = Collection::default();
        collection.apply(update(1, true, &[(1, "a"), (2, "b")]));
        collection.apply(update(2, false, &[(2, "bb"), (3, "c")]));
        assert_eq!((collection.version(), collection.len()), (2, 3));
        assert_eq!(collection.token(TokenId::from(2)).unwrap(), "bb");
        let before = collection.bytes();
        collection.apply(update(3, true, &[(3, "c")]));
        assert!(collection.bytes() < before && collection.token(TokenId::from(1)).is_none());
    }

    #[test]
    fn memory_does_not_grow_by_rewriting() {
        let mut collection = Collection::default();
        collection.apply(update(1, true, &[(1, "same")]));
        let before = collection.bytes();
        for version in 2..100 {
            collection.apply(update(version, false, &[(1, "same")]));
        }
        assert_eq!(collection.bytes(), before);
    }
}
