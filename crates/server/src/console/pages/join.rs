//! Accepting an invitation: with a new account, or with the one that is signed in.

use axum::extract::{FromRequestParts as _, Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_store::{Invite, Invited, NewAccount, Role};
use bourse_wire::{Email, Error};
use maud::html;

use std::sync::Arc;

use crate::app::App;
use crate::console::door::{Guest, Password, Proof, Visitor};
use crate::console::form::Form;
use crate::console::notice::Done;
use crate::console::page::{bare, form_token};
use crate::console::refusal::Refusal;
use crate::console::{Answer, notice, see_other};

pub(super) async fn show(State(app): State<Arc<App>>, Path(link): Path<String>, request: Request) -> Answer {
    let (mut parts, _) = request.into_parts();
    let Ok(guest) = Guest::from_request_parts(&mut parts, &app).await;
    let (_, invite) = find(&app, &link).await?;
    let what = describe(&app, &invite).await?;
    Ok(match Visitor::from_request_parts(&mut parts, &app).await {
        Ok(visitor) => visitor.page("Invitation", &for_visitor(&visitor, &link, &what)),
        Err(_) => guest.remember(for_guest(&guest, &link, &what, "", None)),
    })
}

pub(super) async fn accept(guest: Guest, Path(link): Path<String>, form: Form) -> Answer {
    let (app, now) = (&guest.app, guest.app.clock.now());
    let (proof, invite) = find(app, &link).await?;
    if let Some(account) = guest.account().await? {
        app.store.accept(proof.hash(), account.id, now).await?;
        return Ok(see_other(&Done::Joined.at("/console/projects")));
    }
    app.console.door.count_try(guest.peer, None, now).map_err(Refusal::too_many_tries)?;
    match create(&guest, proof, &form).await.map_err(Refusal::into_error) {
        Ok(account) => guest.sign_in(account, see_other(&Done::Joined.at("/console/projects"))).await,
        Err(Ok(error)) => {
            let what = describe(app, &invite).await?;
            let page = for_guest(&guest, &link, &what, form.text("email"), Some(&error));
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
        Err(Err(refusal)) => Err(refusal),
    }
}

async fn create(guest: &Guest, proof: Proof, form: &Form) -> Result<bourse_wire::RecordId, Refusal> {
    let email: Email = form.read("email")?;
    let password = Password::new(form.text("password"))?;
    if form.text("password") != form.text("again") {
        return Err(Error::invalid("password", "is not the same both times").into());
    }
    let password_hash = guest.app.console.door.passwords.hash(password).await?;
    let new = NewAccount { email, password_hash };
    Ok(guest.app.store.accept_as_new(proof.hash(), new, guest.app.clock.now()).await?.id)
}

async fn find(app: &App, link: &str) -> Result<(Proof, Invite), Refusal> {
    let gone = || Refusal::Told {
        status: StatusCode::NOT_FOUND,
        title: "This link does not work",
        message: "It was used already, or its time is over. Ask for a new one.".to_owned(),
    };
    let proof = Proof::parse(link).ok_or_else(gone)?;
    let invite = app.store.invite(proof.hash(), app.clock.now()).await?;
    Ok((proof, invite.ok_or_else(gone)?))
}

/// What the invitation makes of who accepts it, in a sentence.
async fn describe(app: &App, invite: &Invite) -> Result<String, Refusal> {
    Ok(match invite.invited {
        Invited::Administrator => {
            "You become an administrator of this service: you may do everything here.".to_owned()
        }
        Invited::Person => "You get an account, with which you can make projects of your own.".to_owned(),
        Invited::Member(project, role) => {
            let project = app.store.project(project).await?;
            let may = match role {
                Role::Owner => "an owner, who may change everything in it",
                Role::Viewer => "a viewer, who may look at everything in it",
            };
            format!("You join the project “{}” as {may}.", project.name)
        }
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
            p.hint id="password-hint" { "12 characters or more. A few words that only you put together are best." }
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
