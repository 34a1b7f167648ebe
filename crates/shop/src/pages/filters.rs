//! The form of filters of a collection: search, order, price and properties with how many tokens have each value.

use bourse_pages::format;
use bourse_pages::property::{FieldKind, Property, as_field};
use bourse_pages::records::{Facet, ValueCount};
use maud::{Markup, html};

use super::collection::Shown;

/// Properties that are shown.
const PROPERTIES_MAX: usize = 30;
/// Values that are shown of a property, and when somebody wants to see more.
const VALUES_MAX: usize = 8;
const VALUES_ALL_MAX: usize = 200;
/// What the values of all properties may take in the page, in bytes.
const VALUES_BYTES_MAX: usize = 24 * 1024;
/// Properties that are open from the beginning.
const OPEN_MAX: usize = 3;
/// Characters of a value that are shown.
const VALUE_CHARS: usize = 60;

/// The ways to sort: the word in the address, and the key of what it is called.
const SORTS: [(&str, &str); 6] = [
    ("", "filters.best"),
    ("-price", "filters.dearest"),
    ("-created", "filters.newest"),
    ("id", "filters.by_id"),
    ("-id", "filters.by_id_down"),
    ("name", "filters.by_name"),
];

pub(super) fn form(shown: &Shown<'_>, facets: &[Facet]) -> Markup {
    let Shown { visit, collection, query, .. } = *shown;
    html! {
        form.filters method="get" action=(collection.path) aria-label=(visit.say("filters.title")) {
            label { (visit.say("filters.search")) input type="search" name="q" value=(query.text("q")) maxlength="256"; }
            label {
                (visit.say("filters.sort"))
                select name="sort" {
                    @for (word, key) in SORTS { option value=(word) selected[query.text("sort") == word] { (visit.say(key)) } }
                }
            }
            label.box {
                input type="checkbox" name="only" value="1" checked[!query.text("only").is_empty()];
                (visit.say("filters.only"))
            }
            (prices(shown))
            (properties(shown, facets))
            div.buttons {
                button { (visit.say("filters.apply")) }
                a.button href=(collection.path) { (visit.say("filters.clear")) }
            }
        }
    }
}

fn prices(shown: &Shown<'_>) -> Markup {
    let Shown { visit, query, currencies, .. } = *shown;
    let is_open = ["price_min", "price_max"].iter().any(|field| !query.text(field).is_empty());
    let is_chosen = |address: bourse_wire::Address| query.text("price_in").parse() == Ok(address);
    html! {
        details open[is_open] {
            summary { (visit.say("filters.price")) }
            div.pair role="group" aria-label=(visit.say("filters.price")) {
                label { (visit.say("filters.from")) input name="price_min" inputmode="decimal" value=(query.text("price_min")); }
                label { (visit.say("filters.to")) input name="price_max" inputmode="decimal" value=(query.text("price_max")); }
            }
            label {
                (visit.say("filters.currency"))
                select name="price_in" {
                    option value="" { "–" }
                    @for currency in &currencies.all {
                        option value=(currency.contract_address) selected[is_chosen(currency.contract_address)] { (currency.symbol) }
                    }
                }
            }
        }
    }
}

fn properties(shown: &Shown<'_>, facets: &[Facet]) -> Markup {
    let (chosen, mut room) = (shown.query.properties(), VALUES_BYTES_MAX);
    let facets = facets.iter().take(PROPERTIES_MAX).enumerate();
    let groups: Vec<Markup> = facets
        .map(|(place, facet)| {
            let chosen = chosen.iter().find(|property| property.name == facet.name);
            group(shown, facet, chosen, place < OPEN_MAX, &mut room)
        })
        .collect();
    html! { @for group in &groups { (group) } }
}

