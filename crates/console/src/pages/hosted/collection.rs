//! One hosted collection.

use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use bourse_server::AssetOwner;
use bourse_wire::{Collection, ContractCollection, Error, RecordId, TokenId, TokenMetadata};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::{CollectionAnswer, PageInfo, ROWS, assets, links, page_number, path, state, titled, token};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::{Section, copyable, page_links};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

#[derive(Deserialize)]
struct Tokens {
    page: PageInfo,
    tokens: Vec<TokenMetadata>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Links {
    contract_collections: Vec<ContractCollection>,
}

/// What was typed and not taken, and why.
#[derive(Default)]
pub(super) struct Input<'t> {
    pub(super) error: Option<&'t Error>,
    pub(super) token_id: &'t str,
    pub(super) name: &'t str,
    pub(super) chain: &'t str,
    pub(super) contract: &'t str,
}

pub(super) async fn show(member: Member, uri: Uri) -> Answer {
    page(&member, page_number(&uri), &Input::default()).await
}

pub(super) async fn publish(Owner(member): Owner, form: Form) -> Answer {
    let body = json!({ "collectionId": member.id("collection")?, "recursive": form.is_set("recursive") });
    member.ask("Collections/PublishCollection", &body).await?;
    Ok(see_other(&Done::Published.at(&path(&member, member.id("collection")?, ""))))
}

pub(super) async fn unpublish(Owner(member): Owner, _form: Form) -> Answer {
    member
        .ask("Collections/UnpublishCollection", &json!({ "collectionId": member.id("collection")? }))
        .await?;
    Ok(see_other(&Done::Unpublished.at(&path(&member, member.id("collection")?, ""))))
}

pub(super) async fn delete(Owner(member): Owner, _form: Form) -> Answer {
    member.ask("Collections/DeleteCollection", &json!({ "collectionId": member.id("collection")? })).await?;
    Ok(see_other(&Done::Removed.at(&member.path("/hosted"))))
}

pub(super) async fn create_token(Owner(member): Owner, form: Form) -> Answer {
    let collection = member.id("collection")?;
    let (token_id, name) = (form.text("token_id"), form.text("name"));
    match Submission::of(add_token(&member, collection, token_id, name).await)? {
        Submission::Accepted(token) => {
            Ok(see_other(&Done::Created.at(&token::path(&member, collection, token, ""))))
        }
        Submission::Rejected(error) => {
            refused(&member, &Input { error: Some(&error), token_id, name, ..Input::default() }).await
        }
    }
}

async fn add_token(
    member: &Member,
    collection: RecordId,
    token_id: &str,
    name: &str,
) -> Result<TokenId, Refusal> {
    let token: TokenId = token_id.parse().map_err(|error| Error::invalid("token id", error))?;
    let body = json!({ "collectionId": collection, "token": { "tokenId": token, "name": name } });
    member.ask("Collections/CreateToken", &body).await?;
    Ok(token)
}

