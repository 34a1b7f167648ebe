//! Who holds how much, and how much there is: read from sums and lists that are kept, whatever a collection's size.

use std::ops::ControlFlow;

use alloy_primitives::U256;
use bourse_wire::{Address, Amount, TokenId};

use crate::collection::Collection;
use crate::query::{Rows, Start, TokensQuery};
use crate::{TokenFilter, sorted_list};

/// Ids of tokens as closed ranges, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdRanges {
    /// The first and the last id of each.
    pub ranges: Vec<(TokenId, TokenId)>,
    /// Whether more follow.
    pub more: bool,
}

impl Collection {
    /// A page of the tokens that an account holds, by id.
    pub fn held_tokens(&self, account: &Address, start: Start, limit: usize) -> Rows {
        let tokens = TokenFilter { in_accounts: vec![*account], ..TokenFilter::default() };
        self.search(&TokensQuery { tokens: &tokens, start, limit })
    }

    /// Of how many tokens an account holds some, and how much of all of them together.
    pub fn held_together(&self, account: &Address) -> (usize, Amount) {
        self.holders.find(account).map_or((0, Amount::ZERO), |account| self.holders.total(account))
    }

    /// How much there is of a token; `None` when there is no such token.
    pub fn supply(&self, token: TokenId) -> Option<Amount> {
        self.tokens.find(token).map(|ordinal| self.holders.supply(ordinal))
    }

    /// The ids of all tokens after one, in so many ranges at most.
    pub fn id_ranges(&self, after: Option<TokenId>, limit: usize) -> IdRanges {
        let mut found = Ranges { limit, found: IdRanges::default() };
        if self.tokens.are_ascending() {
            // All ids are one list already: a range is found by looking at few of its ids, however many they are.
            let ids = self.tokens.ids();
            let ids = &ids[after.map_or(0, |after| self.tokens.first_above(after))..];
            // Whether there was room for all is told by what was found.
            let _ = found.add(ids.len(), |index| ids[index]);
            return found.found;
        }
        let is_before = |ordinal| after.is_some_and(|after| self.tokens.id(ordinal) <= after);
        let list = self.tokens.by_id();
        let start = if after.is_some() { list.cursor(is_before) } else { sorted_list::Cursor::START };
        for run in list.blocks_from(start) {
            let id = |index: usize| self.tokens.id(run.ordinals[index]);
            if found.add(run.ordinals.len(), id).is_break() {
                break;
            }
        }
        found.found
    }
}

/// Ranges as they are found.
struct Ranges {
    limit: usize,
    found: IdRanges,
}

impl Ranges {
    /// Adds ids in ascending order, of which the one at each index is told.
    fn add(&mut self, len: usize, id: impl Fn(usize) -> TokenId) -> ControlFlow<()> {
        let mut index = 0;
        while index < len {
            let first = id(index);
            let end = index + run_len(len - index, |next| id(index + next));
            let last = id(end - 1);
            let is_full = self.found.ranges.len() == self.limit;
            match self.found.ranges.last_mut().map(|(_, before)| before) {
                Some(before) if follows(*before, first) => *before = last,
                _ if is_full => {
                    self.found.more = true;
                    return ControlFlow::Break(());
                }
                _ => self.found.ranges.push((first, last)),
            }
            index = end;
        }
        ControlFlow::Continue(())
    }
}

fn follows(before: TokenId, id: TokenId) -> bool {
    id.value().wrapping_sub(before.value()) == U256::ONE
}

/// How many of so many ascending ids follow each other without a gap, from the first on: so many steps away, an id is so much
/// larger just as long as there was none.
fn run_len(len: usize, id: impl Fn(usize) -> TokenId) -> usize {
    let first = id(0).value();
    let is_in = |index: usize| id(index).value() - first == U256::from(index);
    // First ever larger steps, so that short ranges are found in few.
    let mut step = 1;
    while step < len && is_in(step) {
        step *= 2;
    }
    let (mut inside, mut outside) = (step / 2, step.min(len));
    while outside - inside > 1 {
        let middle = inside.midpoint(outside);
        if is_in(middle) { inside = middle } else { outside = middle }
    }
    inside + 1
}
