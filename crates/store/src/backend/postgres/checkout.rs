//! A connection that is borrowed from the pool.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, PgConnection, Postgres, Transaction};

use super::reach::Reach;
use crate::columns::Insert;
use crate::migrate::Layout;
use crate::session::Session;
use crate::{Pending, StoreError};

/// Rows that are inserted on a cluster by naming each of their values. Every number of them is a statement of its own.
const ROWS_BY_VALUE_MAX: usize = 16;

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
        let touched = &mut None;
        let result = work(Session::Postgres(Borrowed { connection, is_unsettled, touched })).await;
        self.is_unsettled = false;
        result
    }

    /// Begins a transaction with this statement.
    pub(super) async fn begin(&mut self, statement: &'static str) -> Result<Begun<'_>, sqlx::Error> {
        self.is_unsettled = true;
        let transaction = self.connection.begin_with(statement).await?;
        self.is_unsettled = false;
        Ok(Begun { transaction, is_unsettled: &mut self.is_unsettled, touched: None })
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
    /// On a cluster only.
    touched: Option<Touched>,
}

/// What a transaction on a cluster changed, by which it is known how it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    /// Something that is on the coordinator.
    on_coordinator: bool,
    /// Something that is on workers.
    on_workers: bool,
    /// Something that is to be announced once it is committed. Elsewhere the transaction announces it with its commit.
    is_announcement_due: bool,
}

impl Touched {
    /// Notes a statement. One of which it is not known what it changes may change everything.
    fn note(&mut self, sql: &str) {
        let mut words = sql.split_ascii_whitespace();
        let table = match words.next() {
            Some("SELECT") => return,
            Some("UPDATE") => words.next(),
            Some("INSERT" | "DELETE" | "COPY") => words.find(|word| !matches!(*word, "INTO" | "FROM")),
            _ => None,
        };
        let name = table.and_then(|table| table.split('(').next());
        let layout = name.and_then(Layout::of);
        self.on_coordinator |= matches!(layout, None | Some(Layout::Local));
        self.on_workers |= layout != Some(Layout::Local);
    }
}

impl Begun<'_> {
    pub(super) fn session(&mut self) -> Session<'_> {
        let Self { transaction, is_unsettled, touched } = self;
        Session::Postgres(Borrowed { connection: transaction, is_unsettled, touched })
    }

    /// Says that it is on a cluster.
    pub(super) fn is_on_cluster(&mut self) {
        self.touched = Some(Touched::default());
    }

    /// Whether it changed something on the coordinator of a cluster, and something on a worker.
    pub(super) fn is_on_both(&self) -> bool {
        self.touched.is_some_and(|touched| touched.on_coordinator && touched.on_workers)
    }

    /// Whether something is to be announced once it is committed.
    pub(super) fn is_announcement_due(&self) -> bool {
        self.touched.is_some_and(|touched| touched.is_announcement_due)
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
    touched: &'c mut Option<Touched>,
}

impl Borrowed<'_> {
    /// Whether what is changed is announced afterwards, which is then due.
    pub(super) fn is_announced_after(&mut self) -> bool {
        self.touched.as_mut().map(|touched| touched.is_announcement_due = true).is_some()
    }

    /// How many rows are inserted by naming each of their values. Those that are held may have the same key twice, which one
    /// statement does not take.
    pub(crate) fn rows_by_value_max(&self, insert: &Insert) -> usize {
        if self.touched.is_some() && insert.held.is_none() { ROWS_BY_VALUE_MAX } else { 1 }
    }

    /// Notes a statement that is about to run.
    pub(crate) fn note(&mut self, sql: &str) {
        if let Some(touched) = self.touched {
            touched.note(sql);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(statements: &[&str]) -> (bool, bool) {
        let mut touched = Touched::default();
        for sql in statements {
            touched.note(sql);
        }
        (touched.on_coordinator, touched.on_workers)
    }

    #[test]
    fn it_is_known_where_statements_change_something() {
        assert_eq!(touched(&["SELECT nextval($1::regclass)", "SELECT info FROM contracts"]), (false, false));
        let of_projects = "INSERT INTO projects (project_id) VALUES ($1)";
        assert_eq!(touched(&[of_projects]), (true, false));
        for of_tokens in [
            "INSERT INTO tokens (collection_id) VALUES ($1)",
            "INSERT INTO tokens(collection_id) VALUES ($1)",
            "UPDATE tokens SET metadata = $2",
            "DELETE FROM\n tokens\n WHERE collection_id = $1",
            "COPY tokens (collection_id) FROM STDIN (FORMAT binary)",
        ] {
            assert_eq!(touched(&[of_tokens]), (false, true), "{of_tokens}");
            assert_eq!(touched(&[of_tokens, of_projects]), (true, true));
        }
        for unknown in ["DROP TABLE tokens", "WITH a AS (DELETE FROM tokens) SELECT 1", "UPDATE others", ""] {
            assert_eq!(touched(&[unknown]), (true, true), "{unknown}");
        }
    }
}
