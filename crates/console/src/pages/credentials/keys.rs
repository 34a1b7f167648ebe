//! Access keys.

use bourse_server::Service;
use bourse_server::auth::AccessKey;
use bourse_store::{AccessKeyRecord, KeyTerms};
use bourse_wire::{Error, Text};
use maud::{Markup, html};

use super::{page, refused, snippets};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::{Section, copyable};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

const ORIGINS_MAX: usize = 100;

pub(super) async fn create(Owner(member): Owner, form: Form) -> Answer {
    let terms = match terms(&form) {
        Ok(terms) => terms,
        Err(error) => return refused(&member, &error).await,
    };
    let key = AccessKey::generate(member.project.id);
    let (console, hash) = (member.console(), key.hash().to_string());
    console.store().create_access_key(member.scope(), hash, terms, member.visitor.actor()).await?;
    shown_once(&member, &key).await
}

pub(super) async fn rotate(Owner(member): Owner, _form: Form) -> Answer {
    let key = AccessKey::generate(member.project.id);
    let (console, hash) = (member.console(), key.hash().to_string());
    let (id, actor) = (member.id("key")?, member.visitor.actor());
    console.store().rotate_access_key(member.scope(), id, hash, actor).await?;
    shown_once(&member, &key).await
}

pub(super) async fn disable(Owner(member): Owner, _form: Form) -> Answer {
    let (id, actor) = (member.id("key")?, member.visitor.actor());
    let disabled = member.console().store().disable_access_key(member.scope(), id, actor).await;
    match Submission::of(disabled)? {
        Submission::Accepted(()) => {
            member.console().renew_credentials().await?;
            Ok(see_other(&Done::KeyDisabled.at(&member.path("/credentials"))))
        }
        Submission::Rejected(error) => refused(&member, &error).await,
    }
}

pub(super) async fn edit(Owner(member): Owner) -> Answer {
    let key = find(&member).await?;
    Ok(editor(&member, &key, None))
}

pub(super) async fn update(Owner(member): Owner, form: Form) -> Answer {
    let key = find(&member).await?;
    match terms(&form) {
        Ok(terms) => {
            let (store, actor) = (member.console().store(), member.visitor.actor());
            store.update_access_key(member.scope(), key.id, terms, actor).await?;
            member.console().renew_credentials().await?;
            Ok(see_other(&Done::Changed.at(&member.path("/credentials"))))
        }
        Err(error) => Ok(editor(&member, &key, Some(&error))),
    }
}

async fn find(member: &Member) -> Result<AccessKeyRecord, Refusal> {
    let id = member.id("key")?;
    let keys = member.console().store().access_keys(member.scope()).await?;
    keys.into_iter().find(|key| key.id == id).ok_or_else(|| Refusal::missing("access key"))
}

/// Shows a key to who made it, this once, and lets it work from this moment on.
async fn shown_once(member: &Member, key: &AccessKey) -> Answer {
    let console = member.console();
    console.renew_credentials().await?;
    let first = html! {
        div.notice.done role="status" {
            p { strong { "This is the key. It is not shown again." } " Copy it now." }
            (copyable("new-key", key.expose()))
            (snippets::all(&console.settings().public_url(), Some(key.expose())))
        }
    };
    page(member, &first).await
}

/// What a form says of a key.
fn terms(form: &Form) -> Result<KeyTerms, Error> {
    let display_name: Text<128> = form.read("name")?;
    let allowed_origins = form.lines("origins");
    if allowed_origins.len() > ORIGINS_MAX {
        return Err(Error::invalid("origins", format!("must be at most {ORIGINS_MAX}")));
    }
    let is_origin = |origin: &String| {
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        origin == "*" || host.is_some_and(|host| !host.is_empty() && !host.contains('/'))
    };
    if let Some(wrong) = allowed_origins.iter().find(|origin| !is_origin(origin)) {
        let message =
            format!("{wrong:.100} is not one: write https://shop.example or https://*.shop.example");
        return Err(Error::invalid("origins", message));
    }
    let services: Vec<&str> = form.all("services").collect();
    if let Some(wrong) = services.iter().find(|name| Service::from_short(name).is_none()) {
        return Err(Error::invalid("services", format!("{wrong:.100} is not a service")));
    }
    Ok(KeyTerms {
        display_name: display_name.into_string(),
        require_origin: form.is_set("require_origin"),
        allowed_origins,
        allowed_services: services.into_iter().map(str::to_owned).collect(),
    })
}

