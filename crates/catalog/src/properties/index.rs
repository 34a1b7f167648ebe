//! The index: property to value to tokens.

use std::collections::BTreeMap;

use bourse_sets::{Bits, Set, Term, count_of_all};
use hashbrown::HashMap;

use super::extract::Shape;
use super::ladder::{Ladder, LadderRange};
use super::slots::SlotsOfTokens;
use super::spans::Spans;
use crate::digest::hash;
use crate::filter::{Condition, PropertyFilter, Value};
use crate::kept::kept;
use crate::sorted_list::SlotRelocation;

/// Tokens with a whole number from which on a property has a ladder.
const LADDER_TOKENS_MIN: usize = 4_096;
/// Rungs of ladders over all tokens: they are large, and seldom climbed.
const TOKEN_RUNGS_MAX: usize = 32;
/// Rungs of ladders over lists in price order, which most ranges are looked up in.
const SLOT_RUNGS_MAX: usize = 128;

/// The properties of a collection's tokens, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties {
    numbers: HashMap<String, usize>,
    properties: Vec<Property>,
}

/// One property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) ints: BTreeMap<i64, Set>,
    pub(crate) texts: HashMap<String, Set>,
    /// Neither whole numbers nor texts, as JSON.
    pub(crate) others: HashMap<String, Set>,
    /// The tokens that have it, whatever its value is.
    all: Set,
    /// How many values came in lists.
    pub(crate) listed: usize,
    /// How many whole numbers there are, over all tokens.
    pub(crate) int_count: usize,
    /// How many texts.
    pub(crate) text_count: usize,
    /// How many others.
    pub(crate) other_count: usize,
    /// Tokens with more than one whole number.
    several_ints: usize,
    ladder: Option<Ladder>,
    /// Instead of a ladder, where tokens have several whole numbers.
    spans: Option<Spans>,
}

kept!(Properties { numbers, properties });
kept!(Property {
    name,
    ints,
    texts,
    others,
    all,
    listed,
    int_count,
    text_count,
    other_count,
    several_ints,
    ladder,
    spans,
});

impl Properties {
    /// Adds what a token has.
    pub(crate) fn add<N: AsRef<str>>(&mut self, ordinal: u32, properties: &[(N, Shape, Value)]) {
        self.add_to_each(&[ordinal], properties);
    }

    /// Takes away what a token had.
    pub(crate) fn remove<N: AsRef<str>>(&mut self, ordinal: u32, properties: &[(N, Shape, Value)]) {
        self.remove_from_each(&[ordinal], properties);
    }

    /// Adds the same to each of several, looking only once through what may be said twice.
    pub(crate) fn add_to_each<N: AsRef<str>>(&mut self, ordinals: &[u32], properties: &[(N, Shape, Value)]) {
        for (before, (name, shape, value)) in each_once(properties) {
            let repeated = has_int(before, name.as_ref());
            let property = self.property(name.as_ref());
            for ordinal in ordinals {
                property.add(*ordinal, *shape, value, repeated);
            }
        }
    }

    /// Takes the same away from each of several.
    pub(crate) fn remove_from_each<N: AsRef<str>>(
        &mut self,
        ordinals: &[u32],
        properties: &[(N, Shape, Value)],
    ) {
        for (before, (name, shape, value)) in each_once(properties) {
            let repeated = has_int(before, name.as_ref());
            let property = self.property(name.as_ref());
            for ordinal in ordinals {
                property.remove(*ordinal, *shape, value, repeated);
            }
        }
    }

    fn property(&mut self, name: &str) -> &mut Property {
        let next = self.properties.len();
        let index = *self.numbers.entry_ref(name).or_insert(next);
        if index == next {
            self.properties.push(Property { name: name.to_owned(), ..Property::default() });
        }
        &mut self.properties[index]
    }

