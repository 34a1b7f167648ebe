//! An older copy of a database of PostgreSQL, and failing over to it.

use futures_util::future::try_join_all;
use sqlx::{Connection as _, PgConnection};

use super::nodes::{Nodes, name_of};
use super::{database_at, run};
use crate::{DatabaseUrl, StoreError};

/// A copy of a database as it was at some moment, on every node that it is on.
pub struct OlderCopy {
    nodes: Nodes,
    /// The database that it is a copy of.
    name: String,
    /// Where the copy is.
    pub url: DatabaseUrl,
}

impl OlderCopy {
    /// Copies a database of PostgreSQL; there is no failing over to another one. Ends all connections to it.
    pub async fn of(database: &DatabaseUrl) -> Result<Option<Self>, StoreError> {
        let DatabaseUrl::Postgres(url) = database else { return Ok(None) };
        let DatabaseUrl::Postgres(server) = database_at(url, "postgres") else { return Ok(None) };
        let name = name_of(url).to_owned();
        let url = database_at(&server, &format!("{name}_older"));
        let copy = Self { nodes: Nodes::of(&server).await?, name, url };
        copy.alone("CREATE DATABASE @_older TEMPLATE @").await?;
        Ok(Some(copy))
    }

    /// Puts the copy in the place of the database, which is lost. Ends all connections to it.
    pub async fn take_over(self) -> Result<(), StoreError> {
        self.alone("ALTER DATABASE @ RENAME TO @_lost").await?;
        self.alone("ALTER DATABASE @_older RENAME TO @").await
    }

    /// Runs a statement on every node while nobody is connected to the database, for which `@` stands in it, nor can be.
    async fn alone(&self, sql: &str) -> Result<(), StoreError> {
        let there = async |url: &String| {
            let name = &self.name;
            let mut connection = PgConnection::connect(url).await?;
            let close = format!(
                "UPDATE pg_database SET datallowconn = FALSE WHERE datname IN ('{name}', '{name}_older')"
            );
            run(&mut connection, close).await?;
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
            sqlx::query(end).bind(name).execute(&mut connection).await?;
            run(&mut connection, sql.replace('@', name)).await?;
            let open = format!(
                "UPDATE pg_database SET datallowconn = TRUE WHERE datname IN ('{name}', '{name}_older')"
            );
            run(&mut connection, open).await?;
            connection.close().await.map_err(StoreError::from)
        };
        try_join_all(self.nodes.urls().iter().map(there)).await.map(drop)
    }
}
