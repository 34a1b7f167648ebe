//! Words that many names have in common, alone and two in a row. A text that is part of one is in all of their names, which
//! need not be looked at one by one.

use std::hash::BuildHasher as _;

use bourse_sets::{Bits, Set};
use hashbrown::{DefaultHashBuilder, HashMap};
use memchr::memmem::Finder;

use crate::kept::kept;

/// Names from which on a word is common: fewer are looked at soon enough.
const COMMON_MIN: u32 = 512;
/// Numbers below which names are counted by the hash of a word, at most.
const TALLIES_MAX: usize = 1 << 20;

/// The words, and the ordinals of the names that have them. Which words these are is a matter of speed alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommonWords {
    words: HashMap<String, Set>,
    /// How many names there were when the words were chosen.
    chosen_of: usize,
}

kept!(CommonWords { words, chosen_of });

impl CommonWords {
    /// The words that are common among names, each of which has the ordinal of its place.
    pub(crate) fn of<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Self {
        let chosen_of = names.clone().count();
        let mut common = Self { words: HashMap::new(), chosen_of };
        // Most collections are small, and nothing can be common in them.
        if chosen_of < COMMON_MIN as usize {
            return common;
        }
        // Most words are numbers that one name has. They share tallies, and few come near those of common words.
        let mut tallies = vec![0_u32; chosen_of.next_power_of_two().min(TALLIES_MAX)];
        let (hasher, mask) = (DefaultHashBuilder::default(), tallies.len() - 1);
        let tally = |word: &str| usize::try_from(hasher.hash_one(word)).unwrap_or_default() & mask;
        for word in names.clone().flat_map(words) {
            tallies[tally(word)] += 1;
        }
        for (ordinal, name) in (0..).zip(names) {
            for word in words(name).filter(|word| tallies[tally(word)] >= COMMON_MIN) {
                common.words.entry_ref(word).or_default().insert(ordinal);
            }
        }
        common.words.retain(|_, set| set.len() >= COMMON_MIN as usize);
        common.words.values_mut().for_each(|set| set.settle(chosen_of));
        common.words.shrink_to_fit();
        common
    }

    /// Whether they were chosen from far fewer names than there are.
    pub(crate) fn are_outgrown(&self, names: usize) -> bool {
        names > 2 * self.chosen_of.max(COMMON_MIN as usize)
    }

    /// Notes a name that is new.
    pub(crate) fn add(&mut self, ordinal: u32, name: &str) {
        self.each_of(name, |set| set.insert(ordinal));
    }

    /// Forgets a name that was noted.
    pub(crate) fn remove(&mut self, ordinal: u32, name: &str) {
        self.each_of(name, |set| set.remove(ordinal));
    }

    fn each_of(&mut self, name: &str, mut change: impl FnMut(&mut Set)) {
        if self.words.is_empty() {
            return;
        }
        for word in words(name) {
            self.words.get_mut(word).into_iter().for_each(&mut change);
        }
    }

    /// Some of the names, of so many, that surely have a text in them.
    pub(crate) fn having(&self, text: &[u8], universe: usize) -> Option<Bits> {
        let finder = Finder::new(text);
        let found = |(word, _): &(&String, &Set)| finder.find(word.as_bytes()).is_some();
        let mut sets = self.words.iter().filter(found).map(|(_, set)| set).peekable();
        sets.peek()?;
        let mut bits = Bits::empty(universe);
        sets.for_each(|set| set.add_to(&mut bits));
        Some(bits)
    }

    /// Whether a name is found by all of its words that are common.
    pub(crate) fn find(&self, ordinal: u32, name: &str) -> bool {
        words(name).filter_map(|word| self.words.get(word)).all(|set| set.contains(ordinal))
    }

    /// Gives every name the ordinal that it has by now.
    pub(crate) fn renumber(&mut self, numbers: &[u32]) {
        self.words.values_mut().for_each(|set| set.renumber(numbers));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<(String, Set)>()
            + self.words.values().map(Set::bytes).sum::<usize>()
    }
}

/// The words of a name, alone, with the signs that the next one begins with, and two in a row, as they are in it, with the
/// spaces around them. Many names end with a sign and a number of their own.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let ends = |from: usize| name[from..].match_indices(' ').map(move |(space, _)| from + space + 1);
    let starts = std::iter::once(0).chain(ends(0));
    starts.flat_map(move |start| {
        let mut until = ends(start).chain(std::iter::once(name.len()));
        let (alone, two) = (until.next(), until.next());
        let signed = alone.and_then(|end| Some(end + signs(&name[end..])?));
        [alone, signed, two].into_iter().flatten().map(move |end| &name[start.saturating_sub(1)..end])
    })
}

/// How long the signs are that a text begins with, if it goes on behind them.
fn signs(text: &str) -> Option<usize> {
    let end = text.find(|character: char| character.is_alphanumeric() || character == ' ')?;
    (end > 0).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_alone_and_two_in_a_row() {
        let of = |name| words(name).collect::<Vec<_>>();
        assert_eq!(
            of("golden sword #7"),
            ["golden ", "golden sword ", " sword ", " sword #", " sword #7", " #7"]
        );
        assert_eq!(of("刀"), ["刀"]);
        assert_eq!(of(" a"), [" ", " a", " a"]);
    }

    #[test]
    fn what_few_names_have_is_not_common() {
        let names: Vec<String> = (0..4_000).map(|n| format!("{} {n}", ["stone", "iron"][n % 2])).collect();
        let mut common = CommonWords::of(names.iter().map(String::as_str));
        let mut known: Vec<&str> = common.words.keys().map(|word| &**word).collect();
        known.sort_unstable();
        assert_eq!(known, ["iron ", "stone "]);
        let having =
            |common: &CommonWords, text: &str| common.having(text.as_bytes(), 4_000).map(|bits| bits.count());
        assert_eq!(
            (having(&common, "ron"), having(&common, "o"), having(&common, "399")),
            (Some(2_000), Some(4_000), None)
        );
        common.remove(1, "iron 1");
        common.add(2, "iron 2");
        common.add(3, "iron ore");
        assert_eq!(having(&common, "iron"), Some(2_000));
        assert!(common.find(2, "iron 2") && !common.find(1, "iron 1"));
    }
}
