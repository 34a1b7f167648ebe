//! Charts, and the events they are made of. What the numbers mean is tested elsewhere.

use bourse_server::{Service, router};
use bourse_store::UsageLine;
use serde_json::json;

use crate::support::TestApp;
use crate::support::seed::{ACCOUNT, RELICS};
use crate::support::transcript::Transcript;

#[tokio::test]
async fn analytics() {
    let app = TestApp::start().await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    let events = json!([
        { "wallet": ACCOUNT, "kind": "session", "at": "2025-03-01T10:00:00Z" },
        { "wallet": ACCOUNT, "kind": "transaction", "at": "2025-03-02T10:00:00Z", "id": "0x1234" },
        { "wallet": RELICS, "kind": "market", "at": "2025-03-02T11:00:00Z", "properties": { "action": "buy" } },
        { "wallet": RELICS, "kind": "purchase" },
    ]);
    for _ in 0..2 {
        said.call(a, "Ingest/TrackEvents", json!({ "batchId": "march", "events": events })).await;
    }
    let usage = UsageLine {
        id: "1".to_owned(),
        service: "indexer".to_owned(),
        day: "2025-03-02".parse().unwrap(),
        units: 40,
    };
    app.store.put_usage(a.scope, vec![usage]).await.unwrap();
    let filter = json!({ "startDate": "2025-03-01", "endDate": "2025-03-07" });
    let routes = router::operations();
    for route in routes.iter().filter(|route| route.service == Service::Analytics && route.name != "Ping") {
        let operation = route.path().replace("/rpc/", "");
        said.call(a, &operation, json!({ "filter": filter })).await;
    }
    insta::assert_snapshot!(said.text());
}
