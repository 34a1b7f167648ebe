//! Filters drawn at random. Requests differ from each other, so that no cache of answers can be what is measured.

use std::collections::HashSet;

use crate::trading::{Filter, Number, Text};
use bourse_random::Random;

/// Requests of a scenario, where there are so many different ones.
pub(super) const REQUESTS: usize = 1024;

/// Draws after which there is likely nothing new to find.
const DRAWS_MAX: usize = 16 * REQUESTS;

/// One request of so many is compared with the answer of the model, which takes its time; the others are looked
/// at only for their shape.
pub(super) const MODEL_EVERY: usize = 32;

/// Draws until there are [`REQUESTS`] different bodies, each with what it was made from. Small data may not have
/// so many, and gives what was found.
pub(super) fn distinct<T>(mut draw: impl FnMut() -> Option<(T, String)>) -> Vec<(T, String)> {
    let mut seen = HashSet::with_capacity(REQUESTS);
    let mut drawn = Vec::with_capacity(REQUESTS);
    for _ in 0..DRAWS_MAX {
        if drawn.len() == REQUESTS {
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
        let drawn = distinct(|| {
            next += 1;
            (!next.is_multiple_of(3)).then(|| (next, (next / 2).to_string()))
        });
        assert_eq!(drawn.len(), REQUESTS);
    }

    #[test]
    fn few_different_ones_are_enough() {
        let mut next = 0_usize;
        let drawn = distinct(|| {
            next += 1;
            Some((next, (next % 7).to_string()))
        });
        assert_eq!(drawn.len(), 7);
    }
}
