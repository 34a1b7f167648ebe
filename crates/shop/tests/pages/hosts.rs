//! At the host of one shop there is no other: pages of one host share what browsers keep and what wallets allow.

use serde_json::json;

use crate::shops::{app, collection, get, on, pages};

#[tokio::test]
async fn at_the_host_of_a_shop_there_is_no_other() {
    let app = app(on()).await;
    let (a, b) = (&app.project_a, &app.project_b);
    let at = |domain: &str, key: &str| json!({ "storefront": { "domain": domain, "settings": { "accessKey": key }, "site": on() } });
    b.call("Admin/PutStorefront", at("shop.example", &b.key_text)).await.ok();
    let mut paths = pages().to_vec();
    paths.extend(["/shop/1/basket", "/shop/1/theme.css", "/shop/1/sitemap.xml"].map(str::to_owned));
    paths.extend([
        "/shop/1/sitemap/pages.xml".to_owned(),
        collection("/sitemap/1.xml"),
        collection("/1/image"),
    ]);
    for host in ["shop.example", "SHOP.example:443", "shop.example."] {
        let visitor = app.anonymous.with("host", host);
        for path in &paths {
            assert_eq!(visitor.get(path).await.status, 404, "{path} at {host}");
        }
        assert_eq!(visitor.get("/shop/2").await.status, 200);
        assert_eq!(visitor.get("/shop").await.header("location"), "/shop/2");
    }
    for path in &paths[..6] {
        assert_eq!(app.anonymous.with("host", "bourse.example").get(path).await.status, 200, "{path}");
    }

    // While it is closed, nobody is led to another one from there.
    let mut closed = at("shop.example", &b.key_text);
    closed["storefront"]["site"] = json!({ "enabled": false });
    b.call("Admin/PutStorefront", closed).await.ok();
    let visitor = app.anonymous.with("host", "shop.example");
    assert_eq!((visitor.get("/shop").await.status, visitor.get("/shop/1").await.status), (404, 404));
    assert_eq!(visitor.get("/").await.header("location"), "/docs");

    // A host is taken once, and that of the service is given by those who run it.
    let taken = a.call("Admin/PutStorefront", at("shop.example", &a.key_text)).await;
    assert_eq!(taken.status, 409, "{}", taken.json);
    for public in ["bourse.example", "bourse.example:443", "market.example:443"] {
        let refused = a.call("Admin/PutStorefront", at(public, &a.key_text)).await;
        assert_eq!(refused.status, 400, "{}", refused.json);
        assert!(refused.text().contains("storefront.domain"), "{}", refused.text());
        assert_eq!(refused.text().contains("write it so"), public.ends_with(":443"), "{}", refused.text());
    }
    assert_eq!(get(&app, "/shop/1").await.status, 200);
}

#[tokio::test]
async fn programs_that_look_for_pages_are_told_where_their_lists_are() {
    let app = app(on()).await;
    let settings = json!({ "accessKey": app.project_a.key_text });
    let sold = json!([{ "chainId": 137, "itemsAddress": crate::support::seed::RELICS,
        "saleAddress": crate::support::seed::UNKNOWN, "name": "New" }]);
    let storefront = json!({ "domain": "shop.example", "settings": settings, "site": on(),
        "shop": { "enabled": true }, "shopCollections": sold });
    app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
    let told = app.anonymous.with("host", "shop.example").get("/robots.txt").await;
    assert_eq!(told.status, 200);
    assert!(told.text().contains("Sitemap: https://shop.example/shop/1/sitemap.xml\n"), "{}", told.text());
    let list = get(&app, "/shop/1/sitemap/pages.xml").await.text();
    let sale =
        format!("<loc>https://shop.example/shop/1/sale/polygon/{}</loc>", crate::support::seed::UNKNOWN);
    assert!(list.contains(&sale), "{list}");
}
