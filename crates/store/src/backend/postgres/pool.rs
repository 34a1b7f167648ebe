//! The connections of one way to the server.
//!
//! Whoever gives one back at rest leaves it so that the next one can have it without a word to the server. To ask each whether it
//! is alive, before it is used and after that, would be two of the three ways there and back of a read. Only one that nobody has
//! used for a while is asked. One that broke since then is found out by the first thing that is asked by it, which is then asked
//! by another: see [`Lent::replace_if_lost`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::StoreError;

/// For how long a connection at rest is taken to be alive.
const TRUSTED: Duration = Duration::from_secs(1);
/// For how long one rests before it is closed: so many were not needed for as long.
const REST_MAX: Duration = Duration::from_mins(10);
/// How old one becomes, so that nothing that a process of the server gathers stays for good.
const AGE_MAX: Duration = Duration::from_mins(30);
/// How long to wait before a server that cannot take anybody in just now is tried again, at first and later.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// Has what is long compressed by LZ4 where the server can: that takes a fifth of the time that its own way takes, and as much
/// room. It is what an import writes down of every batch.
///
/// A coordinator of a cluster gives a node that is silent two seconds rather than half a minute to take it in, and looks whether
/// anybody is there still who waits for it: whoever gave up would keep one of its connections each time.
const SETTINGS: &str = "SELECT set_config(name, CASE name WHEN 'default_toast_compression' THEN 'lz4'
        WHEN 'citus.node_connection_timeout' THEN LEAST(setting::BIGINT, 2000)::TEXT ELSE '2000' END, FALSE)
    FROM pg_settings WHERE (name = 'default_toast_compression' AND 'lz4' = ANY (enumvals))
    OR name = 'citus.node_connection_timeout' OR (name = 'client_connection_check_interval' AND setting = '0'
    AND EXISTS (SELECT FROM pg_extension WHERE extname = 'citus'))";
/// How long a server may take to hear that a connection is over.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(5);

/// Cheap to clone; every clone is the same pool.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    connect: PgConnectOptions,
    /// How long a connection is waited for.
    patience: Duration,
    places_max: u32,
    places: Arc<Semaphore>,
    is_closed: AtomicBool,
    /// The one that was used last is the last.
    resting: Mutex<Vec<Resting>>,
}

struct Resting {
    connection: PgConnection,
    made: Instant,
    since: Instant,
}

/// One of so many connections that there may be. It is given back with this value.
pub(super) type Place = OwnedSemaphorePermit;

/// A connection in use. One that is dropped is closed.
pub(super) struct Lent {
    pub(super) connection: PgConnection,
    /// Whether the server answered by it since it rested.
    pub(super) is_tried: bool,
    made: Instant,
    pool: Pool,
    place: Place,
}

impl Pool {
    /// Without any connection yet.
    pub(super) fn new(connect: PgConnectOptions, places_max: u32, patience: Duration) -> Self {
        Self(Arc::new(Inner {
            connect,
            patience,
            places_max,
            places: Arc::new(Semaphore::new(usize::try_from(places_max).unwrap_or(Semaphore::MAX_PERMITS))),
            is_closed: AtomicBool::new(false),
            resting: Mutex::default(),
        }))
    }

