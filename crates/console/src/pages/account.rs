//! The visitor's own account.

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use bourse_wire::Error;
use maud::html;

use crate::access::{Password, Visitor};
use crate::form::Form;
use crate::notice::{self, Done};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, see_other};

pub(super) async fn show(visitor: Visitor) -> Answer {
    Ok(page(&visitor, None))
}

pub(super) async fn change_password(visitor: Visitor, form: Form) -> Answer {
    match Submission::of(change(&visitor, &form).await)? {
        Submission::Accepted(()) => Ok(see_other(&Done::PasswordChanged.at("/console/account"))),
        Submission::Rejected(error) => {
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page(&visitor, Some(&error))).into_response())
        }
    }
}

pub(super) async fn leave_everywhere(visitor: Visitor, _form: Form) -> Answer {
    visitor.console.store().close_sessions(visitor.account.id, visitor.actor()).await?;
    Ok(see_other("/console/sign-in"))
}

/// Lets a visitor prove once more who they are, before something that a stranger at their desk must not do.
pub(super) async fn require_password(visitor: &Visitor, typed: &str) -> Result<(), Refusal> {
    let (console, account) = (&visitor.console, &visitor.account);
    let email = account.email.parse().map_err(|error| Error::invalid("email", error))?;
    let sign_in = &console.sign_in;
    sign_in.count_try(console.store(), None, Some(&email), console.now()).await?;
    let stored = console.store().account_of(&email).await?.map(|(_, stored)| stored);
    if !sign_in.passwords.verify(Password::typed(typed)?, stored).await? {
        return Err(Error::invalid("current password", "is not right").into());
    }
    Ok(())
}

async fn change(visitor: &Visitor, form: &Form) -> Result<(), Refusal> {
    let (console, account) = (&visitor.console, &visitor.account);
    let sign_in = &console.sign_in;
    let new = sign_in.passwords.choose(form.text("password"), &account.email).await?;
    if form.text("password") != form.text("again") {
        return Err(Error::invalid("password", "is not the same both times").into());
    }
    require_password(visitor, form.text("current")).await?;
    let hash = sign_in.passwords.hash(new).await?;
    Ok(console.store().set_password(account.id, hash, visitor.proof.hash(), visitor.actor()).await?)
}

fn page(visitor: &Visitor, error: Option<&Error>) -> axum::response::Response {
    let account = &visitor.account;
    let body = html! {
        h1 { "Your account" }
        @if let Some(error) = error { (notice::refused(error)) }
        dl.facts {
            dt { "E-mail" } dd { (account.email) }
            dt { "Since" } dd { (format::time(account.created_at)) }
            dt { "Last sign-in" } dd { (format::time_or(account.signed_in_at, "never")) }
            @if account.administrator { dt { "Role" } dd { "administrator of the service" } }
        }
        section.panel {
            h2 { "Change your password" }
            form.stacked method="post" action="/console/account/password" {
                (visitor.form_token())
                input type="email" value=(account.email) autocomplete="username" aria-label="E-mail" hidden readonly;
                label { "Current password" input type="password" name="current" autocomplete="current-password" required; }
                label {
                    "New password, 12 characters or more"
                    input type="password" name="password" autocomplete="new-password" minlength="12" maxlength="1024" required;
                }
                label {
                    "The same again"
                    input type="password" name="again" autocomplete="new-password" minlength="12" maxlength="1024" required;
                }
                button { "Change password" }
            }
        }
        section.panel {
            h2 { "Second factor" }
            p { "A code of an authenticator app beside your password, so that a password that got out lets nobody in." }
            p { a.button.plain href="/console/account/second-factor" { "Second factor" } }
        }
        section.panel {
            h2 { "Sessions" }
            p { "Ends every session of yours, on every device, this one included." }
            form method="post" action="/console/account/sign-out-everywhere" {
                (visitor.form_token())
                button.danger { "Sign out everywhere" }
            }
        }
    };
    visitor.page("Your account", &body)
}
