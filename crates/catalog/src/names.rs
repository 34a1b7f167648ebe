//! Names of tokens, folded so that letter case and composition do not matter, and found by any part of them.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::io::{self, BufRead, Write};

use bourse_sets::{Bits, Set, Term};
use hashbrown::HashMap;
use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizer;
use memchr::memmem::Finder;

use crate::arena::{Arena, Span};
use crate::chains::grow;
use crate::common_words::CommonWords;
use crate::digest::hash;
use crate::kept::Kept;

/// Three characters in a row; past the end of a name there are zeros.
type Gram = u64;

/// Bits of a character in a gram.
const CHAR_BITS: u32 = 21;
/// Grams of a longer text that are looked up, the rarest first; what they let through is then compared.
const GRAMS_MAX: usize = 3;
/// Names that are looked at before it pays to find out by their words which of them need not be.
const UNSURE_MIN: usize = 512;

/// The names by ordinal, and which ordinals have which three characters in a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    spans: Vec<Span>,
    arena: Arena,
    grams: HashMap<Gram, Set>,
    /// The grams that begin with the same two characters, by these.
    beginnings: HashMap<u64, Vec<Gram>>,
    /// Which ordinals have which character.
    letters: HashMap<char, Set>,
    words: CommonWords,
    /// Whether all that was there at first is in it.
    is_settled: bool,
}

/// A text to look for in names, for one request.
pub(crate) struct Needle {
    finder: Finder<'static>,
    /// How many tokens there are.
    universe: usize,
    /// Names that were looked at.
    looked_at: Cell<usize>,
    /// Names that surely have it, once many were looked at; `None` where no common word tells.
    sure: OnceCell<Option<Bits>>,
}

impl Needle {
    fn new(folded: &str, universe: usize) -> Self {
        let finder = Finder::new(folded.as_bytes()).into_owned();
        Self { finder, universe, looked_at: Cell::new(0), sure: OnceCell::new() }
    }

    /// Whether a name surely has it. Most pages are full before it would have paid to ask the common words.
    fn is_surely_in(&self, words: &CommonWords, ordinal: u32) -> bool {
        let looked_at = self.looked_at.get();
        if looked_at < UNSURE_MIN {
            self.looked_at.set(looked_at + 1);
            return false;
        }
        let sure = self.sure.get_or_init(|| words.having(self.finder.needle(), self.universe));
        sure.as_ref().is_some_and(|sure| sure.contains(ordinal))
    }
}

/// Tokens that may have a text in their name.
pub(crate) struct NameMatches<'a> {
    /// They are in all of these.
    pub(crate) terms: Vec<Term<'a>>,
    /// What to look for in each of them to be sure; nothing when they surely have it.
    pub(crate) unsure: Option<Needle>,
}

impl Names {
    /// Gives a token its name, in place of the one it had.
    pub(crate) fn put(&mut self, ordinal: u32, name: &str) {
        let folded = fold(name);
        grow(&mut self.spans, ordinal, Span::default());
        let known = self.spans[ordinal as usize];
        if self.arena.get(known) == folded.as_bytes() {
            return;
        }
        for gram in grams(text_of(&self.arena, known)) {
            if let Some(set) = self.grams.get_mut(&gram) {
                set.remove(ordinal);
            }
        }
        for letter in text_of(&self.arena, known).chars() {
            if let Some(set) = self.letters.get_mut(&letter) {
                set.remove(ordinal);
            }
        }
        for gram in grams(&folded) {
            let beginnings = &mut self.beginnings;
            let is_new = || {
                beginnings.entry(gram >> CHAR_BITS).or_default().push(gram);
                Set::default()
            };
            self.grams.entry(gram).or_insert_with(is_new).insert(ordinal);
        }
        for letter in folded.chars() {
            self.letters.entry(letter).or_default().insert(ordinal);
        }
        self.words.remove(ordinal, text_of(&self.arena, known));
        self.words.add(ordinal, &folded);
        self.arena.discard(known);
        self.spans[ordinal as usize] = self.arena.push(folded.as_bytes());
        if self.arena.is_wasteful() {
            self.spans = self.arena.compact(&self.spans);
        }
        if self.is_settled && self.words.are_outgrown(self.spans.len()) {
            self.choose_words();
        }
    }

