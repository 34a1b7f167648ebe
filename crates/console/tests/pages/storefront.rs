//! The storefront of a project: how it looks, what trades in it, and what it sells.

use bourse_store::Invited;
use serde_json::{Value, json};

use super::browser::Browser;
use crate::support::TestApp;
use crate::support::seed::{self, ACCOUNT, RELICS, UNKNOWN};

const PATH: &str = "/console/projects/1/storefront";

async fn app() -> TestApp {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    let actor = bourse_store::testing::operator();
    app.store.join_market(app.project_a.scope, seed::key(RELICS), actor).await.unwrap();
    app
}

async fn shown(app: &TestApp) -> Value {
    app.project_a.call("MarketplaceService/LookupMarketplace", json!({})).await.ok()
}

#[tokio::test]
async fn looks_are_saved_and_what_is_wrong_is_shown_again() {
    let app = app().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let page = owner.get(PATH).await;
    assert!(page.says("What trades") && page.says(RELICS), "{}", page.html);
    let looks = [
        ("title", "Relics <b>of</b> old"),
        ("domain", "shop.example"),
        ("logo", "https://shop.example/logo.png"),
        ("style", "{\"radius\":4}"),
        ("wallet", "ECOSYSTEM"),
        ("wallet_url", "https://wallet.example"),
        ("market_enabled", "yes"),
        ("connectors", "google\napple"),
    ];
    assert_eq!(owner.post(PATH, &looks).await.status, 303);
    let marketplace = &shown(&app).await["marketplace"];
    let settings = &marketplace["settings"];
    assert_eq!((&settings["title"], &settings["style"]), (&json!(looks[0].1), &json!({ "radius": 4 })));
    assert_eq!(settings["walletOptions"]["connectors"], json!(["google", "apple"]));
    assert_eq!(settings["walletOptions"]["ecosystem"]["walletUrl"], "https://wallet.example");
    assert_eq!(
        (&marketplace["market"]["enabled"], &marketplace["shop"]["enabled"]),
        (&json!(true), &json!(false))
    );
    assert!(owner.get(PATH).await.says(looks[0].1));
    let wrong = owner
        .post(PATH, &[("title", "Kept"), ("logo", "javascript:alert(1)"), ("wallet", "UNIVERSAL")])
        .await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.says("logoUrl") && wrong.html.contains("value=\"Kept\""), "{}", wrong.html);
    assert_eq!(shown(&app).await["marketplace"]["settings"]["title"], looks[0].1);
}

#[tokio::test]
async fn how_collections_trade_and_what_is_sold() {
    let app = app().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let relics = format!("{PATH}/market/137/{RELICS}");
    assert!(owner.get(&relics).await.says("Fee of a trade"));
    let terms = [
        ("fee", "2.5"),
        ("currencies", ACCOUNT),
        ("exclusions", "Weight\nMetal = Tin"),
        ("filter_order", "Age"),
    ];
    assert_eq!(owner.post(&relics, &terms).await.status, 303);
    let collection = shown(&app).await["marketCollections"][0].clone();
    assert_eq!(
        (&collection["feePercentage"], &collection["currencyOptions"]),
        (&json!(2.5), &json!([ACCOUNT]))
    );
    let exclusions = json!([
        { "key": "Weight", "condition": "ENTIRE_KEY" },
        { "key": "Metal", "condition": "SPECIFIC_VALUE", "value": "Tin" },
    ]);
    assert_eq!(collection["filterSettings"]["exclusions"], exclusions);
    assert!(owner.get(&relics).await.says("Metal = Tin"));
    assert_eq!(owner.post(&relics, &[("fee", "101")]).await.status, 422);
    let added = owner.post(&format!("{PATH}/market"), &[("chain", "polygon"), ("contract", UNKNOWN)]).await;
    assert_eq!(added.status, 303);
    assert_eq!(shown(&app).await["marketCollections"].as_array().unwrap().len(), 2);
    let sale =
        [("chain", "137"), ("items", RELICS), ("sale", ACCOUNT), ("name", "Relics"), ("token_ids", "1\n2")];
    assert_eq!(owner.post(&format!("{PATH}/shop"), &sale).await.status, 303);
    assert_eq!(shown(&app).await["shopCollections"][0]["tokenIds"], json!(["1", "2"]));
    let changed = [("chain", "137"), ("items", RELICS), ("sale", UNKNOWN), ("name", "Relics")];
    assert_eq!(owner.post(&format!("{PATH}/shop/0"), &changed).await.status, 303);
    assert_eq!(shown(&app).await["shopCollections"][0]["saleAddress"], UNKNOWN);
    assert_eq!(owner.post(&format!("{PATH}/shop"), &[("chain", "137"), ("name", "Typed")]).await.status, 422);
    assert_eq!(owner.post(&format!("{PATH}/shop/0/remove"), &[]).await.status, 303);
    assert_eq!(owner.post(&format!("{PATH}/shop/0/remove"), &[]).await.status, 404);
    assert_eq!(shown(&app).await["shopCollections"], json!([]));
}

