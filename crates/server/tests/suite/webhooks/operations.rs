//! The operations on webhooks.

use serde_json::{Value, json};

use super::start;
use crate::support::TestApp;
use crate::support::seed::{RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

async fn service() -> TestApp {
    start(&[], &[("webhooks.listeners_max", "2"), ("webhooks.contracts_max", "2")]).await
}

fn told() -> Value {
    json!({ "contractAddresses": [RELICS] })
}

#[tokio::test]
async fn listeners_are_added_changed_paused_and_removed() {
    let app = service().await;
    let a = &app.project_a;
    let mut said = Transcript::default();
    let filters = json!({ "events": ["Transfer(address,address,uint256)"], "contractAddresses": [RELICS] });
    let body = json!({ "chainId": 137, "url": "https://hooks.example/told", "filters": filters });
    let added = said.call(a, "Indexer/AddWebhookListener", body).await;
    let id = added["listener"]["id"].as_u64().unwrap();
    app.clock.advance(60);
    let listener =
        json!({ "id": id, "name": "Sales", "url": "http://hooks.example:8080/told", "filters": told() });
    said.call(a, "Indexer/UpdateWebhookListener", json!({ "listener": listener })).await;
    said.call(a, "Indexer/ToggleWebhookListener", json!({ "id": id })).await;
    said.call(a, "Indexer/ResumeAllWebhookListeners", json!({ "chainId": 137 })).await;
    said.call(a, "Indexer/GetWebhookListener", json!({ "id": id, "projectId": a.id })).await;
    said.call(a, "Indexer/PauseAllWebhookListeners", json!({})).await;
    said.call(a, "Indexer/GetAllWebhookListeners", json!({ "chainId": 137 })).await;
    said.call(a, "Indexer/RemoveWebhookListener", json!({ "id": id })).await;
    said.call(a, "Indexer/RemoveAllWebhookListeners", json!({})).await;
    said.call(a, "Indexer/GetWebhookListener", json!({ "id": id })).await;
    let secret = added["secret"].as_str().unwrap();
    assert_eq!(secret.len(), 64);
    let text = said.text();
    assert_eq!(text.matches(secret).count(), 1, "it is told once");
    insta::assert_snapshot!(text.replace(secret, "…"));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_by_name() {
    let app = service().await;
    let refused = async |url: &str, filters: Value| {
        let body = json!({ "chainId": 137, "url": url, "filters": filters });
        let answer = app.project_a.call("Indexer/AddWebhookListener", body).await;
        assert!(answer.status >= 400, "{url}: {}", answer.json);
        answer.json["message"].as_str().unwrap().to_owned()
    };
    for (url, reason) in [
        ("hooks.example", "url: must begin with https://"),
        ("ftp://hooks.example/", "url: must begin with https://"),
        ("http://127.0.0.1/", "url: the host's address is of this machine"),
        ("http://[::1]/", "url: the host's address is not global"),
        ("http://2130706433/", "url: the host's address is of this machine"),
        ("https://10.0.0.1/", "url: the host's address is private"),
        ("http://localhost:8080/", "url: the host's address is of this machine"),
        ("http://169.254.169.254/latest", "url: the host's address is link-local"),
        ("https://somebody:secret@hooks.example/", "url: the link holds a user name or a password"),
        ("https://hooks.example:22/", "url: port 22 is not one of the web"),
    ] {
        let message = refused(url, told()).await;
        assert!(message.starts_with(reason), "{url}: {message}");
        assert!(!message.contains("secret@"), "{message}");
    }
    let long = format!("https://hooks.example/{}", "x".repeat(2_048));
    assert!(refused(&long, told()).await.starts_with("url: "));
    let good = "https://hooks.example/";
    for (filters, reason) in [
        (json!({}), "filters.contractAddresses: name the contracts"),
        (json!({ "contractAddresses": [RELICS], "colour": 1 }), "filters.colour: is not known"),
        (
            json!({ "contractAddresses": [RELICS], "events": ["Approval"] }),
            "filters.events: `Approval` is none",
        ),
        (json!({ "contractAddresses": [RELICS, RELICS, RELICS] }), "filters.contractAddresses: "),
        (json!({ "contractAddresses": [UNKNOWN] }), "contract "),
    ] {
        let message = refused(good, filters.clone()).await;
        assert!(message.starts_with(reason), "{filters}: {message}");
    }
    for _ in 0..2 {
        let body = json!({ "chainId": 137, "url": good, "filters": told() });
        app.project_a.call("Indexer/AddWebhookListener", body).await.ok();
    }
    assert_eq!(refused(good, told()).await, "the project has 2 webhooks, and may have no more");
    // A change is looked at as closely.
    let listener = json!({ "id": 1, "url": "http://127.0.0.1/" });
    let answer = app.project_a.call("Indexer/UpdateWebhookListener", json!({ "listener": listener })).await;
    assert_eq!(answer.status, 400);
    let listener = json!({ "id": 1, "projectID": app.project_b.id, "active": false });
    let answer = app.project_a.call("Indexer/UpdateWebhookListener", json!({ "listener": listener })).await;
    assert_eq!(answer.refusal().0, 403);
}

#[tokio::test]
async fn a_public_key_is_not_enough() {
    let app = service().await;
    let body = json!({ "chainId": 137, "url": "https://hooks.example/", "filters": told() });
    let answer = app.project_a.key.call("Indexer/AddWebhookListener", body).await;
    assert!(matches!(answer.status, 401 | 403), "{}", answer.json);
    for operation in ["GetAllWebhookListeners", "PauseAllWebhookListeners", "RemoveAllWebhookListeners"] {
        let answer = app.project_a.key.call(&format!("Indexer/{operation}"), json!({})).await;
        assert!(matches!(answer.status, 401 | 403), "{}", answer.json);
    }
}
