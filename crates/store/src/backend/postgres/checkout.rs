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
        let announcement = &mut Announcement::Within;
        let result = work(Session::Postgres(Borrowed { connection, is_unsettled, announcement })).await;
        self.is_unsettled = false;
        result
    }

    /// Begins a transaction with this statement.
    pub(super) async fn begin(&mut self, statement: &'static str) -> Result<Begun<'_>, sqlx::Error> {
        self.is_unsettled = true;
        let transaction = self.connection.begin_with(statement).await?;
        self.is_unsettled = false;
        let announcement = Announcement::Within;
        Ok(Begun { transaction, is_unsettled: &mut self.is_unsettled, announcement })
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
    announcement: Announcement,
}

/// How it is announced that a transaction changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announcement {
    /// By the transaction itself, with its commit.
    Within,
    /// By whoever began it, once it is committed, if there is anything to announce.
    After { is_due: bool },
}

impl Begun<'_> {
    pub(super) fn session(&mut self) -> Session<'_> {
        let Self { transaction, is_unsettled, announcement } = self;
        Session::Postgres(Borrowed { connection: transaction, is_unsettled, announcement })
    }

    /// Has the transaction announce nothing by itself.
    pub(super) fn announce_after(&mut self) {
        self.announcement = Announcement::After { is_due: false };
    }

    /// Whether something is to be announced once it is committed.
    pub(super) fn is_announcement_due(&self) -> bool {
        self.announcement == Announcement::After { is_due: true }
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
    announcement: &'c mut Announcement,
}

impl Borrowed<'_> {
    /// Whether what is changed is announced afterwards, which is then due.
    pub(super) fn is_announced_after(&mut self) -> bool {
        match self.announcement {
            Announcement::Within => false,
            Announcement::After { is_due } => {
                *is_due = true;
                true
            }
        }
    }

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