    /// The tokens that a filter lets through.
    pub(crate) fn find(&self, filter: &PropertyFilter, universe: usize) -> Term<'_> {
        match self.numbers.get(filter.name.as_str()) {
            Some(index) => self.properties[*index].find(&filter.condition, universe),
            None => Term::new(Bits::default(), 0),
        }
    }

    /// How many tokens all of some filters let through.
    pub(crate) fn count(&self, filters: &[PropertyFilter], universe: usize) -> usize {
        if let [only] = filters
            && let Some(count) = self.kept_count(only)
        {
            return count;
        }
        // A range beside a single set is counted without making a set of it.
        if let [a, b] = filters {
            let (range, other) = match (self.within(a), self.within(b)) {
                (Some(within), _) => (Some(within), b),
                (None, within) => (within, a),
            };
            if let Some(within) = range {
                return within.count(&self.find(other, universe));
            }
        }
        let terms: Vec<Term<'_>> = filters.iter().map(|filter| self.find(filter, universe)).collect();
        count_of_all(&terms)
    }

    /// Whether a filter lets so few tokens through at most, as far as that is known at once.
    pub(crate) fn are_few(&self, filter: &PropertyFilter, max: usize) -> bool {
        if let Some(count) = self.kept_count(filter) {
            return count <= max;
        }
        let Some(index) = self.numbers.get(filter.name.as_str()) else { return true };
        let property = &self.properties[*index];
        match &filter.condition {
            Condition::OneOf(values) => {
                let lens = values.iter().filter_map(|value| property.set(value)).map(Set::len);
                lens.sum::<usize>() <= max
            }
            Condition::Any | Condition::Within { .. } => false,
        }
    }

    /// How many tokens a filter lets through, where that is known without looking at them.
    fn kept_count(&self, filter: &PropertyFilter) -> Option<usize> {
        let Some(index) = self.numbers.get(filter.name.as_str()) else { return Some(0) };
        let property = &self.properties[*index];
        match &filter.condition {
            Condition::Any => Some(property.all.len()),
            Condition::OneOf(values) => match values.as_slice() {
                [value] => Some(property.set(value).map_or(0, Set::len)),
                _ => None,
            },
            Condition::Within { .. } => property.within(&filter.condition).map(|within| within.len()),
        }
    }

    /// The range of a filter, where a ladder has it.
    fn within(&self, filter: &PropertyFilter) -> Option<LadderRange<'_>> {
        let property = &self.properties[*self.numbers.get(filter.name.as_str())?];
        property.within(&filter.condition)
    }

    /// The properties that any token has.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Property> {
        self.properties.iter().filter(|property| !property.is_empty())
    }

    /// Gives every token the number that it has by now.
    pub(crate) fn renumber(&mut self, numbers: &[u32]) {
        self.properties.iter_mut().flat_map(Property::sets_mut).for_each(|set| set.renumber(numbers));
    }

    /// Gives the slots that moved the numbers that they have by now.
    pub(crate) fn relocate(&mut self, relocation: &SlotRelocation) {
        for property in &mut self.properties {
            property.sets_mut().for_each(|set| set.relocate(relocation));
            if let Some(ladder) = &mut property.ladder {
                ladder.relocate(relocation);
            }
        }
    }

    /// The same of the slots of a list that its tokens have, of which there are so many.
    pub(crate) fn project(&self, slots: &SlotsOfTokens, universe: usize) -> Self {
        let properties = self.properties.iter().map(|property| property.project(slots, universe)).collect();
        Self { numbers: self.numbers.clone(), properties }
    }

    /// Takes the best form for so many tokens.
    pub(crate) fn settle(&mut self, universe: usize) {
        for property in &mut self.properties {
            property.settle(universe);
        }
    }

    /// What a token that has these properties is found by.
    pub(crate) fn digest_of<N: AsRef<str>>(&self, ordinal: u32, properties: &[(N, Shape, Value)]) -> u64 {
        let found = |(name, _, value): &PropertyValue<N>| {
            let property = self.numbers.get(name.as_ref()).map(|index| &self.properties[*index]);
            let found = property.map(|property| property.finds(value, ordinal));
            hash(&(name.as_ref(), value, found))
        };
        each_once(properties).map(|(_, property)| found(property)).fold(0, u64::wrapping_add)
    }

    /// How much is said of a property, by its number; 0 when nothing is, `None` past the last.
    pub(crate) fn digest_of_property(&self, index: usize) -> Option<u64> {
        let property = self.properties.get(index)?;
        let values = (property.ints.len(), property.texts.len(), property.others.len());
        let counts = (property.int_count, property.text_count, property.other_count, property.all.len());
        let said = (&property.name, values, counts, property.listed, property.several_ints);
        Some(if property.is_empty() { 0 } else { hash(&said) })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.properties.iter().map(Property::bytes).sum()
    }
}

