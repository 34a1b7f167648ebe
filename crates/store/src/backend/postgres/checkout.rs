//! A connection that is borrowed from the pool.

use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, PgConnection, Postgres, Transaction};

use super::reach::Reach;

/// The driver rolls back a transaction that is dropped, but not one that is dropped while it begins, and whoever waits
/// for it may go away at any time. The next one to get that connection would find itself in a transaction that nobody
/// ends: such a connection is closed. So is one that is given back while the server is away: the pool would ask it whether
/// it is alive, and wait.
pub(super) struct Checkout {
    connection: PoolConnection<Postgres>,
    reach: Reach,
    beginning: bool,
}

impl Checkout {
    pub(super) async fn new(reach: &Reach) -> Result<Self, sqlx::Error> {
        let connection = reach.pool().acquire().await?;
        Ok(Self { connection, reach: reach.clone(), beginning: false })
    }

    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Begins a transaction with this statement.
    pub(super) async fn begin(
        &mut self,
        statement: &'static str,
    ) -> Result<Transaction<'_, Postgres>, sqlx::Error> {
        self.beginning = true;
        let transaction = self.connection.begin_with(statement).await?;
        self.beginning = false;
        Ok(transaction)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if self.beginning || self.reach.is_away() {
            self.connection.close_on_drop();
        }
    }
}
