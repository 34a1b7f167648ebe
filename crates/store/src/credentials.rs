//! Access keys and secret tokens.

use bourse_wire::{Code, Error, ProjectId, RecordId, Timestamp};

use crate::args::{Arg, args};
use crate::backend::{Sequence, Store};
use crate::revisions::Revision;
use crate::row::Row;
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

impl KeyTerms {
    /// The arguments of a statement that writes them, in the order of the members.
    fn args(self) -> Result<Vec<Arg>, StoreError> {
        let text =
            |list: &[String]| serde_json::to_string(list).map_err(|error| StoreError::corrupt("list", error));
        let (origins, services) = (text(&self.allowed_origins)?, text(&self.allowed_services)?);
        Ok(args![self.display_name, self.require_origin, origins, services])
    }
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

const KEY_COLUMNS: &str =
    "SELECT project_id, key_id, key_hash, display_name, active, is_default, require_origin,
    allowed_origins, allowed_services, created_at, last_used_at FROM access_keys";
const TOKEN_COLUMNS: &str = "SELECT project_id, token_id, display_name, created_at, expires_at, revoked_at,
    last_used_at FROM secret_tokens";

impl Store {
    /// Every access key of every project, for the in-memory check.
    pub async fn all_access_keys(&self) -> Result<Vec<AccessKeyRecord>, StoreError> {
        self.read(|mut session| {
            Box::pin(async move { session.all(KEY_COLUMNS, args![]).await?.iter().map(access_key).collect() })
        })
        .await
    }

    /// Every secret token of every project, for the in-memory check.
    pub async fn all_secret_tokens(&self) -> Result<Vec<SecretTokenRecord>, StoreError> {
        self.read(|mut session| {
            Box::pin(
                async move { session.all(TOKEN_COLUMNS, args![]).await?.iter().map(secret_token).collect() },
            )
        })
        .await
    }

    /// A project's access keys, oldest first.
    pub async fn access_keys(&self, scope: ProjectScope) -> Result<Vec<AccessKeyRecord>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                keys_of(&mut session, scope).await
            })
        })
        .await
    }

    /// Stores an access key. A project's first becomes its default.
    pub async fn create_access_key(
        &self,
        scope: ProjectScope,
        hash: String,
        terms: KeyTerms,
        now: Timestamp,
    ) -> Result<AccessKeyRecord, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                Revision::Credentials.raise(&mut session).await?;
                let default = !keys_of(&mut session, scope).await?.iter().any(|known| known.active);
                insert_key(&mut session, scope, (hash, terms), default, now).await
            })
        })
        .await
    }

    /// Puts a new key in the place of an old one: same name, limits and default, and the old one stops working.
    pub async fn rotate_access_key(
        &self,
        scope: ProjectScope,
        key: RecordId,
        new_hash: String,
        now: Timestamp,
    ) -> Result<AccessKeyRecord, StoreError> {
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
                insert_key(&mut session, scope, (new_hash, terms), old.default, now).await
            })
        })
        .await
    }

    /// Changes what a key is called and what it is limited to.
    pub async fn update_access_key(
        &self,
        scope: ProjectScope,
        key: RecordId,
        terms: KeyTerms,
    ) -> Result<AccessKeyRecord, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                Revision::Credentials.raise(&mut session).await?;
                find_key(&mut session, scope, key).await?;
                let sql =
                    "UPDATE access_keys SET display_name = $3, require_origin = $4, allowed_origins = $5,
                    allowed_services = $6 WHERE project_id = $1 AND key_id = $2";
                let mut args = args![scope.project(), key];
                args.extend(terms.args()?);
                session.execute(sql, args).await?;
                find_key(&mut session, scope, key).await
            })
        })
        .await
    }

    /// Stops a key from working. The last active one stays; the default passes to another.
    pub async fn disable_access_key(&self, scope: ProjectScope, key: RecordId) -> Result<(), StoreError> {
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
                Ok(())
            })
        })
        .await
    }

    /// A project's secret tokens, oldest first.
    pub async fn secret_tokens(&self, scope: ProjectScope) -> Result<Vec<SecretTokenRecord>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                let sql = format!("{TOKEN_COLUMNS} WHERE project_id = $1");
                let rows = session.all(sql, args![scope.project()]).await?;
                let mut tokens = rows.iter().map(secret_token).collect::<Result<Vec<_>, _>>()?;
                // Not in SQL: as text, a time with a fraction sorts before the whole second it follows.
                tokens.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
                Ok(tokens)
            })
        })
        .await
    }

    /// Stores that a secret token was given out.
    pub async fn create_secret_token(&self, token: SecretTokenRecord) -> Result<(), StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, token.project).await?;
                let sql =
                    "INSERT INTO secret_tokens (project_id, token_id, display_name, created_at, expires_at)
                    VALUES ($1, $2, $3, $4, $5)";
                let args =
                    args![token.project, token.id, token.display_name, token.created_at, token.expires_at];
                session.execute(sql, args).await?;
                Revision::Credentials.raise(&mut session).await
            })
        })
        .await
    }

    /// Stops a secret token from working.
    pub async fn revoke_secret_token(
        &self,
        scope: ProjectScope,
        id: String,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE secret_tokens SET revoked_at = COALESCE(revoked_at, $3)
                    WHERE project_id = $1 AND token_id = $2";
                if session.execute(sql, args![scope.project(), id.as_str(), now]).await? == 0 {
                    return Err(Error::not_found(format_args!("secret token {id}")).into());
                }
                Revision::Credentials.raise(&mut session).await
            })
        })
        .await
    }

    /// Notes when credentials were last used. Not a change to them: nobody is woken.
    pub async fn note_last_use(
        &self,
        mut keys: Vec<(ProjectId, RecordId, Timestamp)>,
        mut tokens: Vec<(ProjectId, String, Timestamp)>,
    ) -> Result<(), StoreError> {
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
        .await
    }
}

