//! The servers that a database of PostgreSQL is on: one, or all nodes of a Citus cluster, each of which has a database of
//! the same name.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{LazyLock, Mutex, PoisonError};

use futures_util::future::try_join_all;
use sqlx::{Connection as _, PgConnection, Row as _};

use super::{COUNTER, database_at, run, unusable};
use crate::backend::postgres::IS_CLUSTER;
use crate::migrate::NODES_LOCK;
use crate::{DatabaseUrl, StoreError};

/// Parts of each distributed table: few, since every test has tables of its own.
const SHARDS: u32 = 4;

/// URLs of databases that no test uses any more.
static FINISHED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What the names of all databases of tests on this machine begin with, until it is started again: no process of another machine
/// or container has them, so that who has such a name is seen in the list of processes.
static PREFIX: LazyLock<String> = LazyLock::new(|| {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let processes = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let machine = alloy_primitives::keccak256(format!("{boot}{}", processes.display()));
    format!("bourse_test_{}_", &format!("{machine:x}")[..8])
});

/// A name that no other test process has for a database, nor this one for another.
pub(super) fn new_name() -> String {
    format!("{}{}_{}", *PREFIX, std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// Whether the process that a database was made by, as its name tells, is over.
fn is_abandoned(name: &str) -> bool {
    let process = name.strip_prefix(PREFIX.as_str()).and_then(|rest| rest.split_once('_'));
    let is_running = |process: &str| Path::new("/proc").join(process).exists();
    Path::new("/proc/self").exists() && process.is_some_and(|(process, _)| !is_running(process))
}

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
        if sqlx::query(IS_CLUSTER).fetch_optional(&mut connection).await?.is_some() {
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

    /// URLs of a database that is always there, of each node.
    pub(super) fn urls(&self) -> &[String] {
        &self.urls
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
        // Each node is told of the roles that the others have, which are those of all its databases: one at a time can do that.
        // Closing the connection gives it back.
        let mut alone = PgConnection::connect(coordinator).await?;
        run(&mut alone, format!("SELECT pg_advisory_lock({NODES_LOCK})")).await?;
        for (place, url) in self.urls.iter().enumerate() {
            let call = if place == 0 { "citus_set_coordinator_host" } else { "citus_add_node" };
            let (host, port) = host_and_port(url)?;
            run_at(coordinator, name, &format!("SELECT {call}('{host}', {port})")).await?;
        }
        alone.close().await?;
        Ok(())
    }

    /// Makes a database as a copy of a template.
    pub(super) async fn copy(&self, template: &str, name: &str) -> Result<(), StoreError> {
        self.drop_finished().await?;
        self.make_with(name, &format!("TEMPLATE {template}")).await
    }

    async fn make_with(&self, name: &str, how: &str) -> Result<(), StoreError> {
        let make = async |url: &String| {
            let mut connection = PgConnection::connect(url).await?;
            run(&mut connection, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
            run(&mut connection, format!("CREATE DATABASE {name} {how}")).await?;
            connection.close().await.map_err(StoreError::from)
        };
        try_join_all(self.urls.iter().map(make)).await.map(drop)
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
        self.drop_all(finished.iter().map(|url| name_of(url).to_owned()).collect()).await
    }

    /// Drops the databases that processes left which are over: nobody knows which of a process is its last.
    pub(super) async fn drop_abandoned(&self) -> Result<(), StoreError> {
        let mut names = Vec::new();
        for url in &self.urls {
            let mut connection = PgConnection::connect(url).await?;
            let sql = "SELECT datname::TEXT FROM pg_database";
            names.extend(sqlx::query_scalar::<_, String>(sql).fetch_all(&mut connection).await?);
            connection.close().await?;
        }
        names.retain(|name| is_abandoned(name));
        names.sort_unstable();
        names.dedup();
        self.drop_all(names).await
    }

    async fn drop_all(&self, names: Vec<String>) -> Result<(), StoreError> {
        let drop_there = async |url: &String| {
            if names.is_empty() {
                return Ok(());
            }
            let mut connection = PgConnection::connect(url).await?;
            for name in &names {
                // What looks after the cluster may be looking into it just now; then it is dropped by the next process.
                let _ = run(&mut connection, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
            }
            connection.close().await.map_err(StoreError::from)
        };
        try_join_all(self.urls.iter().map(drop_there)).await.map(drop)
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

pub(super) fn with_host(url: &str, host: &str, port: i32) -> Result<String, StoreError> {
    let (before, _, after) = authority(url)?;
    Ok(format!("{before}{host}:{port}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_left_is_known_by_its_name() {
        assert!(!is_abandoned(&new_name()), "this one is running");
        assert!(is_abandoned(&format!("{}0_1", *PREFIX)), "no process has this number");
        for other in ["postgres", "bourse_test_0_1", "bourse_test_00000000_0_1", &format!("{}0", *PREFIX)] {
            assert!(!is_abandoned(other), "{other}");
        }
    }

    #[test]
    fn a_worker_is_reached_as_its_coordinator_is() {
        let url = "postgres://me:secret@10.0.0.1:6000/postgres";
        assert_eq!(host_and_port(url).unwrap(), ("10.0.0.1", "6000"));
        assert_eq!(host_and_port("postgres://host/postgres").unwrap(), ("host", "5432"));
        assert_eq!(with_host(url, "other", 7).unwrap(), "postgres://me:secret@other:7/postgres");
    }
}
