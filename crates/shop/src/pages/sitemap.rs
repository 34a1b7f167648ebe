//! The pages of a shop for search engines: its collections, and what it sells. Tokens are found from there.

use axum::http::{HeaderValue, header};
use axum::response::IntoResponse as _;
use maud::{PreEscaped, html};

use crate::Answer;
use crate::asking::Visit;

pub(super) async fn show(visit: Visit) -> Answer {
    let base = visit.base();
    let paths = visit.market().await?.into_iter().map(|collection| collection.path);
    let sales = visit.sales().await?.into_iter().map(|sale| sale.path);
    let paths: Vec<String> = std::iter::once(visit.path("")).chain(paths).chain(sales).collect();
    let map = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"))
        urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" {
            @for path in &paths { url { loc { (base) (path) } } }
        }
    };
    let content_type = HeaderValue::from_static("application/xml; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, content_type)], map.into_string()).into_response())
}
