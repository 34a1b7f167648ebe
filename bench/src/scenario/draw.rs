//! Filters drawn at random. Requests differ from each other, so that no cache of answers can be what is measured.
//! Bourse does remember which tokens a filter lets through, for some thousands of filters: most scenarios ask again for
//! what was asked before, as people do. Those named `cold` have more filters than are remembered.

use std::collections::HashSet;

use crate::floor::{Filter, Number, Text};
use crate::random::Random;

/// Requests of a scenario, where there are so many different ones.
pub(super) const REQUESTS: usize = 1024;

/// Requests of a scenario in which no filter is still remembered when it comes again.
pub(super) const COLD_REQUESTS: usize = 16 * REQUESTS;

/// Draws for each request after which there is likely nothing new to find.
const DRAWS_MAX: usize = 16;

/// One request of so many is compared with the answer of the model, which takes its time; the others are looked
/// at only for their shape.
pub(super) const MODEL_EVERY: usize = 32;

/// Requests of a scenario that are compared with the answer of the model at most.
pub(super) const MODEL_MAX: usize = 32;

/// Draws until there are so many different bodies, each with what it was made from. Small data may not have so many,
/// and gives what was found.
pub(super) fn distinct<T>(count: usize, mut draw: impl FnMut() -> Option<(T, String)>) -> Vec<(T, String)> {
    let mut seen = HashSet::with_capacity(count);
    let mut drawn = Vec::with_capacity(count);
    for _ in 0..DRAWS_MAX * count {
        if drawn.len() == count {
            break;
        }
        if let Some((what, body)) = draw()
            && seen.insert(body.clone())
        {
            drawn.push((what, body));
        }
    }
    drawn
}

/// One value of a property with words, and a range of one with numbers.
pub(super) fn two_properties(random: &mut Random) -> Filter {
    let text = Text::ALL[random.index(Text::ALL.len())];
    let value = random.index(text.value_count());
    let number = Number::ALL[random.index(Number::ALL.len())];
    // A fifth to four fifths of all numbers.
    let width = number.max() * random.between(20, 80) / 100;
    let min = random.between(1, number.max() - width);
    Filter { texts: vec![(text, vec![value])], ranges: vec![(number, min, min + width)], ..Filter::default() }
}

#[cfg(test)]
mod tests {
    use super::{REQUESTS, distinct};

    #[test]
    fn what_was_drawn_before_is_drawn_again() {
        let mut next = 0_usize;
        let drawn = distinct(REQUESTS, || {
            next += 1;
            (!next.is_multiple_of(3)).then(|| (next, (next / 2).to_string()))
        });
        assert_eq!(drawn.len(), REQUESTS);
    }

    #[test]
    fn few_different_ones_are_enough() {
        let mut next = 0_usize;
        let drawn = distinct(REQUESTS, || {
            next += 1;
            Some((next, (next % 7).to_string()))
        });
        assert_eq!(drawn.len(), 7);
    }
}
