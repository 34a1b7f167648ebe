//! Makes and manages secret tokens.

use bourse_store::{ProjectScope, SecretTokenRecord};
use bourse_wire::Timestamp;
use serde_json::{Value, json};

use crate::cli::{Common, TokenCommand};
use crate::context::{CommandError, Context};
use crate::output::{print, table};

const DAY_NANOS: i128 = 24 * 60 * 60 * 1_000_000_000;

pub(super) async fn run(common: &Common, command: TokenCommand) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    match command {
        TokenCommand::Create { project, name, expires_in_days } => {
            let scope = ProjectScope::of_operator(project);
            let (token, stored) = create(&context, scope, &name, expires_in_days).await?;
            let mut value = record(&stored);
            value["secretToken"] = json!(token);
            print(common.json, &value, || {
                format!(
                    "Made secret token {} of project {project}. It is not shown again:\n  {token}",
                    stored.id
                )
            })
        }
        TokenCommand::List { project } => {
            let tokens = context.store.secret_tokens(ProjectScope::of_operator(project)).await?;
            print(common.json, &tokens.iter().map(record).collect(), || list(&tokens, context.clock.now()))
        }
        TokenCommand::Revoke { project, token } => {
            let scope = ProjectScope::of_operator(project);
            context.store.revoke_secret_token(scope, token.clone(), context.actor()).await?;
            print(common.json, &json!({ "tokenId": token, "revoked": true }), || {
                format!("Secret token {token} is revoked.")
            })
        }
    }
}

/// Makes a token and stores that it was given out.
pub(crate) async fn create(
    context: &Context,
    scope: ProjectScope,
    name: &str,
    expires_in_days: Option<u32>,
) -> Result<(String, SecretTokenRecord), CommandError> {
    let now = context.clock.now();
    let expires_at = expires_in_days.map(|days| {
        Timestamp::from_unix_nanos(
            (i128::from(now.unix_seconds()) * 1_000_000_000) + i128::from(days) * DAY_NANOS,
        )
    });
    let issued = context.signer()?.issue(scope.project(), now, expires_at)?;
    let stored = SecretTokenRecord {
        project: scope.project(),
        id: issued.id,
        display_name: name.to_owned(),
        created_at: now,
        expires_at,
        revoked_at: None,
        last_used_at: None,
    };
    context.store.create_secret_token(stored.clone(), context.actor()).await?;
    Ok((issued.token, stored))
}

/// A token as JSON, without the token.
pub(crate) fn record(token: &SecretTokenRecord) -> Value {
    json!({
        "projectId": token.project,
        "tokenId": token.id,
        "displayName": token.display_name,
        "createdAt": token.created_at,
        "expiresAt": token.expires_at,
        "revokedAt": token.revoked_at,
        "lastUsedAt": token.last_used_at,
    })
}

/// Tokens for people.
pub(crate) fn list(tokens: &[SecretTokenRecord], now: Timestamp) -> String {
    let never = |at: Option<Timestamp>| at.map_or_else(|| "never".to_owned(), |at| at.to_string());
    let rows = tokens.iter().map(|token| {
        let state = match (token.revoked_at, token.expires_at) {
            (Some(_), _) => "revoked",
            (None, Some(expires)) if expires < now => "expired",
            (None, _) => "active",
        };
        [
            token.id.clone(),
            token.display_name.clone(),
            state.to_owned(),
            token.created_at.to_string(),
            never(token.expires_at),
            never(token.last_used_at),
        ]
    });
    table(["TOKEN", "NAME", "STATE", "CREATED", "EXPIRES", "LAST USED"], rows.collect())
}
