//! Webhooks: making and changing them, and what could not be delivered.

use bourse_store::{NewLetter, Sent};
use bourse_wire::RecordId;
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use super::browser::{Browser, escaped};
use crate::support::TestApp;
use crate::support::seed::{self, RELICS};

const PATH: &str = "/console/projects/1/webhooks";
const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\"'&";
const NEW: [(&str, &str); 5] = [
    ("chain", "polygon"),
    ("url", "https://hooks.example/told"),
    ("name", HOSTILE),
    ("contracts", RELICS),
    ("events", "sale\nTransfer"),
];

async fn app() -> TestApp {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    app
}

async fn listeners(app: &TestApp) -> Value {
    app.project_a.call("Indexer/GetAllWebhookListeners", json!({})).await.ok()["listeners"].clone()
}

/// A message to the only webhook that could not be delivered.
async fn put_aside(app: &TestApp, webhook: RecordId) -> RecordId {
    let [line] = app.store.hold_webhooks("here".to_owned()).await.unwrap().try_into().unwrap();
    let letter = NewLetter {
        message: "1-1-0.1".to_owned(),
        body: format!("{{\"uid\":\"{HOSTILE}\"}}"),
        failure: "the host answers with status 500".to_owned(),
        failed_at: app.now(),
        most: 10,
    };
    assert!(app.store.webhook_given_up(&line, "here", Sent::default(), letter).await.unwrap());
    app.store.dead_letters(app.project_a.scope, webhook).await.unwrap()[0].id
}

#[tokio::test]
async fn webhooks_are_made_changed_paused_and_removed() {
    let app = app().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    assert!(owner.get(PATH).await.says("There is no webhook yet"));
    let made = owner.post(PATH, &NEW).await;
    assert_eq!(made.status, 303, "{}", made.html);
    let (one, _) = made.location().split_once('?').unwrap();
    let page = owner.get(one).await;
    assert!(page.html.contains(&escaped(HOSTILE)) && !page.html.contains("<script>alert"), "{}", page.html);
    let id: RecordId = listeners(&app).await[0]["id"].as_u64().unwrap().try_into().unwrap();
    let secret = app.store.webhook(app.project_a.scope, id).await.unwrap().secret;
    assert!(page.says(&secret));
    assert!(owner.get(PATH).await.html.contains(&escaped(HOSTILE)));

    let changed =
        [("url", "https://hooks.example/else"), ("name", "Sales"), ("contracts", RELICS), ("tokens", "1\n2")];
    assert_eq!(owner.post(one, &changed).await.status, 303);
    let listener = listeners(&app).await[0].clone();
    assert_eq!((&listener["name"], &listener["filters"]["tokenIDs"]), (&json!("Sales"), &json!(["1", "2"])));
    assert_eq!(listener["filters"]["events"], json!([]));
    let wrong =
        owner.post(one, &[("url", "http://10.0.0.1/"), ("name", "Kept"), ("contracts", RELICS)]).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.says("private") && wrong.html.contains("value=\"Kept\""), "{}", wrong.html);
    let wrong =
        owner.post(PATH, &[("chain", "polygon"), ("url", "ftp://a.example"), ("contracts", RELICS)]).await;
    assert_eq!(wrong.status, 422);

    assert_eq!(owner.post(&format!("{one}/toggle"), &[]).await.status, 303);
    assert!(owner.get(one).await.says("It is paused."));
    assert_eq!(listeners(&app).await[0]["active"], false);
    assert_eq!(owner.post(&format!("{one}/remove"), &[]).await.status, 303);
    assert_eq!(listeners(&app).await, json!([]));
    assert_eq!(owner.get(one).await.status, 404);
}

#[tokio::test]
async fn what_could_not_be_delivered_is_shown_sent_again_and_forgotten() {
    // The receiver has its port, and nobody listens there.
    let down = TcpSocket::new_v4().unwrap();
    down.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let host = down.local_addr().unwrap().to_string();
    let app = TestApp::with(&[("webhooks.allowed_hosts", host.as_str())]).await;
    seed::relics(&app.store).await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let url = format!("http://{host}/");
    let local = NEW.map(|(name, value)| if name == "url" { (name, url.as_str()) } else { (name, value) });
    let made = owner.post(PATH, &local).await;
    let (one, _) = made.location().split_once('?').unwrap();
    let id: RecordId = listeners(&app).await[0]["id"].as_u64().unwrap().try_into().unwrap();
    let letter = put_aside(&app, id).await;
    let page = owner.get(one).await;
    assert!(page.says("status 500") && !page.html.contains("<script>alert"), "{}", page.html);
    let sent = owner.post(&format!("{one}/letters/{letter}/send"), &[]).await;
    assert_eq!(sent.status, 422);
    assert!(sent.says("it could not be sent: the host cannot be reached"), "{}", sent.html);
    assert_eq!(owner.post(&format!("{one}/letters/{letter}/forget"), &[]).await.status, 303);
    assert!(owner.get(one).await.says("Everything was delivered"));
    assert_eq!(owner.post(&format!("{one}/letters/{letter}/send"), &[]).await.status, 404);
}

#[tokio::test]
async fn viewers_look_without_the_secret_and_strangers_find_nothing() {
    let app = app().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let made = owner.post(PATH, &NEW).await;
    let (one, _) = made.location().split_once('?').unwrap();
    let id: RecordId = listeners(&app).await[0]["id"].as_u64().unwrap().try_into().unwrap();
    let letter = put_aside(&app, id).await;
    let secret = app.store.webhook(app.project_a.scope, id).await.unwrap().secret;
    let viewer = Browser::of_viewer(&app, app.project_a.id).await;
    assert!(viewer.get(PATH).await.html.contains(&escaped(HOSTILE)));
    let page = viewer.get(one).await;
    assert!(page.says("status 500") && !page.html.contains(&secret) && !page.html.contains("<textarea"));
    let acts =
        ["", "/toggle", "/remove", &format!("/letters/{letter}/send"), &format!("/letters/{letter}/forget")];
    for act in acts {
        assert_eq!(viewer.post(&format!("{one}{act}"), &NEW).await.status, 403, "{act}");
    }
    // By the path of a project of one's own, too.
    let stranger = Browser::of_owner(&app, app.project_b.id).await;
    assert_eq!(stranger.get(one).await.status, 404);
    let theirs = one.replace("/projects/1/", &format!("/projects/{}/", app.project_b.id));
    assert_eq!(stranger.get(&theirs).await.status, 404);
    for act in acts {
        assert_eq!(stranger.post(&format!("{theirs}{act}"), &NEW).await.status, 404, "{act}");
    }
    assert_eq!(listeners(&app).await[0]["active"], true);
    assert_eq!(app.store.dead_letters(app.project_a.scope, id).await.unwrap().len(), 1);
}