    fn choose_words(&mut self) {
        self.words = CommonWords::of(self.spans.iter().map(|span| text_of(&self.arena, *span)));
    }

    /// Whether a token has a name already.
    pub(crate) fn has_name(&self, ordinal: u32, name: &str) -> bool {
        (ordinal as usize) < self.spans.len() && self.get(ordinal) == fold(name)
    }

    /// A token's name, folded.
    pub(crate) fn get(&self, ordinal: u32) -> &str {
        self.spans.get(ordinal as usize).map_or("", |span| text_of(&self.arena, *span))
    }

    /// What is said of a token's name, and found by it.
    pub(crate) fn digest_of(&self, ordinal: u32) -> u64 {
        let name = self.get(ordinal);
        let found = grams(name)
            .map(|gram| self.grams.get(&gram).map(|tokens| (tokens.contains(ordinal), tokens.len())));
        let has_letter = |letter| self.letters.get(&letter).is_some_and(|set| set.contains(ordinal));
        let has_words = self.words.find(ordinal, name);
        hash(&(name, found.collect::<Vec<_>>(), name.chars().all(has_letter), has_words))
    }

    /// The tokens whose names have a text in them, of so many.
    pub(crate) fn find(&self, text: &str, universe: usize) -> NameMatches<'_> {
        let folded = fold(text);
        let wanted: Vec<Gram> = grams(&folded).collect();
        let whole = folded.chars().count();
        // In a gram, this character looks like the end of a name.
        let is_doubtful = folded.contains('\0');
        let needle = || Needle::new(&folded, universe);
        if whole < 3 {
            let terms = vec![self.with_few_letters(&folded, universe)];
            return NameMatches { terms, unsure: is_doubtful.then(needle) };
        }
        let mut sets = Vec::with_capacity(wanted.len());
        // The last two grams of a text run past its end, where a name may go on.
        for gram in &wanted[..whole - 2] {
            match self.grams.get(gram) {
                Some(set) => sets.push((*gram, set)),
                None => return NameMatches { terms: vec![Term::new(Bits::default(), 0)], unsure: None },
            }
        }
        sets.sort_unstable_by_key(|(_, set)| set.len());
        let unsure = (whole > 3 || is_doubtful).then(needle);
        let (rarest, others) = sets.split_at(sets.len().min(GRAMS_MAX));
        // The rarest are within words: names may have these words the other way round.
        let between = others.iter().filter(|(gram, _)| is_between_words(*gram)).take(GRAMS_MAX);
        NameMatches { terms: rarest.iter().chain(between).map(|(_, set)| set.term()).collect(), unsure }
    }

    /// Whether a token's name has the text in it.
    pub(crate) fn has(&self, ordinal: u32, needle: &Needle) -> bool {
        if needle.is_surely_in(&self.words, ordinal) {
            return true;
        }
        let name = self.spans.get(ordinal as usize).map_or(&[][..], |span| self.arena.get(*span));
        needle.finder.find(name).is_some()
    }

    /// The tokens with one or two characters in their name: every place in a name begins a gram.
    fn with_few_letters(&self, folded: &str, universe: usize) -> Term<'_> {
        let mut letters = folded.chars();
        let sets: Vec<&Set> = match (letters.next(), letters.next()) {
            (Some(only), None) => self.letters.get(&only).into_iter().collect(),
            (Some(first), Some(second)) => {
                let beginning = u64::from(first) << CHAR_BITS | u64::from(second);
                let grams = self.beginnings.get(&beginning).into_iter().flatten();
                grams.filter_map(|gram| self.grams.get(gram)).collect()
            }
            (None, _) => self.letters.values().collect(),
        };
        if let [set] = sets.as_slice() {
            return set.term();
        }
        let mut bits = Bits::empty(universe);
        for set in sets {
            set.add_to(&mut bits);
        }
        let about = bits.count();
        Term::new(bits, about)
    }

    /// Gives every token the number that it has by now.
    pub(crate) fn renumber(&mut self, numbers: &[u32]) {
        let mut spans = vec![Span::default(); numbers.len()];
        for (span, number) in self.spans.iter().zip(numbers) {
            spans[*number as usize] = *span;
        }
        self.spans = spans;
        self.grams.values_mut().chain(self.letters.values_mut()).for_each(|set| set.renumber(numbers));
        self.words.renumber(numbers);
    }

    /// Takes the best form for so many tokens.
    pub(crate) fn settle(&mut self, universe: usize) {
        self.grams.retain(|_, set| !set.is_empty());
        self.letters.retain(|_, set| !set.is_empty());
        self.beginnings = beginnings(&self.grams);
        for set in self.grams.values_mut().chain(self.letters.values_mut()) {
            set.settle(universe);
        }
        self.is_settled = true;
        self.choose_words();
    }

    /// Memory that no copy shares.
    pub(crate) fn bytes_alone(&self) -> usize {
        self.bytes() - self.arena.bytes() + self.arena.bytes_alone()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.arena.bytes()
            + self.spans.capacity() * size_of::<Span>()
            + self.grams.capacity() * size_of::<(Gram, Set)>()
            + self.grams.values().chain(self.letters.values()).map(Set::bytes).sum::<usize>()
            + self.grams.len() * size_of::<Gram>()
            + self.words.bytes()
    }
}

