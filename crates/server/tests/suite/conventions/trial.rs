//! The access key that everybody may try the service with.

use serde_json::json;

use crate::support::TestApp;
use crate::support::seed::RELICS;

const READ: &str = "Builder/ListAudiences";
const WRITE: &str = "Metadata/RefreshContractInfo";

#[tokio::test]
async fn it_reads_so_much_from_each_address_and_so_much_in_all() {
    let app = TestApp::start().await;
    app.clock.set("2025-03-14T23:59:00Z");
    let key = app.project_a.key_text.as_str();
    let limits = [("trial.access_key", key), ("trial.rate_per_minute", "3"), ("trial.units_per_day", "5")];
    let offered = app.another_asking(&limits, None).await;
    let (here, there) = (offered.key.from([10, 0, 0, 1]), offered.key.from([10, 0, 0, 2]));
    let write = json!({ "chainID": "polygon", "contractAddress": RELICS });
    let refused = here.call(WRITE, write.clone()).await;
    assert_eq!((refused.refusal().0, &refused.json["error"]), (403, &json!("PermissionDenied")));
    for left in ["2", "1", "0"] {
        let answer = here.call(READ, json!({})).await;
        assert_eq!((answer.status, answer.header("credits-rate-remaining")), (200, left));
    }
    let refused = here.call(READ, json!({})).await;
    assert_eq!((refused.refusal(), refused.header("retry-after")), ((429, 1201), "60"));
    for _ in 0..2 {
        assert_eq!(there.call(READ, json!({})).await.status, 200, "another address has its own");
    }
    app.clock.advance(30);
    assert_eq!(there.call(READ, json!({})).await.refusal(), (429, 1200), "the day's are used up");
    // Whoever has the project's token is no stranger, and elsewhere the key is one like any other.
    let both = offered.token.with("x-access-key", key).from([10, 0, 0, 1]);
    assert_eq!(both.call(READ, json!({})).await.status, 200);
    assert_eq!(app.project_a.key.from([10, 0, 0, 1]).call(READ, json!({})).await.status, 200);
    app.clock.advance(60);
    assert_eq!(here.call(READ, json!({})).await.status, 200, "another day has begun");
}

#[tokio::test]
async fn the_reference_shows_it() {
    let app = TestApp::start().await;
    let key = app.project_a.key_text.as_str();
    let page = app.anonymous.get("/docs").await.text();
    assert!(!page.contains("To try it"));
    let offered = app.another_asking(&[("trial.access_key", key)], None).await;
    assert!(offered.key.get("/docs").await.text().contains(key));
}
