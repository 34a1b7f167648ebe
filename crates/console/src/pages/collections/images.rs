//! Pictures of tokens and contracts. A picture is named by whose it is, never by its link: nobody can have the service
//! fetch what no token names.

use axum::extract::RawQuery;
use axum::http::HeaderMap;
use bourse_pictures::{Audience, Size, Visitor, nothing, response};
use bourse_wire::{ContractInfo, TokenId, TokenMetadata};
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};

use super::CollectionRef;
use super::records::{contract_info, token_json};
use crate::access::Member;
use crate::{Answer, see_other};

pub(super) async fn token(member: Member, RawQuery(query): RawQuery, headers: HeaderMap) -> Answer {
    let (collection, token) = (CollectionRef::of(&member)?, member.part::<TokenId>("token")?);
    let metadata: TokenMetadata = serde_json::from_value(token_json(&member, &collection, token).await?)?;
    answer(&member, link_of_token(&metadata), &headers, size_in(query.as_deref())).await
}

pub(super) async fn logo(member: Member, RawQuery(query): RawQuery, headers: HeaderMap) -> Answer {
    let collection = CollectionRef::of(&member)?;
    let info = contract_info(&member, &collection).await?;
    let link = info.as_ref().map_or("", link_of_contract);
    answer(&member, link, &headers, size_in(query.as_deref())).await
}

/// The size that is asked for, `w=320`; the whole picture where none is.
fn size_in(query: Option<&str>) -> Size {
    let width = query.into_iter().flat_map(|query| query.split('&')).find_map(|part| part.strip_prefix("w="));
    width.and_then(|width| Size::of_width(width.parse().ok()?)).unwrap_or(Size::Whole)
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
    let version = const_hex::encode(&Sha256::digest(link)[..6]);
    html! {
        div.picture {
            @if !link.is_empty() {
                img src={ (path) "?" (version) "&w=" (size.width()) } alt="" loading="lazy" decoding="async" width="400" height="400";
            }
        }
    }
}

async fn answer(member: &Member, link: &str, asked: &HeaderMap, size: Size) -> Answer {
    let console = member.console();
    if let Some(path) = own_path(&console.settings().public_url(), link) {
        return Ok(see_other(path));
    }
    let visitor = Visitor::Account(member.visitor.account.id);
    Ok(match console.pictures.find(visitor, link, size).await {
        Ok(picture) => response(asked, &picture, link, Audience::Private),
        Err(reason) => nothing(&reason),
    })
}

/// The path of a file that this service serves itself. Nothing else of this service is anything that a link may lead a
/// signed-in browser to, and a path with `..` in it would lead anywhere, so that it is read part by part.
fn own_path<'l>(public_url: &str, link: &'l str) -> Option<&'l str> {
    let path = link.strip_prefix(public_url.trim_end_matches('/'))?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let parts: Vec<&str> = path.split('/').collect();
    let is_file = match parts.as_slice() {
        ["", "projects", project, "collections", collection, rest @ ..] => {
            let is_file = match rest {
                ["assets", asset] => is_number(asset),
                ["tokens", token, "asset", field] => is_number(token) && is_word(field),
                _ => false,
            };
            is_number(project) && is_number(collection) && is_file
        }
        _ => false,
    };
    is_file.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_service_are_its_own() {
        let path = |link: &str| own_path("https://bourse.example", link).map(str::to_owned);
        for file in
            ["/projects/1/collections/2/assets/3", "/projects/1/collections/2/tokens/3/asset/animation_url"]
        {
            assert_eq!(path(&format!("https://bourse.example{file}")).as_deref(), Some(file));
            for change in [
                format!("https://bourse.example.evil.example{file}"),
                format!("https://bourse.example/{file}"),
                format!("https://bourse.example@evil.example{file}"),
                format!("https://bourse.example{file}/../../../../../console/sign-out"),
                format!("https://bourse.example{file}/%2e%2e/upload"),
                format!("https://bourse.example{file}?next=/console"),
                format!("https://bourse.example{file}#x"),
                format!("https://bourse.example{file}\r\nset-cookie: a=b"),
                format!("http://bourse.example{file}"),
                file.to_owned(),
            ] {
                assert_eq!(path(&change), None, "{change}");
            }
        }
        for other in [
            "",
            "/",
            "/console/sign-out",
            "/projects/../console/sign-out",
            "/projects/1/../../console/people",
            "/projects/1/collections/2/assets/..",
            "/projects/1/collections/2/assets/",
            "/projects/1/collections/2/tokens/3/asset/..",
            "/projects/1/collections/2",
            "/projects/1\\..\\..\\console",
            "//evil.example/projects/1/collections/2/assets/3",
        ] {
            assert_eq!(path(&format!("https://bourse.example{other}")), None, "{other}");
        }
    }
}
