//! Access keys and secret tokens.

use bourse_wire::{Code, Error, ProjectId, RecordId, Timestamp};

use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Sequence, Store};
use crate::columns::{Insert, Value as _, record};
use crate::revisions::Revision;
use crate::session::Session;
use crate::{ProjectScope, StoreError, projects};

/// An access key as it is stored: everything but the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessKeyRecord {
    /// The project it names.
    pub project: ProjectId,
    /// Number of the key, for administration.
    pub id: RecordId,
    /// SHA-256 of the key, in hexadecimal.
    pub hash: String,
    /// What it is called.
    pub display_name: String,
    /// Whether it works.
    pub active: bool,
    /// Whether it is the project's default key.
    pub default: bool,
    /// Whether requests without an `Origin` header are refused.
    pub require_origin: bool,
    /// Origins it works from; empty for all.
    pub allowed_origins: Vec<String>,
    /// Services it works for; empty for all.
    pub allowed_services: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, as far as known.
    pub last_used_at: Option<Timestamp>,
}

/// What a key is called and what it is limited to.
#[derive(Clone, Debug, Default)]
pub struct KeyTerms {
    /// What it is called.
    pub display_name: String,
    /// Whether requests without an `Origin` header are refused.
    pub require_origin: bool,
    /// Origins it works from; empty for all.
    pub allowed_origins: Vec<String>,
    /// Services it works for; empty for all.
    pub allowed_services: Vec<String>,
}

/// A secret token as it is stored: never the token itself, which its signature proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretTokenRecord {
    /// The project it names.
    pub project: ProjectId,
    /// The token's own id (`jti`).
    pub id: String,
    /// What it is called.
    pub display_name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its time is over.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, as far as known.
    pub last_used_at: Option<Timestamp>,
}

record! { AccessKeyRecord: "access_keys" ("project_id, key_id") {
    project = "project_id",
    id = "key_id",
    hash = "key_hash",
    display_name,
    active,
    default = "is_default",
    require_origin,
    allowed_origins,
    allowed_services,
    created_at,
    last_used_at,
} }

record! { SecretTokenRecord: "secret_tokens" ("project_id, token_id") {
    project = "project_id",
    id = "token_id",
    display_name,
    created_at,
    expires_at,
    revoked_at,
    last_used_at,
} }

