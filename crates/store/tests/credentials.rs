//! Access keys and secret tokens: what a project always has, and who hears of changes.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod projects;
    pub(crate) mod refused;
}

use bourse_store::testing::operator;
use bourse_store::{AccessKeyRecord, Actor, KeyTerms, ProjectScope, SecretTokenRecord, Store};
use bourse_wire::{Code, RecordId, Timestamp};
use support::database::open;
use support::projects::project;
use support::refused::code;

fn terms(hash: &str) -> KeyTerms {
    KeyTerms {
        display_name: format!("key {hash}"),
        require_origin: true,
        allowed_origins: vec!["https://a.example".to_owned()],
        allowed_services: vec!["Metadata".to_owned()],
    }
}

fn secret_token(scope: ProjectScope, id: &str, created_at: Timestamp) -> SecretTokenRecord {
    SecretTokenRecord {
        project: scope.project(),
        id: id.to_owned(),
        display_name: String::new(),
        created_at,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    }
}

fn at(second: i128) -> Timestamp {
    Timestamp::from_unix_nanos(second * 1_000_000_000)
}

async fn create(store: &Store, scope: ProjectScope, hash: &str) -> AccessKeyRecord {
    store.create_access_key(scope, hash.to_owned(), terms(hash), Actor::command_line(at(1))).await.unwrap()
}

async fn states(store: &Store, scope: ProjectScope) -> Vec<(RecordId, bool, bool)> {
    let keys = store.access_keys(scope).await.unwrap();
    keys.into_iter().map(|key| (key.id, key.active, key.default)).collect()
}

#[tokio::test]
async fn the_first_key_is_the_default() {
    let (_database, store) = open().await;
    let (scope, other) = (project(&store).await, project(&store).await);
    let first = create(&store, scope, "1").await;
    let second = create(&store, scope, "2").await;
    assert_eq!(states(&store, scope).await, [(first.id, true, true), (second.id, true, false)]);
    assert!(create(&store, other, "3").await.default, "another project's keys do not count");
}

#[tokio::test]
async fn a_rotated_key_inherits_and_the_old_one_stops() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let (first, second) = (create(&store, scope, "1").await, create(&store, scope, "2").await);
    let rotated =
        store.rotate_access_key(scope, first.id, "3".to_owned(), Actor::command_line(at(2))).await.unwrap();
    let expected =
        AccessKeyRecord { id: rotated.id, hash: "3".to_owned(), created_at: at(2), ..first.clone() };
    assert_eq!(rotated, expected);
    let expected = [(first.id, false, false), (second.id, true, false), (rotated.id, true, true)];
    assert_eq!(states(&store, scope).await, expected);
    let again = store.rotate_access_key(scope, first.id, "4".to_owned(), Actor::command_line(at(2))).await;
    assert_eq!(code(again), Code::RequestConflict, "a disabled key is not rotated");
    let rotated =
        store.rotate_access_key(scope, second.id, "5".to_owned(), Actor::command_line(at(3))).await.unwrap();
    assert!(!rotated.default, "only the default passes the default on");
}

#[tokio::test]
async fn the_last_active_key_stays() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let (first, second) = (create(&store, scope, "1").await, create(&store, scope, "2").await);
    store.disable_access_key(scope, first.id, operator()).await.unwrap();
    assert_eq!(states(&store, scope).await, [(first.id, false, false), (second.id, true, true)]);
    let revision = store.credentials_revision().await.unwrap();
    assert_eq!(code(store.disable_access_key(scope, second.id, operator()).await), Code::AtLeastOneKey);
    assert_eq!(states(&store, scope).await, [(first.id, false, false), (second.id, true, true)]);
    assert_eq!(store.credentials_revision().await.unwrap(), revision, "a refusal changes nothing");
}

