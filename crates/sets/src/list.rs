//! Lists of numbers that ascend.

/// Whether a number is in a list.
#[inline]
pub(crate) fn contains<N: Copy + Ord>(list: &[N], number: N) -> bool {
    list.binary_search(&number).is_ok()
}

/// Puts a number in, unless it is there.
pub(crate) fn insert<N: Copy + Ord>(list: &mut Vec<N>, number: N) {
    if list.last().is_none_or(|last| *last < number) {
        list.push(number);
    } else if let Err(position) = list.binary_search(&number) {
        list.insert(position, number);
    }
}

/// Takes a number out, if it is there.
pub(crate) fn remove<N: Copy + Ord>(list: &mut Vec<N>, number: N) {
    if let Ok(position) = list.binary_search(&number) {
        list.remove(position);
    }
}

/// Two lists as one without repetitions; there may be some in the second.
pub(crate) fn merge<N: Copy + Ord>(left: &[N], right: &[N]) -> Vec<N> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a <= b => left.next(),
            (_, Some(_)) => right.next(),
            (_, None) => left.next(),
        };
        let Some(number) = next else { return merged };
        if merged.last() != Some(&number) {
            merged.push(number);
        }
    }
}

/// So many times longer must a list be than another for looking in it to be less work than going through both.
const LOOKING_SHARE: usize = 16;

/// How many are in both lists.
pub(crate) fn common<N: Copy + Ord>(one: &[N], two: &[N]) -> usize {
    let (short, long) = if one.len() <= two.len() { (one, two) } else { (two, one) };
    if short.len() * LOOKING_SHARE < long.len() {
        return short.iter().filter(|number| contains(long, **number)).count();
    }
    let (mut left, mut right, mut count) = (0, 0, 0);
    // Without a branch for each: which of two numbers is the smaller cannot be foreseen.
    while let (Some(a), Some(b)) = (short.get(left), long.get(right)) {
        count += usize::from(a == b);
        left += usize::from(a <= b);
        right += usize::from(b <= a);
    }
    count
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Equally long, and of very different lengths.
        #[test]
        fn lists_are_sets(
            one in prop::collection::btree_set(0_u16..2_000, 0..400),
            two in prop::collection::btree_set(0_u16..2_000, 0..400),
            few in prop::collection::btree_set(0_u16..2_000, 0..5),
        ) {
            let list = |set: &BTreeSet<u16>| set.iter().copied().collect::<Vec<_>>();
            for (a, b) in [(&one, &two), (&one, &few), (&few, &two)] {
                prop_assert_eq!(common(&list(a), &list(b)), a.intersection(b).count());
                prop_assert_eq!(merge(&list(a), &list(b)), list(&(a | b)));
            }
        }
    }
}
