//! Credentials that are not good, or not good enough.

use bourse_server::auth::{AccessKey, TokenSigner};
use bourse_store::KeyTerms;
use bourse_store::testing::{operator, operator_at};
use serde_json::{Value, json};

use crate::support::actor::Actor;
use crate::support::project::{create_key, create_token};
use crate::support::seed::RELICS;
use crate::support::transcript::Transcript;
use crate::support::{SECRET, TestApp};

const READ: &str = "Metadata/GetContractInfo";
const SECRET_READ: &str = "Collections/ListCollections";

/// A conversation in which only credentials differ.
struct Attempts(Transcript);

impl Attempts {
    /// Tries an operation and notes how it was refused, under what was special about the credential.
    async fn refused(&mut self, what: &str, actor: &Actor, operation: &str) {
        let answer = actor.call(operation, body(operation)).await;
        assert_ne!(answer.status, 200, "{what}");
        self.0.note(&format!("{what}: {operation}"), &answer);
    }
}

fn body(operation: &str) -> Value {
    if operation == READ { json!({ "chainID": "137", "contractAddress": RELICS }) } else { json!({}) }
}

fn bearer(anonymous: &Actor, token: &str) -> Actor {
    anonymous.with("authorization", &format!("Bearer {token}"))
}

#[tokio::test]
async fn access_keys() {
    let (app, [disabled, bound, builder]) = TestApp::prepared(&[], async |store, a, _| {
        let (old, disabled) = create_key(store, a.scope, |_| {}).await;
        store.disable_access_key(a.scope, old.id, operator()).await.unwrap();
        let bind = |key: &mut KeyTerms| {
            key.require_origin = true;
            key.allowed_origins = vec!["https://*.shop.example".to_owned()];
        };
        let (_, bound) = create_key(store, a.scope, bind).await;
        let (_, builder) =
            create_key(store, a.scope, |key| key.allowed_services = vec!["builder".to_owned()]).await;
        [disabled, bound, builder]
    })
    .await;
    let with = |key: &str| app.anonymous.with("x-access-key", key);
    let unknown = AccessKey::generate(app.project_a.id);
    let nobody = AccessKey::generate(404.try_into().unwrap());
    let mut tried = Attempts(Transcript::default());
    tried.refused("no credential", &app.anonymous, READ).await;
    tried.refused("empty key", &with(""), READ).await;
    tried.refused("malformed key", &with("AQAAAAAAAA"), READ).await;
    tried.refused("unknown key", &with(unknown.expose()), READ).await;
    tried.refused("key of no project", &with(nobody.expose()), READ).await;
    tried.refused("disabled key", &with(&disabled), READ).await;
    tried.refused("key without its origin", &with(&bound), READ).await;
    let elsewhere = with(&bound).with("origin", "https://shop.example.evil");
    tried.refused("key of another origin", &elsewhere, READ).await;
    tried.refused("key of another service", &with(&builder), READ).await;
    tried.refused("key where a token is needed", &app.project_a.key, SECRET_READ).await;
    insta::assert_snapshot!(tried.0.text());
    let at_home = with(&bound).with("origin", "https://www.shop.example");
    assert_eq!(at_home.call(READ, body(READ)).await.refusal(), (404, 3000));
    with(&builder).call("Builder/ListAudiences", json!({})).await.ok();
}

#[tokio::test]
async fn secret_tokens() {
    let (app, [revoked, expired, foreign]) = TestApp::prepared(&[], async |store, a, b| {
        let (id, revoked) = create_token(store, a.id, None).await;
        store
            .revoke_secret_token(a.scope, id, operator_at("2025-01-01T00:00:00Z".parse().unwrap()))
            .await
            .unwrap();
        let noon = "2025-03-14T12:00:00Z".parse().unwrap();
        let (_, expired) = create_token(store, a.id, Some(noon)).await;
        // Signed for A under the id of B's token.
        let claims = json!({ "project": a.id, "jti": b.token_id, "iat": 0 });
        let signed = jsonwebtoken::EncodingKey::from_secret(SECRET.as_bytes());
        let foreign = jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &signed).unwrap();
        [revoked, expired, foreign]
    })
    .await;
    let with = |token: &str| bearer(&app.anonymous, token);
    let issue = |secret: &str| {
        let signer = TokenSigner::new(secret.as_bytes());
        signer.issue(app.project_a.id, app.now(), None).unwrap().token
    };
    // Two minutes of a clock that goes wrong are put up with.
    app.clock.advance(120);
    with(&expired).call(SECRET_READ, json!({})).await.ok();
    app.clock.advance(1);
    let mut tried = Attempts(Transcript::default());
    tried.refused("no credential", &app.anonymous, SECRET_READ).await;
    tried.refused("other scheme", &app.anonymous.with("authorization", "Basic YTpi"), SECRET_READ).await;
    tried
        .refused("no scheme", &app.anonymous.with("authorization", &app.project_a.token_text), SECRET_READ)
        .await;
    tried.refused("malformed token", &with("a.b.c"), SECRET_READ).await;
    tried
        .refused(
            "token signed by another",
            &with(&issue("some other secret of 32 bytes or more")),
            SECRET_READ,
        )
        .await;
    tried.refused("token that was never given out", &with(&issue(SECRET)), SECRET_READ).await;
    tried.refused("token under another's id", &with(&foreign), SECRET_READ).await;
    tried.refused("revoked token", &with(&revoked), SECRET_READ).await;
    tried.refused("expired token", &with(&expired), SECRET_READ).await;
    insta::assert_snapshot!(tried.0.text());
}

#[tokio::test]
async fn two_projects() {
    let app = TestApp::start().await;
    let (a, b) = (&app.project_a, &app.project_b);
    let both = bearer(&b.key, &a.token_text);
    let mut tried = Attempts(Transcript::default());
    tried.refused("key of B, token of A", &both, READ).await;
    tried.refused("key of B, token of A", &both, SECRET_READ).await;
    insta::assert_snapshot!(tried.0.text());
    let mut said = Transcript::default();
    said.call(a, "Builder/ListAudiences", json!({ "projectId": 2 })).await;
    said.call(a, "Collections/GetToken", json!({ "projectId": "2", "collectionId": 1, "tokenId": "1" }))
        .await;
    insta::assert_snapshot!("two_projects_by_body", said.text());
    bearer(&a.key, &a.token_text).call(SECRET_READ, json!({ "projectId": 1 })).await.ok();
}

#[tokio::test]
async fn a_token_serves_where_a_key_would_and_in_the_header_of_keys() {
    let app = TestApp::start().await;
    let a = &app.project_a;
    let answer = a.token.call("Builder/ListAudiences", json!({})).await;
    assert_eq!((answer.status, answer.header("session-type")), (200, "Project"));
    let answer = a.key.call("Builder/ListAudiences", json!({})).await;
    assert_eq!((answer.status, answer.header("session-type")), (200, "AccessKey"));
    app.anonymous.with("x-access-key", &a.token_text).call(SECRET_READ, json!({})).await.ok();
    let shouting = app.anonymous.with("authorization", &format!("BEARER {}", a.token_text));
    shouting.call(SECRET_READ, json!({})).await.ok();
    let answer = app.anonymous.call("Builder/Ping", json!({})).await;
    assert_eq!((answer.status, answer.header("session-type")), (200, "Public"));
}