async fn keys_of(session: &mut Session<'_>, scope: ProjectScope) -> Result<Vec<AccessKeyRecord>, StoreError> {
    let sql = format!("{KEY_COLUMNS} WHERE project_id = $1 ORDER BY key_id");
    session.all(sql, args![scope.project()]).await?.iter().map(access_key).collect()
}

async fn find_key(
    session: &mut Session<'_>,
    scope: ProjectScope,
    key: RecordId,
) -> Result<AccessKeyRecord, StoreError> {
    let sql = format!("{KEY_COLUMNS} WHERE project_id = $1 AND key_id = $2");
    let row = session.first(sql, args![scope.project(), key]).await?;
    access_key(&row.ok_or_else(|| Error::not_found(format_args!("access key {key}")))?)
}

async fn insert_key(
    session: &mut Session<'_>,
    scope: ProjectScope,
    (hash, terms): (String, KeyTerms),
    default: bool,
    now: Timestamp,
) -> Result<AccessKeyRecord, StoreError> {
    let id = session.next_id(Sequence::Key).await?;
    let sql = "INSERT INTO access_keys (project_id, key_id, key_hash, active, is_default, created_at,
        display_name, require_origin, allowed_origins, allowed_services)
        VALUES ($1, $2, $3, TRUE, $4, $5, $6, $7, $8, $9)";
    let mut args = args![scope.project(), id, hash, default, now];
    args.extend(terms.args()?);
    session.execute(sql, args).await?;
    let id = id.try_into().map_err(|error| StoreError::corrupt("key id", error))?;
    find_key(session, scope, id).await
}

async fn deactivate(session: &mut Session<'_>, scope: ProjectScope, key: RecordId) -> Result<(), StoreError> {
    let sql =
        "UPDATE access_keys SET active = FALSE, is_default = FALSE WHERE project_id = $1 AND key_id = $2";
    session.execute(sql, args![scope.project(), key]).await.map(drop)
}

fn project_id(row: &Row) -> Result<ProjectId, StoreError> {
    row.u64(0, "project id")?.try_into().map_err(|error| StoreError::corrupt("project id", error))
}

fn access_key(row: &Row) -> Result<AccessKeyRecord, StoreError> {
    Ok(AccessKeyRecord {
        project: project_id(row)?,
        id: row.id(1, "key id")?,
        hash: row.text(2)?,
        display_name: row.text(3)?,
        active: row.bool(4)?,
        default: row.bool(5)?,
        require_origin: row.bool(6)?,
        allowed_origins: row.json(7, "allowed origins")?,
        allowed_services: row.json(8, "allowed services")?,
        created_at: row.parse(9, "key time")?,
        last_used_at: row.opt_parse(10, "key time")?,
    })
}

fn secret_token(row: &Row) -> Result<SecretTokenRecord, StoreError> {
    Ok(SecretTokenRecord {
        project: project_id(row)?,
        id: row.text(1)?,
        display_name: row.text(2)?,
        created_at: row.parse(3, "token time")?,
        expires_at: row.opt_parse(4, "token time")?,
        revoked_at: row.opt_parse(5, "token time")?,
        last_used_at: row.opt_parse(6, "token time")?,
    })
}
