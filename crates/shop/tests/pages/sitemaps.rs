//! What search engines are told: every page of the shop, tokens among them, at its own host.

use bourse_store::testing::operator;
use bourse_wire::TokenId;
use serde_json::json;

use crate::shops::{collection, get, on, put_token};
use crate::support::TestApp;
use crate::support::orders;
use crate::support::seed::{self, RELICS, UNKNOWN, token_of};

/// Tokens of a list.
const LISTED: u64 = 10_000;

/// A shop at a host of its own with so many tokens, of which no two ids follow each other, and the first and the last that there
/// can be.
async fn app(tokens: u64) -> TestApp {
    let id = |number: u64| match number {
        0 => TokenId::ZERO,
        number if number == tokens - 1 => TokenId::MAX,
        number => TokenId::from(number * 3),
    };
    let token = |number| token_of(json!({ "tokenId": id(number), "name": "Relic" }));
    let app = orders::market((0..tokens).map(token).collect()).await;
    app.store.join_market(app.project_a.scope, seed::key(RELICS), operator()).await.unwrap();
    let settings = json!({ "accessKey": app.project_a.key_text });
    let storefront = json!({ "domain": "shop.example", "settings": settings, "site": on() });
    app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
    app
}

/// The addresses of a list, each of which is at the shop's own host.
async fn listed(app: &TestApp, path: &str) -> Vec<String> {
    let list = get(app, path).await;
    assert_eq!((list.status, list.header("content-type")), (200, "application/xml; charset=utf-8"), "{path}");
    let text = list.text();
    let is_index = path.ends_with("/sitemap.xml");
    let (all, each) = if is_index { ("sitemapindex", "sitemap") } else { ("urlset", "url") };
    let start = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><{all} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">"
    );
    let rest = text.strip_prefix(&start).and_then(|rest| rest.strip_suffix(&format!("</{all}>"))).unwrap();
    let host = "https://shop.example";
    let mut addresses = Vec::new();
    for entry in rest.split_inclusive(&format!("</{each}>")) {
        let address = entry.strip_prefix(&format!("<{each}><loc>{host}")).unwrap();
        addresses.push(address.strip_suffix(&format!("</loc></{each}>")).unwrap().to_owned());
    }
    addresses
}

#[tokio::test]
async fn every_token_is_in_a_list_that_is_in_the_list_of_lists() {
    let app = app(LISTED + 30).await;
    let lists = listed(&app, "/shop/1/sitemap.xml").await;
    let of_tokens = |page: u64| collection(&format!("/sitemap/{page}.xml"));
    assert_eq!(lists, ["/shop/1/sitemap/pages.xml".to_owned(), of_tokens(1), of_tokens(2)]);
    assert_eq!(listed(&app, &lists[0]).await, ["/shop/1".to_owned(), collection("")]);
    let (first, second) = (listed(&app, &lists[1]).await, listed(&app, &lists[2]).await);
    assert_eq!((first.len() as u64, second.len()), (LISTED, 30));
    let expected = (0..LISTED + 29).map(|number| TokenId::from(number * 3)).chain([TokenId::MAX]);
    let expected: Vec<String> = expected.map(|id| collection(&format!("/{id}"))).collect();
    assert!(first.into_iter().chain(second).eq(expected.iter().cloned()), "in their order, each once");
    for path in [&expected[0], &expected[30], &expected[10_029]] {
        assert_eq!(get(&app, path).await.status, 200, "{path}");
    }
    for missing in
        ["/sitemap/0.xml", "/sitemap/3.xml", "/sitemap/1", "/sitemap/x.xml", "/sitemap/4294967295.xml"]
    {
        assert_eq!(get(&app, &collection(missing)).await.status, 404, "{missing}");
    }
    let stranger = format!("/shop/1/c/polygon/{UNKNOWN}/sitemap/1.xml");
    assert_eq!(get(&app, &stranger).await.status, 404);
}

#[tokio::test]
async fn what_the_shop_does_not_show_is_in_no_list() {
    let app = app(40).await;
    put_token(&app, json!({ "tokenId": "1", "name": "New" })).await;
    let lists = listed(&app, "/shop/1/sitemap.xml").await;
    assert_eq!((lists.len(), listed(&app, &lists[1]).await.len()), (2, 41));
    // A visitor has so many of them as of other pages.
    let visitor = app.anonymous.from([203, 0, 113, 9]);
    let mut asked = 0;
    while visitor.get(&lists[1]).await.status == 200 {
        asked += 1;
    }
    assert!((100..300).contains(&asked), "{asked}");

    let hidden = json!([{ "chainId": 137, "itemsAddress": RELICS, "private": true }]);
    let settings = json!({ "accessKey": app.project_a.key_text });
    let storefront =
        json!({ "domain": "shop.example", "settings": settings, "site": on(), "marketCollections": hidden });
    app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
    assert_eq!(listed(&app, "/shop/1/sitemap.xml").await, ["/shop/1/sitemap/pages.xml"]);
    assert_eq!(listed(&app, "/shop/1/sitemap/pages.xml").await, ["/shop/1"]);
    assert_eq!(get(&app, &lists[1]).await.status, 404);
}