    /// Takes in a connection that was just made, and that nobody uses.
    pub(super) async fn take_in(&self, mut connection: PgConnection) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(SETTINGS).execute(&mut connection).await?;
        let now = Instant::now();
        self.resting().push(Resting { connection, made: now, since: now });
        Ok(())
    }

    /// A connection, made where none rests.
    pub(super) async fn lend(&self) -> Result<Lent, sqlx::Error> {
        let lending = async {
            let place = self.free_place().await?;
            let (connection, made, is_tried) = match self.rested().await {
                Some(rested) => rested,
                None => (self.connect().await?, Instant::now(), true),
            };
            Ok(Lent { connection, is_tried, made, pool: self.clone(), place })
        };
        self.patiently(lending).await
    }

    /// A place for a connection that the pool does not make.
    pub(super) async fn place(&self) -> Result<Place, sqlx::Error> {
        self.patiently(self.free_place()).await
    }

    /// Lends nothing any more, waits until everything is back, and closes it.
    pub(super) async fn close(&self) {
        self.0.is_closed.store(true, Ordering::Relaxed);
        // Whoever waits before us is told.
        let all = self.0.places.acquire_many(self.0.places_max).await;
        self.0.places.close();
        drop(all);
        let resting = std::mem::take(&mut *self.resting());
        for Resting { connection, .. } in resting {
            say_goodbye(connection).await;
        }
    }

    async fn patiently<T>(
        &self,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        tokio::time::timeout(self.0.patience, work).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    async fn free_place(&self) -> Result<Place, sqlx::Error> {
        let place = Arc::clone(&self.0.places).acquire_owned().await;
        let place = place.map_err(|_closed| sqlx::Error::PoolClosed)?;
        if self.is_closed() { Err(sqlx::Error::PoolClosed) } else { Ok(place) }
    }

    /// The connection that rests for the shortest time, when it was made, and whether the server was just heard by it.
    async fn rested(&self) -> Option<(PgConnection, Instant, bool)> {
        loop {
            let Resting { mut connection, made, since } = self.resting().pop()?;
            if made.elapsed() > AGE_MAX {
                tokio::spawn(say_goodbye(connection));
            } else if since.elapsed() <= TRUSTED {
                return Some((connection, made, false));
            } else if connection.ping().await.is_ok() {
                return Some((connection, made, true));
            }
        }
    }

    /// A new connection. A server that has too many, or that is just starting, is tried again.
    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let mut pause = PAUSE_MIN;
        loop {
            match self.0.connect.connect().await {
                Err(error) if is_passing(&error) => tokio::time::sleep(pause).await,
                Err(error) => return Err(error),
                Ok(mut connection) => {
                    sqlx::raw_sql(SETTINGS).execute(&mut connection).await?;
                    return Ok(connection);
                }
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    fn resting(&self) -> MutexGuard<'_, Vec<Resting>> {
        // Nothing under it can panic.
        self.0.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed.load(Ordering::Relaxed)
    }
}

impl Lent {
    /// Gives it back at rest: every answer was read, or comes without being asked for.
    pub(super) fn rest(self) {
        let Self { connection, made, pool, place, .. } = self;
        let now = Instant::now();
        let one_too_many = {
            let mut resting = pool.resting();
            resting.push(Resting { connection, made, since: now });
            let is_old = |oldest: &Resting| now.saturating_duration_since(oldest.since) > REST_MAX;
            resting.first().is_some_and(is_old).then(|| resting.remove(0))
        };
        drop(place);
        if let Some(Resting { connection, .. }) = one_too_many {
            tokio::spawn(say_goodbye(connection));
        }
    }

    /// Puts another connection in the place of this one, if this failure says that it was lost while it rested. Otherwise that
    /// is what happened.
    pub(super) async fn replace_if_lost(&mut self, error: StoreError) -> Result<(), StoreError> {
        if self.is_tried || !error.is_unavailable() {
            return Err(error);
        }
        self.connection = self.pool.patiently(self.pool.connect()).await?;
        (self.made, self.is_tried) = (Instant::now(), true);
        Ok(())
    }
}

async fn say_goodbye(connection: PgConnection) {
    // Whether the server heard it or not, it is over.
    let _ = tokio::time::timeout(GOODBYE_TIMEOUT, connection.close()).await;
}

/// Whether a server that does not take a connection in may do so soon.
fn is_passing(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
        // too_many_connections, cannot_connect_now
        sqlx::Error::Database(error) => matches!(error.code().as_deref(), Some("53300" | "57P03")),
        _ => false,
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use crate::args::args;
    use crate::testing::{TestDatabase, on_citus};

    /// On a cluster only.
    #[tokio::test]
    async fn a_coordinator_waits_for_nodes_as_long_as_somebody_waits_for_it() {
        if !on_citus() {
            return;
        }
        let store = TestDatabase::fresh().await.unwrap().open().await.unwrap();
        for name in ["citus.node_connection_timeout", "client_connection_check_interval"] {
            let asking = store.read(move |mut session| {
                Box::pin(
                    async move { session.value("SELECT current_setting($1)", args![name.to_owned()]).await },
                )
            });
            let found: Option<String> = asking.await.unwrap();
            assert_eq!(found.as_deref(), Some("2s"), "{name}");
        }
    }
}
