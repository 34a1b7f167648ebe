//! Adding contacts: what was pasted or uploaded is looked through first, and stored once that is confirmed.

use std::collections::HashMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_server::Failure;
use bourse_wire::{Address, Contact, ContactInput, Error, RecordId};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::audience::{View, find, path};
use super::sheet::{Remark, Sheet, texts};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

/// Remarks of a kind that a page shows, and contacts of those that are good.
const SHOWN: usize = 100;
const GOOD_SHOWN: usize = 10;

/// What the contacts of a sheet do to an audience.
#[derive(Default)]
struct Changes {
    new: usize,
    changed: usize,
    same: usize,
}

impl Changes {
    fn of(sheet: &Sheet, known: &[Contact]) -> Self {
        let known: HashMap<Address, &Contact> =
            known.iter().map(|contact| (contact.address, contact)).collect();
        let mut changes = Self::default();
        for contact in &sheet.contacts {
            let (name, email) = texts(contact);
            match known.get(&contact.address) {
                None => changes.new += 1,
                Some(known) if known.name == name && known.email == email => changes.same += 1,
                Some(_) => changes.changed += 1,
            }
        }
        changes
    }
}

pub(super) async fn preview(Owner(member): Owner, form: Form) -> Answer {
    let view = find(&member).await?;
    match read(&form) {
        Ok(sheet) => looked_through(&member, &view, &sheet, form.text("contacts"), None),
        Err(error) => Ok(refused(&member, &view, form.text("contacts"), &error)),
    }
}

pub(super) async fn add(Owner(member): Owner, form: Form) -> Answer {
    let view = find(&member).await?;
    let rows = form.text("rows");
    let sheet = match Sheet::read(rows) {
        Ok(sheet) if sheet.wrong.is_empty() && !sheet.contacts.is_empty() => sheet,
        Ok(sheet) => return looked_through(&member, &view, &sheet, rows, None),
        Err(error) => return Ok(refused(&member, &view, rows, &error)),
    };
    match Submission::of(store(&member, view.audience.id, &sheet.contacts).await)? {
        Submission::Accepted(()) => Ok(see_other(&Done::Added.at(&path(&member, view.audience.id, "")))),
        Submission::Rejected(error) => looked_through(&member, &view, &sheet, "", Some(&error)),
    }
}

/// What was uploaded, or else what was pasted.
fn read(form: &Form) -> Result<Sheet, Error> {
    let sheet = match form.file("file") {
        Some(file) => Sheet::read_file(&file.content)?,
        None => Sheet::read(form.text("contacts"))?,
    };
    if sheet.contacts.is_empty() && sheet.wrong.is_empty() {
        return Err(Error::invalid("contacts", "paste some lines, or choose a file that has some"));
    }
    Ok(sheet)
}

/// Stores contacts in as many calls as the limit takes. Doing it again after a failure changes nothing twice.
async fn store(member: &Member, audience: RecordId, contacts: &[ContactInput]) -> Result<(), Refusal> {
    let many = member.console().settings().limits.contacts_max.max(1);
    for (chunk, part) in contacts.chunks(many).enumerate() {
        let part: Vec<Value> = part.iter().map(record).collect();
        let body = json!({ "audienceId": audience, "contacts": part });
        let added = member.ask("Builder/AddAudienceContacts", &body).await;
        added.map_err(|refusal| match refusal {
            Refusal::Refused(error) if chunk > 0 => {
                let message = format!("{error}: the first {} were added, so send this again", chunk * many);
                Refusal::Refused(Error { message, ..error })
            }
            other => other,
        })?;
    }
    Ok(())
}

fn record(contact: &ContactInput) -> Value {
    let (name, email) = texts(contact);
    json!({ "address": contact.address, "name": name, "email": email })
}

/// The form that contacts are pasted into or uploaded with; `typed` is what was pasted before.
pub(super) fn entry(member: &Member, audience: RecordId, typed: &str) -> Markup {
    html! {
        section.panel {
            h2 { @if typed.is_empty() { "Add contacts" } @else { "Put them right" } }
            form.stacked.wide method="post" enctype="multipart/form-data" action=(path(member, audience, "/preview")) {
                (member.visitor.form_token())
                label {
                    "Paste them, one a line: address, name, e-mail"
                    textarea name="contacts" rows="5" spellcheck="false"
                        placeholder="0x00000000000000000000000000000000000000ad, Ada, ada@example.org" { (typed) }
                }
                label {
                    "Or choose a CSV file"
                    input type="file" name="file" accept=".csv,.txt,.tsv,text/csv,text/plain";
                }
                p.hint {
                    "Commas, semicolons or tabs; a first line with the names of the columns is understood. "
                    "Name and e-mail may be missing. Nothing is stored before you have seen what was understood."
                }
                button { "Look through them" }
            }
        }
    }
}

