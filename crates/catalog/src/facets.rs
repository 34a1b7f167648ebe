//! The properties of a collection as filters to choose from.

use std::collections::BTreeMap;

use bourse_sets::{Bits, Set};

use crate::collection::Collection;
use crate::filter::{TokenFilter, Value};
use crate::properties::Property;

/// A property to filter by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facet {
    /// Its name.
    pub name: String,
    /// What kind of values it has.
    pub kind: FacetKind,
    /// The lowest and the highest value of whole numbers.
    pub range: Option<(i64, i64)>,
    /// Its values, sorted, each with how many of the tokens have it. Empty for whole numbers, and where there are more
    /// than [`Facet::VALUES_MAX`].
    pub values: Vec<(Value, usize)>,
}

impl Facet {
    /// A property with more values than this lists none: nobody chooses from so many.
    pub const VALUES_MAX: usize = 1_000;
}

/// What kind of values a property has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacetKind {
    /// Whole numbers.
    Int,
    /// Texts.
    Text,
    /// Lists.
    List,
    /// Anything.
    Mixed,
}

impl Collection {
    /// The properties of the tokens, by name, with counts over the tokens that a filter lets through.
    pub fn facets(&self, filter: &TokenFilter) -> Vec<Facet> {
        let within = self.candidates(filter).to_bits(self);
        let mut facets: Vec<Facet> =
            self.properties.iter().map(|property| facet(property, within.as_ref())).collect();
        facets.sort_by(|a, b| a.name.cmp(&b.name));
        facets
    }
}

fn facet(property: &Property, within: Option<&Bits>) -> Facet {
    let all = property.int_count + property.text_count + property.other_count;
    let kind = match () {
        () if property.listed == all => FacetKind::List,
        () if property.listed == 0 && property.int_count == all => FacetKind::Int,
        () if property.listed == 0 && property.text_count == all => FacetKind::Text,
        () => FacetKind::Mixed,
    };
    let lowest = property.ints.keys().next();
    let range = lowest.zip(property.ints.keys().next_back()).filter(|_| kind == FacetKind::Int);
    let distinct = property.ints.len() + property.texts.len() + property.others.len();
    let listed = kind != FacetKind::Int && distinct <= Facet::VALUES_MAX;
    Facet {
        name: property.name.clone(),
        kind,
        range: range.map(|(min, max)| (*min, *max)),
        values: if listed { values(property, within) } else { Vec::new() },
    }
}

fn values(property: &Property, within: Option<&Bits>) -> Vec<(Value, usize)> {
    let ints = property.ints.iter().map(|(number, set)| (Value::Int(*number), set));
    let texts = property.texts.iter().map(|(text, set)| (Value::Text(text.as_str().into()), set));
    let others = property.others.iter().map(|(json, set)| (Value::Other(json.as_str().into()), set));
    let counted = |(value, set): (Value, &Set)| (value, count(set, within));
    let sorted: BTreeMap<Value, usize> = ints.chain(texts).chain(others).map(counted).collect();
    sorted.into_iter().collect()
}

fn count(set: &Set, within: Option<&Bits>) -> usize {
    within.map_or_else(|| set.len(), |within| set.common_with(within))
}
