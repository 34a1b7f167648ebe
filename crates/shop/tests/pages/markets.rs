//! What pages show of orders: those of the marketplaces of the shop. What a shop needs to show them.

use bourse_store::testing::operator;
use serde_json::{Value, json};

use crate::shops::{collection, get, on, open, pages};
use crate::support::TestApp;
use crate::support::orders::{self, ANA, DOLLAR, balance, listing, offer, with};
use crate::support::project::create_key;
use crate::support::seed::{self, RELICS};

/// What the listing on OpenSea costs, and what those elsewhere do.
const HERE: &str = "0.000000000000000015";
const ELSEWHERE: &str = "0.000000000000000001";

/// Token 7 is Ana's, who sells it on OpenSea and much cheaper elsewhere; Ben wants it. Token 1 costs dollars.
async fn app(site: Value) -> TestApp {
    let mut told = vec![listing("here", 7, 15), offer("wanted", 7, 9)];
    told.push(with(listing("dollars", 1, 2_500_000), json!({ "priceCurrencyAddress": DOLLAR })));
    told.extend(
        (0..12).map(|number| {
            with(listing(&format!("elsewhere-{number}"), 7, 1), json!({ "marketplace": "blur" }))
        }),
    );
    let mut changes = orders::orders(told);
    changes.extend([balance(7, ANA, 1), seed::token_of(json!({ "tokenId": "7", "name": "Amphora" }))]);
    let app = orders::market(changes).await;
    seed::relics(&app.store).await;
    app.store.join_market(app.project_a.scope, seed::key(RELICS), operator()).await.unwrap();
    open(&app, site).await;
    app
}

fn at(marketplaces: &[&str]) -> Value {
    with(on(), json!({ "marketplaces": marketplaces }))
}

#[tokio::test]
async fn every_page_shows_orders_of_the_marketplaces_of_the_shop_alone() {
    let app = app(at(&[])).await;
    let all = ["/shop/1".to_owned(), collection(""), collection("/7"), format!("/shop/1/a/{ANA}")];
    for path in &all {
        assert!(get(&app, path).await.text().contains(ELSEWHERE), "{path}");
    }
    open(&app, at(&["opensea"])).await;
    for path in &all {
        let page = get(&app, path).await.text();
        // What happened is told wherever it did.
        let page = page.split("data-live=\"history\"").next().unwrap();
        assert!(page.contains(HERE) && !page.contains(ELSEWHERE), "{path}: {page}");
        assert!(page.contains("&quot;marketplaces&quot;:[&quot;opensea&quot;]"), "{path}");
    }
    open(&app, at(&["x2y2"])).await;
    let page = get(&app, &collection("/7")).await.text();
    assert!(page.contains("Nobody sells it right now."), "{page}");
}

#[tokio::test]
async fn a_key_for_what_pages_ask_is_enough_and_less_is_refused_by_name() {
    let app = app(on()).await;
    let put = async |services: &[&str], origins: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let (services, origins) = (owned(services), owned(origins));
        let (_, key) = create_key(&app.store, app.project_a.scope, |terms| {
            terms.allowed_services = services;
            terms.allowed_origins = origins;
        })
        .await;
        let storefront = json!({ "settings": { "accessKey": key }, "site": on() });
        app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await
    };
    for (services, origins, lacking) in [
        (&["marketplace"][..], &[][..], "does not work for metadata and indexer"),
        (&["metadata", "indexer", "storefront"][..], &[][..], "does not work for marketplace"),
        (&[][..], &["https://elsewhere.example"][..], "does not work from https://bourse.example"),
    ] {
        let refused = put(services, origins).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(refused.text().contains("storefront.settings.accessKey"), "{}", refused.text());
        assert!(refused.text().contains(lacking), "{}", refused.text());
    }
    put(&["marketplace", "metadata", "indexer"], &["https://bourse.example"]).await.ok();
    for path in pages() {
        let page = get(&app, &path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text());
    }
}

#[tokio::test]
async fn a_marketplace_that_is_none_is_refused_by_name() {
    let app = app(on()).await;
    let settings = json!({ "accessKey": app.project_a.key_text });
    for (word, is_one) in
        [("opensea", true), ("bourse_marketplace_v2", true), ("opensae", false), ("unknown", false)]
    {
        let storefront = json!({ "settings": settings, "site": at(&["blur", word]) });
        let put = app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await;
        assert_eq!(put.status == 200, is_one, "{word}: {}", put.text());
        assert!(is_one || put.text().contains("storefront.site.marketplaces[1]"), "{}", put.text());
    }
}