/// The page again, with the reason why something was not done, and what was typed.
pub(super) async fn refused(member: &Member, typed: &Input<'_>) -> Answer {
    let page = page(member, 1, typed).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

pub(super) async fn find(member: &Member) -> Result<Collection, Refusal> {
    let body = json!({ "collectionId": member.id("collection")? });
    let CollectionAnswer { collection } = member.ask_as("Collections/GetCollection", &body).await?;
    Ok(collection)
}

async fn page(member: &Member, number: u64, typed: &Input<'_>) -> Result<Response, Refusal> {
    let collection = find(member).await?;
    let body = json!({ "collectionId": collection.id, "page": { "page": number, "pageSize": ROWS } });
    let tokens: Tokens = member.ask_as("Collections/ListTokens", &body).await?;
    let body = json!({ "collectionId": collection.id, "page": { "pageSize": 200 } });
    let links: Links = member.ask_as("Collections/ListContractCollections", &body).await?;
    let title = titled(&collection.metadata.name, format_args!("Collection {}", collection.id));
    let body = html! {
        p.trail { a href=(member.path("/hosted")) { "Hosted metadata" } }
        h1 { (title) }
        @if let Some(error) = typed.error { (notice::refused(error)) }
        (summary(member, &collection))
        section {
            h2 { "Tokens" }
            (token_list(member, collection.id, &tokens.tokens))
            (page_links(&path(member, collection.id, ""), &[], number, tokens.page.more))
            @if member.is_owner() { (new_token(member, collection.id, typed)) }
        }
        section {
            h2 { "Files of the collection itself" }
            (assets::list(member, AssetOwner { collection: collection.id, token: None }, &collection.assets))
        }
        section {
            h2 { "Contracts" }
            (links::list(member, collection.id, &links.contract_collections))
            @if member.is_owner() { (links::creation(member, collection.id, typed)) }
        }
        @if member.is_owner() { (deletion(member, &collection)) }
    };
    Ok(member.page(Section::Hosted, &title, &body))
}

fn summary(member: &Member, collection: &Collection) -> Markup {
    let metadata = &collection.metadata;
    html! {
        div.beside {
            (assets::picture(member, collection.id, &metadata.image))
            div {
                @if !metadata.description.is_empty() { p.prose { (metadata.description) } }
                dl.facts {
                    dt { "State" } dd { (state(collection)) }
                    dt { "Tokens" } dd { (format::number(collection.token_count)) }
                    dt { "Made" } dd { (format::time(collection.created_at)) }
                    dt { "Last change" } dd { (format::time(collection.updated_at)) }
                    @if !metadata.external_link.is_empty() {
                        dt { "Its own page" } dd { (format::web_link(&metadata.external_link)) }
                    }
                }
                @if member.is_owner() { (publishing(member, collection)) }
            }
        }
        details.snippet {
            summary { "Addresses for the contract" }
            p.hint {
                "What " code { "contractURI" } " should answer, and the base URI of the tokens. "
                @if collection.private { "They answer only with a secret token until the collection is published." }
            }
            (copyable("contract-uri", &collection.base_uris.contract))
            (copyable("token-uri", &collection.base_uris.token))
        }
    }
}

fn publishing(member: &Member, collection: &Collection) -> Markup {
    let verb = if collection.private { "/publish" } else { "/unpublish" };
    html! {
        div.buttons {
            a.button href=(path(member, collection.id, "/edit")) { "Edit metadata" }
            form.inline method="post" action=(path(member, collection.id, verb)) {
                (member.visitor.form_token())
                @if collection.private {
                    label.box { input type="checkbox" name="recursive" value="yes"; "its private tokens too" }
                    button { "Publish" }
                } @else {
                    button.plain { "Unpublish" }
                }
            }
        }
    }
}

fn token_list(member: &Member, collection: RecordId, tokens: &[TokenMetadata]) -> Markup {
    if tokens.is_empty() {
        return html! { p.empty { "There is no token here." } };
    }
    html! {
        ul.cards.small {
            @for token in tokens {
                li.card {
                    (assets::picture(member, collection, &token.image))
                    h3 {
                        a href=(token::path(member, collection, token.token_id, "")) {
                            (titled(&token.name, format_args!("Token {}", token.token_id)))
                        }
                    }
                    p.soft { "No. " (token::short_id(token.token_id)) }
                }
            }
        }
    }
}

fn new_token(member: &Member, collection: RecordId, typed: &Input<'_>) -> Markup {
    let is_typed = !typed.token_id.is_empty() || !typed.name.is_empty();
    html! {
        details.panel open[is_typed] {
            summary { "New token" }
            form.inline method="post" action=(path(member, collection, "/tokens")) {
                (member.visitor.form_token())
                label { "Token id" input name="token_id" value=(typed.token_id) inputmode="numeric" maxlength="78" required; }
                label { "Name" input name="name" value=(typed.name) maxlength="2048"; }
                button { "Create token" }
            }
        }
    }
}

fn deletion(member: &Member, collection: &Collection) -> Markup {
    html! {
        details.panel {
            summary { "Delete this collection" }
            p {
                "It goes with its " (format::number(collection.token_count)) " tokens, its files and its links to contracts. "
                "Whoever reads their metadata finds nothing from then on. This cannot be undone."
            }
            form method="post" action=(path(member, collection.id, "/delete")) {
                (member.visitor.form_token())
                button.danger { "Delete the collection and everything in it" }
            }
        }
    }
}
