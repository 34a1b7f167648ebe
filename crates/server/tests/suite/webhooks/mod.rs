//! Webhooks: what happens, sent to addresses of a project.

mod delivery;
mod operations;
mod receiver;
mod trouble;

use bourse_store::WebhookLine;
use serde_json::{Value, json};

use crate::streams::sale;
use crate::support::orders::{commit, put};
use crate::support::seed::RELICS;
use crate::support::{TestApp, wait_until};
use receiver::Receiver;

/// Longer than any machine needs to receive what a test sends.
const TIMEOUT_MS: &str = "600000";

/// A service that may send to these receivers, and to nobody else on this machine. One sale happened before.
async fn start(receivers: &[&Receiver], settings: &[(&'static str, &str)]) -> TestApp {
    let hosts: Vec<&str> = receivers.iter().map(|receiver| receiver.host.as_str()).collect();
    start_with(&hosts, settings).await
}

/// The same for hosts.
async fn start_with(hosts: &[&str], settings: &[(&'static str, &str)]) -> TestApp {
    let hosts = hosts.join(",");
    let common = [("webhooks.allowed_hosts", hosts.as_str()), ("webhooks.timeout_ms", TIMEOUT_MS)];
    let settings = [common.as_slice(), settings].concat();
    let prepare =
        async |store: &bourse_store::Store, _: &_, _: &_| put(store, vec![sale("0xfirst", 1)]).await;
    TestApp::prepared(&settings, prepare).await.0
}

/// Has project A tell a receiver what happens; the listener, and its secret.
async fn add(app: &TestApp, url: &str) -> (u64, String) {
    let body = json!({ "chainId": 137, "url": url, "filters": { "contractAddresses": [RELICS] } });
    let answer = app.project_a.call("Indexer/AddWebhookListener", body).await.ok();
    (answer["listener"]["id"].as_u64().unwrap(), answer["secret"].as_str().unwrap().to_owned())
}

/// Sales of these hashes happen, one after the other.
async fn sell(app: &TestApp, hashes: &[&str]) {
    commit(&app.store, hashes.iter().map(|hash| sale(hash, 1)).collect()).await;
}

async fn wait_for(receiver: &Receiver, count: usize) {
    let what = format!("{count} messages");
    wait_until(&what, async || receiver.count() >= count).await;
}

/// The lines of project A.
async fn lines(app: &TestApp) -> Vec<WebhookLine> {
    app.store.webhook_lines(app.project_a.scope).await.unwrap()
}

/// Waits until the next message of the only line failed so often.
async fn wait_for_failures(app: &TestApp, count: u64) {
    wait_until("it failed", async || lines(app).await[0].failures == count).await;
}

async fn listener(app: &TestApp, id: u64) -> Value {
    app.project_a.call("Indexer/GetWebhookListener", json!({ "id": id })).await.ok()["listener"].clone()
}
