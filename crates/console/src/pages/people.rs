//! Everybody who may sign in, for administrators.

use axum::extract::Path;
use axum::response::Response;
use bourse_store::{Account, Extent, Invited, NewInvite, OpenInvite};
use maud::{Markup, html};

use crate::access::{Administrator, Proof, Visitor};
use crate::form::Form;
use crate::notice::Done;
use crate::page::copyable;
use crate::refusal::Refusal;
use crate::{Answer, INVITE_SECONDS, format, join_path, later, see_other};

pub(super) async fn show(Administrator(visitor): Administrator) -> Answer {
    page(&visitor, None).await
}

pub(super) async fn invite(Administrator(visitor): Administrator, form: Form) -> Answer {
    let invited = if form.is_set("administrator") { Invited::Administrator } else { Invited::Person };
    let link = make_link(&visitor, invited).await?;
    page(&visitor, Some(&link)).await
}

pub(super) async fn remove(
    Administrator(visitor): Administrator,
    Path(account): Path<u64>,
    _form: Form,
) -> Answer {
    let account = account.try_into().map_err(|_| Refusal::missing("account"))?;
    visitor.console.store().remove_account(account, visitor.actor()).await?;
    Ok(see_other(&Done::Removed.at("/console/people")))
}

pub(super) async fn revoke(
    Administrator(visitor): Administrator,
    Path(invite): Path<String>,
    _form: Form,
) -> Answer {
    visitor.console.store().revoke_invite(Extent::Everything, invite, visitor.actor()).await?;
    Ok(see_other(&Done::InviteRevoked.at("/console/people")))
}

/// Makes an invitation and tells its link, which nobody sees again.
pub(super) async fn make_link(visitor: &Visitor, invited: Invited) -> Result<String, Refusal> {
    let (console, proof) = (&visitor.console, Proof::fresh());
    let made_by = Some(visitor.account.id);
    let expires_at = later(console.now(), INVITE_SECONDS);
    let new = NewInvite { hash: proof.hash(), invited, made_by, expires_at };
    console.store().create_invite(new, visitor.actor()).await?;
    Ok(format!("{}{}", console.settings().public_url(), join_path(&proof)))
}

/// A link to be passed on.
pub(super) fn link_notice(link: &str) -> Markup {
    html! {
        div.notice.done role="status" {
            p { "Send this link to whom you invite. It works once, within three days, and is not shown again." }
            (copyable("invitation", link))
        }
    }
}

/// Invitations that nobody has accepted yet, with forms to revoke them; nothing when there are none.
pub(super) fn open_invites(visitor: &Visitor, path: &str, invites: &[OpenInvite]) -> Markup {
    html! {
        @if !invites.is_empty() {
            h2 { "Open invitations" }
            div.scroll tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "As" } th scope="col" { "By" } th scope="col" { "Made" }
                        th scope="col" { "Until" } th scope="col" { span.unseen { "Actions" } }
                    } }
                    tbody { @for invite in invites { tr {
                        td { (invite.invited) }
                        td {
                            @match &invite.made_by {
                                Some(email) => (email),
                                None if invite.is_void => "somebody who is gone",
                                None => "the operator",
                            }
                            @if invite.is_void { " " span.soft { "(may no longer invite: the link does not work)" } }
                        }
                        td { (format::time(invite.created_at)) }
                        td { (format::time(invite.expires_at)) }
                        td.actions {
                            form method="post" action={ (path) "/invites/" (invite.id) "/revoke" }
                                data-confirm="Revoke this invitation?" {
                                (visitor.form_token())
                                button.danger { "Revoke" span.unseen { " the invitation as " (invite.invited) } }
                            }
                        }
                    } } }
                }
            }
        }
    }
}

async fn page(visitor: &Visitor, link: Option<&str>) -> Result<Response, Refusal> {
    let console = &visitor.console;
    let accounts = console.store().accounts().await?;
    let invites = console.store().open_invites(Extent::Everything, console.now()).await?;
    let body = html! {
        h1 { "People" }
        @if let Some(link) = link { (link_notice(link)) }
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "E-mail" } th scope="col" { "Role" } th scope="col" { "Since" }
                    th scope="col" { "Last sign-in" } th scope="col" { span.unseen { "Actions" } }
                } }
                tbody { @for account in &accounts { (row(visitor, account)) } }
            }
        }
        (open_invites(visitor, "/console/people", &invites))
        section.panel {
            h2 { "Invite somebody" }
            form method="post" action="/console/people/invite" {
                (visitor.form_token())
                label.box { input type="checkbox" name="administrator" value="yes"; "as an administrator, who may do everything" }
                button { "Make a link" }
            }
        }
    };
    Ok(visitor.page("People", &body))
}

fn row(visitor: &Visitor, account: &Account) -> Markup {
    html! {
        tr {
            td { (account.email) }
            td { @if account.administrator { "administrator" } @else { "person" } }
            td { (format::time(account.created_at)) }
            td { (format::time_or(account.signed_in_at, "never")) }
            td.actions {
                @if account.id != visitor.account.id {
                    form method="post" action={ "/console/people/" (account.id) "/remove" }
                        data-confirm={ "Remove " (account.email) "?" } {
                        (visitor.form_token())
                        button.danger { "Remove" span.unseen { " " (account.email) } }
                    }
                }
            }
        }
    }
}
