//! An older copy of a database of PostgreSQL, and failing over to it.

use sqlx::{Connection as _, PgConnection};

use super::{database_at, run, unusable};
use crate::{DatabaseUrl, StoreError};

/// A copy of a database as it was at some moment.
pub struct OlderCopy {
    /// Where databases are made and renamed.
    server: String,
    /// The database that it is a copy of.
    name: String,
}

impl OlderCopy {
    /// Copies a database of PostgreSQL; there is no failing over to another one. Ends all connections to it.
    pub async fn of(database: &DatabaseUrl) -> Result<Option<Self>, StoreError> {
        let DatabaseUrl::Postgres(url) = database else { return Ok(None) };
        let (_, name) = url.rsplit_once('/').ok_or_else(|| unusable("a URL that names no database"))?;
        let DatabaseUrl::Postgres(server) = database_at(url, "postgres") else { return Ok(None) };
        let copy = Self { server, name: name.to_owned() };
        let mut connection = copy.alone().await?;
        run(&mut connection, format!("CREATE DATABASE {name}_older TEMPLATE {name}")).await?;
        connection.close().await?;
        Ok(Some(copy))
    }

    /// Puts the copy in the place of the database, which is lost. Ends all connections to it.
    pub async fn take_over(self) -> Result<(), StoreError> {
        let (mut connection, name) = (self.alone().await?, &self.name);
        run(&mut connection, format!("ALTER DATABASE {name} RENAME TO {name}_lost")).await?;
        run(&mut connection, format!("ALTER DATABASE {name}_older RENAME TO {name}")).await?;
        connection.close().await?;
        Ok(())
    }

    /// Ends all connections to the database.
    async fn alone(&self) -> Result<PgConnection, StoreError> {
        let mut connection = PgConnection::connect(&self.server).await?;
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
        sqlx::query(sql).bind(&self.name).execute(&mut connection).await?;
        Ok(connection)
    }
}
