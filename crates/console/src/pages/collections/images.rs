//! Pictures of tokens and contracts. A picture is named by whose it is, never by its link: nobody can have the service
//! fetch what no token names.

use axum::extract::RawQuery;
use axum::http::HeaderMap;
use bourse_pictures::{Audience, Size, Visitor, nothing, version};
use bourse_wire::{ContractInfo, TokenId, TokenMetadata};
use maud::{Markup, html};

use super::CollectionRef;
use super::records::{contract_info, token_json};
use crate::Answer;
use crate::access::Member;

pub(super) async fn token(member: Member, RawQuery(query): RawQuery, headers: HeaderMap) -> Answer {
    let (collection, token) = (CollectionRef::of(&member)?, member.part::<TokenId>("token")?);
    let metadata: TokenMetadata = serde_json::from_value(token_json(&member, &collection, token).await?)?;
    answer(&member, link_of_token(&metadata), &headers, query.as_deref()).await
}

pub(super) async fn logo(member: Member, RawQuery(query): RawQuery, headers: HeaderMap) -> Answer {
    let collection = CollectionRef::of(&member)?;
    let info = contract_info(&member, &collection).await?;
    let link = info.as_ref().map_or("", link_of_contract);
    answer(&member, link, &headers, query.as_deref()).await
}

/// The link to a token's picture, or the picture itself as text.
fn link_of_token(token: &TokenMetadata) -> &str {
    if token.image.is_empty() { &token.image_data } else { &token.image }
}

fn link_of_contract(info: &ContractInfo) -> &str {
    if info.logo_uri.is_empty() { &info.extensions.og_image } else { &info.logo_uri }
}

/// A token's picture in a page.
pub(super) fn of_token(collection: &CollectionRef, token: &TokenMetadata, size: Size) -> Markup {
    framed(&collection.token(token.token_id, "/image"), link_of_token(token), size)
}

/// A contract's picture in a page.
pub(super) fn of_contract(collection: &CollectionRef, info: Option<&ContractInfo>) -> Markup {
    framed(&format!("{}/logo", collection.path), info.map_or("", link_of_contract), Size::Medium)
}

/// The picture is an ornament of the name beside it, and so has no text of its own.
fn framed(path: &str, link: &str, size: Size) -> Markup {
    html! {
        div.picture {
            @if !link.is_empty() {
                img src={ (path) "?" (version(link)) "&w=" (size.width()) } alt="" loading="lazy" decoding="async" width="400" height="400";
            }
        }
    }
}

async fn answer(member: &Member, link: &str, asked: &HeaderMap, query: Option<&str>) -> Answer {
    let visitor = Visitor::Account(member.visitor.account.id);
    let pictures = &member.console().pictures;
    let answer = pictures.answer(visitor, asked, (link, query), Audience::Private).await;
    Ok(answer.unwrap_or_else(|reason| nothing(&reason)))
}
