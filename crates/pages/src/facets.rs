//! The fields of one property in a form of filters: the ends of a range, or a box for each value with how many tokens have it.

use std::cmp::Reverse;

use maud::{Markup, html};

use crate::format;
use crate::property::{FieldKind, Property, as_field};
use crate::records::{Facet, ValueCount};

/// Values that are shown of a property, and when somebody wants to see more.
const VALUES_MAX: usize = 8;
const VALUES_ALL_MAX: usize = 200;
/// What the values of all properties of a form may take in the page, in bytes.
pub const VALUES_BYTES_MAX: usize = 24 * 1024;
/// Characters of a value that are shown.
pub const VALUE_CHARS: usize = 80;

/// The values of a property that are shown.
pub struct Values {
    /// A box for each.
    pub boxes: Vec<Markup>,
    /// How many others there are.
    pub hidden: usize,
}

impl Values {
    /// What is chosen, then those that most tokens have: as many as there is room for in the page, and more where the property is
    /// to be shown whole.
    pub fn new(facet: &Facet, chosen: Option<&Property>, is_whole: bool, room: &mut usize) -> Self {
        let is_chosen = |value: &ValueCount| {
            let (given, text) = as_field(&value.value);
            chosen.is_some_and(|chosen| chosen.has(given, &text))
        };
        let mut known: Vec<(&ValueCount, bool)> =
            facet.counts.iter().map(|value| (value, is_chosen(value))).collect();
        known.retain(|(value, is_chosen)| value.count > 0 || *is_chosen);
        known.sort_by_key(|(value, is_chosen)| (!is_chosen, Reverse(value.count)));
        let mut boxes = Vec::new();
        for (value, is_chosen) in known.iter().take(if is_whole { VALUES_ALL_MAX } else { VALUES_MAX }) {
            let shown = value_box(facet, value, *is_chosen);
            if shown.0.len() > *room && !is_chosen {
                break;
            }
            *room = room.saturating_sub(shown.0.len());
            boxes.push(shown);
        }
        Self { hidden: known.len() - boxes.len(), boxes }
    }
}

fn value_box(facet: &Facet, value: &ValueCount, is_chosen: bool) -> Markup {
    let (given, text) = as_field(&value.value);
    html! {
        label.box {
            input type="checkbox" name=(given.field(&facet.name)) value=(text) checked[is_chosen];
            span.value { (format::shortened(&text, VALUE_CHARS)) }
            span.count { (format::number(value.count)) }
        }
    }
}

/// The fields of the lowest and of the highest value that is wanted, by what these are called.
pub fn bounds(
    facet: &Facet,
    chosen: Option<&Property>,
    (min, max): (i64, i64),
    labels: (&str, &str),
) -> Markup {
    let typed = |bound: fn(&Property) -> &String| chosen.map(bound).map_or("", String::as_str);
    let field = |kind: FieldKind, label: &str, end: i64, value: &str| {
        html! { label { (label) input name=(kind.field(&facet.name)) inputmode="numeric" placeholder=(end) value=(value); } }
    };
    html! {
        div.pair {
            (field(FieldKind::Min, labels.0, min, typed(|known| &known.min)))
            (field(FieldKind::Max, labels.1, max, typed(|known| &known.max)))
        }
    }
}
