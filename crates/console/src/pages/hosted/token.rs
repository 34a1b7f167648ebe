//! One token of a hosted collection.

use axum::response::Response;
use bourse_server::AssetOwner;
use bourse_store::HostedToken;
use bourse_wire::{Asset, Error, JsonObject, RecordId, TokenId, TokenMetadata};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::assets;
use super::collection::find as find_collection;
use super::titled;
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::{Section, copyable};
use crate::refusal::Refusal;
use crate::{Answer, format, notice, see_other};

#[derive(Deserialize)]
struct TokenAnswer {
    token: TokenMetadata,
    assets: Vec<Asset>,
}

pub(super) async fn show(member: Member) -> Answer {
    page(&member, member.part("token")?, None).await
}

pub(super) async fn delete(Owner(member): Owner, _form: Form) -> Answer {
    let collection = member.id("collection")?;
    let body = json!({ "collectionId": collection, "tokenId": member.part::<TokenId>("token")? });
    member.ask("Collections/DeleteToken", &body).await?;
    Ok(see_other(&Done::Removed.at(&super::path(&member, collection, ""))))
}

/// The path of a page of a token.
pub(super) fn path(member: &Member, collection: RecordId, token: TokenId, rest: &str) -> String {
    super::path(member, collection, &format!("/tokens/{token}{rest}"))
}

/// An id, shortened in the middle when it is as long as they can be.
pub(super) fn short_id(token: TokenId) -> Markup {
    let text = token.to_string();
    if text.len() <= 20 {
        return html! { (text) };
    }
    html! { span title=(text) { (text[..8]) "…" (text[text.len() - 8..]) } }
}

/// A token as it is stored: without the links to its files, and with what only its owner knows.
pub(super) async fn stored(member: &Member, token: TokenId) -> Result<HostedToken, Refusal> {
    Ok(member.console().store().hosted_token(member.scope(), member.id("collection")?, token).await?)
}

pub(super) async fn page(member: &Member, id: TokenId, error: Option<&Error>) -> Result<Response, Refusal> {
    let collection = find_collection(member).await?;
    let is_private = stored(member, id).await?.private;
    let body = json!({ "collectionId": collection.id, "tokenId": id });
    let TokenAnswer { token, assets } = member.ask_as("Collections/GetToken", &body).await?;
    let title = titled(&token.name, format_args!("Token {}", token.token_id));
    let owner = AssetOwner { collection: collection.id, token: Some(token.token_id) };
    let body = html! {
        p.trail {
            a href=(member.path("/hosted")) { "Hosted metadata" } " › "
            a href=(super::path(member, collection.id, "")) {
                (titled(&collection.metadata.name, format_args!("Collection {}", collection.id)))
            }
        }
        h1 { (title) }
        @if let Some(error) = error { (notice::refused(error)) }
        (summary(member, collection.id, &token, is_private))
        section { h2 { "Attributes" } (attributes(token.attributes.as_deref().unwrap_or_default())) }
        section { h2 { "Files" } (assets::list(member, owner, &assets)) }
        details.snippet {
            summary { "Address and JSON" }
            (copyable("token-uri", &format!("{}{}", collection.base_uris.token, token.token_id)))
            (copyable("token-json", &format!("{:#}", json!(token))))
        }
        @if member.is_owner() { (deletion(member, collection.id, token.token_id)) }
    };
    Ok(member.page(Section::Hosted, &title, &body))
}

fn summary(member: &Member, collection: RecordId, token: &TokenMetadata, is_private: bool) -> Markup {
    let links = [
        ("Its own page", &token.external_url),
        ("Image", &token.image),
        ("Animation", &token.animation_url),
        ("Film", &token.video),
        ("Sound", &token.audio),
    ];
    html! {
        div.beside {
            (assets::picture(member, collection, &token.image))
            div {
                @if !token.description.is_empty() { p.prose { (token.description) } }
                dl.facts {
                    dt { "Token id" } dd { code { (token.token_id) } }
                    dt { "State" }
                    dd { @if is_private { span.badge.quiet { "private" } } @else { "as its collection" } }
                    dt { "Last change" } dd { (format::time(token.updated_at)) }
                    @for (label, link) in links.iter().filter(|(_, link)| !link.is_empty()) {
                        dt { (label) } dd { (format::web_link(link)) }
                    }
                }
                @if member.is_owner() {
                    a.button href=(path(member, collection, token.token_id, "/edit")) { "Edit metadata" }
                }
            }
        }
    }
}

fn attributes(attributes: &[JsonObject]) -> Markup {
    if attributes.is_empty() {
        return html! { p.empty { "There are no attributes." } };
    }
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    html! {
        ul.traits {
            @for attribute in attributes {
                li {
                    @if let (Some(name), Some(value)) = (attribute.get("trait_type"), attribute.get("value")) {
                        span.soft { (text(name)) } " " strong { (text(value)) }
                    } @else {
                        @for (name, value) in attribute { span.soft { (name) } " " strong { (text(value)) } " " }
                    }
                }
            }
        }
    }
}

fn deletion(member: &Member, collection: RecordId, token: TokenId) -> Markup {
    html! {
        details.panel {
            summary { "Delete this token" }
            p { "It goes with its files. Whoever reads its metadata finds nothing from then on. This cannot be undone." }
            form method="post" action=(path(member, collection, token, "/delete")) {
                (member.visitor.form_token())
                button.danger { "Delete the token" }
            }
        }
    }
}
