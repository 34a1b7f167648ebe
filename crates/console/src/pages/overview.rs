//! A project at a glance.

use axum::response::Response;
use maud::html;

use super::projects::project_name;
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::Section;
use crate::refusal::Refusal;
use crate::{Answer, format, see_other};

pub(super) async fn show(member: Member) -> Answer {
    page(&member).await
}

pub(super) async fn rename(Owner(member): Owner, form: Form) -> Answer {
    let (name, actor) = (project_name(&form)?, member.visitor.actor());
    member.console().store().rename_project(member.scope(), name, actor).await?;
    Ok(see_other(&Done::Renamed.at(&member.path(""))))
}

async fn page(member: &Member) -> Result<Response, Refusal> {
    let (store, scope) = (member.console().store(), member.scope());
    let keys = store.access_keys(scope).await?;
    let active = keys.iter().filter(|key| key.active).count();
    let tokens = store.secret_tokens(scope).await?;
    let valid = tokens.iter().filter(|token| token.revoked_at.is_none()).count();
    let audiences = store.audiences(scope).await?.len();
    let used = keys
        .iter()
        .filter_map(|key| key.last_used_at)
        .chain(tokens.iter().filter_map(|token| token.last_used_at));
    let body = html! {
        h1 { (member.project.name) }
        dl.facts {
            dt { "Project" } dd { (member.project.id) }
            dt { "Since" } dd { (format::time(member.project.created_at)) }
            dt { "Access keys" } dd { a href=(member.path("/credentials")) { (active) " active" } }
            dt { "Secret tokens" } dd { a href=(member.path("/credentials")) { (valid) " valid" } }
            dt { "Last request" } dd { (format::time_or(used.max(), "none yet")) }
            dt { "Audiences" } dd { a href=(member.path("/audiences")) { (audiences) } }
        }
        @if active == 0 {
            p.empty {
                "This project has no access key yet. "
                a href=(member.path("/credentials")) { "Make one" } " to call the API."
            }
        }
        @if member.is_owner() {
            section.panel {
                h2 { "Rename" }
                form.inline method="post" action=(member.path("/rename")) {
                    (member.visitor.form_token())
                    label { "Name" input name="name" value=(member.project.name) maxlength="256" required; }
                    button { "Rename project" }
                }
            }
        }
    };
    Ok(member.page(Section::Overview, "Overview", &body))
}
