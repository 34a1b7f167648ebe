//! Makes and manages access keys.

use bourse_server::Service;
use bourse_server::auth::AccessKey;
use bourse_store::{AccessKeyRecord, KeyTerms, ProjectScope};
use serde_json::{Value, json};

use crate::cli::{Common, KeyCommand};
use crate::context::{CommandError, Context};
use crate::output::{print, table};

pub(super) async fn run(common: &Common, command: KeyCommand) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    match command {
        KeyCommand::Create { project, limits } => {
            let terms = KeyTerms {
                display_name: limits.name,
                require_origin: limits.require_origin,
                allowed_origins: limits.origins,
                allowed_services: limits.services,
            };
            let (key, stored) = create(&context, ProjectScope::of_operator(project), terms).await?;
            shown_once(common, &key, &stored)
        }
        KeyCommand::List { project } => {
            let keys = context.store.access_keys(ProjectScope::of_operator(project)).await?;
            print(common.json, &keys.iter().map(record).collect(), || list(&keys))
        }
        KeyCommand::Rotate { project, key } => {
            let new = AccessKey::generate(project);
            let scope = ProjectScope::of_operator(project);
            let hash = new.hash().to_string();
            let stored = context.store.rotate_access_key(scope, key, hash, context.actor()).await?;
            shown_once(common, new.expose(), &stored)
        }
        KeyCommand::Disable { project, key } => {
            context
                .store
                .disable_access_key(ProjectScope::of_operator(project), key, context.actor())
                .await?;
            print(common.json, &json!({ "keyId": key, "active": false }), || {
                format!("Access key {key} is disabled.")
            })
        }
    }
}

/// A key without limits, to be stored.
pub(crate) fn unlimited(name: &str) -> KeyTerms {
    KeyTerms { display_name: name.to_owned(), ..KeyTerms::default() }
}

/// A key for everything, contacts and events included: it was made for every service.
pub(crate) fn for_every_service(name: &str) -> KeyTerms {
    let services = Service::ALL.iter().map(|service| service.short().to_owned()).collect();
    KeyTerms { allowed_services: services, ..unlimited(name) }
}

/// Makes a key and stores its hash.
pub(crate) async fn create(
    context: &Context,
    scope: ProjectScope,
    terms: KeyTerms,
) -> Result<(String, AccessKeyRecord), CommandError> {
    let key = AccessKey::generate(scope.project());
    let hash = key.hash().to_string();
    let stored = context.store.create_access_key(scope, hash, terms, context.actor()).await?;
    Ok((key.expose().to_owned(), stored))
}

fn shown_once(common: &Common, key: &str, stored: &AccessKeyRecord) -> Result<(), CommandError> {
    let mut value = record(stored);
    value["accessKey"] = json!(key);
    print(common.json, &value, || {
        format!(
            "Made access key {} of project {}. It is not shown again:\n  {key}",
            stored.id, stored.project
        )
    })
}

/// A key as JSON, without the key.
pub(crate) fn record(key: &AccessKeyRecord) -> Value {
    json!({
        "projectId": key.project,
        "keyId": key.id,
        "displayName": key.display_name,
        "active": key.active,
        "default": key.default,
        "requireOrigin": key.require_origin,
        "allowedOrigins": key.allowed_origins,
        "allowedServices": key.allowed_services,
        "createdAt": key.created_at,
        "lastUsedAt": key.last_used_at,
    })
}

/// Keys for people.
pub(crate) fn list(keys: &[AccessKeyRecord]) -> String {
    let all = |list: &[String]| if list.is_empty() { "all".to_owned() } else { list.join(" ") };
    let rows = keys.iter().map(|key| {
        let state = match (key.active, key.default) {
            (true, true) => "active, default",
            (true, false) => "active",
            (false, _) => "disabled",
        };
        [
            key.id.to_string(),
            key.display_name.clone(),
            state.to_owned(),
            all(&key.allowed_origins),
            all(&key.allowed_services),
            key.created_at.to_string(),
            key.last_used_at.map_or_else(|| "never".to_owned(), |at| at.to_string()),
        ]
    });
    table(["KEY", "NAME", "STATE", "ORIGINS", "SERVICES", "CREATED", "LAST USED"], rows.collect())
}
