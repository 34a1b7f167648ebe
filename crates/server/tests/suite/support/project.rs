//! A project and its credentials.

use std::collections::HashMap;
use std::sync::LazyLock;

use bourse_server::auth::{AccessKey, TokenSigner};
use bourse_server::{Credential, router};
use bourse_store::testing::{operator, operator_at};
use bourse_store::{
    AccessKeyRecord, Grant, KeyTerms, ProjectScope, Reach, SecretTokenRecord, Store, Subject,
};
use bourse_wire::{ProjectId, Timestamp};
use serde_json::Value;

use super::actor::{Actor, Answer};
use super::{SECRET, START};

/// What each operation wants to be presented, by its path.
static CREDENTIALS: LazyLock<HashMap<String, Credential>> =
    LazyLock::new(|| router::operations().iter().map(|route| (route.path(), route.credential)).collect());

/// A project that calls.
pub(crate) struct Project {
    pub(crate) id: ProjectId,
    pub(crate) scope: ProjectScope,
    /// Presents the access key only.
    pub(crate) key: Actor,
    /// Presents the secret token only.
    pub(crate) token: Actor,
    pub(crate) key_record: AccessKeyRecord,
    pub(crate) key_text: String,
    pub(crate) token_id: String,
    pub(crate) token_text: String,
}

impl Project {
    pub(crate) async fn create(store: &Store, name: &str) -> Self {
        let id = store.create_project(name.parse().unwrap(), operator_at(start())).await.unwrap().id;
        let scope = ProjectScope::of_operator(id);
        // What one project may not state is the business of tests of that.
        store.add_grants(scope, everything(), operator_at(start())).await.unwrap();
        let (key_record, key_text) = create_key(store, scope, |_| {}).await;
        let (token_id, token_text) = create_token(store, id, None).await;
        let nobody = Actor::default();
        let (key, token) = (nobody.clone(), nobody);
        Self { id, scope, key, token, key_record, key_text, token_id, token_text }
    }

    /// The same project, calling the service that this one calls.
    pub(crate) fn calling(self, anonymous: &Actor) -> Self {
        let key = anonymous.with("x-access-key", &self.key_text);
        let token = anonymous.with("authorization", &format!("Bearer {}", self.token_text));
        Self { key, token, ..self }
    }

    /// Calls an operation with the credential that it asks for.
    pub(crate) async fn call(&self, operation: &str, body: Value) -> Answer {
        self.presenting(operation).call(operation, body).await
    }

    /// Whichever of the two callers has what an operation asks for.
    pub(crate) fn presenting(&self, operation: &str) -> &Actor {
        match CREDENTIALS.get(&format!("/rpc/{operation}")) {
            // These access keys are made for everything, so they name no service.
            Some(Credential::ServiceKey | Credential::SecretToken) => &self.token,
            Some(Credential::AccessKey | Credential::None) => &self.key,
            None => panic!("there is no operation {operation}"),
        }
    }
}

/// The right to state everything.
pub(crate) fn everything() -> Vec<Grant> {
    Subject::ALL.iter().map(|subject| Grant { subject: *subject, reach: Reach::Everywhere }).collect()
}

/// Makes an access key; `change` says what is special about it.
pub(crate) async fn create_key(
    store: &Store,
    scope: ProjectScope,
    change: impl FnOnce(&mut KeyTerms),
) -> (AccessKeyRecord, String) {
    let key = AccessKey::generate(scope.project());
    let mut terms = KeyTerms { display_name: "key".to_owned(), ..KeyTerms::default() };
    change(&mut terms);
    let record =
        store.create_access_key(scope, key.hash().to_string(), terms, operator_at(start())).await.unwrap();
    (record, key.expose().to_owned())
}

/// Makes a secret token; its id comes first.
pub(crate) async fn create_token(
    store: &Store,
    project: ProjectId,
    expires: Option<Timestamp>,
) -> (String, String) {
    let issued = TokenSigner::new(SECRET.as_bytes()).issue(project, start(), expires).unwrap();
    let record = SecretTokenRecord {
        project,
        id: issued.id.clone(),
        display_name: "token".to_owned(),
        created_at: start(),
        expires_at: expires,
        revoked_at: None,
        last_used_at: None,
    };
    store.create_secret_token(record, operator()).await.unwrap();
    (issued.id, issued.token)
}

fn start() -> Timestamp {
    START.parse().unwrap()
}
