//! One audience: its contacts, its linked contracts, its name.

use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use bourse_wire::{Audience, AudienceContract, Contact, Error, RecordId};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::contacts;
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::{Section, page_links};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

/// Contacts on a page.
const ROWS: usize = 50;

/// An audience as the service tells of it.
#[derive(Deserialize)]
pub(super) struct View {
    pub(super) audience: Audience,
    pub(super) contacts: Vec<Contact>,
    contracts: Vec<AudienceContract>,
}

/// What of the contacts is shown.
#[derive(Default)]
struct ContactQuery {
    sought: String,
    /// Counted from 1; what is beyond the last or before the first is that one.
    page: usize,
}

pub(super) async fn show(member: Member, uri: Uri) -> Answer {
    let query = Form::of_query(uri.query().unwrap_or_default());
    let query = ContactQuery { sought: query.text("q").to_owned(), page: query.read("page").unwrap_or(1) };
    let view = find(&member).await?;
    Ok(page(&member, &view, &query, &html! {}, ""))
}

pub(super) async fn rename(Owner(member): Owner, form: Form) -> Answer {
    let name = form.text("name");
    let body = json!({ "audienceId": member.id("audience")?, "name": name });
    let renamed = member.ask("Builder/UpdateAudience", &body).await;
    settle(&member, renamed.map(drop), Done::Renamed, name).await
}

/// Opens an audience for wallets that sign themselves up, or closes it.
pub(super) async fn set_registration(Owner(member): Owner, form: Form) -> Answer {
    let is_open = form.text("open") == "yes";
    let body = json!({ "audienceId": member.id("audience")?, "registrationOpen": is_open });
    let changed = member.ask("Builder/UpdateAudience", &body).await;
    settle(&member, changed.map(drop), Done::Changed, "").await
}

pub(super) async fn delete(Owner(member): Owner, _form: Form) -> Answer {
    member.ask("Builder/DeleteAudience", &json!({ "audienceId": member.id("audience")? })).await?;
    Ok(see_other(&Done::Removed.at(&member.path("/audiences"))))
}

pub(super) async fn remove_contacts(Owner(member): Owner, form: Form) -> Answer {
    let removed = remove(&member, &form).await;
    settle(&member, removed, Done::Removed, "").await
}

async fn remove(member: &Member, form: &Form) -> Result<(), Refusal> {
    let wrong = |_| Error::invalid("contact", "is not the number of one");
    let contacts = form.all("contact").map(|text| text.parse::<u64>().map_err(wrong));
    let contacts: Vec<u64> = contacts.collect::<Result<_, _>>()?;
    if contacts.is_empty() {
        return Err(Error::invalid("contacts", "choose those that you want to remove").into());
    }
    let body = json!({ "audienceId": member.id("audience")?, "contactIds": contacts });
    member.ask("Builder/RemoveAudienceContacts", &body).await.map(drop)
}

