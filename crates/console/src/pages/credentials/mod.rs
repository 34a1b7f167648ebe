//! A project's access keys and secret tokens.

mod keys;
mod snippets;
mod tokens;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bourse_wire::Error;
use maud::{Markup, html};

use crate::Console;
use crate::access::Member;
use crate::page::Section;
use crate::refusal::Refusal;
use crate::{Answer, notice};

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/credentials", get(show))
        .route("/credentials/keys", post(keys::create))
        .route("/credentials/keys/{key}", get(keys::edit).post(keys::update))
        .route("/credentials/keys/{key}/rotate", post(keys::rotate))
        .route("/credentials/keys/{key}/disable", post(keys::disable))
        .route("/credentials/tokens", post(tokens::create))
        .route("/credentials/tokens/{token}/revoke", post(tokens::revoke))
}

async fn show(member: Member) -> Answer {
    page(&member, &html! {}).await
}

/// The page again, with what is wrong with what was entered.
async fn refused(member: &Member, error: &Error) -> Answer {
    let page = page(member, &notice::refused(error)).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

async fn page(member: &Member, first: &Markup) -> Result<Response, Refusal> {
    let (store, scope) = (member.console().store(), member.scope());
    // What was used until a moment ago is still in memory only.
    member.console().store_last_use().await?;
    let (keys, tokens) = (store.access_keys(scope).await?, store.secret_tokens(scope).await?);
    let body = html! {
        h1 { "Credentials" }
        (first)
        section {
            h2 { "Access keys" }
            p {
                "Public: they say which project calls, and may be in a web page or a game. Limit them to the origins and "
                "services that you use."
            }
            (keys::list(member, &keys))
            @if member.is_owner() { (keys::creation(member)) }
        }
        section {
            h2 { "Secret tokens" }
            p { "For your own servers. Whoever has one can do everything in this project through the API." }
            (tokens::list(member, &tokens))
            @if member.is_owner() { (tokens::creation(member)) }
        }
        section {
            h2 { "Try it" }
            (snippets::all(&member.console().settings().public_url(), None))
        }
    };
    Ok(member.page(Section::Credentials, "Credentials", &body))
}
