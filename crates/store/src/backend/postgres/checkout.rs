//! A connection that is borrowed from the pool for a transaction.

use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, Postgres, Transaction};

/// The driver rolls back a transaction that is dropped, but not one that is dropped while it begins, and whoever waits
/// for it may go away at any time. The next one to get that connection would find itself in a transaction that nobody
/// ends: such a connection is closed.
pub(super) struct Checkout {
    connection: PoolConnection<Postgres>,
    beginning: bool,
}

impl Checkout {
    pub(super) fn new(connection: PoolConnection<Postgres>) -> Self {
        Self { connection, beginning: false }
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
        if self.beginning {
            self.connection.close_on_drop();
        }
    }
}