type PropertyValue<N> = (N, Shape, Value);

/// The properties of a token with those before each. A token that has the same value twice has it once.
fn each_once<N: AsRef<str>>(
    properties: &[PropertyValue<N>],
) -> impl Iterator<Item = (&[PropertyValue<N>], &PropertyValue<N>)> {
    properties.iter().enumerate().filter_map(|(index, property)| {
        let before = &properties[..index];
        let same =
            |other: &PropertyValue<N>| other.0.as_ref() == property.0.as_ref() && other.2 == property.2;
        (!before.iter().any(same)).then_some((before, property))
    })
}

fn has_int<N: AsRef<str>>(before: &[PropertyValue<N>], name: &str) -> bool {
    before.iter().any(|(other, _, value)| other.as_ref() == name && matches!(value, Value::Int(_)))
}

impl Property {
    /// Whether a token is found by a value, how many others are, and whether it is on the right rungs of the ladder.
    fn finds(&self, value: &Value, ordinal: u32) -> (bool, usize, bool) {
        let tokens = self.set(value);
        let ladder = self.ladder.as_ref().filter(|_| self.several_ints == 0);
        let is_in_place = match (ladder, value) {
            (Some(ladder), Value::Int(number)) => ladder.has(*number, ordinal),
            _ => true,
        };
        let is_found = tokens.is_some_and(|tokens| tokens.contains(ordinal)) && self.all.contains(ordinal);
        (is_found, tokens.map_or(0, Set::len), is_in_place)
    }

    fn is_empty(&self) -> bool {
        self.int_count + self.text_count + self.other_count == 0
    }

    fn add(&mut self, ordinal: u32, shape: Shape, value: &Value, repeated: bool) {
        self.listed += usize::from(shape == Shape::Listed);
        self.all.insert(ordinal);
        match value {
            Value::Int(number) => {
                self.int_count += 1;
                self.several_ints += usize::from(repeated);
                self.ints.entry(*number).or_default().insert(ordinal);
                if let Some(ladder) = &mut self.ladder {
                    ladder.insert(*number, ordinal);
                }
                if let Some(spans) = &mut self.spans {
                    spans.insert(*number, ordinal);
                }
            }
            Value::Text(text) => {
                self.text_count += 1;
                self.texts.entry_ref(&**text).or_default().insert(ordinal);
            }
            Value::Other(json) => {
                self.other_count += 1;
                self.others.entry_ref(&**json).or_default().insert(ordinal);
            }
        }
    }

    fn remove(&mut self, ordinal: u32, shape: Shape, value: &Value, repeated: bool) {
        self.listed -= usize::from(shape == Shape::Listed);
        // All that a token has goes at once.
        self.all.remove(ordinal);
        match value {
            Value::Int(number) => {
                self.int_count -= 1;
                self.several_ints -= usize::from(repeated);
                if let Some(set) = self.ints.get_mut(number) {
                    set.remove(ordinal);
                    if set.is_empty() {
                        self.ints.remove(number);
                    }
                }
                if let Some(ladder) = &mut self.ladder {
                    ladder.remove(*number, ordinal);
                }
                if let Some(spans) = &mut self.spans {
                    spans.remove(*number, ordinal);
                }
            }
            Value::Text(text) => {
                self.text_count -= 1;
                remove_from(&mut self.texts, text, ordinal);
            }
            Value::Other(json) => {
                self.other_count -= 1;
                remove_from(&mut self.others, json, ordinal);
            }
        }
    }

