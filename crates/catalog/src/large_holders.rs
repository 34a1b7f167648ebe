//! The tokens of those who hold many, as sets: whoever asks for them takes the set as it is.

use bourse_sets::Set;
use bourse_wire::Amount;
use hashbrown::HashMap;

use crate::kept::kept;

/// Tokens from which on an account has a set. With fewer, going through them costs no more.
const LARGE_MIN: usize = 512;
/// Tokens below which it has none any more.
const LARGE_END: usize = LARGE_MIN / 2;

/// Account to the tokens that it holds, where they are many.
#[derive(Clone, Debug, Default)]
pub(crate) struct LargeHolders {
    sets: HashMap<u32, Set>,
    /// Tokens that were ever held are below this.
    tokens: usize,
}

impl LargeHolders {
    /// The tokens of an account, if they are many.
    pub(crate) fn get(&self, account: u32) -> Option<&Set> {
        self.sets.get(&account)
    }

    /// Notes whether an account holds a token, after it changed; all that it holds by now is known elsewhere.
    pub(crate) fn put(&mut self, account: u32, token: u32, held: &[(u32, Amount)], is_held: bool) {
        self.tokens = self.tokens.max(token as usize + 1);
        if held.len() < LARGE_END {
            self.sets.remove(&account);
        } else if let Some(set) = self.sets.get_mut(&account) {
            let before = set.len();
            if is_held {
                set.insert(token);
            } else {
                set.remove(token);
            }
            // A set takes its better form whenever it has become twice as large.
            if set.len() > before && set.len().is_power_of_two() {
                set.settle(self.tokens);
            }
        } else if held.len() >= LARGE_MIN {
            self.sets.insert(account, set_of(held));
        }
    }

    /// Notes all that an account holds, of so many tokens, when nothing was noted of it before.
    pub(crate) fn settle(&mut self, account: u32, held: &[(u32, Amount)], universe: usize) {
        self.tokens = self.tokens.max(universe);
        if held.len() >= LARGE_MIN {
            let mut set = set_of(held);
            set.settle(universe);
            self.sets.insert(account, set);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.sets.values().map(Set::bytes).sum()
    }
}

fn set_of(held: &[(u32, Amount)]) -> Set {
    let mut set = Set::default();
    for (token, _) in held {
        set.insert(*token);
    }
    set
}

kept!(LargeHolders { sets, tokens });

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Against a map, while an account becomes large, small and large again.
        #[test]
        fn the_set_is_what_is_held(
            phases in prop::collection::vec((any::<bool>(), 100_usize..900), 1..6),
            step in 1_u32..2_000,
        ) {
            let (mut model, mut large) = (BTreeMap::new(), LargeHolders::default());
            let mut token = 0;
            for (comes, count) in phases {
                for _ in 0..count {
                    token = (token + step) % 2_003;
                    if comes { model.insert(token, Amount::from(1)) } else { model.remove(&token) };
                    let held: Vec<(u32, Amount)> = model.iter().map(|(token, held)| (*token, *held)).collect();
                    large.put(7, token, &held, comes);
                    prop_assert!(large.get(7).is_some() || held.len() < LARGE_MIN);
                    prop_assert!(large.get(7).is_none() || held.len() >= LARGE_END);
                }
                if let Some(set) = large.get(7) {
                    prop_assert_eq!(set.to_list(), model.keys().copied().collect::<Vec<_>>());
                }
            }
        }
    }
}
