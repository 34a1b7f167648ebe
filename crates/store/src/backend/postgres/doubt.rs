//! Transactions of which not all nodes of a cluster know how they ended.
//!
//! A coordinator commits in two phases. A worker that goes away between them has what was written there, but nobody sees it, and
//! whoever needs those rows waits for it. The coordinator says that all is well, with a warning beside it, and tells the worker
//! again when it next looks, once a minute. Here the warning is heard: the worker is told again at once, and who wrote is
//! answered when everybody sees what they wrote, or that nobody knows.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber, dispatcher, level_filters::LevelFilter};

use crate::StoreError;
use crate::error::CommittedUnseen;

/// How long to wait before workers are told once more.
const PAUSE: Duration = Duration::from_millis(500);
/// While somebody waits who wrote.
const AWAITED: Patience = Patience {
    timeout: Duration::from_secs(3),
    settings: "SET citus.node_connection_timeout = 1000; SET statement_timeout = 3000",
};
/// While nobody does: a cluster that has much to do takes its time, and would never come to it otherwise.
const BESIDE: Patience = Patience {
    timeout: Duration::from_secs(30),
    settings: "SET citus.node_connection_timeout = 1000; SET statement_timeout = 30000",
};
/// Tells every worker how the transactions ended that it still has, and that are not under way. Of a worker that cannot be told
/// it warns.
const TELL: &str = "SELECT recover_prepared_transactions()";

/// Tells workers until they know. Cheap to clone; every clone is the same.
#[derive(Clone)]
pub(super) struct Doubts(Arc<Inner>);

struct Inner {
    connect: PgConnectOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How often there was a doubt.
    doubts: u64,
    /// Whether somebody is telling the workers.
    is_telling: bool,
}

/// How long the workers may take altogether. One that is silent is given a second. The coordinator is told as well: it does not
/// see that nobody listens any more, and one teller after the other would wait in its queue.
struct Patience {
    timeout: Duration,
    settings: &'static str,
}

/// What came of telling the workers.
enum Told {
    /// All of them know.
    All,
    /// Some could not be told.
    NotAll,
    /// We may not tell them.
    Forbidden,
}

impl Doubts {
    pub(super) fn new(connect: PgConnectOptions) -> Self {
        Self(Arc::new(Inner { connect, state: Mutex::default() }))
    }

    /// Has the workers told how a transaction ended that was committed, and of which one of them does not know. Fails where it
    /// still does not: then it is told later.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        if matches!(self.0.tell(&AWAITED).await, Told::All) {
            return Ok(());
        }
        self.settle_later();
        Err(StoreError::Unavailable(CommittedUnseen.into()))
    }

    /// Has the workers told beside everything else, until all of them know.
    pub(super) fn settle_later(&self) {
        let mut state = self.0.state();
        state.doubts += 1;
        if !std::mem::replace(&mut state.is_telling, true) {
            tokio::spawn(tell_until_all_know(Arc::downgrade(&self.0)));
        }
    }
}

/// Ends when all workers know, or nobody is there any more who wants them to.
async fn tell_until_all_know(inner: Weak<Inner>) {
    while let Some(inner) = inner.upgrade() {
        let doubts = inner.state().doubts;
        let told = inner.tell(&BESIDE).await;
        if inner.is_over(&told, doubts) {
            return;
        }
        drop(inner);
        tokio::time::sleep(PAUSE).await;
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under it can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody needs to be told any more, so many doubts being those of before they were told; whoever doubts next begins
    /// anew then.
    fn is_over(&self, told: &Told, doubts: u64) -> bool {
        let mut state = self.state();
        let is_over = match told {
            Told::All => state.doubts == doubts,
            Told::NotAll => false,
            Told::Forbidden => true,
        };
        state.is_telling = !is_over;
        is_over
    }

    /// Tells the workers once, by a connection of its own.
    async fn tell(&self, patience: &Patience) -> Told {
        let telling = async {
            let mut connection = self.connect.connect().await?;
            sqlx::raw_sql(patience.settings).execute(&mut connection).await?;
            let (told, is_warned) = listening(sqlx::raw_sql(TELL).execute(&mut connection)).await;
            told?;
            connection.close().await?;
            Ok::<bool, sqlx::Error>(is_warned)
        };
        match tokio::time::timeout(patience.timeout, telling).await {
            Ok(Ok(false)) => Told::All,
            Ok(Err(error)) if is_forbidden(&error) => {
                tracing::error!(
                    "a node of the cluster does not know how transactions ended, and will be told within the \
                     citus.recover_2pc_interval of its coordinator: GRANT EXECUTE ON FUNCTION recover_prepared_transactions() \
                     to the role of this service, so that it can do so at once"
                );
                Told::Forbidden
            }
            Ok(Ok(true) | Err(_)) | Err(_) => Told::NotAll,
        }
    }
}

fn is_forbidden(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).as_deref() == Some("42501")
}

/// The name under which the driver gives to the log what a server says beside its answers. It gives that to nobody else.
const NOTICES: &str = "sqlx::postgres::notice";

thread_local! {
    static IS_WARNED: Cell<bool> = const { Cell::new(false) };
}

/// Does something with a server; tells also whether that warned of anything.
pub(super) async fn listening<T>(work: impl Future<Output = T>) -> (T, bool) {
    // Of a single log that there is, whoever first says something is asked whether it has one; of several, all are asked.
    static LISTENERS: LazyLock<[Dispatch; 2]> =
        LazyLock::new(|| [Dispatch::new(Listener), Dispatch::new(Listener)]);
    let (mut work, mut is_warned) = (pin!(work), false);
    let done = poll_fn(|context| {
        IS_WARNED.set(false);
        let polled = dispatcher::with_default(&LISTENERS[0], || work.as_mut().poll(context));
        is_warned |= IS_WARNED.get();
        polled
    });
    let done = done.await;
    (done, is_warned)
}

/// A log that only hears warnings of servers.
struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == NOTICES && *metadata.level() <= Level::WARN
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, _event: &Event<'_>) {
        IS_WARNED.set(true);
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use std::str::FromStr as _;

    use super::*;
    use crate::DatabaseUrl;
    use crate::testing::TestDatabase;

    /// On PostgreSQL only.
    #[tokio::test]
    async fn a_warning_is_heard_and_nothing_else() {
        let database = TestDatabase::fresh().await.unwrap();
        let DatabaseUrl::Postgres(url) = &database.url else { return };
        let mut connection = PgConnectOptions::from_str(url).unwrap().connect().await.unwrap();
        for (level, is_heard) in [("WARNING", true), ("NOTICE", false), ("WARNING", true)] {
            let sql = format!("DO $$ BEGIN RAISE {level} 'for the test'; END $$");
            let asking = sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection);
            let (done, is_warned) = listening(asking).await;
            assert_eq!((done.is_ok(), is_warned), (true, is_heard), "{level}");
        }
        let (_, is_warned) = listening(sqlx::raw_sql("SELECT 1").execute(&mut connection)).await;
        assert!(!is_warned);
    }
}
