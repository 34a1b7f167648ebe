//! Bringing the tables up to date.

use std::collections::HashMap;
use std::sync::LazyLock;

use bourse_wire::Timestamp;

use crate::StoreError;
use crate::args::args;
use crate::backend::postgres::IS_CLUSTER;
use crate::backend::{Engine, Store};
use crate::columns::selection;
use crate::session::Session;

/// One step of the schema's history. Steps are only ever added.
pub struct Migration {
    /// Position in the history, from 1.
    pub version: i64,
    /// What it brings.
    pub name: &'static str,
    both: &'static str,
    /// What only one engine runs, if there is anything.
    sqlite: &'static str,
    postgres: &'static str,
    /// Where Citus is present: how the new tables are laid out, in an order that foreign keys allow.
    pub layout: &'static [(&'static str, Layout)],
}

/// How Citus lays out a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// On the coordinator alone: what tells where and for whom everything else is, and who may ask. It is read in one snapshot
    /// with its revision, and no worker that is away keeps anybody from it.
    Local,
    /// Distributed by collection.
    ByCollection,
    /// Distributed by project.
    ByProject,
}

impl Layout {
    /// That of a table, if there is one of this name.
    pub(crate) fn of(table: &str) -> Option<Self> {
        static LAYOUTS: LazyLock<HashMap<&str, Layout>> =
            LazyLock::new(|| Migration::ALL.iter().flat_map(|migration| migration.layout).copied().collect());
        LAYOUTS.get(table).copied()
    }
}

