//! A connection that is borrowed from the pool.

use std::ops::{Deref, DerefMut};

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres};

use super::pool::Lent;
use super::reach::Reach;
use crate::StoreError;
use crate::columns::Insert;
use crate::migrate::Layout;
use crate::session::Session;

/// Rows that are inserted on a cluster by naming each of their values. Every number of them is a statement of its own.
const ROWS_BY_VALUE_MAX: usize = 16;
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// Whoever waits for something may go away at any time, and leave a statement whose answer nobody read, or a transaction that
/// nobody ends. So only a connection that is given back expressly goes to the next one, and every other is closed. So is one on
/// which a copy was begun and not ended, one that failed, and one that is given back while the server is away.
pub(super) struct Checkout {
    lent: Lent,
    reach: Reach,
    is_unsettled: bool,
    is_in_transaction: bool,
    /// On a cluster only, in a transaction that writes.
    touched: Option<Touched>,
    announcement: Announcement,
}

/// What is to be announced once a transaction is committed, which it does not announce itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announcement {
    Nothing,
    /// Along with what others commit.
    Soon,
    /// Before anybody is told that it is committed.
    Now,
}

impl Checkout {
    pub(super) async fn new(reach: &Reach) -> Result<Self, sqlx::Error> {
        let lent = reach.pool().lend().await?;
        let reach = reach.clone();
        let announcement = Announcement::Nothing;
        Ok(Self { lent, reach, is_unsettled: false, is_in_transaction: false, touched: None, announcement })
    }

    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.lent.connection
    }

    pub(super) fn session(&mut self) -> Session<'_> {
        let Self { lent, is_unsettled, touched, announcement, .. } = self;
        Session::Postgres(Borrowed { lent, is_unsettled, touched, announcement })
    }

    /// Begins a transaction with this statement. On a connection that was lost while it rested nothing was begun, so that it
    /// may be by another.
    pub(super) async fn begin(&mut self, statement: &'static str) -> Result<(), StoreError> {
        let begun = sqlx::raw_sql(statement).execute(self.connection()).await;
        if let Err(error) = begun {
            self.lent.replace_if_lost(error.into()).await?;
            sqlx::raw_sql(statement).execute(self.connection()).await?;
        }
        (self.lent.is_tried, self.is_in_transaction) = (true, true);
        Ok(())
    }

    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        sqlx::raw_sql(COMMIT).execute(self.connection()).await?;
        self.is_in_transaction = false;
        Ok(())
    }

    /// Gives it back, after this came of what it was used for. A transaction that was not committed is rolled back beside
    /// everything else: nobody needs to wait for that.
    pub(super) fn give_back<T>(self, result: &Result<T, StoreError>) {
        let Self { mut lent, reach, is_unsettled, is_in_transaction, .. } = self;
        let is_lost = result.as_ref().is_err_and(StoreError::is_unavailable);
        if is_unsettled || is_lost || reach.is_away() {
            return;
        }
        if !is_in_transaction {
            lent.rest();
            return;
        }
        tokio::spawn(async move {
            if sqlx::raw_sql(ROLLBACK).execute(&mut lent.connection).await.is_ok() {
                lent.rest();
            }
        });
    }

    /// That what it changes is on a cluster.
    pub(super) fn is_on_cluster(&mut self) {
        self.touched = Some(Touched::default());
    }

    /// Whether it changed something on the coordinator of a cluster, and something on a worker.
    pub(super) fn is_on_both(&self) -> bool {
        self.touched.is_some_and(|touched| touched.on_coordinator && touched.on_workers)
    }

    /// What is to be announced once it is committed.
    pub(super) fn announcement(&self) -> Announcement {
        self.announcement
    }
}

/// What a transaction on a cluster changed, by which it is known how it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    /// Something that is on the coordinator.
    on_coordinator: bool,
    /// Something that is on workers.
    on_workers: bool,
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

/// A connection in use, which knows whether anybody else may have it afterwards.
pub(crate) struct Borrowed<'c> {
    lent: &'c mut Lent,
    is_unsettled: &'c mut bool,
    touched: &'c mut Option<Touched>,
    announcement: &'c mut Announcement,
}

type PostgresQuery = Query<'static, Postgres, PgArguments>;

impl Borrowed<'_> {
    /// Whether nobody has heard of the server by it since it rested, so that what is asked first may have to be asked again.
    pub(crate) fn is_untried(&self) -> bool {
        !self.lent.is_tried
    }

    /// Reads all rows of a query. `again` is the same query, where the connection is untried: outside of a transaction it is
    /// asked by another one if this one was lost while it rested.
    pub(crate) async fn fetch_all(
        &mut self,
        query: PostgresQuery,
        again: Option<PostgresQuery>,
    ) -> Result<Vec<PgRow>, StoreError> {
        let found = match (query.fetch_all(&mut **self).await, again) {
            (Err(error), Some(again)) => {
                self.lent.replace_if_lost(error.into()).await?;
                again.fetch_all(&mut **self).await?
            }
            (found, _) => found?,
        };
        self.lent.is_tried = true;
        Ok(found)
    }

    /// Whether what is changed is announced afterwards, which is then due. Elsewhere the transaction announces it with its commit.
    pub(super) fn is_announced_after(&mut self) -> bool {
        if self.is_on_cluster() {
            *self.announcement = Announcement::Now;
        }
        self.is_on_cluster()
    }

    /// Has it announced soon after it is committed that something changed.
    pub(crate) fn announce_soon(&mut self) {
        if *self.announcement == Announcement::Nothing {
            *self.announcement = Announcement::Soon;
        }
    }

    /// Whether it is on a cluster, where what is written is noted.
    pub(crate) fn is_on_cluster(&self) -> bool {
        self.touched.is_some()
    }

    /// How many rows are inserted by naming each of their values. Those that are held may have the same key twice, which one
    /// statement does not take, and those that are spread would have it go to several places, one after the other.
    pub(crate) fn rows_by_value_max(&self, insert: &Insert) -> usize {
        let is_worth_it = self.is_on_cluster() && insert.held.is_none() && !insert.is_spread;
        if is_worth_it { ROWS_BY_VALUE_MAX } else { 1 }
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
        &self.lent.connection
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.lent.connection
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
