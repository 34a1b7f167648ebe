//! Lists of numbers that ascend.

/// Whether a number is in a list.
#[inline]
pub(crate) fn contains<N: Ord>(list: &[N], number: N) -> bool {
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
pub(crate) fn remove<N: Ord>(list: &mut Vec<N>, number: N) {
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

/// How many are in both lists: the numbers of the shorter are looked for in the longer.
pub(crate) fn common<N: Copy + Ord>(one: &[N], two: &[N]) -> usize {
    let (short, long) = if one.len() <= two.len() { (one, two) } else { (two, one) };
    short.iter().filter(|number| contains(long, **number)).count()
}
