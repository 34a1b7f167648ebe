//! The frame around every page of a shop, and the files that it loads.

use std::sync::{Arc, LazyLock};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bourse_server::StaticAnswer;
use maud::{DOCTYPE, Markup, html};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::asking::Visit;
use crate::pages::images::{icon_address, logo_address};
use crate::refusal::{Refusal, Shown};
use crate::words::Words;
use crate::{Answer, PREFIX, Shop, theme};

const STYLE: &str = concat!(include_str!("style/base.css"), include_str!("style/parts.css"));

/// Its parts in one function, so that nothing of it is anybody else's.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("script/base.js"),
    include_str!("script/dialog.js"),
    include_str!("script/calls.js"),
    include_str!("script/told.js"),
    include_str!("script/wallet.js"),
    include_str!("script/jobs.js"),
    include_str!("script/outcome.js"),
    include_str!("script/trade.js"),
    include_str!("script/live.js"),
    include_str!("script/mint.js"),
    include_str!("script/acts.js"),
    "})();\n",
);

/// What the addresses of these files end with, so that a new version is never mistaken for an old one.
static VERSION: LazyLock<String> = LazyLock::new(|| version_of(&[STYLE, SCRIPT]));

fn version_of(texts: &[&str]) -> String {
    let digest = texts.iter().fold(Sha256::new(), Sha256::chain_update).finalize();
    const_hex::encode(&digest[..6])
}

/// What a page says of itself to those who share it or search it.
pub(crate) struct Head<'h> {
    pub(crate) title: &'h str,
    pub(crate) description: &'h str,
    /// The path under which it is known, whatever else leads to it.
    pub(crate) path: &'h str,
    /// The path of a picture of it.
    pub(crate) image: Option<&'h str>,
    /// Whether search engines are to leave it out.
    pub(crate) is_private: bool,
}

/// Characters of a description that others show.
const DESCRIPTION_CHARS: usize = 300;
/// An empty icon keeps browsers from asking for /favicon.ico.
const NO_ICON: &str = "data:,";
/// How long browsers and those in between may show a page without asking whether it is as before.
const KEPT: &str = "public, max-age=0, must-revalidate";

impl Visit {
    /// A page of the shop. `data` is for its script.
    pub(crate) fn page(&self, head: &Head<'_>, data: &Value, body: &Markup) -> Response {
        let home = self.path("");
        let content = html! {
            header.bar {
                a.brand href=(home) {
                    // An ornament of the name beside it, which stands alone where the picture cannot be had.
                    @if let Some(logo) = logo_address(self) { img.logo src=(logo) alt=""; " " }
                    bdi { (self.title()) }
                }
                nav aria-label=(self.say("frame.shop")) {
                    a href=(home) { (self.say("frame.collections")) }
                }
            }
            main id="content" tabindex="-1" {
                noscript { p.refused { (self.say("frame.no_script")) } }
                (body)
            }
            (self.footer())
        };
        let title = format!("{} · {}", head.title, self.title());
        let html = document(&self.words, &title, &self.head(head), &self.script_data(data), &content);
        self.tagged(html)
    }

    /// What the script has to know of the shop, and of the page.
    fn script_data(&self, data: &Value) -> Value {
        let storefront = self.storefront();
        json!({
            "project": self.parts.project.id,
            "key": self.key(),
            "path": self.path(""),
            "language": self.words.tag,
            "feeReceiver": storefront.site.fee_receiver,
            "marketplaces": self.marketplaces(),
            "page": data,
        })
    }

    fn head(&self, head: &Head<'_>) -> Markup {
        let (base, settings) = (self.base(), &self.storefront().settings);
        let description: String = head.description.chars().take(DESCRIPTION_CHARS).collect();
        let address = format!("{base}{}", head.path);
        let theme = theme::css(self.storefront(), &self.shop.backstage.settings().public_url());
        let image = head.image.map(|path| format!("{base}{path}"));
        let og = self.storefront().market.og_image.as_str();
        let image = image.or_else(|| (!og.is_empty()).then(|| og.to_owned()));
        html! {
            link rel="icon" href=(icon_address(self).as_deref().unwrap_or(NO_ICON));
            link rel="stylesheet" href={ (self.path("/theme.css")) "?" (version_of(&[&theme])) };
            link rel="canonical" href=(address);
            @if head.is_private { meta name="robots" content="noindex"; }
            meta name="description" content=(description);
            meta property="og:type" content="website";
            meta property="og:site_name" content=(self.title());
            meta property="og:title" content=(head.title);
            meta property="og:description" content=(description);
            meta property="og:url" content=(address);
            @if let Some(image) = image { meta property="og:image" content=(image); meta name="twitter:card" content="summary_large_image"; }
            @if settings.socials.twitter.as_str().starts_with('@') { meta name="twitter:site" content=(settings.socials.twitter.as_str()); }
        }
    }

