//! What is resident of a collection, ready to be copied into answers. Pure: no I/O, no clock.

mod arena;
mod ordinals;

use bourse_wire::TokenId;

use arena::{Arena, Span};
use ordinals::Ordinals;

/// A resident collection: every token's metadata as the JSON text that answers are put together from.
#[derive(Debug, Default)]
pub struct Collection {
    version: u64,
    contract: Option<String>,
    ordinals: Ordinals,
    /// Ordinal to metadata.
    spans: Vec<Span>,
    arena: Arena,
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

impl Collection {
    /// Takes over an update.
    pub fn apply(&mut self, update: Update) {
        if update.whole {
            *self = Self::default();
        }
        self.version = update.version;
        if let Some(info) = update.contract {
            self.contract = Some(info);
        }
        self.ordinals.expect(self.spans.len() + update.tokens.len());
        for (token, metadata) in update.tokens {
            self.put(token, &metadata);
        }
        if self.arena.is_wasteful() {
            self.spans = self.arena.compact(&self.spans);
        }
    }

    fn put(&mut self, token: TokenId, metadata: &str) {
        // Ordinals are 32 bits: a collection has fewer tokens than that, or does not fit in memory anyway.
        let next = u32::try_from(self.spans.len()).unwrap_or(u32::MAX);
        let ordinal = self.ordinals.find_or_insert(token, next);
        let span = self.arena.push(metadata.as_bytes());
        if let Some(known) = self.spans.get_mut(ordinal as usize) {
            self.arena.discard(*known);
            *known = span;
        } else {
            self.spans.push(span);
        }
    }

    /// The version whose state this is.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The metadata of a token, as JSON text.
    pub fn token(&self, token: TokenId) -> Option<&[u8]> {
        let ordinal = self.ordinals.find(token)?;
        self.spans.get(ordinal as usize).map(|span| self.arena.get(*span))
    }

    /// The metadata of those of the tokens that there are, in the order asked for, on its way into the cache: the
    /// texts lie far apart, and waiting for all of them at once takes a fraction of waiting for each as it is copied.
    pub fn tokens(&self, tokens: &[TokenId]) -> Vec<&[u8]> {
        let found: Vec<&[u8]> = tokens.iter().filter_map(|token| self.token(*token)).collect();
        let touched = found.iter().fold(0, |sum, text| sum ^ touch(text));
        std::hint::black_box(touched);
        found
    }

    /// The contract information, as JSON text.
    pub fn contract(&self) -> Option<&str> {
        self.contract.as_deref()
    }

    /// Memory it takes up, about.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.arena.bytes()
            + self.ordinals.bytes()
            + self.spans.capacity() * size_of::<Span>()
            + self.contract.as_ref().map_or(0, String::len)
    }

    /// How many tokens it has.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether it has no tokens.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}

/// Reads one byte of every cache line of a text.
fn touch(text: &[u8]) -> u8 {
    const CACHE_LINE_BYTES: usize = 64;
    text.iter().step_by(CACHE_LINE_BYTES).fold(0, |sum, byte| sum ^ byte)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

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
        let asked = [3, 9, 2].map(TokenId::from);
        assert_eq!(collection.tokens(&asked), [b"c".as_slice(), b"bb"]);
        collection.apply(update(3, true, &[(3, "c")]));
        assert!(collection.token(TokenId::from(1)).is_none());
    }

    #[test]
    fn memory_does_not_grow_by_rewriting() {
        let mut collection = Collection::default();
        let text = "x".repeat(10_000);
        collection.apply(update(1, true, &[(1, &text), (2, "stays")]));
        for version in 2..5_000 {
            collection.apply(update(version, false, &[(1, &text)]));
        }
        assert!(collection.bytes() < 8 << 20, "{}", collection.bytes());
        assert_eq!(collection.token(TokenId::from(2)).unwrap(), b"stays");
    }

    proptest! {
        /// Against a map: small ids, huge ids, and the borders between the two tables.
        #[test]
        fn answers_like_a_map(
            batches in prop::collection::vec(
                (any::<bool>(), prop::collection::vec((prop_oneof![0_u64..40, 0_u64..5_000, any::<u64>()], ".{0,9}"), 0..40)),
                1..12,
            )
        ) {
            let (mut collection, mut model) = (Collection::default(), HashMap::new());
            for (version, (whole, tokens)) in batches.iter().enumerate() {
                if *whole {
                    model.clear();
                }
                model.extend(tokens.iter().cloned());
                let tokens: Vec<(u64, &str)> = tokens.iter().map(|(id, text)| (*id, text.as_str())).collect();
                collection.apply(update(version as u64, *whole, &tokens));
                prop_assert_eq!(collection.len(), model.len());
                for id in (0..50).chain(model.keys().copied()) {
                    let found = collection.token(TokenId::from(id));
                    prop_assert_eq!(found, model.get(&id).map(String::as_bytes));
                }
            }
        }
    }
}
