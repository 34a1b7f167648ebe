//! Bringing the tables up to date.

use bourse_wire::Timestamp;

use crate::StoreError;
use crate::args::args;
use crate::backend::{Engine, Store};
use crate::session::Session;

/// One step of the schema's history. Steps are only ever added.
pub struct Migration {
    /// Position in the history, from 1.
    pub version: i64,
    /// What it brings.
    pub name: &'static str,
    both: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
    /// Where Citus is present: how the new tables are laid out, in an order that foreign keys allow.
    layout: &'static [(&'static str, Layout)],
}

/// How Citus lays out a table.
#[derive(Clone, Copy)]
enum Layout {
    /// Small, joined by everything: a copy on every node.
    Reference,
    /// Distributed by collection.
    ByCollection,
    /// Distributed by project.
    ByProject,
}

impl Migration {
    /// The whole history.
    pub const ALL: &'static [Self] = &[
        Self {
            version: 1,
            name: "ground",
            both: include_str!("../migrations/0001_ground.sql"),
            sqlite: include_str!("../migrations/0001_ground.sqlite.sql"),
            postgres: include_str!("../migrations/0001_ground.postgres.sql"),
            layout: &[
                ("revisions", Layout::Reference),
                ("currencies", Layout::Reference),
                ("collections", Layout::Reference),
                ("collection_versions", Layout::ByCollection),
                ("collection_changes", Layout::ByCollection),
                ("applied_batches", Layout::ByCollection),
                ("contracts", Layout::ByCollection),
                ("tokens", Layout::ByCollection),
                ("balances", Layout::ByCollection),
                ("orders", Layout::ByCollection),
                ("projects", Layout::ByProject),
                ("access_keys", Layout::ByProject),
                ("secret_tokens", Layout::ByProject),
                ("hosted_collections", Layout::ByProject),
                ("hosted_tokens", Layout::ByProject),
                ("hosted_assets", Layout::ByProject),
                ("contract_collections", Layout::ByProject),
                ("audiences", Layout::ByProject),
                ("audience_contacts", Layout::ByProject),
                ("audience_contracts", Layout::ByProject),
                ("events", Layout::ByProject),
                ("usage", Layout::ByProject),
            ],
        },
        Self {
            version: 2,
            name: "trading",
            both: include_str!("../migrations/0002_trading.sql"),
            sqlite: "",
            postgres: "",
            layout: &[("activities", Layout::ByCollection)],
        },
        Self {
            version: 3,
            name: "counting",
            both: include_str!("../migrations/0003_counting.sql"),
            sqlite: include_str!("../migrations/0003_counting.sqlite.sql"),
            postgres: include_str!("../migrations/0003_counting.postgres.sql"),
            layout: &[
                ("analytics_versions", Layout::ByProject),
                ("analytics_batches", Layout::ByProject),
                ("analytics_chunks", Layout::ByProject),
                ("analytics_seen", Layout::ByProject),
            ],
        },
        Self {
            version: 4,
            name: "chain",
            both: include_str!("../migrations/0004_chain.sql"),
            sqlite: "",
            postgres: "",
            layout: &[
                ("chains", Layout::Reference),
                ("chain_blocks", Layout::Reference),
                ("chain_leases", Layout::Reference),
                ("followed_collections", Layout::ByCollection),
                ("chain_undo", Layout::ByCollection),
                ("approvals", Layout::ByCollection),
                ("token_approvals", Layout::ByCollection),
            ],
        },
        Self {
            version: 5,
            name: "fetch",
            both: include_str!("../migrations/0005_fetch.sql"),
            sqlite: include_str!("../migrations/0005_fetch.sqlite.sql"),
            postgres: include_str!("../migrations/0005_fetch.postgres.sql"),
            layout: &[("metadata_queue", Layout::ByCollection), ("tasks", Layout::ByProject)],
        },
        Self {
            version: 6,
            name: "market_projects",
            both: include_str!("../migrations/0006_market_projects.sql"),
            sqlite: "",
            postgres: "",
            layout: &[("collection_projects", Layout::ByProject)],
        },
        Self {
            version: 7,
            name: "people",
            both: include_str!("../migrations/0007_people.sql"),
            sqlite: include_str!("../migrations/0007_people.sqlite.sql"),
            postgres: include_str!("../migrations/0007_people.postgres.sql"),
            layout: &[
                ("accounts", Layout::Reference),
                ("account_sessions", Layout::Reference),
                ("members", Layout::Reference),
                ("invites", Layout::Reference),
            ],
        },
        Self {
            version: 8,
            name: "rate_times",
            both: include_str!("../migrations/0008_rate_times.sql"),
            sqlite: "",
            postgres: "",
            layout: &[],
        },
        Self {
            version: 9,
            name: "offers_of_blocks",
            both: include_str!("../migrations/0009_offers_of_blocks.sql"),
            sqlite: "",
            postgres: "",
            layout: &[],
        },
        Self {
            version: 10,
            name: "signed_orders",
            both: include_str!("../migrations/0010_signed_orders.sql"),
            sqlite: "",
            postgres: "",
            layout: &[("standing_queue", Layout::ByCollection)],
        },
    ];

    /// The newest version this program knows.
    pub fn newest() -> i64 {
        Self::ALL.iter().map(|migration| migration.version).max().unwrap_or(0)
    }

    async fn apply(&self, session: &mut Session<'_>, now: Timestamp) -> Result<(), StoreError> {
        session.script(self.both).await?;
        match session {
            Session::Sqlite(_) => session.script(self.sqlite).await?,
            Session::Postgres(_) => session.script(self.postgres).await?,
        }
        self.distribute(session).await?;
        let sql = "INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)";
        session.execute(sql, args![self.version, self.name, now]).await.map(drop)
    }

    /// Lays the new tables out over the nodes, when the database is a Citus one.
    async fn distribute(&self, session: &mut Session<'_>) -> Result<(), StoreError> {
        if !matches!(session, Session::Postgres(_)) {
            return Ok(());
        }
        let citus =
            session.first("SELECT 1::BIGINT FROM pg_extension WHERE extname = 'citus'", args![]).await?;
        if citus.is_none() {
            return Ok(());
        }
        for (table, layout) in self.layout {
            let sql = match layout {
                Layout::Reference => format!("SELECT create_reference_table('{table}')"),
                Layout::ByCollection => distributed(table, "collection_id", "collection_versions"),
                Layout::ByProject => distributed(table, "project_id", "projects"),
            };
            session.all(sql, args![]).await?;
        }
        Ok(())
    }
}

