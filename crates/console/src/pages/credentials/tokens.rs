//! Secret tokens.

use bourse_store::SecretTokenRecord;
use bourse_wire::{Error, Text, Timestamp};
use maud::{Markup, html};

use super::{page, refused};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::copyable;
use crate::{Answer, format, later, see_other};

/// For how many days a token can be made.
const DAYS: [(u64, &str); 4] = [(30, "30 days"), (90, "90 days"), (365, "a year"), (0, "no end")];

pub(super) async fn create(Owner(member): Owner, form: Form) -> Answer {
    let (console, now) = (member.console(), member.console().now());
    let (name, expires) = match terms(&form, now) {
        Ok(terms) => terms,
        Err(error) => return refused(&member, &error).await,
    };
    let issued = console.issue_token(member.project.id, expires)?;
    let record = SecretTokenRecord {
        project: member.project.id,
        id: issued.id,
        display_name: name,
        created_at: now,
        expires_at: expires,
        revoked_at: None,
        last_used_at: None,
    };
    console.store().create_secret_token(record, member.visitor.actor()).await?;
    console.renew_credentials().await?;
    let first = html! {
        div.notice.done role="status" {
            p { strong { "This is the token. It is not shown again." } " Copy it now, and keep it where you keep passwords: "
                "never in a web page, a game or a repository." }
            (copyable("new-token", &issued.token))
        }
    };
    page(&member, &first).await
}

pub(super) async fn revoke(Owner(member): Owner, _form: Form) -> Answer {
    let (console, id) = (member.console(), member.name("token").to_owned());
    console.store().revoke_secret_token(member.scope(), id, member.visitor.actor()).await?;
    console.renew_credentials().await?;
    Ok(see_other(&Done::TokenRevoked.at(&member.path("/credentials"))))
}

fn terms(form: &Form, now: Timestamp) -> Result<(String, Option<Timestamp>), Error> {
    let name: Text<128> = form.read("name")?;
    let days: u64 = form.read("days")?;
    if !DAYS.iter().any(|(known, _)| *known == days) {
        return Err(Error::invalid("days", "must be one of those that the form has"));
    }
    Ok((name.into_string(), (days > 0).then(|| later(now, days * 24 * 3600))))
}

pub(super) fn list(member: &Member, tokens: &[SecretTokenRecord]) -> Markup {
    if tokens.is_empty() {
        return html! { p.empty { "There is no secret token yet." } };
    }
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Name" } th scope="col" { "State" } th scope="col" { "Made" }
                    th scope="col" { "Until" } th scope="col" { "Last use" }
                    th scope="col" { span.unseen { "Actions" } }
                } }
                tbody { @for token in tokens { (row(member, token)) } }
            }
        }
    }
}

fn row(member: &Member, token: &SecretTokenRecord) -> Markup {
    let name = if token.display_name.is_empty() { token.id.clone() } else { token.display_name.clone() };
    let is_over = token.expires_at.is_some_and(|expires| expires <= member.console().now());
    let state = match token.revoked_at {
        Some(_) => "revoked",
        None if is_over => "expired",
        None => "valid",
    };
    html! {
        tr.off[state != "valid"] {
            td { (name) }
            td { (state) }
            td { (format::time(token.created_at)) }
            td { (format::time_or(token.expires_at, "no end")) }
            td { (format::time_or(token.last_used_at, "never")) }
            td.actions {
                @if state == "valid" && member.is_owner() {
                    form method="post" action=(member.path(&format!("/credentials/tokens/{}/revoke", token.id)))
                        data-confirm={ "Revoke " (name) "? Requests with it are refused at once." } {
                        (member.visitor.form_token())
                        button.danger { "Revoke" span.unseen { " " (name) } }
                    }
                }
            }
        }
    }
}

pub(super) fn creation(member: &Member) -> Markup {
    html! {
        details.panel {
            summary { "New secret token" }
            form.stacked method="post" action=(member.path("/credentials/tokens")) {
                (member.visitor.form_token())
                label { "Name" input name="name" maxlength="128"; }
                label {
                    "Works for"
                    select name="days" { @for (days, text) in DAYS { option value=(days) { (text) } } }
                }
                button { "Make secret token" }
            }
        }
    }
}
