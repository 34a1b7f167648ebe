//! The audit log, and the history of collections and orders.

use bourse_store::Invited;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::TestApp;
use crate::support::market::{COIN, put_coin};
use crate::support::seed::{self, RELICS};

async fn order(app: &TestApp, id: &str) {
    let order = json!({ "orderId": id, "marketplace": "opensea", "side": "listing", "tokenId": "1", "createdBy": RELICS,
        "collectionContractAddress": RELICS, "priceAmount": "1", "priceCurrencyAddress": COIN,
        "validUntil": "2030-01-01T00:00:00Z" });
    app.project_b.call("Ingest/PutOrders", json!({ "chainId": 137, "orders": [order] })).await.ok();
}

#[tokio::test]
async fn the_audit_log_is_for_administrators_and_owners() {
    let app = TestApp::start().await;
    let (one, other) = (app.project_a.id, app.project_b.id);
    let administrator = Browser::of(&app, Invited::Administrator).await;
    let (owner, viewer) = (Browser::of_owner(&app, one).await, Browser::of_viewer(&app, one).await);
    let rename = format!("/console/projects/{one}/rename");
    assert_eq!(owner.post(&rename, &[("name", "=HYPERLINK(1)")]).await.status, 303);
    assert_eq!(owner.post(&rename, &[("name", "Harbour <b>")]).await.status, 303);
    let key = [("name", "a key")];
    assert_eq!(
        administrator.post(&format!("/console/projects/{other}/credentials/keys"), &key).await.status,
        200
    );

    let own = format!("/console/projects/{one}/audit");
    for (browser, path, status) in [
        (&administrator, "/console/audit", 200),
        (&administrator, own.as_str(), 200),
        (&owner, &own, 200),
        (&owner, "/console/audit", 403),
        (&viewer, &own, 403),
        (&owner, &format!("/console/projects/{other}/audit"), 404),
    ] {
        assert_eq!(browser.get(path).await.status, status, "{path}");
        let (export, export_status) = (format!("{path}/export?as=csv"), status);
        assert_eq!(browser.get(&export).await.status, export_status, "{export}");
    }
    let all = administrator.get("/console/audit").await;
    assert!(all.says("renamed a project: =HYPERLINK(1) (to Harbour <b>)") && all.says("made an access key"));
    let page = owner.get(&own).await;
    assert!(page.says("renamed a project: =HYPERLINK(1) (to Harbour <b>)"));
    assert!(!page.says("a key"), "what other projects do is not shown");
    assert!(owner.get("/console/projects").await.status == 200);
    assert!(!viewer.get(&format!("/console/projects/{one}")).await.says("Audit log"));

    let table = owner.get(&format!("{own}/export?as=csv")).await;
    assert!(table.html.contains(",project-renamed,1,'=HYPERLINK(1),to Harbour <b>"), "{}", table.html);
    assert!(table.headers["content-type"].to_str().unwrap().starts_with("text/csv"));
    let json: Value = serde_json::from_str(&owner.get(&format!("{own}/export?as=json")).await.html).unwrap();
    assert_eq!((&json[0]["act"], &json[0]["subject"]), (&json!("project-renamed"), &json!("=HYPERLINK(1)")));
    assert_eq!(owner.get(&format!("{own}/export?as=xml")).await.status, 404);
}

#[tokio::test]
async fn the_audit_log_has_pages() {
    let app = TestApp::start().await;
    let administrator = Browser::of(&app, Invited::Administrator).await;
    let rename = format!("/console/projects/{}/rename", app.project_a.id);
    for number in 0..60 {
        administrator.post(&rename, &[("name", &format!("name {number:02}."))]).await;
    }
    let path = format!("/console/projects/{}/audit", app.project_a.id);
    let (mut next, mut seen) = (Some(path.clone()), 0);
    while let Some(path) = next {
        let page = administrator.get(&path).await;
        seen += page.html.matches("renamed a project").count();
        let link = page.html.split("rel=\"next\" href=\"").nth(1);
        next = link.map(|rest| rest.split('"').next().unwrap().to_owned());
    }
    assert_eq!(seen, 60);
}

#[tokio::test]
async fn who_stated_what_is_shown_without_naming_other_projects() {
    let (app, ()) = TestApp::prepared(&[], async |store, _, _| seed::relics(store).await).await;
    let (one, other) = (app.project_a.id, app.project_b.id);
    put_coin(&app).await;
    order(&app, "0xabcdef0123456789").await;
    let administrator = Browser::of(&app, Invited::Administrator).await;
    let (viewer, steward) = (Browser::of_viewer(&app, one).await, Browser::of_viewer(&app, other).await);
    let at = |project, rest: &str| format!("/console/projects/{project}/collections/polygon/{RELICS}{rest}");
    let named = format!("project {other} (token {})", app.project_b.token_id);
    let of_order = "/history?marketplace=opensea&order=0xabcdef0123456789";
    for path in ["/history", of_order] {
        let page = viewer.get(&at(one, path)).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.says("a steward") && page.says("1 order"), "{path}: {}", page.html);
        assert!(!page.says(&format!("project {other}")) && !page.says(&app.project_b.token_id), "{path}");
        assert!(administrator.get(&at(one, path)).await.says(&named), "{path}");
        assert!(steward.get(&at(other, path)).await.says(&named), "{path}: one's own is no secret");
    }
    assert!(viewer.get(&at(one, "/history")).await.says("the operator"), "who imported");
    assert!(!viewer.get(&at(one, of_order)).await.says("the operator"));
    assert!(viewer.get(&at(one, "")).await.html.contains(&at(one, "/history")));
    let token = viewer.get(&at(one, "/1")).await;
    assert!(
        token.html.contains("/history?marketplace=opensea&amp;order=0xabcdef0123456789"),
        "{}",
        token.html
    );
    assert_eq!(viewer.get(&at(one, "/history?marketplace=nowhere&order=1")).await.status, 404);
    assert_eq!(viewer.get(&at(other, "/history")).await.status, 404);
}
