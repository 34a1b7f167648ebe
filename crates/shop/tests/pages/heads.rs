//! What pages say of themselves to browsers, to those who share them, and to those in between.

use axum::http::Method;
use serde_json::{Value, json};

use crate::shops::{HOSTILE, app, collection, get, on, pages, put_token};
use crate::support::TestApp;
use crate::support::seed;

/// The content of a `meta` of a page.
fn meta<'p>(page: &'p str, name: &str) -> Option<&'p str> {
    page.split(&format!("{name}\" content=\"")).nth(1)?.split('"').next()
}

async fn open_with(app: &TestApp, change: Value) {
    let storefront =
        json!({ "settings": { "title": "Relics", "accessKey": app.project_a.key_text }, "site": on() });
    let storefront = crate::support::orders::with(storefront, change);
    app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
}

#[tokio::test]
async fn pages_may_be_kept_only_after_asking_and_heads_come_without_them() {
    let app = app(on()).await;
    for path in pages() {
        let page = get(&app, &path).await;
        assert_eq!(page.header("cache-control"), "public, max-age=0, must-revalidate", "{path}");
        assert_eq!(page.header("vary"), "accept-language, accept-encoding", "{path}");
        assert!(page.header("etag").starts_with("W/\""), "{path}");
        let head = app.anonymous.request(Method::HEAD, &path).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(head.header("etag"), page.header("etag"), "{path}");
        let others = app.anonymous.with("if-none-match", "W/\"other\", \"x\"").get(&path).await;
        assert_eq!(others.body, page.body, "{path}");
    }
    for (path, kept) in [
        ("/shop/style.css", "immutable"),
        ("/shop/1/theme.css", "immutable"),
        ("/shop/words/en.json", "max-age=300"),
    ] {
        assert!(get(&app, path).await.header("cache-control").contains(kept), "{path}");
    }
    assert_eq!(get(&app, "/shop/1/nothing").await.header("cache-control"), "no-store");
}

#[tokio::test]
async fn pages_have_a_picture_and_an_address_of_their_own() {
    let app = app(on()).await;
    let png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6B";
    put_token(
        &app,
        json!({ "tokenId": "7", "name": HOSTILE, "description": "Found \"below\" the <sea>", "image": png }),
    )
    .await;
    let token = get(&app, &collection("/7")).await.text();
    let image = meta(&token, "og:image").unwrap();
    assert!(image.starts_with(&format!("https://bourse.example{}?", collection("/7/image"))), "{image}");
    assert!(image.ends_with("&amp;w=640"), "{image}");
    assert_eq!(meta(&token, "og:url"), Some(format!("https://bourse.example{}", collection("/7")).as_str()));
    assert_eq!(meta(&token, "og:description"), Some("Found &quot;below&quot; the &lt;sea&gt;"));
    assert_eq!(meta(&token, "robots"), None);
    // The cheapest of what is for sale stands for its collection and for the shop.
    for path in ["/shop/1".to_owned(), collection("")] {
        let page = get(&app, &path).await.text();
        assert_eq!(meta(&page, "og:image"), Some(image), "{path}");
        assert!(page.contains(&format!("rel=\"canonical\" href=\"https://bourse.example{path}\"")), "{path}");
    }
    let found = get(&app, &collection("?p.metal=bronze&sort=id")).await.text();
    assert_eq!(meta(&found, "robots"), Some("noindex"), "there are too many of these to look for them");
    assert!(found.contains(&format!("rel=\"canonical\" href=\"https://bourse.example{}\"", collection(""))));

    // Drawings are taken by nobody who shares pages; then the operator's picture is.
    let drawn = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=";
    put_token(&app, json!({ "tokenId": "7", "image": drawn })).await;
    assert_eq!(meta(&get(&app, &collection("/7")).await.text(), "og:image"), None);
    let own = "https://shop.example/og.png";
    open_with(&app, json!({ "market": { "enabled": true, "ogImage": own } })).await;
    for path in ["/shop/1".to_owned(), collection("/7")] {
        assert_eq!(meta(&get(&app, &path).await.text(), "og:image"), Some(own), "{path}");
    }
}

#[tokio::test]
async fn a_font_of_one_s_own_is_named_and_served() {
    let app = app(on()).await;
    let made = seed::belongings(&app.store, &app.project_a, "font", false).await;
    let path = format!("/projects/1/collections/{}/assets/{}", made.collection, made.asset);
    let font = format!("https://bourse.example{path}");
    let settings = json!({ "accessKey": app.project_a.key_text, "fontUrl": font });
    open_with(&app, json!({ "settings": settings })).await;
    let theme = get(&app, "/shop/1/theme.css").await;
    assert!(theme.text().contains(&format!("src:url(\"{path}\")")), "{}", theme.text());
    assert!(get(&app, "/shop/style.css").await.text().contains("var(--sans)"), "it is used");
    assert_eq!(get(&app, &path).await.status, 200);
}