impl Store {
    /// Every access key of every project, for the in-memory check.
    pub fn all_access_keys(&self) -> Pending<'_, Vec<AccessKeyRecord>> {
        self.read(|mut session| Box::pin(async move { session.select("FROM access_keys", args![]).await }))
    }

    /// Every secret token of every project, for the in-memory check.
    pub fn all_secret_tokens(&self) -> Pending<'_, Vec<SecretTokenRecord>> {
        self.read(|mut session| Box::pin(async move { session.select("FROM secret_tokens", args![]).await }))
    }

    /// A project's access keys, oldest first.
    pub fn access_keys(&self, scope: ProjectScope) -> Pending<'_, Vec<AccessKeyRecord>> {
        self.read(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                keys_of(&mut session, scope).await
            })
        })
    }

    /// Stores an access key. A project's first becomes its default.
    pub fn create_access_key(
        &self,
        scope: ProjectScope,
        hash: String,
        terms: KeyTerms,
        actor: Actor,
    ) -> Pending<'_, AccessKeyRecord> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                Revision::Credentials.raise(&mut session).await?;
                let default = !keys_of(&mut session, scope).await?.iter().any(|known| known.active);
                let new = NewKey { hash, terms, default, now: actor.at };
                let key = insert_key(&mut session, scope, new).await?;
                audit::put(&mut session, &actor, entry(Act::KeyCreated, &key)).await?;
                Ok(key)
            })
        })
    }

    /// Puts a new key in the place of an old one: same name, limits and default, and the old one stops working.
    pub fn rotate_access_key(
        &self,
        scope: ProjectScope,
        key: RecordId,
        new_hash: String,
        actor: Actor,
    ) -> Pending<'_, AccessKeyRecord> {
        self.write(move |mut session| {
            Box::pin(async move {
                Revision::Credentials.raise(&mut session).await?;
                let old = find_key(&mut session, scope, key).await?;
                if !old.active {
                    let reason = format!("access key {key} is disabled; make a new one instead");
                    return Err(Error::conflict(reason).into());
                }
                deactivate(&mut session, scope, key).await?;
                let terms = KeyTerms {
                    display_name: old.display_name,
                    require_origin: old.require_origin,
                    allowed_origins: old.allowed_origins,
                    allowed_services: old.allowed_services,
                };
                let new = NewKey { hash: new_hash, terms, default: old.default, now: actor.at };
                let new = insert_key(&mut session, scope, new).await?;
                let detail = format!("in the place of key {key}");
                audit::put(&mut session, &actor, entry(Act::KeyRotated, &new).with(detail)).await?;
                Ok(new)
            })
        })
    }

    /// Changes what a key is called and what it is limited to.
    pub fn update_access_key(
        &self,
        scope: ProjectScope,
        key: RecordId,
        terms: KeyTerms,
        actor: Actor,
    ) -> Pending<'_, AccessKeyRecord> {
        self.write(move |mut session| {
            Box::pin(async move {
                Revision::Credentials.raise(&mut session).await?;
                find_key(&mut session, scope, key).await?;
                let sql =
                    "UPDATE access_keys SET display_name = $3, require_origin = $4, allowed_origins = $5,
                    allowed_services = $6 WHERE project_id = $1 AND key_id = $2";
                let KeyTerms { display_name, require_origin, allowed_origins, allowed_services } = terms;
                let (origins, services) = (allowed_origins.arg()?, allowed_services.arg()?);
                let args = args![scope.project(), key, display_name, require_origin, origins, services];
                session.execute(sql, args).await?;
                let changed = find_key(&mut session, scope, key).await?;
                audit::put(&mut session, &actor, entry(Act::KeyChanged, &changed)).await?;
                Ok(changed)
            })
        })
    }

    /// Stops a key from working. The last active one stays; the default passes to another.
    pub fn disable_access_key(&self, scope: ProjectScope, key: RecordId, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                Revision::Credentials.raise(&mut session).await?;
                let old = find_key(&mut session, scope, key).await?;
                let heir = keys_of(&mut session, scope)
                    .await?
                    .into_iter()
                    .find(|other| other.active && other.id != key);
                let Some(heir) = heir else {
                    let message =
                        "a project keeps at least one active access key: make or rotate one instead";
                    return Err(Error::new(Code::AtLeastOneKey, message).into());
                };
                deactivate(&mut session, scope, key).await?;
                if old.default {
                    let sql =
                        "UPDATE access_keys SET is_default = TRUE WHERE project_id = $1 AND key_id = $2";
                    session.execute(sql, args![scope.project(), heir.id]).await?;
                }
                audit::put(&mut session, &actor, entry(Act::KeyDisabled, &old)).await
            })
        })
    }

    /// A project's secret tokens, oldest first.
    pub fn secret_tokens(&self, scope: ProjectScope) -> Pending<'_, Vec<SecretTokenRecord>> {
        self.read(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                let sql = "FROM secret_tokens WHERE project_id = $1";
                let mut tokens: Vec<SecretTokenRecord> = session.select(sql, args![scope.project()]).await?;
                // Not in SQL: as text, a time with a fraction sorts before the whole second it follows.
                tokens.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
                Ok(tokens)
            })
        })
    }

    /// Stores that a secret token was given out.
    pub fn create_secret_token(&self, token: SecretTokenRecord, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, token.project).await?;
                // It was neither revoked nor used.
                let token = SecretTokenRecord { revoked_at: None, last_used_at: None, ..token };
                session.insert(Insert::of([&token])?, "").await?;
                let entry =
                    token_entry(Act::TokenCreated, token.project, &token.id).with(match token.expires_at {
                        Some(end) => format!("{}, until {end}", token.display_name),
                        None => token.display_name,
                    });
                audit::put(&mut session, &actor, entry).await?;
                Revision::Credentials.raise(&mut session).await
            })
        })
    }

    /// Stops a secret token from working.
    pub fn revoke_secret_token(&self, scope: ProjectScope, id: String, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE secret_tokens SET revoked_at = COALESCE(revoked_at, $3)
                    WHERE project_id = $1 AND token_id = $2";
                if session.execute(sql, args![scope.project(), id.as_str(), actor.at]).await? == 0 {
                    return Err(Error::not_found(format_args!("secret token {id}")).into());
                }
                let entry = token_entry(Act::TokenRevoked, scope.project(), &id);
                audit::put(&mut session, &actor, entry).await?;
                Revision::Credentials.raise(&mut session).await
            })
        })
    }

    /// Notes when credentials were last used. Not a change to them: nobody is woken.
    pub fn note_last_use(
        &self,
        mut keys: Vec<(ProjectId, RecordId, Timestamp)>,
        mut tokens: Vec<(ProjectId, String, Timestamp)>,
    ) -> Pending<'_, ()> {
        // In one order everywhere, or servers that flush at once would wait for each other.
        keys.sort_unstable();
        tokens.sort_unstable();
        self.write(move |mut session| {
            Box::pin(async move {
                for (project, key, at) in keys {
                    let sql =
                        "UPDATE access_keys SET last_used_at = $3 WHERE project_id = $1 AND key_id = $2";
                    session.execute(sql, args![project, key, at]).await?;
                }
                for (project, token, at) in tokens {
                    let sql =
                        "UPDATE secret_tokens SET last_used_at = $3 WHERE project_id = $1 AND token_id = $2";
                    session.execute(sql, args![project, token, at]).await?;
                }
                Ok(())
            })
        })
    }
}

