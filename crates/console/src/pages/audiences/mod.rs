//! A project's audiences.

mod audience;
mod contacts;
mod download;
mod sheet;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bourse_wire::{Audience, Error};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use crate::Console;
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/audiences", get(show).post(create))
        .route("/audiences/{audience}", get(audience::show))
        .route("/audiences/{audience}/rename", post(audience::rename))
        .route("/audiences/{audience}/registration", post(audience::set_registration))
        .route("/audiences/{audience}/delete", post(audience::delete))
        .route("/audiences/{audience}/remove", post(audience::remove_contacts))
        .route("/audiences/{audience}/preview", post(contacts::preview))
        .route("/audiences/{audience}/contacts", post(contacts::add))
        .route("/audiences/{audience}/contacts.csv", get(download::contacts))
}

#[derive(Deserialize)]
struct Audiences {
    audiences: Vec<Audience>,
}

#[derive(Deserialize)]
struct CreatedAudience {
    audience: Audience,
}

async fn show(member: Member) -> Answer {
    page(&member, "", None).await
}

async fn create(Owner(member): Owner, form: Form) -> Answer {
    let name = form.text("name");
    let made = member.ask_as("Builder/CreateAudience", &json!({ "name": name })).await;
    match Submission::of(made)? {
        Submission::Accepted(CreatedAudience { audience }) => {
            Ok(see_other(&Done::Created.at(&member.path(&format!("/audiences/{}", audience.id)))))
        }
        Submission::Rejected(error) => {
            let page = page(&member, name, Some(&error)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

async fn page(member: &Member, name: &str, error: Option<&Error>) -> Result<Response, Refusal> {
    let Audiences { audiences } = member.ask_as("Builder/ListAudiences", &json!({})).await?;
    let body = html! {
        h1 { "Audiences" }
        @if let Some(error) = error { (notice::refused(error)) }
        p { "Lists of people by wallet address, with a name and an e-mail address where you know them." }
        @if audiences.is_empty() {
            p.empty {
                @if member.is_owner() { "There is no audience yet. Make one below, then paste people or upload a table." }
                @else { "There is no audience yet. An owner of the project can make one." }
            }
        } @else { (list(member, &audiences)) }
        @if member.is_owner() {
            section.panel {
                h2 { "New audience" }
                form.inline method="post" action=(member.path("/audiences")) {
                    (member.visitor.form_token())
                    label { "Name" input name="name" value=(name) maxlength="256" required; }
                    button { "Create audience" }
                }
            }
        }
    };
    Ok(member.page(Section::Audiences, "Audiences", &body))
}

fn list(member: &Member, audiences: &[Audience]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Name" } th.number scope="col" { "Contacts" }
                    th scope="col" { "Made" } th scope="col" { "Last change" }
                } }
                tbody {
                    @for audience in audiences {
                        tr {
                            th.name scope="row" {
                                a href=(member.path(&format!("/audiences/{}", audience.id))) { (audience.name) }
                            }
                            td.number { (format::number(audience.contact_count)) }
                            td { (format::time(audience.created_at)) }
                            td { (format::time(audience.updated_at)) }
                        }
                    }
                }
            }
        }
    }
}
