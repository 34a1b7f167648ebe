//! Token id to ordinal: tokens are numbered densely in the order they come.

use bourse_wire::TokenId;
use hashbrown::HashMap;

/// No ordinal.
const NONE: u32 = u32::MAX;
/// How many times the number of tokens their ids may reach to be found by index.
const SPREAD: usize = 4;

/// The ordinals. Most collections number their tokens from 0 or 1: those are found by index, others by hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ordinals {
    by_index: Vec<u32>,
    by_hash: HashMap<TokenId, u32>,
}

impl Ordinals {
    /// The ordinals of tokens that are all there already: few of them need the hash, in whatever order they came.
    pub(crate) fn of(tokens: &[TokenId]) -> Self {
        let mut ordinals = Self::default();
        ordinals.expect(tokens.len());
        for (token, ordinal) in tokens.iter().zip(0..) {
            ordinals.find_or_insert(*token, ordinal);
        }
        ordinals
    }

    /// Makes room for so many tokens. What is found by hash already stays there.
    pub(crate) fn expect(&mut self, tokens: usize) {
        if tokens * SPREAD / 2 > self.by_index.len() {
            self.by_index.resize(tokens * SPREAD, NONE);
        }
    }

    pub(crate) fn find(&self, token: TokenId) -> Option<u32> {
        let ordinal =
            index(token).and_then(|index| self.by_index.get(index)).copied().filter(|found| *found != NONE);
        ordinal.or_else(|| if self.by_hash.is_empty() { None } else { self.by_hash.get(&token).copied() })
    }

    /// The ordinal of a token, which is `next` when it is new.
    pub(crate) fn find_or_insert(&mut self, token: TokenId, next: u32) -> u32 {
        if let Some(ordinal) = self.find(token) {
            return ordinal;
        }
        match index(token).and_then(|index| self.by_index.get_mut(index)) {
            Some(place) => *place = next,
            None => drop(self.by_hash.insert(token, next)),
        }
        next
    }

    /// Memory it takes up, about.
    pub(crate) fn bytes(&self) -> usize {
        self.by_index.capacity() * size_of::<u32>() + self.by_hash.capacity() * size_of::<(TokenId, u32)>()
    }
}

fn index(token: TokenId) -> Option<usize> {
    usize::try_from(token.value()).ok()
}
