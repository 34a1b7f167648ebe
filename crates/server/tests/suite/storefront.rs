//! What storefronts are told they look like, and what they show.

use serde_json::{Value, json};

use crate::marketplace::with;
use crate::support::TestApp;
use crate::support::market::put_coin;
use crate::support::project::Project;
use crate::support::seed::{self, ACCOUNT, RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

const LOOKUP: &str = "MarketplaceService/LookupMarketplace";

/// A service in which A's market has one collection, whose chain has a currency.
async fn app() -> TestApp {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    put_coin(&app).await;
    let actor = bourse_store::testing::operator();
    app.store.join_market(app.project_a.scope, seed::key(RELICS), actor).await.unwrap();
    app
}

async fn put(project: &Project, storefront: Value) {
    project.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();
}

async fn lookup(project: &Project, body: Value) -> Value {
    project.call(LOOKUP, body).await.ok()
}

fn addresses(answer: &Value, member: &str) -> Vec<String> {
    let all = answer[member].as_array().unwrap().iter();
    all.map(|collection| collection["itemsAddress"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn one_that_nobody_said_anything_of_follows_from_the_market() {
    let app = app().await;
    let mut said = Transcript::default();
    said.call(&app.project_a, LOOKUP, json!({})).await;
    said.call(&app.project_a, "Admin/GetStorefront", json!({})).await;
    // Of a project whose market has nothing, it is empty.
    said.call(&app.project_b, LOOKUP, json!({ "projectId": 2 })).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn what_was_said_of_it_is_shown() {
    let app = app().await;
    let mut said = Transcript::default();
    let trades = json!({ "chainId": 137, "itemsAddress": RELICS, "feePercentage": 2.5, "currencyOptions": [ACCOUNT],
        "filterSettings": { "filterOrder": ["Metal"], "exclusions": [{ "key": "Weight", "condition": "ENTIRE_KEY" }] } });
    let first = json!({ "chainId": 137, "itemsAddress": UNKNOWN, "sortOrder": 1, "destinationMarketplace": "opensea" });
    let sold = json!({ "chainId": 137, "itemsAddress": RELICS, "saleAddress": ACCOUNT, "name": "Relics", "tokenIds": ["1", "2"] });
    let settings = json!({ "title": "Relics of old", "logoUrl": "https://shop.example/logo.png", "style": { "radius": 4 },
        "walletOptions": { "walletType": "ECOSYSTEM", "ecosystem": { "walletUrl": "https://wallet.example" } } });
    let storefront = json!({ "domain": "shop.example", "settings": settings, "market": { "enabled": true },
        "shop": { "enabled": true }, "marketCollections": [trades, first], "shopCollections": [sold] });
    said.call(&app.project_a, "Admin/PutStorefront", json!({ "storefront": storefront })).await;
    said.call(&app.project_a, LOOKUP, json!({ "userAddress": ACCOUNT })).await;
    insta::assert_snapshot!(said.text());
    let hidden = json!({ "chainId": 137, "itemsAddress": RELICS, "hidden": true });
    put(&app.project_a, json!({ "marketCollections": [hidden] })).await;
    let answer = lookup(&app.project_a, json!({})).await;
    assert_eq!(addresses(&answer, "marketCollections"), [""; 0]);
}

#[tokio::test]
async fn a_host_is_one_project_s_and_what_is_private_is_its_own() {
    let app = app().await;
    let (a, b) = (&app.project_a, &app.project_b);
    let at = json!({ "domain": "shop.example" });
    assert_eq!(b.call(LOOKUP, at.clone()).await.refusal(), (404, 3000));
    let private = json!({ "chainId": 137, "itemsAddress": UNKNOWN, "private": true });
    let storefront =
        with(at.clone(), json!({ "market": { "enabled": true }, "marketCollections": [private] }));
    put(a, storefront.clone()).await;
    let own = lookup(a, json!({})).await;
    assert_eq!(addresses(&own, "marketCollections"), [RELICS, UNKNOWN]);
    assert_eq!(lookup(a, at.clone()).await, own);
    let others = lookup(b, at.clone()).await;
    assert_eq!(addresses(&others, "marketCollections"), [RELICS]);
    assert_eq!((&others["marketplace"]["projectId"], &others["shopCollections"]), (&json!(1), &json!([])));
    let whole = with(storefront, json!({ "market": { "enabled": true, "private": true } }));
    put(a, whole).await;
    assert_eq!(b.call(LOOKUP, at.clone()).await.refusal(), (404, 3000));
    assert_eq!(addresses(&lookup(a, at.clone()).await, "marketCollections").len(), 2);
    let taken = b.call("Admin/PutStorefront", json!({ "storefront": at })).await;
    assert_eq!(taken.refusal(), (409, 1004));
}

#[tokio::test]
async fn what_no_storefront_can_be_is_refused_by_name() {
    let app = app().await;
    let mut said = Transcript::default();
    for storefront in [
        json!({ "domain": "https://shop.example" }),
        json!({ "settings": { "logoUrl": "javascript:alert(1)" } }),
        json!({ "marketCollections": [{ "chainId": 137, "itemsAddress": RELICS, "feePercentage": 101 }] }),
        json!({ "marketCollections": vec![json!({ "chainId": 137, "itemsAddress": RELICS }); 201] }),
        json!({ "shopCollections": [{ "chainId": 137, "itemsAddress": RELICS }] }),
        json!({ "settings": { "walletOptions": { "walletType": "ANY" } } }),
    ] {
        said.call(&app.project_a, "Admin/PutStorefront", json!({ "storefront": storefront })).await;
    }
    insta::assert_snapshot!(said.text());
    let network =
        app.project_a.key.post("/polygon/rpc/MarketplaceService/LookupMarketplace", "{}").await.ok();
    assert_eq!(network, lookup(&app.project_a, json!({})).await, "with a network in the path or without");
}
