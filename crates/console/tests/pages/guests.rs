//! Who has not signed in, and who may not do everything.

use axum::body::Body;
use axum::http::{Request, header};
use bourse_store::testing::operator;
use bourse_store::{Invited, ProofHash};

use crate::browser::Browser;
use crate::support::TestApp;
use crate::support::actor::{Actor, Answer};
use crate::support::body::endless;

const FORM: &str = "application/x-www-form-urlencoded";

/// A guest with the cookie and the word of the page to sign in.
async fn guest(app: &TestApp) -> (Actor, String) {
    let (cookie, token) = enter(app).await;
    (app.anonymous.with("cookie", &cookie), token)
}

/// The cookie of a guest, and the word of the page to sign in.
async fn enter(app: &TestApp) -> (String, String) {
    let page = app.anonymous.get("/console/sign-in").await;
    let cookie = page.header("set-cookie").split(';').next().unwrap().to_owned();
    let token = page
        .text()
        .split("name=\"form_token\" value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    (cookie, token)
}

async fn sign_in(guest: &Actor, content_type: &str, body: impl Into<Body>) -> Answer {
    let request = Request::post("/console/sign-in").header(header::CONTENT_TYPE, content_type);
    guest.send(request.body(body.into()).unwrap()).await
}

#[tokio::test]
async fn a_guest_sends_short_fields_and_no_files() {
    let app = TestApp::start().await;
    let (guest, token) = guest(&app).await;
    let fields = format!("form_token={token}&email=a%40b.example&password=wrong+but+long+enough");
    assert_eq!(sign_in(&guest, FORM, fields.clone()).await.status, 401);
    assert_eq!(sign_in(&guest, FORM, format!("{fields}{}", "x".repeat(20_000))).await.status, 413);
    let part = format!("--b\r\nContent-Disposition: form-data; name=\"form_token\"\r\n\r\n{token}\r\n");
    let file = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n";
    let small = format!("{part}{file}x\r\n--b--\r\n");
    assert_eq!(sign_in(&guest, "multipart/form-data; boundary=b", small).await.status, 403);
    let large = format!("{part}{file}{}\r\n--b--\r\n", "x".repeat(1 << 20));
    assert_eq!(sign_in(&guest, "multipart/form-data; boundary=b", large).await.status, 413);
}

#[tokio::test]
async fn a_guest_who_does_not_finish_is_not_waited_for() {
    let app = TestApp::with(&[("limits.request_timeout_ms", "50")]).await;
    let (guest, _) = guest(&app).await;
    let (body, _) = endless();
    assert_eq!(sign_in(&guest, FORM, body).await.status, 408);
}

#[tokio::test]
async fn nobody_is_locked_out_by_who_tries_from_elsewhere() {
    let app = TestApp::start().await;
    let (guest, token) = guest(&app).await;
    let fields = format!("form_token={token}&email=a%40b.example&password=wrong+but+long+enough");
    let (stranger, owner) = (guest.from([192, 0, 2, 1]), guest.from([192, 0, 2, 2]));
    let mut statuses = Vec::new();
    for _ in 0..9 {
        statuses.push(sign_in(&stranger, FORM, fields.clone()).await.status);
    }
    assert_eq!((statuses[7], statuses[8]), (401, 429));
    assert_eq!(sign_in(&owner, FORM, fields).await.status, 401);
}

/// Whoever is sent to one server after another has as many tries as with one.
#[tokio::test]
async fn tries_are_counted_whichever_server_they_come_to() {
    let app = TestApp::start().await;
    let other = app.another().await;
    let (cookie, token) = enter(&app).await;
    let fields =
        |name: &str| format!("form_token={token}&email={name}%40b.example&password=wrong+but+long+enough");
    let servers =
        [&app.anonymous, &other.key].map(|server| server.with("cookie", &cookie).from([192, 0, 2, 1]));
    let mut statuses = Vec::new();
    for server in servers.iter().cycle().take(9) {
        statuses.push(sign_in(server, FORM, fields("a")).await.status);
    }
    assert_eq!(statuses, [401, 401, 401, 401, 401, 401, 401, 401, 429]);
    assert_eq!(sign_in(&servers[1], FORM, fields("a")).await.status, 429);
    // From elsewhere, or for another account, there are tries left, until the address has none.
    assert_eq!(sign_in(&servers[1].from([192, 0, 2, 2]), FORM, fields("a")).await.status, 401);
    for (number, server) in (10..30).zip(servers.iter().cycle()) {
        assert_eq!(sign_in(server, FORM, fields(&format!("n{number}"))).await.status, 401, "{number}");
    }
    for server in &servers {
        assert_eq!(sign_in(server, FORM, fields("last")).await.status, 429);
    }
    // The next minute has its own.
    app.clock.advance(60);
    assert_eq!(sign_in(&servers[1], FORM, fields("a")).await.status, 401);
}

/// The hash of a password that nobody knows.
const HASH: &str =
    "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g";

#[tokio::test]
async fn whoever_is_not_let_in_is_counted_in_the_audit_log() {
    let app = TestApp::start().await;
    Browser::of(&app, Invited::Person).await;
    let account = app.store.accounts().await.unwrap().remove(0);
    let (email, nobody) = (account.email, ProofHash(String::new()));
    app.store.set_password(account.id, HASH.to_owned(), nobody, operator()).await.unwrap();
    let (guest, token) = guest(&app).await;
    for name in ["a@b.example", "c@d.example", &email, &email, &email] {
        let name = name.replace('@', "%40");
        let fields = format!("form_token={token}&email={name}&password=wrong+but+long+enough");
        assert_eq!(sign_in(&guest, FORM, fields).await.status, 401);
    }
    let log = Browser::of(&app, Invited::Administrator).await.get("/console/audit").await;
    assert!(log.says(&format!("refused to sign somebody in: {email} (3 times)")), "{}", log.html);
    assert!(log.says("refused to sign somebody in: no account (2 times)"), "{}", log.html);
}

#[tokio::test]
async fn only_administrators_make_projects_unless_the_settings_say_otherwise() {
    for (setting, expected) in [("false", 403), ("true", 303)] {
        let app = TestApp::with(&[("console.anyone_creates_projects", setting)]).await;
        let create =
            async |browser: Browser| browser.post("/console/projects", &[("name", "mine")]).await.status;
        assert_eq!(create(Browser::of(&app, Invited::Person).await).await, expected, "a person, {setting}");
        let viewer = Browser::of_viewer(&app, app.project_a.id).await;
        assert_eq!(viewer.get("/console/projects").await.says("Create project"), expected == 303);
        assert_eq!(create(viewer).await, expected, "a viewer, {setting}");
        assert_eq!(create(Browser::of(&app, Invited::Administrator).await).await, 303, "{setting}");
    }
}
