//! Commands of the operator beside a running server, which notices each.

use bourse_store::testing::operator;
use bourse_store::{Confirmation, Invited, NewAccount, NewInvite, ProofHash, SecretTokenRecord};
use bourse_wire::Timestamp;
use serde_json::{Value, json};

use crate::http::{Credential, Exchange, call_head};
use crate::instance::{Instance, Server, within};
use crate::process::WAIT_MAX;

/// Waits until a credential is accepted.
fn accepted(server: &Server, what: &str, credential: Credential<'_>) {
    let took = within(WAIT_MAX, what, || server.list_audiences(credential).status == 200);
    println!("{what}: noticed after {took:?}");
}

/// Waits until a credential is refused.
fn refused(server: &Server, what: &str, credential: Credential<'_>, error: &str) {
    let took = within(WAIT_MAX, what, || server.list_audiences(credential).status != 200);
    println!("{what}: noticed after {took:?}");
    assert_eq!(server.list_audiences(credential).error(), error);
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap()
}

#[test]
fn a_new_project_works_on_the_running_server() {
    let instance = Instance::new();
    let server = instance.serve();
    let made = instance.json(&["project", "create", "Harbour"]);
    let members: Vec<&String> = made.as_object().unwrap().keys().collect();
    assert_eq!(members, ["projectId", "name", "accessKey", "secretToken", "grants"]);
    assert_eq!(made["name"], json!("Harbour"));
    accepted(&server, "project create, key", Credential::Key(text(&made, "accessKey")));
    accepted(&server, "project create, token", Credential::Token(text(&made, "secretToken")));
    let id = made["projectId"].as_u64().unwrap();
    let listed = instance.json(&["project", "list"]);
    assert_eq!(listed[0]["projectId"], json!(id));
    assert_eq!(listed[0]["name"], json!("Harbour"));
    let shown = instance.json(&["project", "show", &id.to_string()]);
    assert_eq!(shown["accessKeys"].as_array().unwrap().len(), 1);
    assert_eq!(shown["secretTokens"].as_array().unwrap().len(), 1);
    for secret in ["accessKey", "secretToken"] {
        assert!(!shown.to_string().contains(text(&made, secret)), "{secret} is shown again");
        let people = instance.run(&["project", "show", &id.to_string()]).stdout;
        assert!(people.contains("Harbour") && !people.contains(text(&made, secret)), "{people}");
    }
}

#[test]
fn keys_are_made_rotated_and_disabled() {
    let instance = Instance::new();
    let server = instance.serve();
    let project = instance.create_project("keys");
    let id = project.id.to_string();
    let limited = instance.json(&[
        "key",
        "create",
        &id,
        "--name",
        "web",
        "--origin",
        "https://*.game.example",
        "--service",
        "builder",
    ]);
    assert_eq!(limited["displayName"], json!("web"));
    assert_eq!(limited["allowedOrigins"], json!(["https://*.game.example"]));
    assert_eq!(limited["allowedServices"], json!(["builder"]));
    let web = text(&limited, "accessKey");
    accepted(&server, "key create", Credential::Key(web));
    assert_eq!(from_origin(&server, web, "https://a.game.example"), 200);
    assert_eq!(from_origin(&server, web, "https://evil.example"), 403);
    let other = server.call("Metadata/GetTokenMetadata", Credential::Key(web), &json!({}));
    assert_eq!(other.error(), "PermissionDenied");
    let strict = instance.json(&["key", "create", &id, "--require-origin"]);
    let strict_key = Credential::Key(text(&strict, "accessKey"));
    within(WAIT_MAX, "key create --require-origin", || {
        server.list_audiences(strict_key).error() == "PermissionDenied"
    });
    let number = limited["keyId"].as_u64().unwrap().to_string();
    let rotated = instance.json(&["key", "rotate", &id, &number]);
    assert_eq!(rotated["allowedOrigins"], limited["allowedOrigins"], "limits stay");
    accepted(&server, "key rotate, new", Credential::Key(text(&rotated, "accessKey")));
    refused(&server, "key rotate, old", Credential::Key(web), "Unauthorized");
    let keys = instance.json(&["key", "list", &id]);
    assert_eq!(keys.as_array().unwrap().len(), 4);
    assert!(!keys.to_string().contains("accessKey"), "{keys}");
    for key in keys.as_array().unwrap().iter().filter(|key| key["active"] == json!(true)).skip(1) {
        let number = key["keyId"].as_u64().unwrap().to_string();
        assert_eq!(instance.json(&["key", "disable", &id, &number])["active"], json!(false));
    }
    refused(&server, "key disable", Credential::Key(text(&rotated, "accessKey")), "Unauthorized");
    let first = keys[0]["keyId"].as_u64().unwrap().to_string();
    let said = instance.failure(&["key", "disable", &id, &first]);
    assert!(said.contains("at least one active access key"), "{said}");
    accepted(&server, "the last key", Credential::Key(&project.key));
    let said = instance.failure(&["key", "rotate", &id, &number]);
    assert!(said.contains(&format!("access key {number} is disabled")), "{said}");
}

