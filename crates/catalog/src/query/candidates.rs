//! The tokens that a filter lets through.

use bourse_sets::{Bits, Term, for_words_of_all, numbers, ones};
use bourse_wire::TokenId;

use crate::collection::Collection;
use crate::filter::TokenFilter;
use crate::names::Needle;

/// So few are gone through one by one rather than looked for in a list.
const FEW_MAX: usize = 512;
/// So few held by the accounts asked for are gone through one by one.
const FEW_HELD_MAX: usize = 4_096;
/// When there seem to be no more than so many, they are counted to be sure.
const COUNTED_MAX: usize = 4_096;
/// Tokens of a list that are asked one by one; beyond that it is worth finding those of all sets first.
pub(super) const ASKED_MAX: usize = 2_048;

/// The tokens that a filter lets through.
pub(crate) enum Candidates<'a> {
    /// All of them.
    All,
    /// These, ascending by ordinal: so few that each may be looked at.
    Few(Vec<u32>),
    /// More than that.
    Many(Box<Conjunction<'a>>),
}

/// Many tokens: those in all of some sets, of whose names some may still have to be compared.
pub(crate) struct Conjunction<'a> {
    terms: Vec<Term<'a>>,
    unsure: Vec<Needle>,
}

impl Candidates<'_> {
    pub(crate) fn has(&self, collection: &Collection, ordinal: u32) -> bool {
        match self {
            Self::All => true,
            Self::Few(few) => few.binary_search(&ordinal).is_ok(),
            Self::Many(many) => many.has(collection, ordinal),
        }
    }

    /// The same, made ready for a list of which so many are wanted.
    pub(crate) fn for_list(self, collection: &Collection, wanted: usize) -> Self {
        let Self::Many(many) = self else { return self };
        let all = collection.len();
        let asked = wanted.saturating_mul(all) / many.likely(all).max(1);
        // How many names let through is not known: it may be none.
        if many.is_one_set() || (asked <= ASKED_MAX && many.is_sure()) {
            return Self::Many(many);
        }
        let bits = many.in_all_sets(collection);
        let about = bits.count();
        let many = Conjunction { terms: vec![Term::new(bits, about)], unsure: many.unsure };
        if about <= COUNTED_MAX {
            let bits = many.to_bits(collection);
            let count = bits.count();
            return if count <= FEW_MAX {
                Self::Few(bits.iter().collect())
            } else {
                Self::Many(Box::new(Conjunction::of(bits)))
            };
        }
        Self::Many(Box::new(many))
    }

    /// All of them as a set; `None` for every token there is.
    pub(crate) fn to_bits(&self, collection: &Collection) -> Option<Bits> {
        match self {
            Self::All => None,
            Self::Few(few) => Some(few.iter().copied().collect()),
            Self::Many(many) => Some(many.to_bits(collection)),
        }
    }

    /// A set that has all of them, where there is one already.
    pub(super) fn superset(&self) -> Option<&Bits> {
        match self {
            Self::Many(many) if many.is_one_set() => many.terms.first().and_then(Term::bits),
            _ => None,
        }
    }

    /// Those that are in a set.
    pub(super) fn within(&self, collection: &Collection, set: &Bits) -> Candidates<'static> {
        self.as_one_set(collection, |bits| bits.intersect(set))
    }

    /// Those that are in none of some sets.
    pub(super) fn but<'s>(
        &self,
        collection: &Collection,
        sets: impl IntoIterator<Item = &'s Bits>,
    ) -> Candidates<'static> {
        self.as_one_set(collection, |bits| sets.into_iter().for_each(|set| bits.subtract(set)))
    }

    fn as_one_set(&self, collection: &Collection, change: impl FnOnce(&mut Bits)) -> Candidates<'static> {
        let mut bits = self.to_bits(collection).unwrap_or_else(|| Bits::full(collection.len()));
        change(&mut bits);
        Candidates::Many(Box::new(Conjunction::of(bits)))
    }

    /// Whether sets tell all.
    pub(super) fn are_sure(&self) -> bool {
        match self {
            Self::All => true,
            Self::Few(_) => false,
            Self::Many(many) => many.is_sure(),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self, collection: &Collection) -> usize {
        match self {
            Self::All => collection.len(),
            Self::Few(few) => few.len(),
            Self::Many(many) => many.count(collection, None),
        }
    }

    /// How many of them are in a set.
    pub(crate) fn common(&self, collection: &Collection, set: &Bits) -> usize {
        match self {
            Self::All => set.count(),
            Self::Few(few) => few.iter().map(|ordinal| set.bit(*ordinal)).sum(),
            Self::Many(many) => many.count(collection, Some(set)),
        }
    }

    /// Goes through those that are in a set: 64 at a time, one bit each, with the index of their word.
    pub(super) fn for_words_in(&self, collection: &Collection, set: &Bits, mut take: impl FnMut(usize, u64)) {
        match self {
            Self::All => set.words().iter().enumerate().for_each(|(index, word)| take(index, *word)),
            Self::Few(few) => few.iter().for_each(|ordinal| {
                let index = *ordinal as usize / 64;
                take(index, set.word(index) & 1 << (ordinal % 64));
            }),
            Self::Many(many) => for_words_of_all(&many.terms, Some(set), |start, words| {
                (start..)
                    .zip(words)
                    .for_each(|(index, word)| take(index, many.named(collection, index, *word)));
            }),
        }
    }
}

