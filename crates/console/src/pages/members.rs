//! Who belongs to a project.

use axum::response::Response;
use bourse_store::{Extent, Invited, Role};
use bourse_wire::Error;
use maud::{Markup, html};

use super::people::{link_notice, make_link, open_invites};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::Section;
use crate::refusal::Refusal;
use crate::{Answer, format, see_other};

pub(super) async fn show(member: Member) -> Answer {
    page(&member, None).await
}

pub(super) async fn invite(Owner(member): Owner, form: Form) -> Answer {
    let link = make_link(&member.visitor, Invited::Member(member.project.id, role(&form)?)).await?;
    page(&member, Some(&link)).await
}

pub(super) async fn revoke(Owner(member): Owner, _form: Form) -> Answer {
    let (extent, invite) = (Extent::Project(member.scope()), member.name("invite").to_owned());
    member.console().store().revoke_invite(extent, invite, member.visitor.actor()).await?;
    Ok(see_other(&Done::InviteRevoked.at(&member.path("/members"))))
}

pub(super) async fn set_role(Owner(member): Owner, form: Form) -> Answer {
    let (account, role, actor) = (member.id("account")?, role(&form)?, member.visitor.actor());
    member.console().store().set_role(member.scope(), account, role, actor).await?;
    Ok(see_other(&Done::Changed.at(&member.path("/members"))))
}

pub(super) async fn remove(Owner(member): Owner, _form: Form) -> Answer {
    let (account, actor) = (member.id("account")?, member.visitor.actor());
    member.console().store().remove_member(member.scope(), account, actor).await?;
    Ok(see_other(&Done::Removed.at(&member.path("/members"))))
}

fn role(form: &Form) -> Result<Role, Error> {
    match form.text("role") {
        "owner" => Ok(Role::Owner),
        "viewer" => Ok(Role::Viewer),
        _ => Err(Error::invalid("role", "must be owner or viewer")),
    }
}

fn choice(id: &str, current: Role) -> Markup {
    html! {
        select id=(id) name="role" {
            option value="viewer" selected[current == Role::Viewer] { "viewer: looks at everything" }
            option value="owner" selected[current == Role::Owner] { "owner: changes everything" }
        }
    }
}

async fn page(member: &Member, link: Option<&str>) -> Result<Response, Refusal> {
    let console = member.console();
    let members = console.store().members(member.scope()).await?;
    let invites = if member.is_owner() {
        console.store().open_invites(Extent::Project(member.scope()), console.now()).await?
    } else {
        Vec::new()
    };
    let body = html! {
        h1 { "Members" }
        @if let Some(link) = link { (link_notice(link)) }
        @if members.is_empty() {
            p.empty { "Nobody is a member yet. Administrators of the service may do everything here all the same." }
        } @else {
            div.scroll tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "E-mail" } th scope="col" { "Role" } th scope="col" { "Since" }
                        th scope="col" { span.unseen { "Actions" } }
                    } }
                    tbody { @for known in &members { (row(member, known)) } }
                }
            }
        }
        (open_invites(&member.visitor, &member.path("/members"), &invites))
        @if member.is_owner() {
            section.panel {
                h2 { "Invite somebody" }
                form.inline method="post" action=(member.path("/members/invite")) {
                    (member.visitor.form_token())
                    label for="invited-role" { "As" }
                    (choice("invited-role", Role::Viewer))
                    button { "Make a link" }
                }
            }
        }
    };
    Ok(member.page(Section::Members, "Members", &body))
}

fn row(member: &Member, known: &bourse_store::Member) -> Markup {
    let (account, id) = (&known.account, format!("role-{}", known.account.id));
    let action = |verb: &str| member.path(&format!("/members/{}/{verb}", account.id));
    html! {
        tr {
            td { (account.email) }
            td {
                @if member.is_owner() {
                    form.inline method="post" action=(action("role")) {
                        (member.visitor.form_token())
                        label.unseen for=(id) { "Role of " (account.email) }
                        (choice(&id, known.role))
                        button.plain { "Save" span.unseen { " the role of " (account.email) } }
                    }
                } @else { @match known.role { Role::Owner => "owner", Role::Viewer => "viewer" } }
            }
            td { (format::time(known.added_at)) }
            td.actions {
                @if member.is_owner() {
                    form method="post" action=(action("remove")) data-confirm={ "Remove " (account.email) "?" } {
                        (member.visitor.form_token())
                        button.danger { "Remove" span.unseen { " " (account.email) } }
                    }
                }
            }
        }
    }
}
