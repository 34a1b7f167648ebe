//! A webhook: how it is sent, what is to be different, and what could not be delivered.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_store::{DeadLetter, Webhook, WebhookLine};
use bourse_wire::{Code, Error};
use maud::{Markup, html};
use serde_json::json;

use super::{fields, path_of};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::{Section, copyable};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

/// Characters of a message that are shown in a list.
const SHOWN_CHARS: usize = 400;

pub(super) async fn show(member: Member) -> Answer {
    page(&member, None, None).await
}

pub(super) async fn change(Owner(member): Owner, form: Form) -> Answer {
    let id = member.id("webhook")?;
    let mut listener = fields::body(&form);
    listener["id"] = json!(id);
    let changed = member.ask("Indexer/UpdateWebhookListener", &json!({ "listener": listener })).await;
    match Submission::of(changed)? {
        Submission::Accepted(_) => Ok(see_other(&Done::Changed.at(&path_of(&member, id)))),
        Submission::Rejected(error) => {
            let page = page(&member, Some(&form), Some(&error)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

pub(super) async fn toggle(Owner(member): Owner, _form: Form) -> Answer {
    let id = member.id("webhook")?;
    member.ask("Indexer/ToggleWebhookListener", &json!({ "id": id })).await?;
    Ok(see_other(&Done::Changed.at(&path_of(&member, id))))
}

pub(super) async fn remove(Owner(member): Owner, _form: Form) -> Answer {
    let id = member.id("webhook")?;
    member.ask("Indexer/RemoveWebhookListener", &json!({ "id": id })).await?;
    Ok(see_other(&Done::Removed.at(&member.path("/webhooks"))))
}

pub(super) async fn send_again(Owner(member): Owner, _form: Form) -> Answer {
    let id = member.id("webhook")?;
    let letter = member.id("letter")?;
    match member.console().resend_webhook(member.scope(), letter).await? {
        None => Ok(see_other(&Done::Sent.at(&path_of(&member, id)))),
        Some(failure) => {
            let error = Error::new(Code::RequestConflict, format!("it could not be sent: {failure}"));
            let page = page(&member, None, Some(&error)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

pub(super) async fn forget(Owner(member): Owner, _form: Form) -> Answer {
    let id = member.id("webhook")?;
    let letter = member.id("letter")?;
    member.console().store().forget_dead_letter(member.scope(), letter).await?;
    Ok(see_other(&Done::Removed.at(&path_of(&member, id))))
}

async fn page(member: &Member, form: Option<&Form>, error: Option<&Error>) -> Result<Response, Refusal> {
    let (store, scope, id) = (member.console().store(), member.scope(), member.id("webhook")?);
    let webhook = store.webhook(scope, id).await?;
    let mut lines = store.webhook_lines(scope).await?;
    lines.retain(|line| line.key.listener == id);
    let letters = store.dead_letters(scope, id).await?;
    let title = if webhook.name.is_empty() { "Webhook" } else { webhook.name.as_str() };
    let body = html! {
        p.trail { a href=(member.path("/webhooks")) { "Webhooks" } }
        h1 { (title) }
        @if let Some(error) = error { (notice::refused(error)) }
        (standing(&webhook))
        (deliveries(&lines))
        h2 { "Not delivered" }
        @if letters.is_empty() { p.empty { "Everything was delivered, or is still tried." } }
        @else { (undelivered(member, &letters)) }
        @if member.is_owner() { (actions(member, &webhook, form)) }
    };
    Ok(member.page(Section::Webhooks, title, &body))
}

fn standing(webhook: &Webhook) -> Markup {
    html! {
        p {
            "Sent to " code { (webhook.url) } ". "
            @if webhook.active { "It is told what happens." }
            @else if webhook.pause.is_empty() { "It is paused." }
            @else { "It is paused: " (webhook.pause) "." }
        }
    }
}

fn deliveries(lines: &[WebhookLine]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Contract" } th.number scope="col" { "Failures in a row" }
                    th scope="col" { "Tried again" } th scope="col" { "Last failure" }
                } }
                tbody {
                    @for line in lines {
                        tr {
                            td { (format::hex(line.contract)) }
                            td.number { (format::number(line.failures)) }
                            td { @if line.failures > 0 { (format::time(line.due_at)) } }
                            td { @if !line.failure.is_empty() { (format::time(line.failed_at)) ": " (line.failure) } }
                        }
                    }
                }
            }
        }
    }
}

fn undelivered(member: &Member, letters: &[DeadLetter]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Tried last" } th scope="col" { "Failure" } th scope="col" { "Message" }
                    th scope="col" { span.unseen { "Actions" } }
                } }
                tbody { @for letter in letters { (letter_row(member, letter)) } }
            }
        }
    }
}

fn letter_row(member: &Member, letter: &DeadLetter) -> Markup {
    let path = |act: &str| format!("{}/letters/{}/{act}", path_of(member, letter.listener), letter.id);
    html! {
        tr {
            td { (format::time(letter.failed_at)) }
            td { (letter.failure) }
            td { code { (format::shortened(&letter.body, SHOWN_CHARS)) } }
            td.actions {
                @if member.is_owner() {
                    form method="post" action=(path("send")) {
                        (member.visitor.form_token())
                        button { "Send again" span.unseen { " " (letter.message) } }
                    }
                    form method="post" action=(path("forget")) {
                        (member.visitor.form_token())
                        button.danger { "Forget" span.unseen { " " (letter.message) } }
                    }
                }
            }
        }
    }
}

fn actions(member: &Member, webhook: &Webhook, form: Option<&Form>) -> Markup {
    let path = path_of(member, webhook.id);
    let entered = form.map_or_else(|| fields::of(webhook), fields::entered);
    html! {
        section.panel {
            h2 { "Secret" }
            p { "Messages are signed with it: whoever has it can send some that look like yours." }
            (copyable("secret", &webhook.secret))
        }
        section.panel {
            h2 { "Change" }
            form.stacked method="post" action=(path) {
                (member.visitor.form_token())
                (fields::inputs(&entered))
                button { "Save" }
            }
            form method="post" action={ (path) "/toggle" } {
                (member.visitor.form_token())
                button { @if webhook.active { "Pause" } @else { "Resume" } }
            }
            form method="post" action={ (path) "/remove" }
                data-confirm="Remove this webhook, and what could not be delivered to it?" {
                (member.visitor.form_token())
                button.danger { "Remove" }
            }
        }
    }
}
