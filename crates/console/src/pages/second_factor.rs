//! The second factor of the visitor's own account.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_store::{Confirmation, SecondFactor};
use bourse_wire::Error;
use maud::{Markup, html};

use super::account::require_password;
use crate::access::{RecoveryCode, Secret, Visitor, picture, require_code, wrong_code};
use crate::form::Form;
use crate::notice::{self, Done};
use crate::page::copyable;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, see_other};

const TITLE: &str = "Second factor";

pub(super) async fn show(visitor: Visitor) -> Answer {
    page(&visitor, None).await
}

/// Draws a secret and shows it: from here on the app computes codes.
pub(super) async fn begin(visitor: Visitor, form: Form) -> Answer {
    let begun = async {
        require_password(&visitor, form.text("current")).await?;
        let secret = Secret::fresh();
        visitor.console.store().propose_second_factor(visitor.account.id, secret.stored()).await?;
        Ok::<_, Refusal>(secret)
    };
    match Submission::of(begun.await)? {
        Submission::Accepted(secret) => Ok(setup(&visitor, &secret, None)),
        Submission::Rejected(error) => rejected(&visitor, &error).await,
    }
}

/// Switches it on, with its first code.
pub(super) async fn confirm(visitor: Visitor, form: Form) -> Answer {
    let Some(secret) = proposed(&visitor).await? else {
        let error = Error::conflict("there is no secret that waits for its first code: begin again");
        return rejected(&visitor, &error).await;
    };
    let (store, account, now) = (visitor.console.store(), visitor.account.id, visitor.console.now());
    if !store.count_code_try(account, now).await? {
        return Err(Refusal::too_many_codes());
    }
    let Some(step) = secret.step_of(form.text("code"), now) else {
        let page = setup(&visitor, &secret, Some(&wrong_code()));
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    };
    let codes = RecoveryCode::fresh();
    let recovery = codes.iter().map(RecoveryCode::hash).collect();
    let shown = Confirmation { step, recovery, keep: visitor.proof.hash() };
    match Submission::of(store.confirm_second_factor(account, shown, visitor.actor()).await)? {
        Submission::Accepted(()) => Ok(codes_page(&visitor, &codes, true)),
        Submission::Rejected(error) => rejected(&visitor, &error).await,
    }
}

/// Gives other recovery codes.
pub(super) async fn renew(visitor: Visitor, form: Form) -> Answer {
    let renewed = async {
        prove(&visitor, &form).await?;
        let codes = RecoveryCode::fresh();
        let hashes = codes.iter().map(RecoveryCode::hash).collect();
        visitor.console.store().renew_recovery_codes(visitor.account.id, hashes, visitor.actor()).await?;
        Ok::<_, Refusal>(codes)
    };
    match Submission::of(renewed.await)? {
        Submission::Accepted(codes) => Ok(codes_page(&visitor, &codes, false)),
        Submission::Rejected(error) => rejected(&visitor, &error).await,
    }
}

pub(super) async fn switch_off(visitor: Visitor, form: Form) -> Answer {
    let off = async {
        prove(&visitor, &form).await?;
        Ok::<_, Refusal>(
            visitor.console.store().remove_second_factor(visitor.account.id, visitor.actor()).await?,
        )
    };
    match Submission::of(off.await)? {
        Submission::Accepted(_) => Ok(see_other(&Done::SecondFactorOff.at("/console/account"))),
        Submission::Rejected(error) => rejected(&visitor, &error).await,
    }
}

/// The password first: a code is used up only by who knows that.
async fn prove(visitor: &Visitor, form: &Form) -> Result<(), Refusal> {
    require_password(visitor, form.text("current")).await?;
    require_code(&visitor.console, &visitor.account, None, form.text("code")).await
}

/// A secret of which no code was shown yet. One that was is never shown again.
async fn proposed(visitor: &Visitor) -> Result<Option<Secret>, Refusal> {
    let factor = visitor.console.store().second_factor(visitor.account.id).await?;
    let proposed = factor.filter(|factor| factor.confirmed_at.is_none());
    Ok(proposed.and_then(|factor| Secret::parse(&factor.secret)))
}

