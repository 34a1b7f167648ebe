//! Signing in and out.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_wire::{Email, Error};
use maud::html;

use crate::access::{Guest, Password, Visitor, require_code};
use crate::form::{Form, GuestForm};
use crate::page::{bare, form_token};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, notice, see_other};

pub(super) async fn show(guest: Guest) -> Answer {
    let next = Form::of_query(guest.uri.query().unwrap_or_default()).text("next").to_owned();
    Ok(guest.remember(page(&guest, &next, "", None)))
}

pub(super) async fn enter(guest: Guest, GuestForm(form): GuestForm) -> Answer {
    let next = form.text("next");
    match Submission::of(check(&guest, &form).await)? {
        Submission::Accepted(account) => {
            let factor = guest.console.store().second_factor(account).await?;
            if factor.is_some_and(|factor| factor.confirmed_at.is_some()) {
                return guest.await_code(account, see_other(&with_next("/console/sign-in/code", next))).await;
            }
            guest.sign_in(account, see_other(inside(next))).await
        }
        Submission::Rejected(error) => {
            let page = page(&guest, next, form.text("email"), Some(&error));
            Ok((StatusCode::UNAUTHORIZED, page).into_response())
        }
    }
}

/// The second step, for those whose password alone does not let them in.
pub(super) async fn show_code(guest: Guest) -> Answer {
    let next = Form::of_query(guest.uri.query().unwrap_or_default()).text("next").to_owned();
    if guest.pending().await?.is_none() {
        return Ok(see_other(&with_next("/console/sign-in", &next)));
    }
    Ok(guest.remember(code_page(&guest, &next, None)))
}

pub(super) async fn enter_code(guest: Guest, GuestForm(form): GuestForm) -> Answer {
    let next = form.text("next");
    let Some((account, proof)) = guest.pending().await? else {
        return Ok(see_other(&with_next("/console/sign-in", next)));
    };
    let shown = require_code(&guest.console, &account, guest.peer, form.text("code")).await;
    if let Submission::Rejected(error) = Submission::of(shown)? {
        guest.note_refused(Some(&account)).await?;
        let page = code_page(&guest, next, Some(&error));
        return Ok((StatusCode::UNAUTHORIZED, page).into_response());
    }
    // A password that was shown once lets nobody in twice.
    if !guest.console.store().end_pending_sign_in(proof.hash()).await? {
        return Ok(see_other(&with_next("/console/sign-in", next)));
    }
    guest.sign_in(account.id, see_other(inside(next))).await
}

/// An address, with where to go afterwards.
fn with_next(path: &str, next: &str) -> String {
    if next.is_empty() {
        return path.to_owned();
    }
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    format!("{path}?{query}")
}

fn code_page(guest: &Guest, next: &str, error: Option<&Error>) -> Response {
    let body = html! {
        h1 { "Second step" }
        @if let Some(error) = error { (notice::refused(error)) }
        form.stacked method="post" action="/console/sign-in/code" {
            (form_token(&guest.proof))
            input type="hidden" name="next" value=(next);
            label {
                "Code of your authenticator app"
                input type="text" name="code" autocomplete="one-time-code" autocapitalize="off" spellcheck="false"
                    maxlength="32" required autofocus aria-describedby="code-hint";
            }
            p.hint id="code-hint" { "Six digits, or one of your recovery codes if you do not have the app." }
            button { "Sign in" }
        }
        p.soft {
            "Neither? The operator of this service switches the second step off with "
            code { "bourse console second-factor-off" } "."
        }
    };
    bare("Second step", &body)
}

pub(super) async fn leave(visitor: Visitor, _form: Form) -> Answer {
    visitor.console.store().close_session(visitor.proof.hash()).await?;
    Ok(see_other("/console/sign-in"))
}

/// Whose password it is. Who asks learns nothing about which accounts there are.
async fn check(guest: &Guest, form: &Form) -> Result<bourse_wire::RecordId, Refusal> {
    let wrong =
        || Error::invalid("email", "and password do not belong together, or there is no such account");
    let email: Email = form.text("email").parse().map_err(|_| wrong())?;
    let sign_in = &guest.console.sign_in;
    let (store, now) = (guest.console.store(), guest.console.now());
    sign_in.count_try(store, guest.peer, Some(&email), now).await?;
    let found = store.account_of(&email).await?;
    let (account, stored) = found.unzip();
    let password = Password::typed(form.text("password")).map_err(|_| wrong())?;
    if sign_in.passwords.verify(password, stored).await?
        && let Some(account) = account
    {
        return Ok(account.id);
    }
    guest.note_refused(account.as_ref()).await?;
    Err(wrong().into())
}

/// Where to go afterwards: only to a page of the console, whatever the address says.
fn inside(next: &str) -> &str {
    let is_inside = next.starts_with("/console/") && !next.contains(['\\', '\n', '\r']);
    if is_inside { next } else { "/console/projects" }
}

fn page(guest: &Guest, next: &str, email: &str, error: Option<&Error>) -> Response {
    let trial_key = guest.console.settings().trial.access_key.trim();
    let body = html! {
        h1 { "Sign in" }
        @if let Some(error) = error { (notice::refused(error)) }
        form.stacked method="post" action="/console/sign-in" {
            (form_token(&guest.proof))
            input type="hidden" name="next" value=(next);
            label { "E-mail" input type="email" name="email" value=(email) autocomplete="username" required autofocus; }
            label { "Password" input type="password" name="password" autocomplete="current-password" required; }
            button { "Sign in" }
        }
        p.soft {
            "No account? Ask somebody who has one for a link. The operator of this service makes one with "
            code { "bourse console link" } "."
        }
        @if !trial_key.is_empty() {
            p.soft {
                "To try the interface without one, take the access key " code { (trial_key) } ", which reads: "
                a href="/docs" { "reference" } "."
            }
        }
    };
    bare("Sign in", &body)
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn nobody_is_sent_elsewhere() {
        assert_eq!(inside("/console/projects/1?x=y"), "/console/projects/1?x=y");
        for outside in
            ["", "https://evil.example", "//evil.example", "/console\\evil", "/other", "/console/\n"]
        {
            assert_eq!(inside(outside), "/console/projects");
        }
    }
}