impl Migration {
    /// The whole history.
    pub const ALL: &'static [Self] = &[
        Self::new(
            1,
            "ground",
            include_str!("../migrations/0001_ground.sql"),
            &[
                ("revisions", Layout::Local),
                ("currencies", Layout::Local),
                ("collections", Layout::Local),
                ("collection_versions", Layout::ByCollection),
                ("collection_changes", Layout::ByCollection),
                ("applied_batches", Layout::ByCollection),
                ("contracts", Layout::ByCollection),
                ("tokens", Layout::ByCollection),
                ("balances", Layout::ByCollection),
                ("orders", Layout::ByCollection),
                ("projects", Layout::Local),
                ("access_keys", Layout::Local),
                ("secret_tokens", Layout::Local),
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
        )
        .with_engines(
            include_str!("../migrations/0001_ground.sqlite.sql"),
            include_str!("../migrations/0001_ground.postgres.sql"),
        ),
        Self::new(
            2,
            "trading",
            include_str!("../migrations/0002_trading.sql"),
            &[("activities", Layout::ByCollection)],
        ),
        Self::new(
            3,
            "counting",
            include_str!("../migrations/0003_counting.sql"),
            &[
                ("analytics_versions", Layout::ByProject),
                ("analytics_batches", Layout::ByProject),
                ("analytics_chunks", Layout::ByProject),
                ("analytics_seen", Layout::ByProject),
            ],
        )
        .with_engines(
            include_str!("../migrations/0003_counting.sqlite.sql"),
            include_str!("../migrations/0003_counting.postgres.sql"),
        ),
        Self::new(
            4,
            "chain",
            include_str!("../migrations/0004_chain.sql"),
            &[
                ("chains", Layout::Local),
                ("chain_blocks", Layout::Local),
                ("chain_leases", Layout::Local),
                ("followed_collections", Layout::Local),
                ("chain_undo", Layout::ByCollection),
                ("approvals", Layout::ByCollection),
                ("token_approvals", Layout::ByCollection),
            ],
        ),
        Self::new(
            5,
            "fetch",
            include_str!("../migrations/0005_fetch.sql"),
            &[("metadata_queue", Layout::ByCollection), ("tasks", Layout::ByProject)],
        )
        .with_engines(
            include_str!("../migrations/0005_fetch.sqlite.sql"),
            include_str!("../migrations/0005_fetch.postgres.sql"),
        ),
        Self::new(
            6,
            "market_projects",
            include_str!("../migrations/0006_market_projects.sql"),
            &[("collection_projects", Layout::Local)],
        ),
        Self::new(
            7,
            "people",
            include_str!("../migrations/0007_people.sql"),
            &[
                ("accounts", Layout::Local),
                ("account_sessions", Layout::Local),
                ("members", Layout::Local),
                ("invites", Layout::Local),
            ],
        )
        .with_engines(
            include_str!("../migrations/0007_people.sqlite.sql"),
            include_str!("../migrations/0007_people.postgres.sql"),
        ),
        Self::new(8, "rate_times", include_str!("../migrations/0008_rate_times.sql"), &[]),
        Self::new(9, "offers_of_blocks", include_str!("../migrations/0009_offers_of_blocks.sql"), &[]),
        Self::new(
            10,
            "signed_orders",
            include_str!("../migrations/0010_signed_orders.sql"),
            &[("standing_queue", Layout::ByCollection)],
        ),
        Self::new(11, "grants", include_str!("../migrations/0011_grants.sql"), &[("grants", Layout::Local)]),
        Self::new(12, "unbacked_orders", include_str!("../migrations/0012_unbacked_orders.sql"), &[]),
        Self::new(
            13,
            "followers",
            include_str!("../migrations/0013_followers.sql"),
            &[("collection_followers", Layout::Local), ("left_collections", Layout::Local)],
        ),
        Self::new(
            14,
            "history",
            include_str!("../migrations/0014_history.sql"),
            &[("attributions", Layout::ByCollection), ("audit", Layout::Local)],
        )
        .with_engines(
            include_str!("../migrations/0014_history.sqlite.sql"),
            include_str!("../migrations/0014_history.postgres.sql"),
        ),
        Self::new(
            15,
            "files",
            include_str!("../migrations/0015_files.sql"),
            &[("project_files", Layout::ByProject)],
        ),
        Self::new(
            16,
            "second_factor",
            include_str!("../migrations/0016_second_factor.sql"),
            &[
                ("second_factors", Layout::Local),
                ("recovery_codes", Layout::Local),
                ("pending_sign_ins", Layout::Local),
            ],
        ),
        Self::new(17, "facts_apart", include_str!("../migrations/0017_facts_apart.sql"), &[]),
        Self::new(18, "stamps", include_str!("../migrations/0018_stamps.sql"), &[]),
        Self::new(
            19,
            "consents",
            include_str!("../migrations/0019_consents.sql"),
            &[("consents", Layout::Local)],
        ),
        Self::new(
            20,
            "sign_in_tries",
            include_str!("../migrations/0020_sign_in_tries.sql"),
            &[("sign_in_tries", Layout::Local)],
        ),
        Self::new(
            21,
            "rate_uses",
            include_str!("../migrations/0021_rate_uses.sql"),
            &[("rate_uses", Layout::Local)],
        ),
        Self::new(
            22,
            "servers",
            include_str!("../migrations/0022_servers.sql"),
            &[("servers", Layout::Local)],
        ),
        Self::new(
            23,
            "contract_links",
            include_str!("../migrations/0023_contract_links.sql"),
            &[("contract_links", Layout::Local)],
        ),
        Self::new(
            24,
            "storefronts",
            include_str!("../migrations/0024_storefronts.sql"),
            &[("storefronts", Layout::Local)],
        ),
        Self::new(25, "balances_of_account", include_str!("../migrations/0025_balances_of_account.sql"), &[]),
        Self::new(26, "registration", include_str!("../migrations/0026_registration.sql"), &[]),
        Self::new(27, "whole_orders", include_str!("../migrations/0027_whole_orders.sql"), &[]),
        Self::new(28, "sites", include_str!("../migrations/0028_sites.sql"), &[]),
        Self::new(
            29,
            "retractions",
            include_str!("../migrations/0029_retractions.sql"),
            &[("retractions", Layout::ByCollection)],
        ),
        Self::new(30, "transfers", include_str!("../migrations/0030_transfers.sql"), &[]),
        Self::new(
            31,
            "linked_metadata",
            include_str!("../migrations/0031_linked_metadata.sql"),
            &[("link_queue", Layout::Local), ("replaced_metadata", Layout::ByCollection)],
        ),
        Self::new(
            32,
            "webhooks",
            include_str!("../migrations/0032_webhooks.sql"),
            &[
                ("webhook_listeners", Layout::Local),
                ("webhook_cursors", Layout::Local),
                ("webhook_letters", Layout::Local),
                ("webhook_servers", Layout::Local),
            ],
        )
        .with_engines(
            include_str!("../migrations/0032_webhooks.sqlite.sql"),
            include_str!("../migrations/0032_webhooks.postgres.sql"),
        ),
        Self::new(33, "lease_beats", include_str!("../migrations/0033_lease_beats.sql"), &[]),
    ];

