//! Databases that were migrated once, to be copied for every test: copying one takes a fraction of migrating it.

use std::path::Path;

use bourse_wire::Timestamp;
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::{FILE, Nodes, database_at, directory, run, unusable};
use crate::migrate::{Migration, TEMPLATE_LOCK};
use crate::{DatabaseUrl, OpenOptions, Store, StoreError, copy_sqlite};

/// Copies this process's template to a file that is not there yet.
pub(super) async fn copy_file(to: &Path) -> Result<DatabaseUrl, StoreError> {
    static TEMPLATE: OnceCell<TempDir> = OnceCell::const_new();
    let template = TEMPLATE.get_or_try_init(|| async {
        let directory = directory()?;
        let migrated = directory.path().join("migrated.db");
        migrate(&DatabaseUrl::Sqlite(migrated.clone())).await?;
        // Whole, while the file itself may still have its newest pages in the journal.
        copy_sqlite(&migrated, &directory.path().join(FILE), |_, _| ())?;
        Ok::<_, StoreError>(directory)
    });
    std::fs::copy(template.await?.path().join(FILE), to).map_err(unusable)?;
    Ok(DatabaseUrl::Sqlite(to.to_owned()))
}

/// Makes a database of this name from the server's template.
pub(super) async fn copy_database(server: &str, name: &str) -> Result<DatabaseUrl, StoreError> {
    static TEMPLATE: OnceCell<(Nodes, String)> = OnceCell::const_new();
    let (nodes, template) = TEMPLATE.get_or_try_init(|| template_of(server)).await?;
    nodes.copy(template, name).await?;
    Ok(database_at(server, name))
}

/// The name of the server's template for these migrations, which is made when there is none. What is not marked as a
/// template was given up before it was whole.
async fn template_of(server: &str) -> Result<(Nodes, String), StoreError> {
    let texts: Vec<&str> = Migration::texts().collect();
    let layouts: Vec<_> = Migration::ALL.iter().map(|migration| migration.layout).collect();
    let hash = alloy_primitives::keccak256(format!("{}{layouts:?}", texts.join("\n")));
    let name = format!("bourse_template_{}", &format!("{hash:x}")[..16]);
    let nodes = Nodes::of(server).await?;
    let mut connection = PgConnection::connect(server).await?;
    // Closing the connection gives it back.
    run(&mut connection, format!("SELECT pg_advisory_lock({TEMPLATE_LOCK})")).await?;
    let sql = "SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate";
    if sqlx::query(sql).bind(&name).fetch_optional(&mut connection).await?.is_none() {
        nodes.make(&name).await?;
        migrate(&database_at(server, &name)).await?;
        nodes.keep_as_template(&name).await?;
    }
    nodes.drop_abandoned().await?;
    connection.close().await?;
    Ok((nodes, name))
}

async fn migrate(url: &DatabaseUrl) -> Result<(), StoreError> {
    let options = OpenOptions { connections_max: 1, ..OpenOptions::default() };
    Store::open(url, options, Timestamp::ZERO).await?.close().await;
    Ok(())
}
