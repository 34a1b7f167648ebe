//! Who holds how much, and how much there is: read from sums and lists that are kept, whatever a collection's size.

use std::ops::ControlFlow;

use alloy_primitives::U256;
use bourse_wire::{Address, Amount, TokenId};

use crate::collection::Collection;
use crate::query::{Row, Start, TokensQuery};
use crate::{TokenFilter, sorted_list};

/// What an account holds is put in order by so many tokens at most.
const SORTED_MAX: usize = 512;

/// A page of what an account holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldPage {
    /// The tokens, and how much of each.
    pub held: Vec<(TokenId, Amount)>,
    /// Whether it holds more.
    pub more: bool,
}

impl HeldPage {
    /// What is left after so many were passed over, as much of it as a page has room for.
    fn of(rest: impl ExactSizeIterator<Item = (TokenId, Amount)>, skip: usize, limit: usize) -> Self {
        let more = rest.len().saturating_sub(skip) > limit;
        Self { held: rest.skip(skip).take(limit).collect(), more }
    }
}

/// Ids of tokens as closed ranges, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdRanges {
    /// The first and the last id of each.
    pub ranges: Vec<(TokenId, TokenId)>,
    /// Whether more follow.
    pub more: bool,
}

impl Collection {
    /// A page of what an account holds, by token.
    pub fn held_page(&self, account: &Address, start: Start, limit: usize) -> HeldPage {
        let Some(account) = self.holders.find(account) else { return HeldPage::default() };
        let held = self.holders.held(account);
        let is_before = |id: TokenId| matches!(&start, Start::After(position) if id <= position.token);
        if self.tokens.are_ascending() {
            // What is held lies in the order of ids then.
            let before = held.partition_point(|(token, _)| is_before(self.tokens.id(*token)));
            let rest = held[before..].iter().map(|(token, held)| (self.tokens.id(*token), *held));
            return HeldPage::of(rest, start.skipped(), limit);
        }
        if held.len() > SORTED_MAX {
            return self.held_page_of_many(account, start, limit);
        }
        let mut rest: Vec<(TokenId, Amount)> =
            held.iter().map(|(token, held)| (self.tokens.id(*token), *held)).collect();
        rest.retain(|(id, _)| !is_before(*id));
        rest.sort_unstable_by_key(|(id, _)| *id);
        HeldPage::of(rest.into_iter(), start.skipped(), limit)
    }

    /// The same where too much is held to put all of it in order: the list of all tokens is gone through.
    fn held_page_of_many(&self, account: u32, start: Start, limit: usize) -> HeldPage {
        let in_accounts = vec![*self.holders.address(account)];
        let tokens = TokenFilter { in_accounts, ..TokenFilter::default() };
        let rows = self.search(&TokensQuery { tokens: &tokens, start, limit });
        let held = |row: &Row| (self.tokens.id(row.token), self.holders.balance(account, row.token));
        HeldPage { held: rows.rows.iter().map(held).collect(), more: rows.next.is_some() }
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
