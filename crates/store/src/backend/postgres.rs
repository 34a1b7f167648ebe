//! PostgreSQL and Citus.

mod announcer;
pub(crate) mod arrays;
mod checkout;
mod copy;
mod doubt;
pub(crate) mod insert;
mod load;
mod pool;
mod reach;
pub(crate) mod sums;

use std::pin::pin;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgListener};

use self::announcer::Announcer;
pub(crate) use self::checkout::Borrowed;
use self::checkout::{Announcement, Checkout};
use self::doubt::Doubts;
use self::pool::Place;
use self::reach::Reach;
use super::{OpenOptions, Sequence};
use crate::Pending;
use crate::StoreError;
use crate::args::args;
use crate::session::Session;

/// The channel that every change is announced on.
const CHANNEL: &str = "bourse";
/// How often to look without having been woken: a notification may be lost with its connection.
const SWEEP_INTERVAL: Duration = Duration::from_millis(700);

/// Until it ends, every statement sees the state that the first one saw.
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// As the database is set up: statements see what was committed before them.
const BEGIN_WRITE: &str = "BEGIN";
/// Has a cluster commit in two phases what is changed on its coordinator and on a worker. It does so by itself with what is changed
/// on two workers, but knows nothing of tables that are on the coordinator alone: what is changed there and on one worker would be
/// committed on the worker before, and stay half done if the coordinator stopped in between. Rows that go through the
/// coordinator always have two phases, and here are none of them. What is on one worker alone needs no second phase, which costs
/// two further ways to it and back.
const IN_TWO_PHASES: &str =
    "INSERT INTO collection_versions (collection_id, version) SELECT 0::BIGINT, 0::BIGINT WHERE FALSE";
/// Has a row where the tables are distributed over a cluster, or will be once they are made.
pub(crate) const IS_CLUSTER: &str = "SELECT 1::BIGINT FROM pg_extension WHERE extname = 'citus'";

#[derive(Clone)]
pub(crate) struct Postgres {
    reach: Reach,
    announcer: Announcer,
    doubts: Doubts,
    /// Whether the tables are distributed, which is known once all of them are there.
    distributed: Arc<OnceLock<bool>>,
}

impl Postgres {
    pub(crate) async fn open(url: &str, options: OpenOptions) -> Result<Self, StoreError> {
        let connect = connect_options(url)?;
        let doubts = Doubts::new(connect.clone());
        Ok(Self::by(Reach::open(connect, options).await?, doubts))
    }

    /// A server that follows another one, which need not be there yet.
    pub(crate) fn open_replica(url: &str, options: OpenOptions) -> Result<Self, StoreError> {
        let connect = connect_options(url)?;
        let doubts = Doubts::new(connect.clone());
        Ok(Self::by(Reach::to_replica(connect, options), doubts))
    }

    fn by(reach: Reach, doubts: Doubts) -> Self {
        Self { announcer: Announcer::new(reach.clone()), reach, doubts, distributed: Arc::default() }
    }

    pub(crate) async fn close(&self) {
        self.announced().await;
        self.reach.close().await;
    }

    /// Returns once everybody was told of what was committed by now.
    pub(crate) async fn announced(&self) {
        self.announcer.finish().await;
    }

    /// For how long nobody has heard of the server, while it is away.
    pub(crate) fn away_for(&self) -> Option<Duration> {
        self.reach.away_for()
    }

    /// Returns once the server is not away.
    pub(crate) async fn until_reached(&self) {
        self.reach.until(false).await;
    }

    pub(crate) async fn read<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T>,
    {
        let reading = async {
            let mut connection = Checkout::new(&self.reach).await?;
            let result = work(connection.session()).await;
            connection.give_back(&result);
            result
        };
        self.reach.attend(pin!(reading)).await
    }

    pub(crate) async fn snapshot<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T>,
    {
        let reading = async {
            let mut connection = Checkout::new(&self.reach).await?;
            connection.begin(BEGIN_SNAPSHOT).await?;
            let result = work(connection.session()).await;
            connection.give_back(&result);
            result
        };
        self.reach.attend(pin!(reading)).await
    }

    pub(crate) async fn write<T, W, K>(&self, work: W, kept: K) -> Result<T, StoreError>
    where
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T>,
        K: FnOnce(&mut T),
    {
        let writing = async {
            let mut connection = Checkout::new(&self.reach).await?;
            connection.begin(BEGIN_WRITE).await?;
            if self.is_distributed() {
                connection.is_on_cluster();
            }
            let mut result = self.write_within(&mut connection, work).await;
            if let Ok(done) = &mut result {
                kept(done);
            }
            connection.give_back(&result);
            result
        };
        self.reach.attend(pin!(writing)).await
    }

