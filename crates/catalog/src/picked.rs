//! Tokens of which it is known already which ones: whether a filter lets them through.

use bourse_sets::Bits;
use bourse_wire::TokenId;

use crate::collection::Collection;
use crate::filter::TokenFilter;

impl Collection {
    /// Those of some tokens that are known and that a filter lets through.
    pub fn picked(&self, filter: &TokenFilter, tokens: &[TokenId]) -> Vec<TokenId> {
        let candidates = self.candidates(filter);
        let passes =
            |token: &TokenId| self.tokens.find(*token).is_some_and(|ordinal| candidates.has(self, ordinal));
        tokens.iter().copied().filter(passes).collect()
    }

    /// How many tokens from one to another, both included, a filter lets through.
    pub fn count_between(&self, filter: &TokenFilter, min: TokenId, max: TokenId) -> usize {
        let candidates = self.candidates_in_order(filter);
        if !self.tokens.are_ascending() {
            let all = candidates.to_bits(self).unwrap_or_else(|| Bits::full(self.len()));
            return all.iter().filter(|ordinal| (min..=max).contains(&self.tokens.id(*ordinal))).count();
        }
        let range = self.tokens.between(min, max);
        let Some(all) = candidates.to_bits(self) else { return range.len() };
        let from_start = all.iter().skip_while(|ordinal| (*ordinal as usize) < range.start);
        from_start.take_while(|ordinal| (*ordinal as usize) < range.end).count()
    }
}