#[tokio::test]
async fn viewers_look_and_change_nothing() {
    let app = app().await;
    let viewer = Browser::of_viewer(&app, app.project_a.id).await;
    let page = viewer.get(PATH).await;
    assert!(page.says("What trades") && !page.html.contains("<textarea"), "{}", page.html);
    assert_eq!(viewer.post(PATH, &[("title", "taken"), ("wallet", "UNIVERSAL")]).await.status, 403);
    let stranger = Browser::of_owner(&app, app.project_b.id).await;
    assert_eq!(stranger.get(PATH).await.status, 404);
    assert_eq!(
        shown(&app).await["marketplace"]["settings"]["title"],
        app.store.project(app.project_a.id).await.unwrap().name
    );
}

#[tokio::test]
async fn pages_for_buyers_are_switched_on_with_a_key_of_their_own() {
    let app = app().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let stored =
        async || app.project_a.call("Admin/GetStorefront", json!({})).await.ok()["storefront"].clone();
    let site = [
        ("wallet", "UNIVERSAL"),
        ("market_enabled", "yes"),
        ("site_enabled", "yes"),
        ("site_accent", "#aa0000"),
        ("site_footer", "Imprint = https://shop.example/a=b"),
    ];
    assert_eq!(owner.post(PATH, &site).await.status, 303);
    let storefront = stored().await;
    let link = json!({ "label": "Imprint", "url": "https://shop.example/a=b" });
    assert_eq!((&storefront["site"]["enabled"], &storefront["site"]["footer"][0]), (&json!(true), &link));
    let key = storefront["settings"]["accessKey"].as_str().unwrap().to_owned();
    let works = app.anonymous.with("x-access-key", &key);
    let asked = json!({ "chainId": "137", "contractAddress": RELICS });
    assert_eq!(works.call("Marketplace/GetCountOfAllCollectibles", asked).await.status, 200);
    // It is good for what the pages ask, from where they are, and for nothing else.
    let keys = app.store.access_keys(app.project_a.scope).await.unwrap();
    let made = keys.iter().find(|key| key.display_name == "Shop").unwrap();
    assert_eq!(made.allowed_services, ["marketplace", "metadata", "indexer"]);
    assert_eq!(made.allowed_origins, ["https://bourse.example"]);
    // Saved once more, it is the same key.
    let again = [&site[..], &[("access_key", key.as_str())]].concat();
    assert_eq!(owner.post(PATH, &again).await.status, 303);
    assert_eq!(stored().await["settings"]["accessKey"], json!(key));
    let page = owner.get(PATH).await;
    assert!(
        page.html.contains("href=\"/shop/1\"") && page.says("Imprint = https://shop.example/a=b"),
        "{}",
        page.html
    );
    for wrong in [("site_footer", "nonsense"), ("site_accent", "red"), ("site_fee_bps", "250")] {
        let changed = [&site[..3], &[("access_key", key.as_str()), wrong]].concat();
        assert_eq!(owner.post(PATH, &changed).await.status, 422, "{wrong:?}");
    }
    let another = app.project_b.key_text.as_str();
    let changed = [&site[..3], &[("access_key", another)]].concat();
    assert_eq!(owner.post(PATH, &changed).await.status, 422);
}

#[tokio::test]
async fn the_host_of_the_service_is_given_by_administrators() {
    let app = app().await;
    let named = [("wallet", "UNIVERSAL"), ("market_enabled", "yes"), ("domain", "bourse.example")];
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let refused = owner.post(PATH, &named).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("bourse.example is the host of the whole service"), "{}", refused.html);
    assert_eq!(Browser::of(&app, Invited::Administrator).await.post(PATH, &named).await.status, 303);
    // Whoever has it may go on to change the rest.
    let titled = [&named[..], &[("title", "The market")]].concat();
    assert_eq!(owner.post(PATH, &titled).await.status, 303);
}
