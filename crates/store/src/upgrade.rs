//! What bringing a database up to date would take, found out by looking only.

use std::path::Path;

use crate::args::args;
use crate::backend::{DatabaseUrl, Pending, Store};
use crate::health::has_history;
use crate::migrate::{Migration, check_history, newest_applied};
use crate::session::Session;
use crate::{SchemaState, StoreError};

/// How a database would be brought up to date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The schema that the database has, and the one that this program needs.
    pub schema: SchemaState,
    /// Why it cannot be done, as far as that is seen without trying, and what to do about it.
    pub obstacle: Option<String>,
}

/// What keeps a user of PostgreSQL from migrating: a condition, and what to do when it holds.
const OBSTACLES: [(&str, &str); 4] = [
    (
        "pg_is_in_recovery()",
        "the server is a standby, which is only read: name its primary in storage.database",
    ),
    (
        "current_setting('default_transaction_read_only') = 'on'",
        "the database is set to be only read: set default_transaction_read_only to off",
    ),
    (
        "has_schema_privilege(current_schema(), 'CREATE') IS NOT TRUE",
        "the user may not make tables: GRANT CREATE ON SCHEMA to the user in storage.database",
    ),
    (
        "EXISTS (SELECT 1 FROM pg_class WHERE oid = to_regclass('schema_migrations')
            AND NOT pg_has_role(relowner, 'MEMBER'))",
        "the tables are of another user, and only their owner may alter them: name that user in storage.database",
    ),
];

impl Upgrade {
    /// Looks at a database and changes nothing: no file, no table and no row. One that is not there yet has schema 0.
    pub fn look(url: &DatabaseUrl) -> Pending<'_, Self> {
        Box::pin(async move {
            let looked =
                Store::look(url, |mut session| Box::pin(async move { look(&mut session).await })).await?;
            let empty =
                Self { schema: SchemaState { applied: 0, known: Migration::newest() }, obstacle: None };
            let mut upgrade = looked.unwrap_or(empty);
            if let (DatabaseUrl::Sqlite(path), false) = (url, upgrade.steps().is_empty()) {
                upgrade.obstacle = upgrade.obstacle.or_else(|| unwritable(path));
            }
            Ok(upgrade)
        })
    }

    /// The migrations that would be applied, in their order.
    pub fn steps(&self) -> &'static [Migration] {
        let applied = Migration::ALL.partition_point(|migration| migration.version <= self.schema.applied);
        Migration::ALL.get(applied..).unwrap_or_default()
    }
}

async fn look(session: &mut Session<'_>) -> Result<Upgrade, StoreError> {
    let known = Migration::newest();
    let (applied, history) = if has_history(session).await? {
        (newest_applied(session).await?, check_history(session).await)
    } else {
        (0, Ok(0))
    };
    let obstacle = match history {
        Err(error @ (StoreError::Newer { .. } | StoreError::OtherHistory { .. })) => Some(error.to_string()),
        Err(error) => return Err(error),
        Ok(applied) if applied < known => obstacle(session).await?,
        Ok(_) => None,
    };
    Ok(Upgrade { schema: SchemaState { applied, known }, obstacle })
}

async fn obstacle(session: &mut Session<'_>) -> Result<Option<String>, StoreError> {
    if let Session::Postgres(_) = session {
        for (condition, action) in OBSTACLES {
            if session.has(format!("SELECT 1::BIGINT WHERE {condition}"), args![]).await? {
                return Ok(Some(action.to_owned()));
            }
        }
    }
    Ok(None)
}

/// Why a file that is there cannot be written. No connection of this process may have it open: closing the file ends the
/// locks of all of them.
fn unwritable(path: &Path) -> Option<String> {
    match std::fs::OpenOptions::new().append(true).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Some(format!(
            "{} cannot be written to ({error}): give its owner write permission",
            path.display()
        )),
        _ => None,
    }
}
