//! A project's webhooks.

mod fields;
mod webhook;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bourse_store::{Webhook, WebhookLine};
use bourse_wire::{Error, RecordId};
use maud::{Markup, html};
use serde::Deserialize;

use crate::Console;
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/webhooks", get(show).post(add))
        .route("/webhooks/{webhook}", get(webhook::show).post(webhook::change))
        .route("/webhooks/{webhook}/toggle", post(webhook::toggle))
        .route("/webhooks/{webhook}/remove", post(webhook::remove))
        .route("/webhooks/{webhook}/letters/{letter}/send", post(webhook::send_again))
        .route("/webhooks/{webhook}/letters/{letter}/forget", post(webhook::forget))
}

#[derive(Deserialize)]
struct Added {
    listener: AddedListener,
}

#[derive(Deserialize)]
struct AddedListener {
    id: RecordId,
}

async fn show(member: Member) -> Answer {
    page(&member, &Form::default(), None).await
}

async fn add(Owner(member): Owner, form: Form) -> Answer {
    let added = member.ask_as("Indexer/AddWebhookListener", &fields::body(&form)).await;
    match Submission::of(added)? {
        Submission::Accepted(Added { listener }) => {
            Ok(see_other(&Done::Created.at(&path_of(&member, listener.id))))
        }
        Submission::Rejected(error) => {
            let page = page(&member, &form, Some(&error)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

fn path_of(member: &Member, webhook: RecordId) -> String {
    member.path(&format!("/webhooks/{webhook}"))
}

async fn page(member: &Member, form: &Form, error: Option<&Error>) -> Result<Response, Refusal> {
    let store = member.console().store();
    let webhooks = store.webhooks(member.scope(), None).await?;
    let lines = store.webhook_lines(member.scope()).await?;
    let body = html! {
        h1 { "Webhooks" }
        @if let Some(error) = error { (notice::refused(error)) }
        p { "Addresses of yours that are sent what happens in collections, signed, in order and at least once." }
        @if webhooks.is_empty() { p.empty { "There is no webhook yet." } }
        @else { (list(member, &webhooks, &lines)) }
        @if member.is_owner() {
            section.panel {
                h2 { "New webhook" }
                form.stacked method="post" action=(member.path("/webhooks")) {
                    (member.visitor.form_token())
                    label { "Network" input name="chain" value=(form.text("chain")) required; }
                    (fields::inputs(&fields::entered(form)))
                    button { "Add webhook" }
                }
            }
        }
    };
    Ok(member.page(Section::Webhooks, "Webhooks", &body))
}

fn list(member: &Member, webhooks: &[Webhook], lines: &[WebhookLine]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Webhook" } th scope="col" { "Network" } th scope="col" { "State" }
                    th scope="col" { "Last failure" }
                } }
                tbody { @for webhook in webhooks { (row(member, webhook, lines)) } }
            }
        }
    }
}

fn row(member: &Member, webhook: &Webhook, lines: &[WebhookLine]) -> Markup {
    let own: Vec<&WebhookLine> = lines.iter().filter(|line| line.key.listener == webhook.id).collect();
    let last = own.iter().filter(|line| !line.failure.is_empty()).max_by_key(|line| line.failed_at);
    html! {
        tr.off[!webhook.active] {
            th.name scope="row" {
                a href=(path_of(member, webhook.id)) {
                    @if webhook.name.is_empty() { (webhook.url) } @else { (webhook.name) }
                }
            }
            td { (format::network(&member.console().settings().networks, webhook.chain)) }
            td { (state(webhook, &own)) }
            td { @if let Some(line) = last { (format::time(line.failed_at)) ": " (line.failure) } @else { "none" } }
        }
    }
}

/// How a webhook is, in a word or two.
fn state(webhook: &Webhook, lines: &[&WebhookLine]) -> &'static str {
    match (webhook.active, lines.iter().any(|line| line.failures > 0)) {
        (false, _) => "paused",
        (true, true) => "failing, tried again",
        (true, false) => "sent",
    }
}