fn group(
    shown: &Shown<'_>,
    facet: &Facet,
    chosen: Option<&Property>,
    is_open: bool,
    room: &mut usize,
) -> Markup {
    let name: String = facet.name.chars().take(VALUE_CHARS).collect();
    html! {
        details open[is_open || chosen.is_some() || shown.query.text("more") == facet.name] {
            summary { bdi { (name) } }
            div role="group" aria-label=(name) {
                @match facet.min.zip(facet.max) {
                    Some(range) => (bounds(shown, facet, chosen, range)),
                    None => (values(shown, facet, chosen, room)),
                }
            }
        }
    }
}

fn bounds(shown: &Shown<'_>, facet: &Facet, chosen: Option<&Property>, (min, max): (i64, i64)) -> Markup {
    let typed = |bound: fn(&Property) -> &String| chosen.map(bound).map_or("", String::as_str);
    let field = |name: String, label: &str, placeholder: i64, value: &str| {
        html! { label { (label) input name=(name) inputmode="numeric" placeholder=(placeholder) value=(value); } }
    };
    html! {
        div.pair {
            (field(FieldKind::Min.field(&facet.name), shown.visit.say("filters.from"), min, typed(|known| &known.min)))
            (field(FieldKind::Max.field(&facet.name), shown.visit.say("filters.to"), max, typed(|known| &known.max)))
        }
    }
}

/// The values of a property: what is chosen, then those that most tokens have, as many as there is room for.
fn values(shown: &Shown<'_>, facet: &Facet, chosen: Option<&Property>, room: &mut usize) -> Markup {
    let is_whole = shown.query.text("more") == facet.name;
    let count_max = if is_whole { VALUES_ALL_MAX } else { VALUES_MAX };
    let is_chosen = |value: &ValueCount| {
        let (given, text) = as_field(&value.value);
        chosen.is_some_and(|chosen| chosen.has(given, &text))
    };
    let mut known: Vec<(&ValueCount, bool)> =
        facet.counts.iter().map(|value| (value, is_chosen(value))).collect();
    known.retain(|(value, is_chosen)| value.count > 0 || *is_chosen);
    known.sort_by_key(|(value, is_chosen)| (!is_chosen, std::cmp::Reverse(value.count)));
    let mut choices = Vec::new();
    for (value, is_chosen) in known.iter().take(count_max) {
        let choice = choice(facet, value, *is_chosen);
        if choice.0.len() > *room && !is_chosen {
            break;
        }
        *room = room.saturating_sub(choice.0.len());
        choices.push(choice);
    }
    let hidden = known.len() - choices.len();
    let more = || shown.query.without("more", None).with(&shown.collection.path, &[("more", &facet.name)]);
    html! {
        @for choice in &choices { (choice) }
        @if hidden > 0 && !is_whole {
            a.more href=(more()) { (shown.visit.words.say_of("filters.more", &format::number(hidden))) }
        }
    }
}

fn choice(facet: &Facet, value: &ValueCount, is_chosen: bool) -> Markup {
    let (given, text) = as_field(&value.value);
    html! {
        label.box {
            input type="checkbox" name=(given.field(&facet.name)) value=(text) checked[is_chosen];
            span.value { (format::shortened(&text, VALUE_CHARS)) }
            span.count { (format::number(value.count)) }
        }
    }
}

/// What is chosen, each with a way to leave it out.
pub(super) fn chosen(shown: &Shown<'_>) -> Markup {
    let Shown { visit, collection, query, .. } = *shown;
    let fields = query.fields().iter().filter(|(name, _)| !matches!(name.as_str(), "sort" | "side" | "more"));
    html! {
        ul.chosen {
            @for (name, value) in fields.take(PROPERTIES_MAX) {
                li {
                    a href=(query.without(name, Some(value)).link(&collection.path)) title=(visit.say("filters.remove")) {
                        @if let Some((property, _)) = Property::of_field(name) { (format::shortened(property, VALUE_CHARS)) ": " }
                        (format::shortened(value, VALUE_CHARS)) " ×"
                    }
                }
            }
        }
    }
}
