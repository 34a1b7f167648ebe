//! The form of filters: everything that operations filter by.

use bourse_pages::facets::{VALUE_CHARS, VALUES_BYTES_MAX, Values, bounds};
use bourse_pages::property::{FieldKind, Property};
use bourse_pages::query::{Query, SORTS};
use bourse_pages::records::{Currencies, Currency, Facet};
use bourse_wire::Address;
use maud::{Markup, html};

use super::PageData;
use crate::format;
use crate::pages::collections::CollectionRef;

/// Properties that are shown.
const PROPERTIES_MAX: usize = 40;
/// Properties that are open from the beginning.
const OPEN_MAX: usize = 3;
/// Fields that take accounts.
const ACCOUNTS: [(&str, &str); 4] = [
    ("owner", "Held by"),
    ("not_owner", "Not held by"),
    ("maker", "Orders made by"),
    ("not_maker", "Orders not made by"),
];

pub(super) fn form(collection: &CollectionRef, query: &Query, shown: &PageData) -> Markup {
    html! {
        form.filters method="get" action=(collection.path) aria-label="Filters" {
            label { "Search" input type="search" name="q" value=(query.text("q")) maxlength="256" placeholder="Name or token id"; }
            label {
                "Sort by"
                select name="sort" {
                    @for sort in &SORTS { option value=(sort.word) selected[query.text("sort") == sort.word] { (sort.name) } }
                }
            }
            (sides(query))
            (prices(query, &shown.currencies))
            (marketplaces(query, &shown.marketplaces))
            (accounts(query))
            (properties(collection, query, &shown.facets))
            div.buttons {
                button { "Apply" }
                a.button.plain href=(collection.path) { "Clear" }
            }
        }
    }
}

fn sides(query: &Query) -> Markup {
    let sides = [("", "either"), ("listing", "listings"), ("offer", "offers")];
    html! {
        label {
            "Orders"
            select name="side" {
                @for (word, name) in sides { option value=(word) selected[query.text("side") == word] { (name) } }
            }
        }
        label.box { input type="checkbox" name="only" value="1" checked[!query.text("only").is_empty()]; "Only tokens that have one" }
    }
}

fn prices(query: &Query, currencies: &Currencies) -> Markup {
    let fields = ["price_min", "price_max", "price_in", "currency"];
    let is_open = fields.iter().any(|field| !query.text(field).is_empty());
    let symbol = |currency: &Currency| match currency.symbol.as_str() {
        "" => currency.contract_address.to_string(),
        symbol => symbol.chars().take(VALUE_CHARS).collect(),
    };
    let is_chosen = |address: Address, text: &str| text.parse() == Ok(address);
    html! {
        details open[is_open] {
            summary { "Price and currency" }
            div.pair role="group" aria-label="Price" {
                label { "From" input name="price_min" inputmode="decimal" value=(query.text("price_min")); }
                label { "To" input name="price_max" inputmode="decimal" value=(query.text("price_max")); }
            }
            label {
                "Price in"
                select name="price_in" {
                    option value="" { "choose a currency" }
                    @for currency in &currencies.all {
                        option value=(currency.contract_address)
                            selected[is_chosen(currency.contract_address, query.text("price_in"))] { (symbol(currency)) }
                    }
                }
            }
            div role="group" aria-label="Currency" {
                @for currency in &currencies.all {
                    label.box title=(currency.name) {
                        input type="checkbox" name="currency" value=(currency.contract_address)
                            checked[query.all("currency").any(|text| is_chosen(currency.contract_address, text))];
                        bdi { (symbol(currency)) }
                    }
                }
            }
        }
    }
}

fn marketplaces(query: &Query, known: &[String]) -> Markup {
    html! {
        details open[!query.text("marketplace").is_empty()] {
            summary { "Marketplace" }
            div role="group" aria-label="Marketplace" {
                @for word in known {
                    label.box {
                        input type="checkbox" name="marketplace" value=(word) checked[query.all("marketplace").any(|text| text == word)];
                        (word.replace('_', " "))
                    }
                }
            }
        }
    }
}

fn accounts(query: &Query) -> Markup {
    let is_open = ACCOUNTS.iter().any(|(field, _)| !query.text(field).is_empty());
    html! {
        details open[is_open] {
            summary { "Accounts" }
            @for (field, name) in ACCOUNTS {
                label { (name) input name=(field) value=(query.text(field)) placeholder="0x… 0x…" spellcheck="false"; }
            }
        }
    }
}

/// A property with what is chosen of it.
struct FacetSelection<'f> {
    facet: &'f Facet,
    chosen: Option<&'f Property>,
}

