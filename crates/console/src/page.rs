//! The frame around every page, and the files it loads.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bourse_server::StaticAnswer;
use maud::{DOCTYPE, Markup, html};
use sha2::{Digest as _, Sha256};

use super::access::{Member, Proof, Visitor};
use super::form::TOKEN_FIELD;

const STYLE: &str = concat!(
    include_str!("style/base.css"),
    include_str!("style/parts.css"),
    include_str!("style/charts.css"),
    include_str!("style/collections.css"),
    include_str!("style/records.css"),
);
const SCRIPT: &str = include_str!("script.js");

/// What the addresses of these files end with, so that a new version is never mistaken for an old one.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let digest = Sha256::new().chain_update(STYLE).chain_update(SCRIPT).finalize();
    const_hex::encode(&digest[..6])
});

/// A part of a project, in the order of its navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Analytics,
    Usage,
    Collections,
    Hosted,
    Audiences,
    Storefront,
    Webhooks,
    Credentials,
    Explorer,
    Members,
    Audit,
}

impl Section {
    const ALL: [(Self, &'static str, &'static str); 12] = [
        (Self::Overview, "", "Overview"),
        (Self::Analytics, "/analytics", "Analytics"),
        (Self::Usage, "/usage", "Usage"),
        (Self::Collections, "/collections", "Collections"),
        (Self::Hosted, "/hosted", "Hosted metadata"),
        (Self::Audiences, "/audiences", "Audiences"),
        (Self::Storefront, "/storefront", "Storefront"),
        (Self::Webhooks, "/webhooks", "Webhooks"),
        (Self::Credentials, "/credentials", "Credentials"),
        (Self::Explorer, "/explorer", "API explorer"),
        (Self::Members, "/members", "Members"),
        (Self::Audit, "/audit", "Audit log"),
    ];
}

impl Member {
    /// Whether a part is for this member: who administered what is for owners.
    fn may_open(&self, section: Section) -> bool {
        section != Section::Audit || self.is_owner()
    }

    /// A page of a part of the project.
    pub(crate) fn page(&self, section: Section, title: &str, body: &Markup) -> Response {
        let project = &self.project.name;
        let sections = html! {
            nav.sections aria-label="Project" {
                p.project { a href=(self.path("")) { (project) } }
                ul {
                    @for (known, path, name) in Section::ALL.into_iter().filter(|(known, _, _)| self.may_open(*known)) {
                        li { a href=(self.path(path)) aria-current=[(known == section).then_some("page")] { (name) } }
                    }
                }
            }
        };
        framed(&self.visitor, &format!("{title} · {project}"), Some(&sections), body)
    }
}

impl Visitor {
    /// A page of no project.
    pub(crate) fn page(&self, title: &str, body: &Markup) -> Response {
        framed(self, title, None, body)
    }

    /// What every form begins with.
    pub(crate) fn form_token(&self) -> Markup {
        form_token(&self.proof)
    }
}

/// The field that proves where a form comes from.
pub(crate) fn form_token(proof: &Proof) -> Markup {
    html! { input type="hidden" name=(TOKEN_FIELD) value=(proof.form_token()); }
}

fn framed(visitor: &Visitor, title: &str, sections: Option<&Markup>, body: &Markup) -> Response {
    let here = |path: &str| (visitor.path == path).then_some("page");
    let bar = html! {
        header.bar {
            a.brand href="/console/projects" { "Bourse" }
            nav aria-label="Service" {
                a href="/console/projects" aria-current=[here("/console/projects")] { "Projects" }
                a href="/console/networks" aria-current=[here("/console/networks")] { "Networks" }
                @if visitor.account.administrator {
                    a href="/console/people" aria-current=[here("/console/people")] { "People" }
                    a href="/console/audit" aria-current=[here("/console/audit")] { "Audit log" }
                }
            }
            div.who {
                a href="/console/account" aria-current=[here("/console/account")] { (visitor.account.email) }
                form method="post" action="/console/sign-out" {
                    (visitor.form_token())
                    button.plain { "Sign out" }
                }
            }
        }
    };
    let content = html! {
        (bar)
        div.frame {
            @if let Some(sections) = sections { (sections) }
            main id="content" tabindex="-1" {
                @if let Some(done) = visitor.done { (done.markup()) }
                (body)
            }
        }
    };
    document(title, &content)
}

/// A page without navigation: for guests, and for what went wrong.
pub(crate) fn bare(title: &str, body: &Markup) -> Response {
    let content = html! {
        header.bar { a.brand href="/console" { "Bourse" } }
        main.narrow id="content" tabindex="-1" { (body) }
    };
    document(title, &content)
}

fn document(title: &str, content: &Markup) -> Response {
    let version = VERSION.as_str();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Bourse" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href={ "/console/style.css?" (version) };
                script defer src={ "/console/script.js?" (version) } {}
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                (content)
            }
        }
    };
    let content_type = HeaderValue::from_static("text/html; charset=utf-8");
    ([(header::CONTENT_TYPE, content_type)], page.into_string()).into_response()
}

pub(crate) async fn style(request: HeaderMap) -> Response {
    static ANSWER: LazyLock<StaticAnswer> =
        LazyLock::new(|| StaticAnswer::new("text/css; charset=utf-8", STYLE));
    file(&ANSWER, &request).await
}

pub(crate) async fn script(request: HeaderMap) -> Response {
    static ANSWER: LazyLock<StaticAnswer> =
        LazyLock::new(|| StaticAnswer::new("text/javascript; charset=utf-8", SCRIPT));
    file(&ANSWER, &request).await
}

/// A file that never changes under its address.
async fn file(answer: &StaticAnswer, request: &HeaderMap) -> Response {
    let mut response = answer.answer(request).await;
    let kept = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(header::CACHE_CONTROL, kept);
    response
}

/// Text that scripts copy, with a button that appears only where there are scripts.
pub(crate) fn copyable(id: &str, text: &str) -> Markup {
    html! {
        div.copyable {
            pre id=(id) tabindex="0" { code { (text) } }
            button type="button" data-copy=(id) hidden { "Copy" }
        }
    }
}

/// Links to the pages before and after this one, with the rest of the query kept.
pub(crate) fn page_links(path: &str, query: &[(&str, &str)], page: u64, is_more: bool) -> Markup {
    let to = |page: u64| {
        let kept = query.iter().filter(|(_, value)| !value.is_empty());
        let mut text = form_urlencoded::Serializer::new(String::new());
        text.extend_pairs(kept).append_pair("page", &page.to_string());
        format!("{path}?{}", text.finish())
    };
    html! {
        @if page > 1 || is_more {
            nav.pages aria-label="Pages" {
                @if page > 1 { a rel="prev" href=(to(page - 1)) { "← Before" } }
                @if is_more { a rel="next" href=(to(page + 1)) { "Next →" } }
            }
        }
    }
}
