//! What a shop shows, and what it does not.

use std::sync::Arc;

use bourse_server::Backstage;
use bourse_server::auth::AccessKey;
use bourse_store::KeyTerms;
use bourse_store::testing::operator;
use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::orders::{self, ANA, COIN, listing};
use crate::support::seed::{self, RELICS, UNKNOWN};

pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"' onload=x &amp; \u{202e}";

/// A service whose first project has relics in its market, the cheapest for sale, and what it says of its storefront.
pub(crate) async fn app(site: Value) -> TestApp {
    let token = json!({ "tokenId": "7", "name": HOSTILE, "description": HOSTILE,
        "attributes": [{ "trait_type": HOSTILE, "value": HOSTILE }] });
    let app = orders::market(vec![seed::token_of(token)]).await;
    seed::relics(&app.store).await;
    app.store.join_market(app.project_a.scope, seed::key(RELICS), operator()).await.unwrap();
    let put = app.project_a.call("Ingest/PutOrders", json!({ "orders": [listing("one", 7, 15)] })).await.ok();
    assert_eq!(put["rejected"], json!([]));
    open(&app, site).await;
    app
}

pub(crate) async fn open(app: &TestApp, site: Value) {
    let storefront = json!({ "settings": { "title": "Old <b>things</b>", "accessKey": app.project_a.key_text }, "site": site });
    app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
}

pub(crate) fn on() -> Value {
    json!({ "enabled": true, "description": "What is left of Rome.", "accent": "#aa0000",
        "footer": [{ "label": "Imprint", "url": "https://shop.example/imprint" }] })
}

/// Puts a token as a client does, so that it is seen at once.
pub(crate) async fn put_token(app: &TestApp, mut token: Value) {
    token["chainId"] = json!(137);
    token["contractAddress"] = json!(RELICS);
    let body = json!({ "tokens": [token] });
    let put = app.project_a.call("Ingest/PutTokens", body).await.ok();
    assert_eq!(put["rejected"], json!([]));
}

pub(crate) async fn get(app: &TestApp, path: &str) -> Answer {
    app.anonymous.get(path).await
}

pub(crate) fn collection(rest: &str) -> String {
    format!("/shop/1/c/polygon/{RELICS}{rest}")
}

/// All pages of the shop.
pub(crate) fn pages() -> [String; 6] {
    [
        "/shop/1".to_owned(),
        collection(""),
        collection("?q=relic&p.metal=bronze"),
        collection("/7"),
        collection("/1"),
        format!("/shop/1/a/{ANA}"),
    ]
}

/// The readable part of a page: without what changes with every key and every version.
fn body_of(app: &TestApp, page: &Answer) -> String {
    let text = page.text();
    let main = text.split("<main").nth(1).and_then(|rest| rest.split("</main>").next()).unwrap();
    format!("<main{main}").replace(&app.project_a.key_text, "KEY").replace("><", ">\n<")
}

