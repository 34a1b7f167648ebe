//! What a storefront sells.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_wire::{Error, ShopCollectionTerms};
use maud::{Markup, html};

use super::fields::{Fields, one_a_line, read_lines};
use super::{Drafts, find, put, settle};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

pub(super) async fn add(Owner(member): Owner, form: Form) -> Answer {
    let mut storefront = find(&member).await?;
    let added = match wanted(&member, &form) {
        Ok(terms) => {
            storefront.shop_collections.push(terms);
            put(&member, &storefront).await
        }
        Err(error) => Err(error.into()),
    };
    settle(&member, added, Done::Added, &Drafts { sale: Fields::typed(&form), ..Drafts::default() }).await
}

pub(super) async fn remove(Owner(member): Owner, _form: Form) -> Answer {
    let mut storefront = find(&member).await?;
    let place: usize = member.part("place")?;
    if place >= storefront.shop_collections.len() {
        return Err(Refusal::missing("collection"));
    }
    storefront.shop_collections.remove(place);
    put(&member, &storefront).await?;
    Ok(see_other(&Done::Removed.at(&member.path("/storefront"))))
}

pub(super) async fn edit(Owner(member): Owner) -> Answer {
    let place: usize = member.part("place")?;
    let storefront = find(&member).await?;
    let terms = storefront.shop_collections.get(place).ok_or_else(|| Refusal::missing("collection"))?;
    Ok(page(&member, (place, terms), &Fields::default(), None))
}

pub(super) async fn save(Owner(member): Owner, form: Form) -> Answer {
    let place: usize = member.part("place")?;
    let mut storefront = find(&member).await?;
    let known = storefront.shop_collections.get_mut(place).ok_or_else(|| Refusal::missing("collection"))?;
    let before = known.clone();
    let saved = match wanted(&member, &form) {
        Ok(terms) => {
            *known = terms;
            put(&member, &storefront).await
        }
        Err(error) => Err(error.into()),
    };
    match Submission::of(saved)? {
        Submission::Accepted(()) => Ok(see_other(&Done::Changed.at(&member.path("/storefront")))),
        Submission::Rejected(error) => {
            let page = page(&member, (place, &before), &Fields::typed(&form), Some(&error));
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

fn wanted(member: &Member, form: &Form) -> Result<ShopCollectionTerms, Error> {
    Ok(ShopCollectionTerms {
        chain_id: member.console().chain(form.text("chain"))?,
        items_address: form.read("items")?,
        sale_address: form.read("sale")?,
        name: form.read_if_set("name")?.unwrap_or_default(),
        banner_url: form.read_if_set("banner")?.unwrap_or_default(),
        token_ids: read_lines(form, "token_ids")?,
        custom_token_ids: read_lines(form, "custom_token_ids")?,
        sort_order: form.read_if_set("place")?,
        private: form.is_set("private"),
    })
}

pub(super) fn list(member: &Member, collections: &[ShopCollectionTerms]) -> Markup {
    if collections.is_empty() {
        return html! { p.empty { "Nothing is sold yet." } };
    }
    let networks = &member.console().settings().networks;
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Name" } th scope="col" { "Network" } th scope="col" { "Contract" }
                    th scope="col" { "Sold by" } th.number scope="col" { "Tokens" }
                    th scope="col" { span.unseen { "Actions" } }
                } }
                tbody { @for (place, terms) in collections.iter().enumerate() {
                    tr {
                        th.name scope="row" { (terms.name.as_str()) @if terms.private { " " span.badge { "private" } } }
                        td { (format::network(networks, terms.chain_id)) }
                        td { (format::hex(terms.items_address)) }
                        td { (format::hex(terms.sale_address)) }
                        td.number { (terms.token_ids.len() + terms.custom_token_ids.len()) }
                        td.actions { @if member.is_owner() { (actions(member, place)) } }
                    }
                } }
            }
        }
    }
}

fn actions(member: &Member, place: usize) -> Markup {
    let path = member.path(&format!("/storefront/shop/{place}"));
    html! {
        a.button.plain href=(path) { "Edit" }
        form method="post" action={ (path) "/remove" } data-confirm="Sell it no longer?" {
            (member.visitor.form_token())
            button.danger { "Remove" }
        }
    }
}

pub(super) fn addition(member: &Member, fields: &Fields<'_>) -> Markup {
    html! {
        details.panel {
            summary { "Another collection to sell" }
            form.stacked method="post" action=(member.path("/storefront/shop")) {
                (member.visitor.form_token())
                (inputs(None, fields))
                button { "Sell it" }
            }
        }
    }
}

fn inputs(terms: Option<&ShopCollectionTerms>, fields: &Fields<'_>) -> Markup {
    let text = |read: fn(&ShopCollectionTerms) -> String| terms.map(read).unwrap_or_default();
    let ids = |ids: &[bourse_wire::Text<78>]| {
        one_a_line(&ids.iter().map(bourse_wire::Text::as_str).collect::<Vec<_>>())
    };
    let (shown, custom) =
        terms.map(|terms| (ids(&terms.token_ids), ids(&terms.custom_token_ids))).unwrap_or_default();
    let place = terms.and_then(|terms| terms.sort_order).map(|place| place.to_string()).unwrap_or_default();
    html! {
        (fields.line("Network", "chain", &text(|terms| terms.chain_id.to_string())))
        (fields.line("Contract of what is sold", "items", &text(|terms| terms.items_address.to_string())))
        (fields.line("Contract that sells it", "sale", &text(|terms| terms.sale_address.to_string())))
        (fields.line("Name", "name", &text(|terms| terms.name.as_str().to_owned())))
        (fields.line("Picture across its page, as a link", "banner", &text(|terms| terms.banner_url.as_str().to_owned())))
        (fields.lines("Tokens, by id, one a line", "token_ids", &shown))
        (fields.lines("Tokens that the storefront shows in its own way, one a line", "custom_token_ids", &custom))
        (fields.line("Its place among the others, the lowest first", "place", &place))
        (fields.tick("for whoever has a key of this project only", "private", terms.is_some_and(|terms| terms.private)))
    }
}

fn page(
    member: &Member,
    (place, terms): (usize, &ShopCollectionTerms),
    fields: &Fields<'_>,
    error: Option<&Error>,
) -> Response {
    let body = html! {
        p.trail { a href=(member.path("/storefront")) { "Storefront" } }
        h1 { "What is sold" }
        @if let Some(error) = error { (notice::refused(error)) }
        form.stacked.panel method="post" action=(member.path(&format!("/storefront/shop/{place}"))) {
            (member.visitor.form_token())
            (inputs(Some(terms), fields))
            div.buttons {
                button { "Save" }
                a.button.plain href=(member.path("/storefront")) { "Cancel" }
            }
        }
    };
    member.page(Section::Storefront, "What is sold", &body)
}