impl Kept for Names {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.spans.keep(out)?;
        self.arena.keep(out)?;
        self.grams.keep(out)?;
        self.letters.keep(out)?;
        self.words.keep(out)
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let (spans, arena, grams) = (Vec::read(from)?, Arena::read(from)?, HashMap::read(from)?);
        let (letters, words) = (HashMap::read(from)?, CommonWords::read(from)?);
        Ok(Self { spans, arena, beginnings: beginnings(&grams), grams, letters, words, is_settled: true })
    }
}

/// Grams by their first two characters.
fn beginnings(grams: &HashMap<Gram, Set>) -> HashMap<u64, Vec<Gram>> {
    let mut beginnings: HashMap<u64, Vec<Gram>> = HashMap::new();
    for gram in grams.keys() {
        beginnings.entry(gram >> CHAR_BITS).or_default().push(*gram);
    }
    beginnings
}

/// Every three characters in a row of a text, those past its end included.
fn grams(folded: &str) -> impl Iterator<Item = Gram> + '_ {
    let mut characters = folded.chars();
    let mut next = move || characters.next().map(u64::from);
    let (first, second) = (next(), next());
    let mut window = (first, second);
    std::iter::from_fn(move || {
        let (Some(first), second) = window else { return None };
        let third = second.and_then(|_| next());
        window = (second, third);
        Some(first << (2 * CHAR_BITS) | second.unwrap_or_default() << CHAR_BITS | third.unwrap_or_default())
    })
}

/// Whether three characters have a space between them, where one word ends and the next one begins.
fn is_between_words(gram: Gram) -> bool {
    gram >> CHAR_BITS & ((1 << CHAR_BITS) - 1) == u64::from(' ')
}

fn text_of(arena: &Arena, span: Span) -> &str {
    // Only whole texts are put in.
    std::str::from_utf8(arena.get(span)).unwrap_or_default()
}

