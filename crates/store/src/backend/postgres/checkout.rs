//! A connection that is borrowed from the pool.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, PgConnection, Postgres, Transaction};

use super::reach::Reach;
use crate::session::Session;
use crate::{Pending, StoreError};

/// The driver rolls back a transaction that is dropped, but not one that is dropped while it begins, and whoever waits
/// for it may go away at any time. The next one to get that connection would find itself in a transaction that nobody
/// ends: such a connection is closed. So is one whose statement nobody waits for any more, one on which a copy was begun and not
/// ended, and one that is given back while the server is away: the pool would ask it whether it is alive, and wait for the answer.
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
        let Self { connection, is_unsettled, .. } = self;
        let result = work(Session::Postgres(Borrowed { connection, is_unsettled })).await;
        self.is_unsettled = false;
        result
    }

    /// Begins a transaction with this statement.
    pub(super) async fn begin(&mut self, statement: &'static str) -> Result<Begun<'_>, sqlx::Error> {
        self.is_unsettled = true;
        let transaction = self.connection.begin_with(statement).await?;
        self.is_unsettled = false;
        Ok(Begun { transaction, is_unsettled: &mut self.is_unsettled })
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if self.is_unsettled || self.reach.is_away() {
            self.connection.close_on_drop();
        }
    }
}

/// A transaction that was begun.
pub(super) struct Begun<'c> {
    transaction: Transaction<'c, Postgres>,
    is_unsettled: &'c mut bool,
}

impl Begun<'_> {
    pub(super) fn session(&mut self) -> Session<'_> {
        Session::Postgres(Borrowed { connection: &mut self.transaction, is_unsettled: self.is_unsettled })
    }

    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }

    pub(super) async fn commit(self) -> Result<(), sqlx::Error> {
        self.transaction.commit().await
    }
}

/// A connection in use, which knows whether anybody else may have it afterwards.
pub(crate) struct Borrowed<'c> {
    connection: &'c mut PgConnection,
    is_unsettled: &'c mut bool,
}

impl Borrowed<'_> {
    /// Says that nobody else may have it; whether that was so before.
    pub(super) fn unsettle(&mut self) -> bool {
        std::mem::replace(self.is_unsettled, true)
    }

    /// Says that it is again as it was before.
    pub(super) fn settle(&mut self, was_unsettled: bool) {
        *self.is_unsettled = was_unsettled;
    }
}

impl Deref for Borrowed<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        self.connection
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.connection
    }
}