    /// Does something within the transaction of a connection, and commits it.
    async fn write_within<T, W>(&self, connection: &mut Checkout, work: W) -> Result<T, StoreError>
    where
        W: for<'c> FnOnce(Session<'c>) -> Pending<'c, T>,
    {
        let result = work(connection.session()).await?;
        if connection.is_on_both() {
            sqlx::raw_sql(IN_TWO_PHASES).execute(connection.connection()).await?;
        }
        let committed = self.commit(connection).await;
        match connection.announcement() {
            // Where the answer was lost it may be committed all the same.
            Announcement::Soon => self.announcer.announce(),
            Announcement::Now if committed.is_ok() => announce(connection).await,
            Announcement::Now | Announcement::Nothing => {}
        }
        committed.map(|()| result)
    }

    /// Commits, which on a cluster is done when all its nodes know of it.
    async fn commit(&self, connection: &mut Checkout) -> Result<(), StoreError> {
        if !self.is_distributed() {
            return connection.commit().await;
        }
        let (committed, is_warned) = doubt::listening(connection.commit()).await;
        match committed {
            // There is nothing else that a coordinator warns of at this moment.
            Ok(()) if is_warned => self.doubts.settle().await,
            // A node may have heard of the first phase, and of nothing else.
            Err(error) if error.is_unavailable() => {
                self.doubts.settle_later();
                Err(error)
            }
            ended => ended,
        }
    }

    pub(crate) fn is_distributed(&self) -> bool {
        self.distributed.get() == Some(&true)
    }

    pub(crate) fn may_be_distributed(&self) -> bool {
        self.distributed.get() != Some(&false)
    }

    /// Finds out whether the tables, which are all there, are distributed.
    pub(crate) async fn look_at_layout(&self) -> Result<(), StoreError> {
        let mut connection = Checkout::new(&self.reach).await?;
        let found = sqlx::query(IS_CLUSTER).fetch_optional(connection.connection()).await;
        let found = found.map_err(StoreError::from);
        connection.give_back(&found);
        let distributed = found?.is_some();
        let _ = self.distributed.set(distributed);
        if distributed {
            // Whoever was here before may have left something.
            self.doubts.settle_later();
        }
        Ok(())
    }

    pub(crate) async fn watch(&self) -> Result<PostgresWatch, StoreError> {
        let listening = async {
            let place = self.reach.pool().place().await?;
            let mut listener = PgListener::connect_with(&self.reach.pool_of_one()).await?;
            listener.listen(CHANNEL).await?;
            Ok(PostgresWatch { listener, reach: self.reach.clone(), _place: place })
        };
        self.reach.attend(pin!(listening)).await
    }
}

fn connect_options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|error| StoreError::Address {
            url: "postgres://…".to_owned(), reason: error.to_string()
        })?;
    Ok(options.application_name("bourse").disable_statement_logging())
}

/// Waits for notifications, and sweeps.
pub struct PostgresWatch {
    listener: PgListener,
    reach: Reach,
    /// Its connection counts among those that there may be.
    _place: Place,
}

impl PostgresWatch {
    pub(crate) async fn changed(&mut self) -> Result<(), StoreError> {
        let Self { listener, reach, .. } = self;
        let waiting = async {
            tokio::select! {
                woken = tokio::time::timeout(SWEEP_INTERVAL, woken(listener)) => woken.unwrap_or(Ok(())),
                () = reach.until(true) => Err(StoreError::Away),
                () = reach.until_closed() => Err(StoreError::Closed),
            }
        };
        match waiting.await {
            // Time has passed, which says nothing of the server.
            Ok(()) => Ok(()),
            failed => reach.judge(failed).await,
        }
    }
}

/// Returns once something was announced.
async fn woken(listener: &mut PgListener) -> Result<(), StoreError> {
    // Behind the next connection may be another server, which knows less than this one did.
    let lost = || StoreError::Unavailable("the connection that listens is lost".into());
    listener.try_recv().await?.ok_or_else(lost)?;
    // Further notifications of the same moment need no further look.
    while let Some(Ok(Some(_))) = futures_util::FutureExt::now_or_never(listener.try_recv()) {}
    Ok(())
}

pub(super) async fn next_ids(
    session: &mut Session<'_>,
    sequence: Sequence,
    count: u64,
) -> Result<Vec<u64>, StoreError> {
    let sql = "SELECT nextval($1::regclass) FROM generate_series(1, $2)";
    session.values(sql, args![sequence.name(), count]).await
}

/// In a statement of its own: from a distributed table it would run on a worker. The number is of as many bits as a float has
/// digits.
///
/// Whoever commits what announces something keeps everybody else from it until the commit is through, in all databases of the
/// server. On a cluster that is when the last worker has answered, or is given up: so there it is announced afterwards.
pub(super) async fn notify(session: &mut Session<'_>) -> Result<Option<u64>, StoreError> {
    let is_announced_after = match session {
        Session::Postgres(connection) => connection.is_announced_after(),
        Session::Sqlite(_) => false,
    };
    if is_announced_after {
        return draw(session).await;
    }
    let sql = "SELECT (random() * 9007199254740991)::bigint FROM pg_notify($1, '')";
    session.value(sql, args![CHANNEL]).await
}

/// A number drawn at random, as [`notify`] gives it.
pub(super) async fn draw(session: &mut Session<'_>) -> Result<Option<u64>, StoreError> {
    session.value("SELECT (random() * 9007199254740991)::bigint", args![]).await
}

/// Announces what is committed. Where that fails, others find it when they look without having been woken.
async fn announce(connection: &mut Checkout) {
    let mut session = connection.session();
    if let Err(error) = session.has("SELECT 1::BIGINT FROM pg_notify($1, '')", args![CHANNEL]).await {
        error.log("announcing what was committed");
    }
}