impl<'a> Conjunction<'a> {
    fn of(bits: Bits) -> Self {
        Self { terms: vec![Term::new(bits, 0)], unsure: Vec::new() }
    }

    fn has(&self, collection: &Collection, ordinal: u32) -> bool {
        self.terms.iter().all(|term| term.contains(ordinal)) && self.is_named(collection, ordinal)
    }

    /// Whether what is in the shortest list is also in the other sets.
    fn others_have(&self, listed: usize, ordinal: u32) -> bool {
        self.terms.iter().enumerate().all(|(index, term)| index == listed || term.contains(ordinal))
    }

    /// Whether a name is what is asked for, where sets do not tell.
    fn is_named(&self, collection: &Collection, ordinal: u32) -> bool {
        self.unsure.iter().all(|needle| collection.names.has(ordinal, needle))
    }

    /// Those of a word whose name is what is asked for.
    fn named(&self, collection: &Collection, index: usize, word: u64) -> u64 {
        if self.is_sure() {
            return word;
        }
        let is_named = |ordinal: &u32| self.is_named(collection, *ordinal);
        numbers(index, &[word]).filter(is_named).fold(0, |word, ordinal| word | 1 << (ordinal % 64))
    }

    /// The shortest of the sets that are lists, and which one it is.
    fn shortest(&self) -> Option<(usize, &'a [u32])> {
        let lists = self.terms.iter().enumerate().filter_map(|(index, term)| Some((index, term.list()?)));
        lists.min_by_key(|(_, list)| list.len())
    }

    /// A list that has all of them, and how to tell which of it they are.
    pub(crate) fn listed<'s>(
        &'s self,
        collection: &'s Collection,
    ) -> Option<(&'a [u32], impl Fn(u32) -> bool + 's)> {
        let (listed, list) = self.shortest()?;
        let has = move |ordinal| self.others_have(listed, ordinal) && self.is_named(collection, ordinal);
        Some((list, has))
    }

    /// Those of 64 tokens that may be among them, one bit each.
    pub(crate) fn word(&self, index: usize) -> u64 {
        self.terms.iter().fold(u64::MAX, |word, term| word & term.word(index))
    }

    /// Whether the sets tell all.
    pub(crate) fn is_sure(&self) -> bool {
        self.unsure.is_empty()
    }

    /// Whether one set has all that others could tell.
    fn is_one_set(&self) -> bool {
        matches!(self.terms.as_slice(), [term] if term.bits().is_some())
    }

    /// The set, where one tells all.
    pub(crate) fn single(&self) -> Option<&Bits> {
        match self.terms.as_slice() {
            [term] if self.is_sure() => term.bits(),
            _ => None,
        }
    }

    /// How many of them are in another set too.
    fn count(&self, collection: &Collection, also: Option<&Bits>) -> usize {
        let mut count = 0;
        for_words_of_all(&self.terms, also, |start, words| {
            count += if self.is_sure() {
                ones(words)
            } else {
                numbers(start, words).filter(|ordinal| self.is_named(collection, *ordinal)).count()
            };
        });
        count
    }

    /// Those that the sets let through.
    fn in_all_sets(&self, collection: &Collection) -> Bits {
        if let [term] = self.terms.as_slice() {
            return term.to_bits().into_owned();
        }
        let mut all = Vec::with_capacity(collection.len().div_ceil(64));
        for_words_of_all(&self.terms, None, |_, words| all.extend_from_slice(words));
        Bits::from(all)
    }

    fn to_bits(&self, collection: &Collection) -> Bits {
        let mut bits = self.in_all_sets(collection);
        if !self.is_sure() {
            let is_wrong = |ordinal: &u32| !self.is_named(collection, *ordinal);
            let wrong: Vec<u32> = bits.iter().filter(is_wrong).collect();
            for ordinal in wrong {
                bits.remove(ordinal);
            }
        }
        bits
    }

    /// How many there are, if the sets have nothing to do with each other.
    fn likely(&self, all: usize) -> usize {
        self.terms.iter().fold(all, |rest, term| rest * term.about.min(all) / all.max(1))
    }

    /// Those that there are when they are few.
    fn few(&self, collection: &Collection) -> Option<Vec<u32>> {
        let mut count = self.likely(collection.len());
        if count > COUNTED_MAX {
            return None;
        }
        if let Some((listed, list)) = self.shortest() {
            let found = list.iter().copied().filter(|ordinal| self.others_have(listed, *ordinal));
            let mut found: Vec<u32> = found.take(FEW_MAX + 1).collect();
            return (found.len() <= FEW_MAX).then(|| {
                found.retain(|ordinal| self.is_named(collection, *ordinal));
                found
            });
        }
        if self.terms.len() > 1 {
            count = 0;
            for_words_of_all(&self.terms, None, |_, words| count += ones(words));
        }
        (count <= FEW_MAX).then(|| self.to_bits(collection).iter().collect())
    }
}