fn from_origin(server: &Server, key: &str, origin: &str) -> u16 {
    let head = call_head("Builder/ListAudiences", Credential::Key(key), 2);
    let mut exchange = Exchange::open(server.port).unwrap();
    exchange.send(&head.replacen("\r\n", &format!("\r\nOrigin: {origin}\r\n"), 1)).unwrap();
    exchange.send("{}").unwrap();
    exchange.answer().unwrap().status
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let instance = Instance::new();
    let server = instance.serve();
    let project = instance.create_project("tokens");
    let id = project.id.to_string();
    let made = instance.json(&["token", "create", &id, "--name", "ci", "--expires-in-days", "30"]);
    assert_eq!(made["displayName"], json!("ci"));
    assert!(made["expiresAt"].is_string() && made["revokedAt"].is_null(), "{made}");
    let token = Credential::Token(text(&made, "secretToken"));
    accepted(&server, "token create", token);
    let listed = instance.json(&["token", "list", &id]);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert!(!listed.to_string().contains("secretToken"), "{listed}");
    let revoked = instance.json(&["token", "revoke", &id, text(&made, "tokenId")]);
    assert_eq!(revoked, json!({ "tokenId": made["tokenId"], "revoked": true }));
    refused(&server, "token revoke", token, "Unauthorized");
    accepted(&server, "the other token", Credential::Token(&project.token));
    // Earlier versions made ids that begin like a flag.
    let earlier = SecretTokenRecord {
        project: project.wire_id(),
        id: "-n-dAta5w1sQ0aBc".to_owned(),
        display_name: "earlier".to_owned(),
        created_at: Timestamp::ZERO,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    };
    instance.with_store(async |store| store.create_secret_token(earlier.clone(), operator()).await.unwrap());
    let revoked = instance.json(&["token", "revoke", &id, &earlier.id]);
    assert_eq!(revoked, json!({ "tokenId": earlier.id, "revoked": true }));
    let listed = instance.json(&["token", "list", &id]);
    let entry = listed.as_array().unwrap().iter().find(|entry| entry["tokenId"] == made["tokenId"]).unwrap();
    assert!(entry["revokedAt"].is_string(), "{entry}");
}

#[test]
fn wrong_ids_and_words_are_told_clearly() {
    let instance = Instance::new();
    let id = instance.create_project("only").id.to_string();
    let cases: [(&[&str], &[&str]); 14] = [
        (&["project", "show", "77"], &["project 77 not found"]),
        (&["project", "show", "seven"], &["whole number", "bourse project list"]),
        (&["project", "create", "  "], &["name", "must not be empty"]),
        (&["key", "list", "77"], &["project 77 not found"]),
        (&["key", "create", "77"], &["project 77 not found"]),
        (&["key", "create", "1", "--service", "everything"], &["everything", "metadata"]),
        (&["key", "disable", &id, "99"], &["access key 99", "not found"]),
        (&["key", "rotate", &id, "99"], &["access key 99", "not found"]),
        (&["key", "rotate", "77", "1"], &["not found"]),
        (&["token", "create", "77"], &["project 77 not found"]),
        (&["token", "create", &id, "--expires-in-days", "0"], &["0"]),
        (&["token", "list", "77"], &["project 77 not found"]),
        (&["token", "revoke", &id, "nothing"], &["secret token nothing", "not found"]),
        (&["project", "show", "0"], &["0"]),
    ];
    for (arguments, words) in cases {
        let said = instance.failure(arguments);
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    assert_eq!(instance.json(&["key", "list", &id]).as_array().unwrap().len(), 1, "nothing was made");
    assert_eq!(instance.json(&["token", "list", &id]).as_array().unwrap().len(), 1, "nothing was made");
}

#[test]
fn who_lost_the_second_factor_is_let_in_without() {
    let instance = Instance::new();
    let hash = || ProofHash("a".to_owned());
    instance.with_store(async |store| {
        let (now, later) = (Timestamp::ZERO, Timestamp::from_unix_seconds(1));
        let invite = NewInvite { hash: hash(), invited: Invited::Person, made_by: None, expires_at: later };
        store.create_invite(invite, operator()).await.unwrap();
        let new = NewAccount { email: "ada@mail.example".parse().unwrap(), password_hash: String::new() };
        let account = store.accept_as_new(hash(), new, None, now).await.unwrap().id;
        store.propose_second_factor(account, "00".to_owned()).await.unwrap();
        let shown = Confirmation { step: 1, recovery: vec![hash()], keep: hash() };
        store.confirm_second_factor(account, shown, operator()).await.unwrap();
    });
    let off = |email: &str| instance.json(&["console", "second-factor-off", email]);
    assert_eq!(off("Ada@mail.example"), json!({ "email": "ada@mail.example", "wasOn": true }));
    assert_eq!(off("ada@mail.example")["wasOn"], json!(false));
    let factor = instance.with_store(async |store| {
        let account = store.account_by_email(&"ada@mail.example".parse().unwrap()).await.unwrap().id;
        store.second_factor(account).await.unwrap()
    });
    assert!(factor.is_none());
    let unknown = instance.run(&["console", "second-factor-off", "bob@mail.example"]);
    assert!(!unknown.status.success() && unknown.stderr.contains("bob@mail.example"), "{unknown:?}");
}