#[tokio::test]
async fn every_page_is_small_strict_and_takes_what_others_wrote_as_text() {
    let app = app(on()).await;
    for path in pages() {
        let page = get(&app, &path).await;
        let text = page.text();
        assert_eq!(page.status, 200, "{path}: {text}");
        assert!(text.len() < 100_000, "{path} has {} bytes", text.len());
        assert!(
            !text.contains("<script>") && !text.contains("<b>") && !text.contains("style=\""),
            "{path}: {text}"
        );
        assert!(page.header("content-security-policy").contains("default-src 'none'"));
        assert_eq!((page.header("set-cookie"), page.header("x-content-type-options")), ("", "nosniff"));
        for elsewhere in text.split("src=\"").skip(1) {
            assert!(elsewhere.starts_with("/shop/"), "{path}: {elsewhere:.80}");
        }
        assert!(
            text.contains("<link rel=\"canonical\" href=\"https://bourse.example/shop/1"),
            "{path}: {text}"
        );
        assert!(text.contains("https://shop.example/imprint"), "{path}");
    }
    let token = get(&app, &collection("/7")).await.text();
    assert!(token.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{token}");
}

#[tokio::test]
async fn pages_tell_what_is_for_sale() {
    let app = app(on()).await;
    let home = get(&app, "/shop/1").await;
    insta::assert_snapshot!("home", body_of(&app, &home));
    insta::assert_snapshot!("collection", body_of(&app, &get(&app, &collection("")).await));
    insta::assert_snapshot!("token", body_of(&app, &get(&app, &collection("/7")).await));
    insta::assert_snapshot!("account", body_of(&app, &get(&app, &format!("/shop/1/a/{ANA}")).await));
    let found = get(&app, &collection("?p.metal=bronze")).await.text();
    assert!(found.contains("Bronze relic") && !found.contains("Plain relic"), "{found}");
    assert!(get(&app, &collection("?q=&sort=")).await.header("location") == collection(""));
    let wrong = get(&app, &collection("?price_min=x&price_in=0x00")).await;
    assert!(wrong.status == 422 && wrong.text().contains("role=\"alert\""), "{}", wrong.text());
    let priced = get(&app, &collection(&format!("?price_max=1&price_in={COIN}"))).await;
    assert_eq!(priced.status, 200, "{}", priced.text());
}

/// Who has a token, and how many of it each of several has.
#[tokio::test]
async fn pages_tell_who_has_a_token() {
    let app = app(on()).await;
    let held = |account: &str, balance: &str| json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": "7", "account": account, "balance": balance });
    let balances = json!({ "balances": [held(ANA, "1"), held(UNKNOWN, "12")] });
    let put = app.project_a.call("Ingest/PutBalances", balances).await.ok();
    assert_eq!(put["rejected"], json!([]));
    let page = get(&app, &collection("/7")).await.text();
    let owners = page.split("class=\"owners\"").nth(1).and_then(|rest| rest.split("</p>").next()).unwrap();
    assert!(owners.contains("Owned by") && owners.contains("12 "), "{owners}");
    for account in [ANA, UNKNOWN] {
        assert!(owners.contains(&format!("href=\"/shop/1/a/{account}\"")), "{owners}");
    }
}

#[tokio::test]
async fn what_is_off_or_another_s_is_not_there() {
    let app = app(json!({ "enabled": false })).await;
    for path in pages() {
        assert_eq!(get(&app, &path).await.status, 404, "{path}");
    }
    assert_eq!(get(&app, "/shop").await.status, 404);
    open(&app, on()).await;
    assert_eq!(get(&app, "/shop").await.header("location"), "/shop/1");
    for path in [
        "/shop/2",
        "/shop/x",
        "/shop/0",
        "/shop/99999999999999999999",
        "/shop/1/nothing",
        "/shop/1/a/0x12",
        "/shop/words/xx",
        &format!("/shop/1/c/polygon/{UNKNOWN}"),
        &format!("/shop/1/c/polygon/{UNKNOWN}/1"),
        &format!("/shop/1/c/nowhere/{RELICS}"),
        &collection("/12345"),
        &collection("/x"),
    ] {
        let page = get(&app, path).await;
        assert_eq!(page.status, 404, "{path}");
        assert!(page.text().contains("There is nothing at this address."), "{path}: {}", page.text());
    }
    let hidden = json!([{ "chainId": 137, "itemsAddress": RELICS, "private": true }]);
    let storefront = json!({ "settings": { "accessKey": app.project_a.key_text }, "site": on(), "marketCollections": hidden });
    app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
    assert_eq!(get(&app, &collection("")).await.status, 404, "it is for whoever has a key only");
}

#[tokio::test]
async fn a_shop_has_a_key_of_its_project_and_asks_within_its_limits() {
    let app = app(on()).await;
    let put = async |key: Value| {
        let storefront = json!({ "settings": { "accessKey": key }, "site": on() });
        app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await
    };
    for key in [Value::Null, json!("nonsense"), json!(app.project_b.key_text)] {
        assert_eq!(put(key.clone()).await.status, 400, "{key}");
    }
    // A project keeps one that works.
    let another = AccessKey::generate(app.project_a.id).hash().to_string();
    let made = app.store.create_access_key(app.project_a.scope, another, KeyTerms::default(), operator());
    made.await.unwrap();
    app.store.disable_access_key(app.project_a.scope, app.project_a.key_record.id, operator()).await.unwrap();
    Backstage::new(Arc::clone(&app.app)).renew_credentials().await.unwrap();
    let page = get(&app, "/shop/1").await;
    assert_eq!(page.status, 503);
    assert!(page.text().contains("its access key does not let it"), "{}", page.text());
    assert!(!page.text().contains(&app.project_a.key_text), "{}", page.text());
}

#[tokio::test]
async fn nobody_opens_pages_without_end() {
    let app = app(on()).await;
    let visitor = app.anonymous.from([203, 0, 113, 7]);
    let mut last = 200;
    for _ in 0..400 {
        last = visitor.get("/shop/1/theme.css").await.status;
        if last != 200 {
            break;
        }
    }
    assert_eq!(last, 429);
    assert_eq!(app.anonymous.from([203, 0, 113, 8]).get("/shop/1/theme.css").await.status, 200);
}

#[tokio::test]
async fn pages_that_a_browser_has_are_not_sent_again() {
    let app = app(on()).await;
    let first = get(&app, "/shop/1").await;
    let tag = first.header("etag").to_owned();
    let again = app.anonymous.with("if-none-match", &tag).get("/shop/1").await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    put_token(&app, json!({ "tokenId": "8", "name": "Another" })).await;
    let changed = app.anonymous.with("if-none-match", &tag).get("/shop/1").await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn languages_hosts_and_search_engines() {
    let app = app(on()).await;
    let german = app.anonymous.with("accept-language", "de").get("/shop/1").await.text();
    assert!(german.contains("<html lang=\"de\">") && german.contains("Sammlungen"), "{german}");
    let mut site = on();
    site["language"] = json!("de");
    open(&app, site.clone()).await;
    assert!(get(&app, "/shop/1").await.text().contains("Sammlungen"));
    let storefront = json!({ "domain": "shop.example", "settings": { "accessKey": app.project_a.key_text }, "site": site });
    app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
    let home = get(&app, "/shop/1").await.text();
    assert!(home.contains("<link rel=\"canonical\" href=\"https://shop.example/shop/1\">"), "{home}");
    let led = app.anonymous.with("host", "shop.example").get("/shop").await;
    assert_eq!(led.header("location"), "/shop/1");
    let map = get(&app, "/shop/1/sitemap/pages.xml").await.text();
    assert!(map.contains(&format!("<loc>https://shop.example{}</loc>", collection(""))), "{map}");
    put_token(&app, json!({ "tokenId": "9", "name": "Neu" })).await;
    assert!(get(&app, &collection("")).await.text().contains("Neu"));
    let texts = get(&app, "/shop/words/de.json").await;
    assert_eq!(texts.status, 200);
}

#[tokio::test]
async fn pictures_are_those_that_tokens_of_the_shop_name() {
    let app = app(on()).await;
    let inline = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=";
    let drawn = json!({ "tokenId": "8", "name": "Drawn", "image": inline });
    put_token(&app, drawn).await;
    let page = get(&app, &collection("/8")).await.text();
    let path = collection("/8/image");
    assert!(page.contains(&format!("src=\"{path}?")), "{page}");
    let picture = get(&app, &format!("{path}?w=640")).await;
    assert_eq!(
        (picture.status, picture.header("content-type")),
        (200, "image/svg+xml"),
        "{}",
        picture.text()
    );
    assert!(picture.header("content-security-policy").contains("default-src 'none'"));
    // Without a picture, or of nothing that the shop shows, there is none; whatever the query says.
    for missing in [
        collection("/7/image"),
        collection("/7/image?link=https://a.example/1.png"),
        collection("/99/image"),
        format!("/shop/1/c/polygon/{UNKNOWN}/8/image"),
        format!("/shop/2/c/polygon/{RELICS}/8/image"),
    ] {
        assert_eq!(get(&app, &missing).await.status, 404, "{missing}");
    }
    open(&app, json!({ "enabled": false })).await;
    assert_eq!(get(&app, &path).await.status, 404, "it is closed");
}

#[tokio::test]
async fn logo_and_icon_come_from_here_or_the_name_stands_alone() {
    let app = app(on()).await;
    let marked = async |logo: &str, icon: &str| {
        let settings = json!({ "title": "Relics", "accessKey": app.project_a.key_text, "logoUrl": logo, "faviconUrl": icon });
        let storefront = json!({ "settings": settings, "site": on() });
        app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
        get(&app, "/shop/1").await.text()
    };
    let drawn = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=";
    let page = marked(drawn, drawn).await;
    for (start, path) in [("<img class=\"logo\" src=\"", "logo"), ("<link rel=\"icon\" href=\"", "icon")] {
        let address = page.split(start).nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        assert!(address.starts_with(&format!("/shop/1/{path}/image?")), "{address}");
        let picture = get(&app, &address.replace("&amp;", "&")).await;
        assert_eq!((picture.status, picture.header("content-type")), (200, "image/svg+xml"));
        assert!(picture.header("cache-control").starts_with("public"), "{}", picture.header("cache-control"));
    }

    // Of somebody's own network nothing is fetched, and nothing is shown for it.
    let page = marked("http://127.0.0.1:1/logo.png", "http://127.0.0.1:1/icon.png").await;
    assert!(!page.contains("127.0.0.1:1") && page.contains("<bdi>Relics</bdi></a>"), "{page}");
    for path in
        ["/shop/1/logo/image", "/shop/1/icon/image?w=160", "/shop/1/logo/image?link=https://a.example"]
    {
        let missing = get(&app, path).await;
        assert_eq!((missing.status, missing.body.len()), (404, 0), "{path}");
    }
    let page = marked("", "").await;
    assert!(page.contains("<link rel=\"icon\" href=\"data:,\">") && !page.contains("/logo/image"), "{page}");
    assert_eq!(get(&app, "/shop/1/logo/image").await.status, 404);
}

#[tokio::test]
async fn whoever_names_the_host_alone_is_led_to_the_shop() {
    let app = app(json!({ "enabled": false })).await;
    let led = async |host: &str| {
        let answer = app.anonymous.with("host", host).get("/").await;
        assert_eq!(answer.status, 303, "{}", answer.text());
        answer.header("location").to_owned()
    };
    assert_eq!(led("bourse.example").await, "/docs", "there is no shop");
    open(&app, on()).await;
    assert_eq!(led("bourse.example").await, "/shop/1", "it is the only one");
    let storefront = json!({ "domain": "shop.example", "settings": { "accessKey": app.project_b.key_text }, "site": on() });
    app.project_b.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
    assert_eq!(led("bourse.example").await, "/docs", "there are two");
    assert_eq!(led("SHOP.example").await, "/shop/2", "it is at the host");
    assert_eq!(get(&app, "//").await.status, 404);
}