async fn rejected(visitor: &Visitor, error: &Error) -> Answer {
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page(visitor, Some(error)).await?).into_response())
}

async fn page(visitor: &Visitor, error: Option<&Error>) -> Answer {
    let store = visitor.console.store();
    let factor = store.second_factor(visitor.account.id).await?;
    let body = if let Some(SecondFactor { confirmed_at: Some(since), .. }) = factor {
        let left = store.recovery_codes_left(visitor.account.id).await?;
        html! {
            p { "It is on since " (format::time(since)) ". Signing in asks for a code after the password." }
            p { "Recovery codes that you have left: " (left) "." }
            (proving_form(visitor, "renew", "Other recovery codes", "Those that you have work no longer."))
            (proving_form(visitor, "off", "Switch it off", "Your password alone then lets you in."))
        }
    } else {
        html! {
            p {
                "It is off. With it, signing in asks for a code that an authenticator app on your phone computes, after "
                "the password. All your other sessions end when it is switched on."
            }
            form.stacked method="post" action="/console/account/second-factor/begin" {
                (visitor.form_token())
                (password_field())
                button { "Set it up" }
            }
        }
    };
    let body = html! {
        h1 { (TITLE) }
        @if let Some(error) = error { (notice::refused(error)) }
        (body)
        p { a href="/console/account" { "Back to your account" } }
    };
    Ok(visitor.page(TITLE, &body))
}

fn password_field() -> Markup {
    html! {
        label {
            "Current password"
            input type="password" name="current" autocomplete="current-password" maxlength="1024" required;
        }
    }
}

fn code_field() -> Markup {
    html! {
        label {
            "Code of your authenticator app"
            input type="text" name="code" autocomplete="one-time-code" autocapitalize="off" spellcheck="false"
                maxlength="32" required;
        }
    }
}

/// A form that needs the password and a code.
fn proving_form(visitor: &Visitor, act: &str, title: &str, consequence: &str) -> Markup {
    html! {
        section.panel {
            h2 { (title) }
            p { (consequence) }
            form.stacked method="post" action={ "/console/account/second-factor/" (act) } {
                (visitor.form_token())
                (password_field())
                (code_field())
                button.danger[act == "off"] { (title) }
            }
        }
    }
}

/// The secret, for the app.
fn setup(visitor: &Visitor, secret: &Secret, error: Option<&Error>) -> Response {
    let public_url = visitor.console.settings().public_url();
    let host = public_url.split("://").last().and_then(|rest| rest.split(['/', ':']).next());
    let link = secret.link(&format!("Bourse {}", host.unwrap_or_default()), &visitor.account.email);
    let body = html! {
        h1 { "Set up your authenticator app" }
        @if let Some(error) = error { (notice::refused(error)) }
        p { "Let the app read this picture, " a href=(link) { "open the link on the phone that has it" } ", or type the secret." }
        @if let Some(picture) = picture(&link) { p { (picture) } }
        (copyable("second-factor-secret", &secret.text()))
        form.stacked method="post" action="/console/account/second-factor/confirm" {
            (visitor.form_token())
            (code_field())
            button { "Switch it on" }
        }
        p.hint { "It is shown until you have entered the first code, and never again." }
    };
    visitor.page(TITLE, &body)
}

/// The recovery codes, this once.
fn codes_page(visitor: &Visitor, codes: &[RecoveryCode], is_new: bool) -> Response {
    let lines: Vec<String> = codes.iter().map(RecoveryCode::text).collect();
    let body = html! {
        h1 { "Your recovery codes" }
        @if is_new { p.notice.done role="status" { "The second factor is on, and all your other sessions have ended." } }
        p {
            "Each lets you in once in the place of a code, when you do not have your phone. Keep them where you keep what "
            "must not get lost: they are not shown again."
        }
        (copyable("recovery-codes", &lines.join("\n")))
        p { a href="/console/account" { "Back to your account" } }
    };
    visitor.page(TITLE, &body)
}