#[tokio::test]
async fn disabling_another_key_leaves_the_default() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let (first, second) = (create(&store, scope, "1").await, create(&store, scope, "2").await);
    store.disable_access_key(scope, second.id, operator()).await.unwrap();
    assert_eq!(states(&store, scope).await, [(first.id, true, true), (second.id, false, false)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_disabled_at_once_leave_one() {
    let (_database, store) = open().await;
    for _ in 0..20 {
        let scope = project(&store).await;
        let (first, second) = (create(&store, scope, "1").await, create(&store, scope, "2").await);
        let (one, other) = tokio::join!(
            store.disable_access_key(scope, first.id, operator()),
            store.disable_access_key(scope, second.id, operator())
        );
        assert_eq!(usize::from(one.is_ok()) + usize::from(other.is_ok()), 1, "{one:?} {other:?}");
        let active = states(&store, scope).await.into_iter().filter(|(_, active, _)| *active);
        assert!(active.eq([(if one.is_ok() { second.id } else { first.id }, true, true)]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_first_keys_made_at_once_one_is_the_default() {
    let (_database, store) = open().await;
    for _ in 0..20 {
        let scope = project(&store).await;
        tokio::join!(create(&store, scope, "1"), create(&store, scope, "2"), create(&store, scope, "3"));
        let defaults = states(&store, scope).await.into_iter().filter(|(_, _, default)| *default);
        assert_eq!(defaults.count(), 1);
    }
}

#[tokio::test]
async fn every_change_raises_the_revision() {
    let (database, store) = open().await;
    let elsewhere = database.open().await.unwrap();
    let scope = project(&store).await;
    let mut last = elsewhere.credentials_revision().await.unwrap();
    let mut raised = async || {
        let now = elsewhere.credentials_revision().await.unwrap();
        let by = now.version - last.version;
        last = now;
        by
    };
    let first = create(&store, scope, "1").await;
    assert_eq!(raised().await, 1, "create");
    create(&store, scope, "2").await;
    assert_eq!(raised().await, 1, "create");
    store.rotate_access_key(scope, first.id, "3".to_owned(), Actor::command_line(at(2))).await.unwrap();
    assert_eq!(raised().await, 1, "rotate");
    let rotated = states(&store, scope).await[2].0;
    store.disable_access_key(scope, rotated, operator()).await.unwrap();
    assert_eq!(raised().await, 1, "disable");
    store.create_secret_token(secret_token(scope, "t", at(1)), operator()).await.unwrap();
    assert_eq!(raised().await, 1, "create token");
    store.revoke_secret_token(scope, "t".to_owned(), Actor::command_line(at(2))).await.unwrap();
    assert_eq!(raised().await, 1, "revoke token");
    let uses = (vec![(scope.project(), first.id, at(3))], vec![(scope.project(), "t".to_owned(), at(3))]);
    store.note_last_use(uses.0, uses.1).await.unwrap();
    assert_eq!(raised().await, 0, "use");
}

#[tokio::test]
async fn a_token_revoked_twice_keeps_the_first_time() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    store.create_secret_token(secret_token(scope, "t", at(1)), operator()).await.unwrap();
    store.revoke_secret_token(scope, "t".to_owned(), Actor::command_line(at(2))).await.unwrap();
    store.revoke_secret_token(scope, "t".to_owned(), Actor::command_line(at(3))).await.unwrap();
    assert_eq!(store.secret_tokens(scope).await.unwrap()[0].revoked_at, Some(at(2)));
    let missing = store.revoke_secret_token(scope, "u".to_owned(), Actor::command_line(at(3))).await;
    assert_eq!(code(missing), Code::NotFound);
}

#[tokio::test]
async fn secret_tokens_are_listed_oldest_first() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    // As text, a time with a fraction sorts before the whole second it follows.
    let times =
        ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00.51Z", "2024-01-01T00:00:01Z"];
    for (id, time) in ["d", "c", "b", "a"].into_iter().zip(times) {
        store.create_secret_token(secret_token(scope, id, time.parse().unwrap()), operator()).await.unwrap();
    }
    let listed: Vec<String> =
        store.secret_tokens(scope).await.unwrap().into_iter().map(|token| token.id).collect();
    assert_eq!(listed, ["d", "c", "b", "a"]);
}

#[tokio::test]
async fn an_unknown_project_is_named() {
    let (_database, store) = open().await;
    let scope = ProjectScope::of_operator(77.try_into().unwrap());
    let key = 1.try_into().unwrap();
    assert_eq!(code(store.project(scope.project()).await), Code::ProjectNotFound);
    assert_eq!(code(store.access_keys(scope).await), Code::ProjectNotFound);
    assert_eq!(
        code(store.create_access_key(scope, "1".to_owned(), terms("1"), Actor::command_line(at(1))).await),
        Code::ProjectNotFound
    );
    assert_eq!(code(store.secret_tokens(scope).await), Code::ProjectNotFound);
    assert_eq!(
        code(store.create_secret_token(secret_token(scope, "t", at(1)), operator()).await),
        Code::ProjectNotFound
    );
    assert_eq!(
        code(store.rotate_access_key(scope, key, "2".to_owned(), Actor::command_line(at(1))).await),
        Code::NotFound
    );
    assert_eq!(code(store.disable_access_key(scope, key, operator()).await), Code::NotFound);
    assert_eq!(
        code(store.revoke_secret_token(scope, "t".to_owned(), Actor::command_line(at(1))).await),
        Code::NotFound
    );
    assert_eq!(store.all_access_keys().await.unwrap(), []);
    assert_eq!(store.all_secret_tokens().await.unwrap(), []);
}