/// Goes on after a change, or shows the page again with the reason why there was none. A name that was typed is kept.
async fn settle(member: &Member, result: Result<(), Refusal>, done: Done, typed: &str) -> Answer {
    match Submission::of(result)? {
        Submission::Accepted(()) => Ok(see_other(&done.at(&path(member, member.id("audience")?, "")))),
        Submission::Rejected(error) => {
            let view = find(member).await?;
            let page = page(member, &view, &ContactQuery::default(), &notice::refused(&error), typed);
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

pub(super) async fn find(member: &Member) -> Result<View, Refusal> {
    member.ask_as("Builder/GetAudience", &json!({ "audienceId": member.id("audience")? })).await
}

/// The path of a page of an audience.
pub(super) fn path(member: &Member, audience: RecordId, rest: &str) -> String {
    member.path(&format!("/audiences/{audience}{rest}"))
}

/// `typed` is a name that was not taken.
fn page(member: &Member, view: &View, query: &ContactQuery, first: &Markup, typed: &str) -> Response {
    let audience = &view.audience;
    let body = html! {
        p.trail { a href=(member.path("/audiences")) { "Audiences" } }
        h1 { (audience.name) }
        (first)
        dl.facts {
            dt { "Contacts" } dd { (format::number(view.contacts.len())) }
            dt { "Registration" } dd { @if audience.registration_open { "open" } @else { "closed" } }
            dt { "Made" } dd { (format::time(audience.created_at)) }
            dt { "Last change" } dd { (format::time(audience.updated_at)) }
        }
        section {
            h2 { "Contacts" }
            (contacts(member, view, query))
        }
        @if member.is_owner() { (contacts::entry(member, audience.id, "")) }
        section {
            h2 { "Linked contracts" }
            (contracts(member, &view.contracts))
        }
        @if member.is_owner() { (settings(member, audience, typed)) }
    };
    member.page(Section::Audiences, &audience.name, &body)
}

fn contacts(member: &Member, view: &View, query: &ContactQuery) -> Markup {
    let id = view.audience.id;
    if view.contacts.is_empty() {
        return html! { p.empty { "Nobody is in it yet." } };
    }
    let sought = query.sought.to_lowercase();
    let is_sought = |contact: &&Contact| {
        let address = contact.address.to_string();
        [&contact.name, &contact.email, &address].iter().any(|text| text.to_lowercase().contains(&sought))
    };
    let found: Vec<&Contact> = view.contacts.iter().filter(is_sought).collect();
    let last = found.len().div_ceil(ROWS).max(1);
    let page = query.page.clamp(1, last);
    let start = (page - 1) * ROWS;
    let shown = &found[start..found.len().min(start + ROWS)];
    let address = path(member, id, "");
    html! {
        div.toolbar {
            form.inline method="get" action=(address) role="search" {
                label { "Find" input type="search" name="q" value=(query.sought) placeholder="name, address or e-mail"; }
                button.plain { "Find" }
            }
            a.button.plain href=(path(member, id, "/contacts.csv")) download { "Download as CSV" }
        }
        @if shown.is_empty() {
            p.empty { "Nobody here has that in name, address or e-mail. " a href=(address) { "Show everybody" } }
        } @else {
            form method="post" action=(path(member, id, "/remove")) data-confirm="Remove the chosen contacts?" {
                (member.visitor.form_token())
                (contact_table(member, shown))
                div.pages {
                    @if member.is_owner() { button.danger { "Remove chosen" } }
                    span.soft {
                        (format::number(start + 1)) "–" (format::number(start + shown.len())) " of " (format::number(found.len()))
                    }
                    (page_links(&address, &[("q", &query.sought)], page as u64, page < last))
                }
            }
        }
    }
}

fn contact_table(member: &Member, contacts: &[&Contact]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    @if member.is_owner() { th scope="col" { span.unseen { "Choose" } } }
                    th scope="col" { "Address" } th scope="col" { "Name" } th scope="col" { "E-mail" }
                    th scope="col" { "Added" }
                } }
                tbody {
                    @for contact in contacts {
                        tr {
                            @if member.is_owner() {
                                td {
                                    input type="checkbox" name="contact" value=(contact.id)
                                        aria-label={ "Choose " (contact.address) };
                                }
                            }
                            td { (format::hex(contact.address)) }
                            td.text { (contact.name) }
                            td.text { (contact.email) }
                            td { (format::time(contact.created_at)) }
                        }
                    }
                }
            }
        }
    }
}

fn contracts(member: &Member, contracts: &[AudienceContract]) -> Markup {
    if contracts.is_empty() {
        return html! {
            p.empty {
                "No contract is linked with this audience. Contracts come with an import: a line of the kind "
                code { "audience" } " names them, and " code { "bourse import" } " reads it."
            }
        };
    }
    let networks = &member.console().settings().networks;
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Name" } th scope="col" { "Network" } th scope="col" { "Address" }
                    th scope="col" { "Kind" } th scope="col" { "Source" } th scope="col" { "Linked" }
                } }
                tbody {
                    @for contract in contracts {
                        tr {
                            th.name scope="row" { (contract.contract_name) }
                            td { (format::network(networks, contract.chain_id)) }
                            td { (format::hex(contract.contract_address)) }
                            td.text { (contract.contract_type) }
                            td { (contract.source.word().to_lowercase()) }
                            td { (format::time(contract.created_at)) }
                        }
                    }
                }
            }
        }
    }
}

fn settings(member: &Member, audience: &Audience, typed: &str) -> Markup {
    let name = if typed.is_empty() { audience.name.as_str() } else { typed };
    html! {
        section.panel {
            h2 { "Rename" }
            form.inline method="post" action=(path(member, audience.id, "/rename")) {
                (member.visitor.form_token())
                label { "Name" input name="name" value=(name) maxlength="256" required; }
                button { "Rename audience" }
            }
        }
        section.panel {
            h2 { "Registration" }
            p {
                @if audience.registration_open {
                    "Any wallet may sign itself up, and anybody who has an access key can ask whether a wallet is in it, and how \
                     many are."
                } @else { "Only the project adds contacts." }
            }
            form.inline method="post" action=(path(member, audience.id, "/registration")) {
                (member.visitor.form_token())
                @if audience.registration_open { button name="open" value="no" { "Close registration" } }
                @else { button name="open" value="yes" { "Open for registration" } }
            }
        }
        details.panel {
            summary { "Delete this audience" }
            p { "It goes with all its contacts and contract links. This cannot be undone: download the contacts first." }
            form method="post" action=(path(member, audience.id, "/delete")) {
                (member.visitor.form_token())
                button.danger { "Delete " (audience.name) }
            }
        }
    }
}
