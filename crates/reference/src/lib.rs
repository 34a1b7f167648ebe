//! An `OpenAPI` document for people: as one HTML page, which the service shows at `/docs`, without scripts and other
//! hosts, and its requests as fields of forms, from which the console's explorer is made.
//!
//! Everything on the page comes from the document. Beside the standard members it reads `x-credential`,
//! `x-cost`, `x-state` and `x-example` of an operation, and `x-errors` of the document.

mod curl;
mod document;
mod fields;
mod operation;
mod schema;
#[cfg(test)]
mod tests;
mod text;

use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

pub use curl::request as curl_request;
use document::{Api, Group, Operation};
pub use fields::{Field, Kind, anchor_of, fields};
pub use text::inline;

/// The stylesheet, which the page expects at `/docs/style.css`: with it there, the policy
/// `default-src 'none'; style-src 'self'; img-src 'self' data:` holds.
pub const STYLE: &str = include_str!("style.css");

/// The page for an `OpenAPI` 3.1 document. Members that are missing or of another shape are left out. Where there is an access key
/// that everybody may try the service with, the page shows it.
pub fn render(document: &Value, trial_key: Option<&str>) -> String {
    let api = Api::read(document);
    let (title, version) = (api.info("title").unwrap_or("Interface"), api.info("version"));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " reference" }
                // An empty icon keeps browsers from asking for /favicon.ico.
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/docs/style.css";
            }
            body {
                a.skip href="#main" { "Skip to the reference" }
                header.bar {
                    a.brand href="#top" { (named(title, version)) }
                    a.menu href="#contents" { "Contents" }
                }
                (contents(&api))
                main #main tabindex="-1" {
                    (introduction(&api, (title, version), trial_key))
                    @for group in api.groups() { (service(&api, &group)) }
                    (records(&api))
                    (errors(&api))
                }
            }
        }
    };
    page.into_string()
}

/// The side navigation. On a phone it stays hidden until the link `Contents` makes it the target of the address,
/// so that following any of its links closes it again without a script.
fn contents(api: &Api) -> Markup {
    html! {
        nav #contents aria-label="Contents" {
            a.close href="#main" { "Close contents" }
            ul.sections {
                li { a href="#top" { "Introduction" } }
                @if !api.conventions().is_empty() { li { a href="#conventions" { "Conventions" } } }
                @if !api.records().is_empty() { li { a href="#records" { "Records" } } }
                @if !api.errors().is_empty() { li { a href="#errors" { "Errors" } } }
                li { a href="/openapi.json" { "OpenAPI document" } }
            }
            @for group in api.groups() {
                p.group { a href={ "#" (group.anchor()) } { (group.name) } }
                ul { @for operation in &group.operations { li { (contents_link(operation)) } } }
            }
        }
    }
}

fn contents_link(operation: &Operation) -> Markup {
    html! {
        a href={ "#" (operation.anchor) } {
            @if !operation.is_named() { (operation::method(operation)) " " }
            (text::breakable(operation.title()))
        }
    }
}

fn named(title: &str, version: Option<&str>) -> Markup {
    html! { (title) @if let Some(version) = version { " " span.version { (version) } } }
}

fn introduction(api: &Api, (title, version): (&str, Option<&str>), trial_key: Option<&str>) -> Markup {
    let conventions = api.conventions();
    html! {
        section #top {
            h1 { (named(title, version)) }
            @if let Some(lead) = api.lead() { div.lead { (text::prose(lead)) } }
            p { "The examples read the server's address and the credentials from these variables:" }
            pre { code { (curl::variables(api.server())) } }
            @if let Some(key) = trial_key {
                p #trial {
                    "To try it, take the access key " code { (key) } ". Everybody may use it, to read, within limits of its own; a project of your own has keys that do more."
                }
            }
        }
        @if !conventions.is_empty() {
            section #conventions {
                h2 { "Conventions" }
                (text::chapters(conventions))
            }
        }
    }
}

fn service(api: &Api, group: &Group) -> Markup {
    html! {
        section.service #(group.anchor()) {
            h2 { (group.name) }
            @if let Some(description) = group.description { (text::prose(description)) }
            @for operation in &group.operations { (operation::section(api, operation)) }
        }
    }
}

fn records(api: &Api) -> Markup {
    let records = api.records();
    html! {
        @if !records.is_empty() {
            section #records {
                h2 { "Records" }
                p { "The shapes that requests and answers are made of, by name." }
                @for (name, record) in records {
                    @let anchor = document::record_anchor(name);
                    section.record #(anchor) {
                        h3 { (name) (text::permalink(&anchor, name)) }
                        @if let Some(description) = text::description(record) { (text::prose(description)) }
                        (schema::shape(api, record, &format!("Members of {name}")))
                    }
                }
            }
        }
    }
}

fn errors(api: &Api) -> Markup {
    let errors = api.errors();
    html! {
        @if !errors.is_empty() {
            section #errors {
                h2 { "Errors" }
                table.errors role="table" {
                    caption { "Every error, by code" }
                    thead role="rowgroup" {
                        tr role="row" {
                            th scope="col" role="columnheader" { "Code" }
                            th scope="col" role="columnheader" { "Name" }
                            th scope="col" role="columnheader" { "Status" }
                            th scope="col" role="columnheader" { "Description" }
                        }
                    }
                    tbody role="rowgroup" {
                        @for error in errors {
                            tr role="row" {
                                td.number role="cell" { (text::plain(&error["code"])) }
                                th.name scope="row" role="rowheader" {
                                    code { (text::breakable(&text::plain(&error["name"]))) }
                                }
                                td.status role="cell" { (text::plain(&error["status"])) }
                                td.about role="cell" {
                                    (text::prose(text::description(error).unwrap_or_default()))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
