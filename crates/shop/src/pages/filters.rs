//! The form of filters of a collection: search, order, price and properties with how many tokens have each value.

use bourse_pages::facets::{VALUE_CHARS, VALUES_BYTES_MAX, Values, bounds};
use bourse_pages::format;
use bourse_pages::property::Property;
use bourse_pages::records::Facet;
use maud::{Markup, html};

use super::collection::Shown;
use super::parts::{bounded, fitting};

/// Properties that are shown.
const PROPERTIES_MAX: usize = 30;
/// What the name of one may take in the page, in bytes.
const NAME_BYTES_MAX: usize = 200;
/// Properties that are open from the beginning.
const OPEN_MAX: usize = 3;
/// Currencies that prices can be given in, beside the one that is chosen.
const CURRENCIES_MAX: usize = 20;
/// The ways to sort: the word in the address, and the key of what it is called.
const SORTS: [(&str, &str); 6] = [
    ("", "filters.best"),
    ("-price", "filters.dearest"),
    ("-created", "filters.newest"),
    ("id", "filters.by_id"),
    ("-id", "filters.by_id_down"),
    ("name", "filters.by_name"),
];

/// The form. What there is of currencies and properties takes so much of the page, in bytes.
pub(super) fn form(shown: &Shown<'_>, facets: &[Facet], room: usize) -> Markup {
    let Shown { visit, collection, query, .. } = *shown;
    let prices = prices(shown);
    let room = room.saturating_sub(prices.0.len());
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
            (prices)
            (properties(shown, facets, room))
            div.buttons {
                button { (visit.say("filters.apply")) }
                a.button href=(collection.path) { (visit.say("filters.clear")) }
            }
        }
    }
}

fn prices(of: &Shown<'_>) -> Markup {
    let Shown { visit, query, currencies, .. } = *of;
    let is_open = ["price_min", "price_max"].iter().any(|field| !query.text(field).is_empty());
    let is_chosen = |address: bourse_wire::Address| query.text("price_in").parse() == Ok(address);
    let all = currencies.all.iter().enumerate();
    let shown = all.filter(|(place, known)| *place < CURRENCIES_MAX || is_chosen(known.contract_address));
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
                    @for (_, currency) in shown {
                        option value=(currency.contract_address) selected[is_chosen(currency.contract_address)] { (currency.symbol) }
                    }
                }
            }
        }
    }
}

fn properties(shown: &Shown<'_>, facets: &[Facet], mut room: usize) -> Markup {
    let (chosen, mut room_of_values) = (shown.query.properties(), VALUES_BYTES_MAX.min(room / 2));
    let facets = facets.iter().take(PROPERTIES_MAX).enumerate();
    let groups = facets.map(|(place, facet)| {
        let chosen = chosen.iter().find(|property| property.name == facet.name);
        group(shown, facet, chosen, place < OPEN_MAX, &mut room_of_values)
    });
    let groups = fitting(groups, &mut room);
    html! { @for group in &groups { (group) } }
}

fn group(
    shown: &Shown<'_>,
    facet: &Facet,
    chosen: Option<&Property>,
    is_open: bool,
    room: &mut usize,
) -> Markup {
    let name = bounded(&facet.name, VALUE_CHARS, NAME_BYTES_MAX);
    html! {
        details open[is_open || chosen.is_some() || shown.query.text("more") == facet.name] {
            summary { bdi { (name) } }
            div role="group" aria-label=(name) {
                @match facet.min.zip(facet.max) {
                    Some(range) => (bounds(facet, chosen, range, (shown.visit.say("filters.from"), shown.visit.say("filters.to")))),
                    None => (values(shown, facet, chosen, room)),
                }
            }
        }
    }
}

fn values(shown: &Shown<'_>, facet: &Facet, chosen: Option<&Property>, room: &mut usize) -> Markup {
    let is_whole = shown.query.text("more") == facet.name;
    let Values { boxes, hidden } = Values::new(facet, chosen, is_whole, room);
    let more = || shown.query.without("more", None).with(&shown.collection.path, &[("more", &facet.name)]);
    html! {
        @for shown in &boxes { (shown) }
        @if hidden > 0 && !is_whole {
            a.more href=(more()) { (shown.visit.words.say_of("filters.more", &format::number(hidden))) }
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