/// What the audit log says of a key: what it is called and limited to, never the key or its hash.
fn entry(act: Act, key: &AccessKeyRecord) -> Entry {
    let mut limits = vec![key.display_name.clone()];
    if !key.allowed_services.is_empty() {
        limits.push(format!("for {}", key.allowed_services.join(" ")));
    }
    if !key.allowed_origins.is_empty() {
        limits.push(format!("from {}", key.allowed_origins.join(" ")));
    }
    if key.require_origin {
        limits.push("with an origin".to_owned());
    }
    Entry::new(act, format_args!("key {}", key.id)).of(key.project).with(limits.join(", "))
}

fn token_entry(act: Act, project: ProjectId, id: &str) -> Entry {
    Entry::new(act, format_args!("token {id}")).of(project)
}

async fn keys_of(session: &mut Session<'_>, scope: ProjectScope) -> Result<Vec<AccessKeyRecord>, StoreError> {
    let sql = "FROM access_keys WHERE project_id = $1 ORDER BY key_id";
    session.select(sql, args![scope.project()]).await
}

async fn find_key(
    session: &mut Session<'_>,
    scope: ProjectScope,
    key: RecordId,
) -> Result<AccessKeyRecord, StoreError> {
    let sql = "FROM access_keys WHERE project_id = $1 AND key_id = $2";
    let found = session.select_first(sql, args![scope.project(), key]).await?;
    found.ok_or_else(|| Error::not_found(format_args!("access key {key}")).into())
}

/// An access key to be stored.
struct NewKey {
    hash: String,
    terms: KeyTerms,
    default: bool,
    now: Timestamp,
}

async fn insert_key(
    session: &mut Session<'_>,
    scope: ProjectScope,
    new: NewKey,
) -> Result<AccessKeyRecord, StoreError> {
    let NewKey { hash, terms, default, now } = new;
    let id = session.next_id(Sequence::Key).await?;
    let key = AccessKeyRecord {
        project: scope.project(),
        id: id.try_into().map_err(|error| StoreError::corrupt("key id", error))?,
        hash,
        display_name: terms.display_name,
        active: true,
        default,
        require_origin: terms.require_origin,
        allowed_origins: terms.allowed_origins,
        allowed_services: terms.allowed_services,
        created_at: now,
        last_used_at: None,
    };
    session.insert(Insert::of([&key])?, "").await?;
    Ok(key)
}

async fn deactivate(session: &mut Session<'_>, scope: ProjectScope, key: RecordId) -> Result<(), StoreError> {
    let sql =
        "UPDATE access_keys SET active = FALSE, is_default = FALSE WHERE project_id = $1 AND key_id = $2";
    session.execute(sql, args![scope.project(), key]).await.map(drop)
}
