//! Pictures of tokens, and those of the shop itself. A picture is named by whose it is, never by its link: nobody can have the
//! service fetch what no token of the shop and no operator names.

use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use bourse_pictures::{Audience, NoPicture, Size, Visitor, nothing, version};
use bourse_store::CollectionKey;
use bourse_wire::{TokenId, TokenMetadata};
use maud::{Markup, html};

use super::parts;
use super::token::token_json;
use crate::Answer;
use crate::asking::{CollectionRef, Visit};

pub(super) async fn show(visit: Visit, RawQuery(query): RawQuery, asked: HeaderMap) -> Answer {
    let contract = visit.shown_contract()?;
    picture(&visit, contract, query.as_deref(), &asked).await
}

/// The picture of a token that is not made yet.
pub(super) async fn sold(visit: Visit, RawQuery(query): RawQuery, asked: HeaderMap) -> Answer {
    let contract = visit.sold_contract()?;
    picture(&visit, contract, query.as_deref(), &asked).await
}

async fn picture(visit: &Visit, contract: CollectionKey, query: Option<&str>, asked: &HeaderMap) -> Answer {
    let (path, now) = (visit.uri.0.path(), visit.shop.backstage.now());
    // What a page has named a moment ago, unless the address is one of another link: the token has changed.
    let named = visit.shop.links.find(path, now).filter(|link| is_named(query, link));
    let link = if let Some(link) = named {
        link
    } else {
        let raw = token_json(visit, contract, visit.part::<TokenId>("token")?).await?;
        let metadata: TokenMetadata = serde_json::from_value(raw)?;
        let link = link_of(&metadata).to_owned();
        visit.shop.links.note(path, &link, now);
        link
    };
    Ok(answer(visit, &link, query, asked).await.unwrap_or_else(|reason| nothing(&reason)))
}

/// Whether the query of an address is that of a link.
fn is_named(query: Option<&str>, link: &str) -> bool {
    let version = version(link);
    query.is_some_and(|query| query.split('&').any(|part| part == version))
}

pub(super) async fn logo(visit: Visit, RawQuery(query): RawQuery, asked: HeaderMap) -> Answer {
    Ok(of_shop(&visit, visit.storefront().settings.logo_url.as_str(), query.as_deref(), &asked).await)
}

pub(super) async fn icon(visit: Visit, RawQuery(query): RawQuery, asked: HeaderMap) -> Answer {
    Ok(of_shop(&visit, visit.storefront().settings.favicon_url.as_str(), query.as_deref(), &asked).await)
}

/// A picture of the shop itself. Where there is none its name stands alone, so that no sign is shown in its place.
async fn of_shop(visit: &Visit, link: &str, query: Option<&str>, asked: &HeaderMap) -> Response {
    answer(visit, link, query, asked).await.unwrap_or_else(|reason| {
        let mut response = nothing(&reason);
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(header::CONTENT_TYPE);
        response
    })
}

/// The picture that a link leads to.
async fn answer(
    visit: &Visit,
    link: &str,
    query: Option<&str>,
    asked: &HeaderMap,
) -> Result<Response, NoPicture> {
    let visitor = Visitor::Guest(visit.peer);
    visit.shop.pictures.answer(visitor, asked, (link, query), Audience::Public).await
}

/// The address of the shop's logo; none where it has none.
pub(crate) fn logo_address(visit: &Visit) -> Option<String> {
    own_address(visit, ("/logo/image", Size::Medium), visit.storefront().settings.logo_url.as_str())
}

/// The address of the small picture of browser tabs; none where there is none.
pub(crate) fn icon_address(visit: &Visit) -> Option<String> {
    own_address(visit, ("/icon/image", Size::Small), visit.storefront().settings.favicon_url.as_str())
}

fn own_address(visit: &Visit, (path, size): (&str, Size), link: &str) -> Option<String> {
    (!link.is_empty()).then(|| versioned(&visit.path(path), link, size))
}

/// An address that is another one when the link is.
fn versioned(path: &str, link: &str, size: Size) -> String {
    format!("{path}?{}&w={}", version(link), size.width())
}

/// The link to a token's picture, or the picture itself as text.
fn link_of(token: &TokenMetadata) -> &str {
    if token.image.is_empty() { &token.image_data } else { &token.image }
}

/// Whether a link leads to a drawing, as far as it tells: those who show pictures of pages they hear of take none.
fn is_drawing(link: &str) -> bool {
    let start = link.get(..14).unwrap_or(link).to_ascii_lowercase();
    let path = link.split(['?', '#']).next().unwrap_or_default();
    start.starts_with('<') || start == "data:image/svg" || path.to_ascii_lowercase().ends_with(".svg")
}

/// The address of a token's picture for those who hear of a page; none where it names none that they would show.
pub(super) fn shared(visit: &Visit, collection: &CollectionRef, token: &TokenMetadata) -> Option<String> {
    if is_drawing(link_of(token)) {
        return None;
    }
    address(visit, &collection.picture(token.token_id), token, Size::Large)
}

/// The address of a token's picture, which is at a path; none where the token names none.
fn address(visit: &Visit, path: &str, token: &TokenMetadata, size: Size) -> Option<String> {
    let link = link_of(token);
    if link.is_empty() {
        return None;
    }
    visit.shop.links.note(path, link, visit.shop.backstage.now());
    Some(versioned(path, link, size))
}

/// A token's picture in a page, an ornament of the name beside it; the first letter of the name where there is none.
pub(super) fn of_token(visit: &Visit, path: &str, token: &TokenMetadata, size: Size) -> Markup {
    match address(visit, path, token, size) {
        None => parts::letter(token),
        Some(address) => html! {
            span.picture { img src=(address) alt="" loading="lazy" decoding="async" width="400" height="400"; }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::is_drawing;

    #[test]
    fn drawings_are_told_by_their_links() {
        for link in ["<svg/>", "data:image/svg+xml;base64,AA", "DATA:image/SVG+xml,x", "ipfs://Qm/1.SVG?x=1"]
        {
            assert!(is_drawing(link), "{link}");
        }
        for link in ["", "ipfs://Qm/1", "data:image/png;base64,AA", "https://a.example/1.png?of=a.svg"] {
            assert!(!is_drawing(link), "{link}");
        }
    }
}
