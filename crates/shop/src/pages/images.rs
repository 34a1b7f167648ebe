//! Pictures of tokens. A picture is named by whose it is, never by its link: nobody can have the service fetch what no token
//! of the shop names.

use axum::extract::RawQuery;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse as _;
use bourse_pictures::{Audience, Size, Visitor, nothing, own_path, response, size_in};
use bourse_wire::{TokenId, TokenMetadata};
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};

use super::parts;
use super::token::token_json;
use crate::Answer;
use crate::asking::{CollectionRef, Visit};

pub(super) async fn show(visit: Visit, RawQuery(query): RawQuery, asked: HeaderMap) -> Answer {
    let path = visit.uri.0.path();
    let link = if let Some(link) = visit.shop.links.find(path, visit.shop.backstage.now()) {
        link
    } else {
        let (collection, token) = (visit.collection().await?, visit.part::<TokenId>("token")?);
        let metadata: TokenMetadata = serde_json::from_value(token_json(&visit, &collection, token).await?)?;
        let link = link_of(&metadata).to_owned();
        visit.shop.links.note(path, &link, visit.shop.backstage.now());
        link
    };
    if let Some(path) = own_path(&visit.shop.backstage.settings().public_url(), &link) {
        let mut response = StatusCode::SEE_OTHER.into_response();
        if let Ok(path) = HeaderValue::from_str(path) {
            response.headers_mut().insert(header::LOCATION, path);
        }
        return Ok(response);
    }
    let size = size_in(query.as_deref());
    Ok(match visit.shop.pictures.find(Visitor::Guest(visit.peer), &link, size).await {
        Ok(picture) => response(&asked, &picture, &link, Audience::Public),
        Err(reason) => nothing(&reason),
    })
}

/// The link to a token's picture, or the picture itself as text.
fn link_of(token: &TokenMetadata) -> &str {
    if token.image.is_empty() { &token.image_data } else { &token.image }
}

/// The address of a token's picture; none where it names none.
pub(super) fn address(
    visit: &Visit,
    collection: &CollectionRef,
    token: &TokenMetadata,
    size: Size,
) -> Option<String> {
    let (path, link) = (collection.picture(token.token_id), link_of(token));
    if link.is_empty() {
        return None;
    }
    visit.shop.links.note(&path, link, visit.shop.backstage.now());
    let version = const_hex::encode(&Sha256::digest(link)[..6]);
    Some(format!("{path}?{version}&w={}", size.width()))
}

/// A token's picture in a page, an ornament of the name beside it; the first letter of the name where there is none.
pub(super) fn of_token(
    visit: &Visit,
    collection: &CollectionRef,
    token: &TokenMetadata,
    size: Size,
) -> Markup {
    match address(visit, collection, token, size) {
        None => parts::letter(token),
        Some(address) => html! {
            span.picture { img src=(address) alt="" loading="lazy" decoding="async" width="400" height="400"; }
        },
    }
}
