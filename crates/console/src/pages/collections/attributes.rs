//! The properties of a token, each a way to the tokens that share it.

use bourse_catalog::{Value, properties_of};
use bourse_pages::property::finding;
use maud::{Markup, html};

use super::CollectionRef;
use crate::format::{self, shortened};

/// Properties that are shown; all of them are in the raw metadata.
const SHOWN_MAX: usize = 60;
/// The longest link to the tokens that share a value, in bytes.
const LINK_BYTES_MAX: usize = 500;
/// Characters of a name or a value that are shown.
const CHARS_MAX: usize = 80;

pub(super) fn list(collection: &CollectionRef, metadata: &str) -> Markup {
    let properties = properties_of(metadata);
    html! {
        @if properties.is_empty() { p.soft { "It has no properties." } } @else {
            ul.properties {
                @for (name, value) in properties.iter().take(SHOWN_MAX) { (property(collection, name, value)) }
            }
        }
        @if properties.len() > SHOWN_MAX {
            p.hint { (format::number(properties.len() - SHOWN_MAX)) " more are in the raw metadata." }
        }
    }
}

fn property(collection: &CollectionRef, name: &str, value: &Value) -> Markup {
    let (field, text) = finding(name, value);
    let query = form_urlencoded::Serializer::new(String::new()).append_pair(&field, &text).finish();
    // A long value would make an address that no server takes.
    let is_long = query.len() > LINK_BYTES_MAX;
    html! {
        li {
            span.name { (shortened(name, CHARS_MAX)) }
            @if is_long { span.value { (shortened(&text, CHARS_MAX)) } }
            @else { a.value href={ (collection.path) "?" (query) } { (shortened(&text, CHARS_MAX)) } }
        }
    }
}
