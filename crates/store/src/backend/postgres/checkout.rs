//! A connection that is borrowed from the pool.

use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, PgConnection, Postgres, Transaction};

use super::reach::Reach;
use crate::session::Session;
use crate::{Pending, StoreError};

/// The driver rolls back a transaction that is dropped, but not one that is dropped while it begins, and whoever waits
/// for it may go away at any time. The next one to get that connection would find itself in a transaction that nobody
/// ends: such a connection is closed. So is one whose statement nobody waits for any more, and one that is given back while
/// the server is away: the pool would ask it whether it is alive, and wait for the answer.
pub(super) struct Checkout {
    connection: PoolConnection<Postgres>,
    reach: Reach,
    is_unsettled: bool,
}

impl Checkout {
    pub(super) async fn new(reach: &Reach) -> Result<Self, sqlx::Error> {
        let connection = reach.pool().acquire().await?;
        Ok(Self { connection, reach: reach.clone(), is_unsettled: false })
    }

    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Runs statements without a transaction around them.
    pub(super) async fn run<T, W>(&mut self, work: W) -> Result<T, StoreError>
    where
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T>,
    {
        self.is_unsettled = true;
        let result = work(Session::Postgres(&mut self.connection)).await;
        self.is_unsettled = false;
        result
    }

    /// Begins a transaction with this statement.
    pub(super) async fn begin(
        &mut self,
        statement: &'static str,
    ) -> Result<Transaction<'_, Postgres>, sqlx::Error> {
        self.is_unsettled = true;
        let transaction = self.connection.begin_with(statement).await?;
        self.is_unsettled = false;
        Ok(transaction)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if self.is_unsettled || self.reach.is_away() {
            self.connection.close_on_drop();
        }
    }
}