    fn footer(&self) -> Markup {
        html! {
            footer.end {
                nav aria-label=(self.say("frame.links")) {
                    @for link in &self.storefront().site.footer {
                        a href=(link.url.as_str()) rel="noopener" { bdi { (link.label.as_str()) } }
                    }
                }
                p { (self.say("frame.wallet_note")) }
            }
        }
    }

    /// An answer that a browser which has it already need not be sent again.
    fn tagged(&self, html: String) -> Response {
        let tag = format!("W/\"{}\"", version_of(&[&html]));
        let is_known =
            self.known.as_deref().is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
        let mut response =
            if is_known { StatusCode::NOT_MODIFIED.into_response() } else { html.into_response() };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(KEPT));
        headers.insert(header::VARY, HeaderValue::from_static("accept-language, accept-encoding"));
        if let Ok(tag) = HeaderValue::try_from(tag) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}

fn document(words: &Words, title: &str, head: &Markup, data: &Value, content: &Markup) -> String {
    let version = VERSION.as_str();
    let page = html! {
        (DOCTYPE)
        html lang=(words.tag) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="stylesheet" href={ (PREFIX) "/style.css?" (version) };
                script defer src={ (PREFIX) "/script.js?" (version) } {}
                (head)
            }
            body data-shop=(data) {
                a.skip href="#content" { (words.say("frame.skip")) }
                (content)
            }
        }
    };
    page.into_string()
}

/// A page of no shop.
pub(crate) fn bare(words: &Words, status: StatusCode, title: &str, body: &Markup) -> Response {
    let content = html! { main.narrow id="content" tabindex="-1" { (body) } };
    let head = html! { link rel="icon" href=(NO_ICON); meta name="robots" content="noindex"; };
    let html = document(words, title, &head, &Value::Null, &content);
    let content_type = HeaderValue::from_static("text/html; charset=utf-8");
    (status, [(header::CONTENT_TYPE, content_type)], html).into_response()
}

/// The page of what was refused.
pub(crate) fn refused(words: &Words, refusal: &Shown) -> Response {
    let title = words.say("refused.title");
    let body = html! {
        h1 { (title) }
        p { (words.say(refusal.key)) }
        @if !refusal.detail.is_empty() { p { code { (refusal.detail) } } }
        p { a href=(PREFIX) { (words.say("refused.back")) } }
    };
    let mut response = bare(words, refusal.status, title, &body);
    if refusal.status == StatusCode::TOO_MANY_REQUESTS || refusal.status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    }
    response
}

pub(crate) async fn style(request: HeaderMap) -> Response {
    static ANSWER: LazyLock<StaticAnswer> =
        LazyLock::new(|| StaticAnswer::new("text/css; charset=utf-8", STYLE));
    unchanging(ANSWER.answer(&request).await)
}

pub(crate) async fn script(request: HeaderMap) -> Response {
    static ANSWER: LazyLock<StaticAnswer> =
        LazyLock::new(|| StaticAnswer::new("text/javascript; charset=utf-8", SCRIPT));
    unchanging(ANSWER.answer(&request).await)
}

/// The colours of a shop.
pub(crate) async fn theme(visit: Visit) -> Answer {
    let css = theme::css(visit.storefront(), &visit.shop.backstage.settings().public_url());
    let content_type = HeaderValue::from_static("text/css; charset=utf-8");
    Ok(unchanging(([(header::CONTENT_TYPE, content_type)], css).into_response()))
}

/// What the script says in a language.
pub(crate) async fn words(State(shop): State<Arc<Shop>>, Path(tag): Path<String>) -> Answer {
    let words = shop.languages.of_tag(tag.trim_end_matches(".json")).ok_or(Refusal::Missing)?;
    let content_type = HeaderValue::from_static("application/json");
    let mut response =
        ([(header::CONTENT_TYPE, content_type)], words.of_script().to_string()).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    Ok(response)
}

/// A file that never changes under its address.
fn unchanging(mut response: Response) -> Response {
    let kept = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(header::CACHE_CONTROL, kept);
    response
}
