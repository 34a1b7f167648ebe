//! What an account holds in the order of the texts of tokens' ids, as a database has it that keeps ids as texts: 1, 10, 2.
//!
//! Ids with equally many digits are in one order by number and by text. So what lies in the order of numbers is a few runs, one for
//! each number of digits, that are merged.

use alloy_primitives::U256;
use bourse_wire::{Address, Amount, TokenId};

use crate::balances::HeldPage;
use crate::collection::Collection;
use crate::sorted_list::partition;

/// What does not lie in order is sorted where it is no more than this.
const SORTED_MAX: usize = 512;

/// A token, and how much of it.
type Held = (TokenId, Amount);

impl Collection {
    /// A page of what an account holds, by the texts of ids: after one of them or from the first on, with so many passed over.
    /// Nothing where much is held that does not lie in order.
    pub fn held_by_text(
        &self,
        account: &Address,
        after: Option<TokenId>,
        (skip, limit): (usize, usize),
    ) -> Option<HeldPage> {
        let Some(account) = self.holders.find(account) else { return Some(HeldPage::default()) };
        let held = self.holders.held(account);
        let of = |(token, held): &(u32, Amount)| (self.tokens.id(*token), *held);
        if self.tokens.are_ascending() {
            return Some(page(held.len(), |index| of(&held[index]), after, (skip, limit)));
        }
        if held.len() > SORTED_MAX {
            return None;
        }
        let mut sorted: Vec<Held> = held.iter().map(of).collect();
        sorted.sort_unstable_by_key(|(token, _)| *token);
        Some(page(sorted.len(), |index| sorted[index], after, (skip, limit)))
    }
}

/// Ids with equally many digits: what is left of them, from the first on, whose text is at hand.
struct Run {
    next: usize,
    end: usize,
    text: String,
}

/// A page of so many that are there in the order of numbers.
fn page(
    len: usize,
    at: impl Fn(usize) -> Held,
    after: Option<TokenId>,
    (skip, limit): (usize, usize),
) -> HeldPage {
    let text = |index: usize| at(index).0.to_string();
    let after = after.map(|after| after.to_string());
    let mut runs = Vec::new();
    let mut start = 0;
    while start < len {
        let above = above(&text(start));
        let is_below = |index: usize| above.is_none_or(|above| at(start + index).0 < above);
        let end = start + partition(len - start, is_below);
        let is_before = |index: usize| after.as_ref().is_some_and(|after| text(start + index) <= *after);
        let next = start + partition(end - start, is_before);
        if next < end {
            runs.push(Run { next, end, text: text(next) });
        }
        start = end;
    }
    let (mut passed, mut held) = (0, Vec::new());
    while let Some(first) = (0..runs.len()).min_by(|a, b| runs[*a].text.cmp(&runs[*b].text)) {
        if held.len() == limit {
            return HeldPage { held, more: true };
        }
        let run = &mut runs[first];
        if passed < skip {
            passed += 1;
        } else {
            held.push(at(run.next));
        }
        run.next += 1;
        if run.next == run.end {
            runs.swap_remove(first);
        } else {
            run.text = text(run.next);
        }
    }
    HeldPage { held, more: false }
}

/// The lowest id with more digits than this one has, if there is any.
fn above(text: &str) -> Option<TokenId> {
    U256::from(10).checked_pow(U256::from(text.len())).map(TokenId::from)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id() -> impl Strategy<Value = TokenId> {
        let shifted = (any::<u64>(), 0_usize..256).prop_map(|(id, shift)| U256::from(id) << shift);
        let any = prop_oneof![(0_u64..120).prop_map(U256::from), shifted, Just(U256::MAX)];
        any.prop_map(TokenId::from)
    }

    proptest! {
        /// Against sorting the texts, page after page.
        #[test]
        fn pages_are_those_of_the_sorted_texts(
            ids in prop::collection::btree_set(id(), 0..60),
            (after, skip, limit) in (prop::option::of(id()), 0_usize..20, 1_usize..20),
        ) {
            let held: Vec<Held> = ids.into_iter().zip(1_u64..).map(|(id, held)| (id, Amount::from(held))).collect();
            let mut sorted = held.clone();
            sorted.sort_by_key(|(id, _)| id.to_string());
            sorted.retain(|(id, _)| after.is_none_or(|after| id.to_string() > after.to_string()));
            let rest = sorted.get(skip..).unwrap_or_default();
            let expected = HeldPage { held: rest[..limit.min(rest.len())].to_vec(), more: rest.len() > limit };
            prop_assert_eq!(page(held.len(), |index| held[index], after, (skip, limit)), expected);
        }
    }
}