/// The form again, with the reason why nothing could be read.
fn refused(member: &Member, view: &View, typed: &str, error: &Error) -> Response {
    let body = html! {
        (heading(member, view))
        (notice::refused(error))
        (entry(member, view.audience.id, typed))
    };
    let page = member.page(Section::Audiences, "Add contacts", &body);
    (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
}

/// What was understood, and what was not. `typed` is what was pasted; an error is why it could not be stored.
fn looked_through(member: &Member, view: &View, sheet: &Sheet, typed: &str, error: Option<&Error>) -> Answer {
    let changes = Changes::of(sheet, &view.contacts);
    let rows = sheet.to_text().map_err(|error| Failure::Internal(Box::new(error)))?;
    let body = html! {
        (heading(member, view))
        @if let Some(error) = error { (notice::refused(error)) }
        (summary(sheet, &changes))
        (remarks("Lines that cannot be taken", &sheet.wrong))
        (remarks("Lines that give way to a later one", &sheet.repeated))
        (good(&sheet.contacts))
        @if !sheet.contacts.is_empty() {
            form.inline method="post" enctype="multipart/form-data" action=(path(member, view.audience.id, "/contacts")) {
                (member.visitor.form_token())
                input type="hidden" name="rows" value=(rows);
                button {
                    "Add " (format::number(sheet.contacts.len()))
                    @if sheet.contacts.len() == 1 { " contact" } @else { " contacts" }
                    @if !sheet.wrong.is_empty() { ", without the wrong lines" }
                }
                a.button.plain href=(path(member, view.audience.id, "")) { "Cancel" }
            }
        }
        (entry(member, view.audience.id, typed))
    };
    let page = member.page(Section::Audiences, "Add contacts", &body);
    let is_wrong = error.is_some() || sheet.contacts.is_empty();
    let status = if is_wrong { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok((status, page).into_response())
}

fn heading(member: &Member, view: &View) -> Markup {
    html! {
        p.trail {
            a href=(member.path("/audiences")) { "Audiences" } " › "
            a href=(path(member, view.audience.id, "")) { (view.audience.name) }
        }
        h1 { "Add contacts" }
    }
}

fn summary(sheet: &Sheet, changes: &Changes) -> Markup {
    let count = |number: usize| format::number(number);
    html! {
        p.lead {
            strong { (count(sheet.contacts.len())) " good" } ", "
            strong { (count(sheet.wrong.len())) " wrong" } ", "
            strong { (count(sheet.repeated.len())) " repeated" } ". Nothing is stored yet."
        }
        @if !sheet.contacts.is_empty() {
            dl.facts {
                dt { "New" } dd { (count(changes.new)) }
                dt { "Changed" } dd { (count(changes.changed)) " that are here with another name or e-mail" }
                dt { "Unchanged" } dd { (count(changes.same)) }
            }
        }
    }
}

fn remarks(title: &str, remarks: &[Remark]) -> Markup {
    html! {
        @if !remarks.is_empty() {
            section {
                h2 { (title) }
                div.scroll tabindex="0" {
                    table {
                        thead { tr { th.number scope="col" { "Line" } th scope="col" { "Why" } } }
                        tbody {
                            @for remark in remarks.iter().take(SHOWN) {
                                tr { td.number { (format::number(remark.line)) } td.text { (remark.reason) } }
                            }
                        }
                    }
                }
                @if remarks.len() > SHOWN {
                    p.soft { "and " (format::number(remarks.len() - SHOWN)) " more" }
                }
            }
        }
    }
}

fn good(contacts: &[ContactInput]) -> Markup {
    html! {
        @if !contacts.is_empty() {
            section {
                h2 { "What will be added" }
                div.scroll tabindex="0" {
                    table {
                        thead { tr {
                            th scope="col" { "Address" } th scope="col" { "Name" } th scope="col" { "E-mail" }
                        } }
                        tbody {
                            @for contact in contacts.iter().take(GOOD_SHOWN) {
                                @let (name, email) = texts(contact);
                                tr { td { code { (contact.address) } } td.text { (name) } td.text { (email) } }
                            }
                        }
                    }
                }
                @if contacts.len() > GOOD_SHOWN {
                    p.soft { "and " (format::number(contacts.len() - GOOD_SHOWN)) " more" }
                }
            }
        }
    }
}