pub(super) fn list(member: &Member, keys: &[AccessKeyRecord]) -> Markup {
    if keys.is_empty() {
        return html! { p.empty { "There is no access key yet." } };
    }
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Name" } th scope="col" { "State" } th scope="col" { "Origins" }
                    th scope="col" { "Services" } th scope="col" { "Made" } th scope="col" { "Last use" }
                    th scope="col" { span.unseen { "Actions" } }
                } }
                tbody { @for key in keys { (row(member, key)) } }
            }
        }
    }
}

fn row(member: &Member, key: &AccessKeyRecord) -> Markup {
    let name = if key.display_name.is_empty() { format!("key {}", key.id) } else { key.display_name.clone() };
    let path = |verb: &str| member.path(&format!("/credentials/keys/{}{verb}", key.id));
    let all_or = |list: &[String]| if list.is_empty() { "all".to_owned() } else { list.join(", ") };
    html! {
        tr.off[!key.active] {
            td { (name) @if key.default { " " span.badge { "default" } } }
            td { @if key.active { "active" } @else { "disabled" } }
            td { (all_or(&key.allowed_origins)) @if key.require_origin { " (required)" } }
            td { (all_or(&key.allowed_services)) }
            td { (format::time(key.created_at)) }
            td { (format::time_or(key.last_used_at, "never")) }
            td.actions {
                @if key.active && member.is_owner() {
                    a.button.plain href=(path("")) { "Edit" span.unseen { " " (name) } }
                    form method="post" action=(path("/rotate"))
                        data-confirm={ "Put a new key in the place of " (name) "? The old one stops working at once." } {
                        (member.visitor.form_token())
                        button.plain { "Rotate" span.unseen { " " (name) } }
                    }
                    form method="post" action=(path("/disable"))
                        data-confirm={ "Disable " (name) "? Requests with it are refused at once." } {
                        (member.visitor.form_token())
                        button.danger { "Disable" span.unseen { " " (name) } }
                    }
                }
            }
        }
    }
}

pub(super) fn creation(member: &Member) -> Markup {
    html! {
        details.panel {
            summary { "New access key" }
            form.stacked method="post" action=(member.path("/credentials/keys")) {
                (member.visitor.form_token())
                (fields(&KeyTerms::default()))
                button { "Make access key" }
            }
        }
    }
}

fn editor(member: &Member, key: &AccessKeyRecord, error: Option<&Error>) -> axum::response::Response {
    let terms = KeyTerms {
        display_name: key.display_name.clone(),
        require_origin: key.require_origin,
        allowed_origins: key.allowed_origins.clone(),
        allowed_services: key.allowed_services.clone(),
    };
    let body = html! {
        h1 { "Access key " (key.id) }
        @if let Some(error) = error { (notice::refused(error)) }
        form.stacked.panel method="post" action=(member.path(&format!("/credentials/keys/{}", key.id))) {
            (member.visitor.form_token())
            (fields(&terms))
            div.buttons {
                button { "Save" }
                a.button.plain href=(member.path("/credentials")) { "Cancel" }
            }
        }
    };
    member.page(Section::Credentials, "Access key", &body)
}

fn fields(terms: &KeyTerms) -> Markup {
    html! {
        label { "Name" input name="name" value=(terms.display_name) maxlength="128"; }
        label {
            "Origins it works from, one a line; none for all"
            textarea name="origins" rows="3" placeholder="https://shop.example" { (terms.allowed_origins.join("\n")) }
        }
        label.box {
            input type="checkbox" name="require_origin" value="yes" checked[terms.require_origin];
            "refuse requests that name no origin"
        }
        fieldset {
            legend { "Services it works for; none for all" }
            @for service in Service::ALL {
                @let is_named = terms.allowed_services.iter().any(|name| name == service.short());
                label.box {
                    input type="checkbox" name="services" value=(service.short()) checked[is_named];
                    (service.name())
                }
            }
        }
    }
}
