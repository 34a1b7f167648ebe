//! One operation: what it is called, who may call it, what goes in and what comes out.

use maud::{Markup, html};
use serde_json::Value;

use super::{curl, text};
use crate::document::{Api, Operation, content, is_success};
use crate::schema::{self, Member};

const JSON: &str = "application/json";

/// The section of an operation.
pub(crate) fn section<'a>(api: &Api<'a>, operation: &Operation<'a>) -> Markup {
    let title = operation.title();
    html! {
        article.operation #(operation.anchor) aria-label=(title) {
            div.facts {
                h3 {
                    @if !operation.is_named() { (method(operation)) " " }
                    (text::breakable(title))
                    (text::permalink(&operation.anchor, title))
                }
                @if operation.is_named() {
                    p.endpoint { (method(operation)) " " code { (text::breakable(operation.path)) } }
                }
                @if let Some(summary) = operation.value["summary"].as_str() {
                    p.summary { (text::inline(summary)) }
                }
                @if let Some(description) = text::description(operation.value) { (text::prose(description)) }
                (terms(operation))
                (parameters(api, operation))
                (request(api, operation))
                (responses(api, operation))
            }
            (examples(api, operation))
        }
    }
}

/// The method as a badge.
pub(crate) fn method(operation: &Operation) -> Markup {
    html! { span.method.(operation.method.to_lowercase()) { (operation.method) } }
}

/// What a call takes: a credential and compute units.
fn terms(operation: &Operation) -> Markup {
    let credential = operation.credential();
    let cost = text::plain(&operation.value["x-cost"]);
    html! {
        dl.terms {
            div {
                dt { "Credential" }
                dd {
                    span.key.open[credential == "none"].secret[credential == "secret token"] { (credential) }
                }
            }
            @if !cost.is_empty() {
                div {
                    dt { "Compute cost" }
                    dd { (cost) @if cost == "1" { " unit" } @else { " units" } }
                }
            }
        }
    }
}

fn parameters<'a>(api: &Api<'a>, operation: &Operation<'a>) -> Markup {
    let row = |parameter: &&'a Value| {
        let parameter = api.resolve(parameter);
        let place = parameter["in"].as_str().unwrap_or("query");
        Member {
            name: format!("{} ({place})", parameter["name"].as_str().unwrap_or_default()),
            schema: &parameter["schema"],
            required: parameter["required"] == true,
            description: text::description(parameter),
        }
    };
    let rows: Vec<Member> = operation.parameters.iter().map(row).collect();
    html! {
        @if !rows.is_empty() {
            h4 { "Parameters" }
            (schema::table(api, &rows, &format!("Parameters of {}", operation.title())))
        }
    }
}

fn request<'a>(api: &Api<'a>, operation: &Operation<'a>) -> Markup {
    html! {
        @for (kind, media) in operation.request(api) {
            h4 { "Request" (media_type(kind)) }
            (body(api, media, &format!("Request members of {}", operation.title())))
        }
    }
}

fn responses<'a>(api: &Api<'a>, operation: &Operation<'a>) -> Markup {
    let (answers, failures): (Vec<_>, Vec<_>) =
        operation.responses(api).into_iter().partition(|(status, _)| is_success(status));
    html! {
        @for (status, response) in answers {
            @let kinds = content(response);
            @for (kind, media) in &kinds {
                h4 { "Response" @if status != "200" { " " (status) } (media_type(kind)) }
                @if media["schema"].is_null() {
                    (text::prose(text::description(response).unwrap_or_default()))
                }
                (body(api, media, &format!("Response members of {}", operation.title())))
            }
            @if kinds.is_empty() {
                h4 { "Response" @if status != "200" { " " (status) } }
                (text::prose(text::description(response).unwrap_or("Without a body.")))
            }
        }
        @if !failures.is_empty() {
            p.failures {
                span.label {
                    @if api.errors().is_empty() { "Errors" } @else { a href="#errors" { "Errors" } }
                }
                @for (status, response) in failures { (failure(api, status, response)) }
            }
        }
    }
}

fn failure<'a>(api: &Api<'a>, status: &str, response: &'a Value) -> Markup {
    let schema = content(response).first().map(|(_, media)| &media["schema"]);
    html! {
        span.failure {
            @if status != "default" { (status) " " }
            @if let Some(description) = text::description(response) { (text::inline(description)) " " }
            @if let Some(schema) = schema { span.type { (schema::type_of(api, schema)) } }
        }
    }
}

/// The members of a body. Bytes and text have none, and their media type says what they are.
fn body<'a>(api: &Api<'a>, media: &'a Value, caption: &str) -> Markup {
    let schema = &media["schema"];
    html! {
        @if schema::is_bare_object(api, schema) {
            p.none { "An object without members." }
        } @else if schema.is_object() {
            (schema::shape(api, schema, caption))
        }
    }
}

fn media_type(kind: &str) -> Markup {
    html! { @if kind != JSON { " " span.badge { (kind) } } }
}

fn examples<'a>(api: &Api<'a>, operation: &Operation<'a>) -> Markup {
    let answers = operation.responses(api).into_iter().filter(|(status, _)| is_success(status));
    let answer = answers
        .flat_map(|(_, response)| content(response))
        .find_map(|(_, media)| media.get("example"))
        .map(|example| format!("{example:#}"));
    html! {
        div.examples {
            h4 { "Example" span.hint { "one click selects it" } }
            pre { code { (curl::command(api, operation)) } }
            @if let Some(answer) = answer {
                h4 { "Answer" }
                pre { code { (answer) } }
            }
        }
    }
}