impl Collection {
    /// The tokens that a filter lets through.
    pub(crate) fn candidates(&self, filter: &TokenFilter) -> Candidates<'_> {
        match self.candidates_in_order(filter) {
            Candidates::Many(many) => many.few(self).map_or(Candidates::Many(many), Candidates::Few),
            other => other,
        }
    }

    /// The same for whoever goes through them in the order of their ordinals, and need not know whether they are few.
    pub(crate) fn candidates_in_order(&self, filter: &TokenFilter) -> Candidates<'_> {
        let found = self.by_text_and_properties(filter);
        let is_of_few = self.holders.held_by(&filter.in_accounts) <= FEW_HELD_MAX;
        if !filter.in_accounts.is_empty() && is_of_few {
            let held = self.holders.tokens(&filter.in_accounts).into_iter();
            let excluded = self.holders.bits(&filter.not_in_accounts, 0);
            let is_let_through = |token: &u32| {
                !filter.held_by_nobody
                    && !excluded.contains(*token)
                    && found.as_ref().is_none_or(|found| found.has(self, *token))
            };
            return Candidates::Few(held.filter(is_let_through).collect());
        }
        let mut terms = Vec::new();
        if !filter.in_accounts.is_empty() {
            terms.push(self.holders.term(&filter.in_accounts, self.len()));
        }
        if !filter.not_in_accounts.is_empty() || filter.held_by_nobody {
            let mut rest = Bits::full(self.len());
            rest.subtract(&self.holders.bits(&filter.not_in_accounts, self.len()));
            if filter.held_by_nobody {
                rest.subtract(&self.holders.held_by_anybody(self.len()));
            }
            let about = rest.count();
            terms.push(Term::new(rest, about));
        }
        match found {
            Some(mut found) => {
                found.terms.extend(terms);
                Candidates::Many(Box::new(found))
            }
            None if terms.is_empty() => Candidates::All,
            None => Candidates::Many(Box::new(Conjunction { terms, unsure: Vec::new() })),
        }
    }

    fn by_text_and_properties(&self, filter: &TokenFilter) -> Option<Conjunction<'_>> {
        let words = filter.words();
        if words.is_empty() && filter.properties.is_empty() {
            return None;
        }
        let universe = self.len();
        let mut terms: Vec<Term<'_>> =
            filter.properties.iter().map(|property| self.properties.find(property, universe)).collect();
        let mut unsure = Vec::new();
        if !words.is_empty() {
            let found = self.by_words(&words);
            terms.extend(found.terms);
            unsure = found.unsure;
        }
        Some(Conjunction { terms, unsure })
    }

    fn by_words(&self, words: &[&str]) -> Conjunction<'_> {
        let mut by_name = Conjunction { terms: Vec::new(), unsure: Vec::new() };
        for word in words {
            let found = self.names.find(word, self.len());
            by_name.terms.extend(found.terms);
            by_name.unsure.extend(found.unsure);
        }
        let [only] = words else { return by_name };
        let Some(token) = self.numbered(only) else { return by_name };
        // Its name need not have the text.
        let mut bits = by_name.to_bits(self);
        bits.insert(token);
        let about = bits.count();
        Conjunction { terms: vec![Term::new(bits, about)], unsure: Vec::new() }
    }

    /// The token whose id a text is.
    fn numbered(&self, text: &str) -> Option<u32> {
        self.tokens.find(text.parse::<TokenId>().ok()?)
    }
}