fn properties(collection: &CollectionRef, query: &Query, facets: &[Facet]) -> Markup {
    let (chosen, mut room) = (query.properties(), VALUES_BYTES_MAX);
    let shown = facets.iter().take(PROPERTIES_MAX).enumerate();
    let shown: Vec<Markup> = shown
        .map(|(number, facet)| {
            let chosen = chosen.iter().find(|property| property.name == facet.name);
            let selection = FacetSelection { facet, chosen };
            property(collection, query, &selection, number < OPEN_MAX, &mut room)
        })
        .collect();
    html! {
        @for property in &shown { (property) }
        @if facets.len() > PROPERTIES_MAX {
            p.hint {
                (format::number(facets.len() - PROPERTIES_MAX))
                " more properties are not shown here. The page of a token links to the tokens that share a value."
            }
        }
    }
}

fn property(
    collection: &CollectionRef,
    query: &Query,
    selection: &FacetSelection<'_>,
    is_open: bool,
    room: &mut usize,
) -> Markup {
    let FacetSelection { facet, chosen } = *selection;
    let name: String = facet.name.chars().take(VALUE_CHARS).collect();
    html! {
        details open[is_open || chosen.is_some() || query.text("more") == facet.name] {
            summary { (format::shortened(&facet.name, VALUE_CHARS)) }
            div role="group" aria-label=(name) {
                @match facet.min.zip(facet.max) {
                    Some(range) => (bounds(facet, chosen, range, ("From", "To"))),
                    None => (values(collection, query, selection, room)),
                }
            }
        }
    }
}

fn values(
    collection: &CollectionRef,
    query: &Query,
    selection: &FacetSelection<'_>,
    room: &mut usize,
) -> Markup {
    let FacetSelection { facet, chosen } = *selection;
    let is_whole = query.text("more") == facet.name;
    // One that is shown whole takes no room from the others.
    let mut whole_room = VALUES_BYTES_MAX;
    let room = if is_whole { &mut whole_room } else { room };
    let Values { boxes, hidden } = Values::new(facet, chosen, is_whole, room);
    html! {
        @for shown in &boxes { (shown) }
        @if hidden > 0 && !is_whole {
            a.more href=(query.without("more", None).with(&collection.path, &[("more", &facet.name)])) {
                (format::number(hidden)) " more" span.unseen { " values of " (facet.name) }
            }
        }
        @if (hidden > 0 && is_whole) || facet.counts.is_empty() {
            label { "Another value" input name=(FieldKind::Text.field(&facet.name)) maxlength="256"; }
        }
    }
}

/// What is chosen, each with the way to do without it.
pub(super) fn chosen(collection: &CollectionRef, query: &Query, currencies: &Currencies) -> Markup {
    let chips: Vec<(String, String)> = query
        .fields()
        .iter()
        .filter_map(|(name, value)| {
            Some((label(name, value, currencies)?, query.without(name, Some(value)).link(&collection.path)))
        })
        .collect();
    html! {
        @if !chips.is_empty() {
            ul.chips aria-label="Chosen filters" {
                @for (label, link) in &chips {
                    li { a href=(link) { span.unseen { "Remove " } bdi { (label) } span aria-hidden="true" { " ×" } } }
                }
            }
        }
    }
}

/// What a field is called where it is chosen; nothing for one that only sorts.
fn label(name: &str, value: &str, currencies: &Currencies) -> Option<String> {
    let value: String = value.chars().take(VALUE_CHARS).collect();
    if let Some((property, given)) = Property::of_field(name) {
        let property: String = property.chars().take(VALUE_CHARS).collect();
        return Some(match given {
            FieldKind::Text | FieldKind::Json => format!("{property}: {value}"),
            FieldKind::Min => format!("{property} from {value}"),
            FieldKind::Max => format!("{property} to {value}"),
        });
    }
    let known = value.parse().ok().and_then(|address| currencies.get(address));
    let currency = known.map_or(value.clone(), |known| known.symbol.clone());
    Some(match name {
        "q" => format!("“{value}”"),
        "side" => format!("{value}s first"),
        "only" => "only with an order".to_owned(),
        "currency" => format!("in {currency}"),
        "marketplace" => format!("on {}", value.replace('_', " ")),
        "price_min" => format!("price from {value}"),
        "price_max" => format!("price to {value}"),
        "price_in" => format!("price in {currency}"),
        other => {
            ACCOUNTS.iter().find(|(field, _)| *field == other).map(|(_, name)| format!("{name} {value}"))?
        }
    })
}