/// A text without the differences that do not matter: letter case, and how accents are composed.
pub fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    let composer = ComposingNormalizer::new_nfc();
    let composed = composer.normalize(text);
    let folded = CaseMapper::new().fold_string(&composed).into_owned();
    // Folding may leave what can be composed again.
    Cow::Owned(composer.normalize(&folded).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(names: &Names, text: &str, count: u32) -> Vec<u32> {
        let found = names.find(text, count as usize);
        let sure = |ordinal: &u32| {
            found.terms.iter().all(|term| term.contains(*ordinal))
                && found.unsure.as_ref().is_none_or(|needle| names.has(*ordinal, needle))
        };
        (0..count).filter(sure).collect()
    }

    #[test]
    fn any_case_any_script_any_composition() {
        let mut names = Names::default();
        for (ordinal, name) in
            (0..).zip(["Divine Axe #160", "DIVINE", "Crème brûlée", "Straße", "Ωμέγα", "刀", ""])
        {
            names.put(ordinal, name);
        }
        for (text, expected) in [
            ("divine", vec![0, 1]),
            ("NE AX", vec![0]),
            ("#1", vec![0]),
            ("cre\u{300}me", vec![2]),
            ("BRU\u{302}L", vec![2]),
            ("STRASSE", vec![3]),
            ("ΩΜΈ", vec![4]),
            ("刀", vec![5]),
            ("E", vec![0, 1, 2, 3]),
            ("xyzzy", vec![]),
            ("e\0", vec![]),
            ("ne\0", vec![]),
        ] {
            assert_eq!(found(&names, text, 7), expected, "{text}");
        }
        names.put(1, "Mundane");
        assert_eq!(found(&names, "divine", 7), [0]);
        assert_eq!(found(&names, "dane", 7), [1]);
    }

    /// Most of these names are not looked at, as their words tell.
    #[test]
    fn common_words_are_those_that_names_have_by_now() {
        let words = ["Golden", "Ancient", "Goldsmith's"];
        let mut model: Vec<String> =
            (0..4_000).map(|n| format!("{} {} #{n}", words[n % 3], ["Sword", "Old Axe"][n % 2])).collect();
        let mut names = Names::default();
        for (ordinal, name) in (0..).zip(&model) {
            names.put(ordinal, name);
        }
        names.settle(model.len());
        let renamed = [
            (0, "Golden"),
            (3, "Ancient Swords"),
            (4, ""),
            (7, "gold"),
            (6, "A Golden Axe"),
            (9, "Gol old lde den"),
        ];
        for (ordinal, name) in renamed {
            names.put(ordinal, name);
            model[ordinal as usize] = name.to_owned();
        }
        for text in [
            "gold",
            "golden",
            "lden sw",
            "sword",
            "old axe",
            "ient s",
            "old",
            "axe #1",
            "olden swords",
            "goldex",
        ] {
            let expected: Vec<u32> = (0..)
                .zip(&model)
                .filter(|(_, name)| fold(name).contains(text))
                .map(|(ordinal, _)| ordinal)
                .collect();
            assert_eq!(found(&names, text, 4_000), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn finds_what_a_scan_finds(
            names in prop::collection::vec("[abé ]{0,6}", 0..60),
            renamed in prop::collection::vec((0_usize..60, "[abÉ ]{0,6}"), 0..20),
            text in "[aBé ]{1,5}",
        ) {
            let mut model = names.clone();
            let mut index = Names::default();
            for (ordinal, name) in (0..).zip(&names) {
                index.put(ordinal, name);
            }
            for (ordinal, name) in renamed {
                if let Some(known) = model.get_mut(ordinal) {
                    index.put(u32::try_from(ordinal).unwrap(), &name);
                    *known = name;
                }
            }
            index.settle(model.len());
            let expected: Vec<u32> = (0..).zip(&model).filter(|(_, name)| fold(name).contains(&*fold(&text))).map(|(ordinal, _)| ordinal).collect();
            prop_assert_eq!(found(&index, &text, u32::try_from(model.len()).unwrap()), expected);
        }
    }
}