    fn find(&self, condition: &Condition, universe: usize) -> Term<'_> {
        if let Some(within) = self.within(condition) {
            return within.term(universe);
        }
        match condition {
            Condition::Any => self.all.term(),
            Condition::Within { min, max } => {
                let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
                // The tree refuses a range that ends before it begins.
                if min > max {
                    return Term::new(Bits::default(), 0);
                }
                match &self.spans {
                    Some(spans) => union(spans.within(&self.ints, min, max), universe),
                    None => union(self.ints.range(min..=max).map(|(_, set)| set), universe),
                }
            }
            Condition::OneOf(values) => {
                let sets = || values.iter().filter_map(|value| self.set(value));
                match (values.as_slice(), sets().next()) {
                    ([_], Some(set)) => set.term(),
                    _ => union(sets(), universe),
                }
            }
        }
    }

    /// The tokens with a number within bounds, where a ladder has them.
    fn within(&self, condition: &Condition) -> Option<LadderRange<'_>> {
        let Condition::Within { min, max } = condition else { return None };
        let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
        let ladder = self.ladder.as_ref().filter(|_| self.several_ints == 0 && min <= max)?;
        Some(ladder.within(&self.ints, min, max))
    }

    /// The tokens with one value.
    pub(crate) fn set(&self, value: &Value) -> Option<&Set> {
        match value {
            Value::Int(number) => self.ints.get(number),
            Value::Text(text) => self.texts.get(&**text),
            Value::Other(json) => self.others.get(&**json),
        }
    }

    fn sets_mut(&mut self) -> impl Iterator<Item = &mut Set> {
        let valued = self.ints.values_mut().chain(self.texts.values_mut()).chain(self.others.values_mut());
        let spans = self.spans.iter_mut().flat_map(|spans| &mut spans.sets);
        valued.chain(std::iter::once(&mut self.all)).chain(spans)
    }

    fn project(&self, slots: &SlotsOfTokens, universe: usize) -> Self {
        let of = |set: &Set| set.project(|token| slots.of(token), universe);
        let project = |set: &Set| Some(of(set)).filter(|set| !set.is_empty());
        let projected = |sets: &HashMap<String, Set>| -> HashMap<String, Set> {
            sets.iter().filter_map(|(value, set)| Some((value.clone(), project(set)?))).collect()
        };
        let ints: BTreeMap<i64, Set> =
            self.ints.iter().filter_map(|(number, set)| Some((*number, project(set)?))).collect();
        let (texts, others) = (projected(&self.texts), projected(&self.others));
        let mut property = Self {
            name: self.name.clone(),
            all: of(&self.all),
            // As many at most: each may be said of a token with the most slots.
            listed: self.listed * slots.most,
            int_count: ints.values().map(Set::len).sum(),
            text_count: texts.values().map(Set::len).sum(),
            other_count: others.values().map(Set::len).sum(),
            // Those that were left out may be among them; then ranges go without a ladder in vain.
            several_ints: self.several_ints * slots.most,
            ints,
            texts,
            others,
            ladder: None,
            spans: None,
        };
        property.make_ladder(universe, SLOT_RUNGS_MAX);
        property
    }

    fn settle(&mut self, universe: usize) {
        self.sets_mut().for_each(|set| set.settle(universe));
        self.make_ladder(universe, TOKEN_RUNGS_MAX);
    }

    fn make_ladder(&mut self, universe: usize, rungs_max: usize) {
        let (laddered, several) = (self.int_count >= LADDER_TOKENS_MIN, self.several_ints > 0);
        self.ladder = (laddered && !several).then(|| Ladder::new(&self.ints, universe, rungs_max));
        self.spans = (laddered && several).then(|| Spans::new(&self.ints, universe));
    }

    fn bytes(&self) -> usize {
        let sets = self.ints.values().chain(self.texts.values()).chain(self.others.values());
        let keys = (self.ints.len() + self.texts.len() + self.others.len()) * size_of::<(String, Set)>();
        sets.map(Set::bytes).sum::<usize>()
            + self.all.bytes()
            + keys
            + self.ladder.as_ref().map_or(0, Ladder::bytes)
            + self.spans.as_ref().map_or(0, Spans::bytes)
    }
}

/// What is in any of some sets.
fn union<'a>(sets: impl Iterator<Item = &'a Set>, universe: usize) -> Term<'static> {
    let (mut bits, mut about) = (Bits::empty(universe), 0);
    for set in sets {
        set.add_to(&mut bits);
        about += set.len();
    }
    Term::new(bits, about)
}

fn remove_from(sets: &mut HashMap<String, Set>, key: &str, ordinal: u32) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(ordinal);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
