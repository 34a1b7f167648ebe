//! Who administered what: everything for administrators, what concerns their project for owners.

use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse as _, Response};
use bourse_server::logbook;
use bourse_server::spreadsheet::{self, Cell};
use bourse_store::{AuditPage, AuditRecord, Extent};
use maud::{Markup, html};
use serde_json::Value;

use crate::access::{Administrator, Owner, Visitor};
use crate::form::Form;
use crate::page::Section;
use crate::refusal::Refusal;
use crate::{Answer, format};

/// Entries on a page.
const ROWS_MAX: usize = 50;
/// Entries that are read from the store at once, and that a file has at most: the command line exports all.
const READ_AT_ONCE: u64 = 1_000;
const EXPORTED_MAX: usize = 50_000;

pub(super) async fn show(Administrator(visitor): Administrator, uri: Uri) -> Answer {
    let query = Form::of_query(uri.query().unwrap_or_default());
    let body = page(&visitor, Extent::Everything, "/console/audit", &query).await?;
    Ok(visitor.page("Audit log", &body))
}

pub(super) async fn show_project(Owner(member): Owner, uri: Uri) -> Answer {
    let query = Form::of_query(uri.query().unwrap_or_default());
    let extent = Extent::Project(member.scope());
    let body = page(&member.visitor, extent, &member.path("/audit"), &query).await?;
    Ok(member.page(Section::Audit, "Audit log", &body))
}

pub(super) async fn export(Administrator(visitor): Administrator, uri: Uri) -> Answer {
    let query = Form::of_query(uri.query().unwrap_or_default());
    file(&visitor, Extent::Everything, &query).await
}

pub(super) async fn export_project(Owner(member): Owner, uri: Uri) -> Answer {
    let query = Form::of_query(uri.query().unwrap_or_default());
    file(&member.visitor, Extent::Project(member.scope()), &query).await
}

async fn page(visitor: &Visitor, extent: Extent, path: &str, query: &Form) -> Result<Markup, Refusal> {
    let before = query.text("before").parse::<u64>().ok();
    // One more than is shown tells whether there is another page.
    let page = AuditPage { before, limit: ROWS_MAX as u64 + 1 };
    let mut entries = visitor.console.store().audit(extent, page).await?;
    let is_more = entries.len() > ROWS_MAX;
    entries.truncate(ROWS_MAX);
    let shows_all = visitor.account.administrator;
    Ok(html! {
        h1 { "Audit log" }
        p.soft { "Who made, changed and removed projects, credentials, grants, members and accounts. The newest comes first." }
        @if entries.is_empty() { p.empty { "Nothing was written down yet." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Audit log" {
                table {
                    thead { tr {
                        th scope="col" { "When" } th scope="col" { "Who" }
                        @if shows_all { th scope="col" { "From" } th scope="col" { "Project" } }
                        th scope="col" { "What" }
                    } }
                    tbody { @for entry in &entries { (row(entry, shows_all)) } }
                }
            }
            nav.pages aria-label="Pages" {
                @if before.is_some() { a rel="first" href=(path) { "← Newest" } }
                @if let Some(last) = entries.last().filter(|_| is_more) {
                    a rel="next" href={ (path) "?before=" (last.id) } { "Older →" }
                }
            }
            p { "Download: " a href={ (path) "/export?as=csv" } { "CSV" } ", " a href={ (path) "/export?as=json" } { "JSON" } }
        }
    })
}

fn row(entry: &AuditRecord, shows_all: bool) -> Markup {
    html! {
        tr {
            td { (format::time(entry.actor.at)) }
            td { bdi { (entry.actor.identity) } }
            @if shows_all {
                td { @if let Some(address) = entry.actor.address { (address) } }
                td { @if let Some(project) = entry.project { (project) } }
            }
            td { bdi { (logbook::audit_summary(entry)) } }
        }
    }
}

/// The log as a file. Addresses are for administrators.
async fn file(visitor: &Visitor, extent: Extent, query: &Form) -> Answer {
    let (mut entries, mut before) = (Vec::new(), None);
    while entries.len() < EXPORTED_MAX {
        let page = AuditPage { before, limit: READ_AT_ONCE };
        let page = visitor.console.store().audit(extent, page).await?;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        entries.extend(page);
    }
    if !visitor.account.administrator {
        for entry in &mut entries {
            entry.actor.address = None;
        }
    }
    match query.text("as") {
        "csv" => Ok(download("text/csv; charset=utf-8", "audit.csv", table(&entries)?)),
        "json" => {
            let all: Value = entries.iter().map(logbook::audit_record).collect();
            Ok(download("application/json", "audit.json", format!("{all:#}").into_bytes()))
        }
        _ => Err(Refusal::missing("file")),
    }
}

fn table(entries: &[AuditRecord]) -> Result<Vec<u8>, Refusal> {
    let head = ["when", "who", "address", "act", "project", "subject", "detail"].map(Cell::from).to_vec();
    let rows = entries.iter().map(|entry| {
        let project = entry.project.map(|project| project.to_string()).unwrap_or_default();
        let address = entry.actor.address.map(|address| address.to_string()).unwrap_or_default();
        vec![
            entry.actor.at.to_string().into(),
            entry.actor.identity.to_string().into(),
            address.into(),
            entry.word.as_str().into(),
            project.into(),
            entry.subject.as_str().into(),
            entry.detail.as_str().into(),
        ]
    });
    Ok(spreadsheet::write(std::iter::once(head).chain(rows))?)
}

fn download(content_type: &'static str, name: &'static str, content: Vec<u8>) -> Response {
    let attachment = match name {
        "audit.csv" => HeaderValue::from_static("attachment; filename=\"audit.csv\""),
        _ => HeaderValue::from_static("attachment; filename=\"audit.json\""),
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_DISPOSITION, attachment),
    ];
    (headers, content).into_response()
}