    const fn new(
        version: i64,
        name: &'static str,
        both: &'static str,
        layout: &'static [(&'static str, Layout)],
    ) -> Self {
        Self { version, name, both, sqlite: "", postgres: "", layout }
    }

    const fn with_engines(self, sqlite: &'static str, postgres: &'static str) -> Self {
        Self { sqlite, postgres, ..self }
    }

    /// The newest version this program knows.
    pub fn newest() -> i64 {
        Self::ALL.iter().map(|migration| migration.version).max().unwrap_or(0)
    }

    /// Tells histories apart: whoever has the same hash of all of these has the same tables.
    #[cfg(feature = "testing")]
    pub(crate) fn texts() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().flat_map(|migration| [migration.both, migration.sqlite, migration.postgres])
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
        if !session.has(IS_CLUSTER, args![]).await? {
            return Ok(());
        }
        for (table, layout) in self.layout {
            let sql = match layout {
                Layout::Local => continue,
                Layout::ByCollection => distributed(table, "collection_id", "collection_versions"),
                Layout::ByProject => distributed(table, "project_id", "hosted_collections"),
            };
            forget_projects(session, table).await?;
            session.has(sql, args![]).await?;
        }
        Ok(())
    }
}

/// Takes away that rows of a table name a project that there is: no node but the coordinator knows of any.
async fn forget_projects(session: &mut Session<'_>, table: &str) -> Result<(), StoreError> {
    let sql = format!(
        "SELECT conname::TEXT FROM pg_constraint WHERE contype = 'f' AND conrelid = '{table}'::REGCLASS
        AND confrelid = 'projects'::REGCLASS"
    );
    for constraint in session.values::<String>(sql, args![]).await? {
        session.execute(format!("ALTER TABLE {table} DROP CONSTRAINT {constraint}"), args![]).await?;
    }
    Ok(())
}

/// Distributes a table by a column, next to the table that the others of its kind sit with.
fn distributed(table: &str, column: &str, beside: &str) -> String {
    let colocation = if table == beside { "none" } else { beside };
    format!("SELECT create_distributed_table('{table}', '{column}', colocate_with => '{colocation}')")
}

/// Serialises migrations of several processes. All advisory lock numbers of the project are in this list, but for those of
/// contracts, which follow from their addresses (`hold_contract` in `collections.rs`).
const MIGRATION_LOCK: i64 = 0x0062_6f75_7273_6501;
/// Held by who makes a template for the databases of tests, so that processes that start at once make one.
#[cfg(feature = "testing")]
pub(crate) const TEMPLATE_LOCK: i64 = 0x0062_6f75_7273_6502;
/// Held by who makes nodes known to each other in a new database of a cluster for tests.
#[cfg(feature = "testing")]
pub(crate) const NODES_LOCK: i64 = 0x0062_6f75_7273_6503;

const HISTORY_TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)";

impl Store {
    /// Applies the migrations that are missing, each whole or not at all.
    pub(crate) async fn migrate(&self, now: Timestamp) -> Result<(), StoreError> {
        self.migrate_to(Migration::newest(), now).await?;
        match &self.engine {
            Engine::Postgres(postgres) => postgres.look_at_layout().await,
            Engine::Sqlite(_) => Ok(()),
        }
    }

    /// The same up to one of them, as a program did that knew no others.
    pub(crate) async fn migrate_to(&self, version: i64, now: Timestamp) -> Result<(), StoreError> {
        let postgres = matches!(self.engine, Engine::Postgres(_));
        for migration in Migration::ALL.iter().take_while(|migration| migration.version <= version) {
            self.write(move |mut session| {
                Box::pin(async move {
                    if postgres {
                        session.has("SELECT pg_advisory_xact_lock($1)", args![MIGRATION_LOCK]).await?;
                    }
                    session.execute(HISTORY_TABLE, args![]).await?;
                    let applied = check_history(&mut session).await?;
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
    let sql = "SELECT COALESCE(MAX(version), 0) FROM schema_migrations";
    Ok(session.value(sql, args![]).await?.unwrap_or(0))
}

/// A migration as the database's history has it.
struct Applied {
    version: i64,
    name: String,
}

selection! { Applied { version, name } }

/// The newest migration in the database's history, 0 when it has none, if that history is the beginning of ours: on tables
/// that somebody else made, or that lack a step, nothing may be built.
pub(crate) async fn check_history(session: &mut Session<'_>) -> Result<i64, StoreError> {
    let history: Vec<Applied> = session.select("FROM schema_migrations ORDER BY version", args![]).await?;
    let (found, known) = (history.last().map_or(0, |newest| newest.version), Migration::newest());
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    for (applied, known) in history.iter().zip(Migration::ALL) {
        if (applied.version, applied.name.as_str()) != (known.version, known.name) {
            let found = format!("{} {}", applied.version, applied.name);
            return Err(StoreError::OtherHistory {
                found,
                expected: format!("{} {}", known.version, known.name),
            });
        }
    }
    Ok(found)
}
