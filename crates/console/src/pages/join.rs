//! Accepting an invitation: with a new account, or with the one that is signed in.

use std::sync::Arc;

use axum::extract::{FromRequestParts as _, Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_store::{Actor, Invite, Invited, NewAccount, Role};
use bourse_wire::{Email, Error};
use maud::html;

use crate::Console;
use crate::access::{Guest, Proof, Visitor};
use crate::form::{Form, GuestForm};
use crate::notice::Done;
use crate::page::{bare, form_token};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, notice, see_other};

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    Path(link): Path<String>,
    request: Request,
) -> Answer {
    let (mut parts, _) = request.into_parts();
    let Ok(guest) = Guest::from_request_parts(&mut parts, &console).await;
    let (_, invite) = find(&console, &link).await?;
    let what = describe(&console, &invite).await?;
    Ok(match Visitor::from_request_parts(&mut parts, &console).await {
        Ok(visitor) => visitor.page("Invitation", &for_visitor(&visitor, &link, &what)),
        Err(_) => guest.remember(for_guest(&guest, &link, &what, "", None)),
    })
}

pub(super) async fn accept(guest: Guest, Path(link): Path<String>, GuestForm(form): GuestForm) -> Answer {
    let (console, now) = (&guest.console, guest.console.now());
    let (proof, invite) = find(console, &link).await?;
    if let Some(account) = guest.account().await? {
        let actor = Actor::account(&account, guest.peer, now);
        console.store().accept(proof.hash(), account.id, actor).await?;
        return Ok(see_other(&Done::Joined.at("/console/projects")));
    }
    console.sign_in.count_try(console.store(), guest.peer, None, now).await?;
    match Submission::of(create(&guest, proof, &form).await)? {
        Submission::Accepted(account) => {
            guest.sign_in(account, see_other(&Done::Joined.at("/console/projects"))).await
        }
        Submission::Rejected(error) => {
            let what = describe(console, &invite).await?;
            let page = for_guest(&guest, &link, &what, form.text("email"), Some(&error));
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

async fn create(guest: &Guest, proof: Proof, form: &Form) -> Result<bourse_wire::RecordId, Refusal> {
    let email: Email = form.read("email")?;
    let passwords = &guest.console.sign_in.passwords;
    let password = passwords.choose(form.text("password"), &email.to_string()).await?;
    if form.text("password") != form.text("again") {
        return Err(Error::invalid("password", "is not the same both times").into());
    }
    let password_hash = passwords.hash(password).await?;
    let new = NewAccount { email, password_hash };
    let (console, peer) = (&guest.console, guest.peer);
    Ok(console.store().accept_as_new(proof.hash(), new, peer, console.now()).await?.id)
}

async fn find(console: &Console, link: &str) -> Result<(Proof, Invite), Refusal> {
    let gone = || Refusal::Notice {
        status: StatusCode::NOT_FOUND,
        title: "This link does not work",
        message: "It was used already, or its time is over. Ask for a new one.".to_owned(),
    };
    let proof = Proof::parse(link).ok_or_else(gone)?;
    let invite = console.store().invite(proof.hash(), console.now()).await?;
    Ok((proof, invite.ok_or_else(gone)?))
}

/// What the invitation makes of who accepts it, in a sentence.
async fn describe(console: &Console, invite: &Invite) -> Result<String, Refusal> {
    Ok(match invite.invited {
        Invited::Administrator => {
            "You become an administrator of this service: you may do everything here.".to_owned()
        }
        Invited::Person => "You get an account, with which you can make projects of your own.".to_owned(),
        Invited::Member(project, role) => {
            let project = console.store().project(project).await?;
            let may = match role {
                Role::Owner => "an owner, who may change everything in it",
                Role::Viewer => "a viewer, who may look at everything in it",
            };
            format!("You join the project “{}” as {may}.", project.name)
        }
        Invited::Unknown(_) => format!("You are invited as {}.", invite.invited),
    })
}

fn for_visitor(visitor: &Visitor, link: &str, what: &str) -> maud::Markup {
    html! {
        h1 { "Invitation" }
        p { (what) }
        p { "You are signed in as " strong { (visitor.account.email) } "." }
        form method="post" action={ "/console/join/" (link) } {
            (visitor.form_token())
            button { "Accept" }
        }
    }
}

fn for_guest(guest: &Guest, link: &str, what: &str, email: &str, error: Option<&Error>) -> Response {
    let here = format!("/console/join/{link}");
    let sign_in: String = form_urlencoded::Serializer::new(String::new()).append_pair("next", &here).finish();
    let body = html! {
        h1 { "Create your account" }
        p { (what) }
        @if let Some(error) = error { (notice::refused(error)) }
        form.stacked method="post" action=(here) {
            (form_token(&guest.proof))
            label { "E-mail" input type="email" name="email" value=(email) autocomplete="username" required autofocus; }
            label {
                "Password"
                input type="password" name="password" autocomplete="new-password" minlength="12" maxlength="1024" required
                    aria-describedby="password-hint";
            }
            p.hint id="password-hint" { "12 characters or more, and nothing that others would try. A few words that only you put together are best." }
            label {
                "The same password again"
                input type="password" name="again" autocomplete="new-password" minlength="12" maxlength="1024" required;
            }
            button { "Create account" }
        }
        p { "You have an account? " a href={ "/console/sign-in?" (sign_in) } { "Sign in first" } "." }
    };
    bare("Create your account", &body)
}
