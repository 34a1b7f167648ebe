//! The servers that a database of PostgreSQL is on: one, or all nodes of a Citus cluster, each of which has a database of
//! the same name.

use std::sync::{Mutex, PoisonError};

use sqlx::{Connection as _, PgConnection, Row as _};

use super::{database_at, run, unusable};
use crate::{DatabaseUrl, StoreError};

/// Parts of each distributed table: few, since every test has tables of its own.
const SHARDS: u32 = 4;

/// URLs of databases that no test uses any more.
static FINISHED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Notes that a database is not used any more.
pub(super) fn finished(url: &str) {
    FINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(url.to_owned());
}

/// Where databases are made.
pub(super) struct Nodes {
    /// URLs of a database that is always there, the coordinator's first.
    urls: Vec<String>,
}

impl Nodes {
    /// The server of this URL, with the workers that it knows when it is a coordinator.
    pub(super) async fn of(server: &str) -> Result<Self, StoreError> {
        let mut connection = PgConnection::connect(server).await?;
        let mut urls = vec![server.to_owned()];
        let sql = "SELECT 1 FROM pg_extension WHERE extname = 'citus'";
        if sqlx::query(sql).fetch_optional(&mut connection).await?.is_some() {
            let sql = "SELECT nodename, nodeport FROM pg_dist_node
                WHERE groupid <> 0 AND noderole = 'primary' ORDER BY nodeid";
            for worker in sqlx::query(sql).fetch_all(&mut connection).await? {
                let (host, port): (String, i32) = (worker.try_get(0)?, worker.try_get(1)?);
                urls.push(with_host(server, &host, port)?);
            }
        }
        connection.close().await?;
        Ok(Self { urls })
    }

    fn is_cluster(&self) -> bool {
        self.urls.len() > 1
    }

    /// Makes a database without tables.
    pub(super) async fn make(&self, name: &str) -> Result<(), StoreError> {
        self.make_with(name, "").await?;
        if !self.is_cluster() {
            return Ok(());
        }
        for url in &self.urls {
            run_at(url, name, "CREATE EXTENSION citus").await?;
        }
        let coordinator = self.urls.first().map(String::as_str).unwrap_or_default();
        let shards = format!("ALTER DATABASE {name} SET citus.shard_count = {SHARDS}");
        run_at(coordinator, name, &shards).await?;
        for (place, url) in self.urls.iter().enumerate() {
            let call = if place == 0 { "citus_set_coordinator_host" } else { "citus_add_node" };
            let (host, port) = host_and_port(url)?;
            run_at(coordinator, name, &format!("SELECT {call}('{host}', {port})")).await?;
        }
        Ok(())
    }

    /// Makes a database as a copy of a template.
    pub(super) async fn copy(&self, template: &str, name: &str) -> Result<(), StoreError> {
        self.drop_finished().await?;
        self.make_with(name, &format!("TEMPLATE {template}")).await
    }

    async fn make_with(&self, name: &str, how: &str) -> Result<(), StoreError> {
        for url in &self.urls {
            let mut connection = PgConnection::connect(url).await?;
            run(&mut connection, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
            run(&mut connection, format!("CREATE DATABASE {name} {how}")).await?;
            connection.close().await?;
        }
        Ok(())
    }

    /// Makes a database a template: nobody, nor what looks after clusters, connects to it any more. The coordinator is
    /// asked whether there is one, and so comes last.
    pub(super) async fn keep_as_template(&self, name: &str) -> Result<(), StoreError> {
        for url in self.urls.iter().rev() {
            let mut connection = PgConnection::connect(url).await?;
            let sql = format!("ALTER DATABASE {name} IS_TEMPLATE true ALLOW_CONNECTIONS false");
            run(&mut connection, sql).await?;
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
            sqlx::query(sql).bind(name).execute(&mut connection).await?;
            connection.close().await?;
        }
        Ok(())
    }

    /// Drops the databases of tests that are over. Each takes ten megabytes, on a cluster on all nodes, and connections there.
    async fn drop_finished(&self) -> Result<(), StoreError> {
        let finished = std::mem::take(&mut *FINISHED.lock().unwrap_or_else(PoisonError::into_inner));
        for url in finished {
            let name = name_of(&url);
            for node in &self.urls {
                let mut connection = PgConnection::connect(node).await?;
                // What looks after the cluster may be looking into it just now; then it stays.
                let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                let _ = run(&mut connection, sql).await;
                connection.close().await?;
            }
        }
        Ok(())
    }
}

/// Runs a statement in a database of a node.
async fn run_at(node: &str, name: &str, sql: &str) -> Result<(), StoreError> {
    let DatabaseUrl::Postgres(url) = database_at(node, name) else { return Ok(()) };
    let mut connection = PgConnection::connect(&url).await?;
    run(&mut connection, sql.to_owned()).await?;
    connection.close().await?;
    Ok(())
}

/// The name of the database that a URL is of.
pub(super) fn name_of(url: &str) -> &str {
    let name = url.rsplit_once('/').map_or("", |(_, name)| name);
    name.split_once('?').map_or(name, |(name, _)| name)
}

/// The part of a URL between the user and the database, and what is around it.
fn authority(url: &str) -> Result<(&str, &str, &str), StoreError> {
    let (scheme, rest) = url.split_once("://").ok_or_else(|| unusable("a URL without a scheme"))?;
    let (place, _) = rest.rsplit_once('/').ok_or_else(|| unusable("a URL that names no database"))?;
    let host = place.rsplit_once('@').map_or(0, |(user, _)| user.len() + 1);
    let start = scheme.len() + "://".len() + host;
    let end = scheme.len() + "://".len() + place.len();
    Ok((&url[..start], &url[start..end], &url[end..]))
}

fn host_and_port(url: &str) -> Result<(&str, &str), StoreError> {
    let (_, place, _) = authority(url)?;
    Ok(place.rsplit_once(':').unwrap_or((place, "5432")))
}

fn with_host(url: &str, host: &str, port: i32) -> Result<String, StoreError> {
    let (before, _, after) = authority(url)?;
    Ok(format!("{before}{host}:{port}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_reached_as_its_coordinator_is() {
        let url = "postgres://me:secret@10.0.0.1:6000/postgres";
        assert_eq!(host_and_port(url).unwrap(), ("10.0.0.1", "6000"));
        assert_eq!(host_and_port("postgres://host/postgres").unwrap(), ("host", "5432"));
        assert_eq!(with_host(url, "other", 7).unwrap(), "postgres://me:secret@other:7/postgres");
    }
}
