//! A token as a card.

use bourse_pages::price;
use bourse_pages::records::{Collectible, Currencies, Order};
use bourse_pictures::Size;
use maud::{Markup, html};

use crate::format;
use crate::pages::collections::{CollectionRef, images};

pub(super) fn card(collection: &CollectionRef, row: &Collectible, currencies: &Currencies) -> Markup {
    let token = &row.metadata;
    let best = |name: &str, order: &Option<Order>| {
        html! {
            div {
                dt { (name) }
                dd {
                    @match order {
                        Some(order) => (price::of_order(order, currencies)),
                        None => span.soft { "none" },
                    }
                }
            }
        }
    };
    html! {
        li.token {
            (images::of_token(collection, token, Size::Medium))
            div.told {
                h3 { a href=(collection.token(token.token_id, "")) { (name(token)) } }
                p.id { "#" (format::hex(token.token_id)) }
                dl.prices { (best("Listing", &row.listing)) (best("Offer", &row.offer)) }
            }
        }
    }
}

/// What a token is called.
pub(in crate::pages::collections) fn name(token: &bourse_wire::TokenMetadata) -> Markup {
    html! {
        @if token.name.trim().is_empty() { span.soft { "Without a name" } } @else { (format::shortened(&token.name, NAME_CHARS)) }
    }
}

/// Characters of a name that are shown; the whole of it is in the raw metadata.
const NAME_CHARS: usize = 120;
