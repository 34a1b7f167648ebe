//! Signing in and out.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_wire::{Email, Error};
use maud::html;

use crate::access::{Guest, Password, Visitor};
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
        Submission::Accepted(account) => guest.sign_in(account, see_other(inside(next))).await,
        Submission::Rejected(error) => {
            let page = page(&guest, next, form.text("email"), Some(&error));
            Ok((StatusCode::UNAUTHORIZED, page).into_response())
        }
    }
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
    sign_in.count_try(guest.peer, Some(&email), guest.console.now()).map_err(Refusal::too_many_tries)?;
    let found = guest.console.store().account_of(&email).await?;
    let (account, stored) = found.unzip();
    let password = Password::typed(form.text("password")).map_err(|_| wrong())?;
    let is_right = sign_in.passwords.verify(password, stored).await?;
    Ok(account.filter(|_| is_right).ok_or_else(wrong)?.id)
}

/// Where to go afterwards: only to a page of the console, whatever the address says.
fn inside(next: &str) -> &str {
    let is_inside = next.starts_with("/console/") && !next.contains(['\\', '\n', '\r']);
    if is_inside { next } else { "/console/projects" }
}

fn page(guest: &Guest, next: &str, email: &str, error: Option<&Error>) -> Response {
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
