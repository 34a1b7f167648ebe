//! The visitor's projects.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_store::{Project, Role};
use bourse_wire::{Error, Text};
use maud::html;

use crate::access::Visitor;
use crate::form::Form;
use crate::notice;
use crate::refusal::Refusal;
use crate::{Answer, format, see_other};

pub(super) async fn show(visitor: Visitor) -> Answer {
    page(&visitor, "", None).await
}

pub(super) async fn create(visitor: Visitor, form: Form) -> Answer {
    if !may_create(&visitor) {
        return Err(Refusal::for_administrators());
    }
    let made = match project_name(&form) {
        Ok(name) => {
            let (store, actor) = (visitor.console.store(), visitor.actor());
            store.create_own_project(name, visitor.account.id, actor).await?
        }
        Err(error) => {
            let page = page(&visitor, form.text("name"), Some(&error)).await?;
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
        }
    };
    Ok(see_other(&notice::Done::Created.at(&format!("/console/projects/{}", made.id))))
}

/// Whether a visitor may make projects: an administrator, or everybody where the settings say so.
fn may_create(visitor: &Visitor) -> bool {
    visitor.account.administrator || visitor.console.settings().console.anyone_creates_projects
}

/// The name in a form, which is not empty.
pub(super) fn project_name(form: &Form) -> Result<Text<256>, Error> {
    let name: Text<256> = form.read("name")?;
    if name.as_str().is_empty() { Err(Error::invalid("name", "must not be empty")) } else { Ok(name) }
}

/// Every project for an administrator, who may do everything in each; the own ones for others.
async fn projects(visitor: &Visitor) -> Result<Vec<(Project, Role)>, Refusal> {
    let store = visitor.console.store();
    if !visitor.account.administrator {
        return Ok(store.projects_of(visitor.account.id).await?);
    }
    Ok(store.projects().await?.into_iter().map(|project| (project, Role::Owner)).collect())
}

async fn page(visitor: &Visitor, name: &str, error: Option<&Error>) -> Result<Response, Refusal> {
    let projects = projects(visitor).await?;
    let body = html! {
        h1 { "Projects" }
        @if let Some(error) = error { (notice::refused(error)) }
        @if projects.is_empty() && may_create(visitor) {
            p.empty { "You have no project yet. Make one below: it gets credentials, audiences and charts of its own." }
        } @else if projects.is_empty() {
            p.empty { "You have no project yet. An administrator makes projects, and invites you to them." }
        } @else {
            ul.cards {
                @for (project, role) in &projects {
                    li.card {
                        h2 { a href={ "/console/projects/" (project.id) } { (project.name) } }
                        p.soft { "Project " (project.id) " · since " (format::time(project.created_at)) }
                        @if *role == Role::Viewer { p.soft { "You may look." } }
                    }
                }
            }
        }
        @if may_create(visitor) {
            section.panel {
                h2 { "New project" }
                form.inline method="post" action="/console/projects" {
                    (visitor.form_token())
                    label { "Name" input name="name" value=(name) maxlength="256" required; }
                    button { "Create project" }
                }
            }
        }
    };
    Ok(visitor.page("Projects", &body))
}
