//! The API explorer: pick an operation, fill in a form, send it, see the answer.

mod body;
mod operation;
mod pretty;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use bourse_reference::inline;
use bourse_server::router::operations;
use bourse_server::{Credential, Route, Service};
use maud::{Markup, html};

use crate::Answer;
use crate::Console;
use crate::access::Member;
use crate::page::Section;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/explorer", get(show))
        .route("/explorer/{service}/{operation}", get(operation::show).post(operation::send))
}

async fn show(member: Member) -> Answer {
    let all = operations();
    let body = html! {
        h1 { "API explorer" }
        p {
            "Every operation of the service. What you send here is really done, in this project, and costs no compute units. "
            "The " a href="/docs" { "reference" } " tells more of each."
        }
        @if !member.is_owner() { (for_viewers()) }
        nav.index aria-label="Services" {
            @for service in Service::ALL { a href={ "#" (service.name()) } { (service.name()) } }
        }
        @for service in Service::ALL {
            section {
                h2 id=(service.name()) { (service.name()) }
                ul.operations {
                    @for route in all.iter().filter(|route| route.service == service) { (entry(&member, route)) }
                }
            }
        }
    };
    Ok(member.page(Section::Explorer, "API explorer", &body))
}

fn for_viewers() -> Markup {
    html! {
        p.notice {
            "You are a viewer of this project: you can send what only looks. Operations that change something are for owners."
        }
    }
}

fn entry(member: &Member, route: &Route) -> Markup {
    let is_locked = !member.is_owner() && !route.is_for_viewers();
    html! {
        li {
            a href=(member.path(&format!("/explorer/{}/{}", route.service.name(), route.name))) { (route.name) }
            @if is_locked { " " span.badge.quiet { "for owners" } }
            @else if route.credential == Credential::SecretToken { " " span.badge.quiet { "secret token" } }
            br;
            span.soft { (inline(route.summary)) }
        }
    }
}