/// Distributes a table by a column, next to the table that the others of its kind sit with.
fn distributed(table: &str, column: &str, beside: &str) -> String {
    let colocation = if table == beside { "none" } else { beside };
    format!("SELECT create_distributed_table('{table}', '{column}', colocate_with => '{colocation}')")
}

/// Serialises migrations of several processes. All advisory lock numbers of the project are in this list.
const MIGRATION_LOCK: i64 = 0x0062_6f75_7273_6501;

const HISTORY_TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)";

impl Store {
    /// Applies the migrations that are missing, each whole or not at all.
    pub(crate) async fn migrate(&self, now: Timestamp) -> Result<(), StoreError> {
        let postgres = matches!(self.engine, Engine::Postgres(_));
        for migration in Migration::ALL {
            self.write(move |mut session| {
                Box::pin(async move {
                    if postgres {
                        session.all("SELECT pg_advisory_xact_lock($1)", args![MIGRATION_LOCK]).await?;
                    }
                    session.execute(HISTORY_TABLE, args![]).await?;
                    let applied = newest_applied(&mut session).await?;
                    if applied > Migration::newest() {
                        return Err(StoreError::Newer { found: applied, known: Migration::newest() });
                    }
                    if applied < migration.version {
                        migration.apply(&mut session, now).await?;
                        tracing::info!(
                            version = migration.version,
                            name = migration.name,
                            "migrated the database"
                        );
                    }
                    Ok(())
                })
            })
            .await?;
        }
        Ok(())
    }
}

/// The newest migration in the database's history, 0 when it has none.
pub(crate) async fn newest_applied(session: &mut Session<'_>) -> Result<i64, StoreError> {
    let row = session.first("SELECT COALESCE(MAX(version), 0) FROM schema_migrations", args![]).await?;
    row.map_or(Ok(0), |row| row.i64(0))
}
