//! The way to the server: its pool of connections, and whether there is anybody at the other end.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::sync::watch;

use super::pool::Pool;
use crate::StoreError;
use crate::backend::OpenOptions;
use crate::breaker::{Breaker, Doubt, Verdict};

/// How long to wait between two probes of a server that is away.
const PROBE_PAUSE: Duration = Duration::from_millis(250);

/// How long a connection is waited for at least: to make one takes its time where the machine is busy.
const ACQUIRE_TIMEOUT_MIN: Duration = Duration::from_secs(5);

/// Cheap to clone; every clone is the same way.
#[derive(Clone)]
pub(super) struct Reach(Arc<Inner>);

struct Inner {
    role: Role,
    connect: PgConnectOptions,
    options: OpenOptions,
    /// Another one each time the server was away: connections to one that is gone for good may never tell so.
    pool: RwLock<Pool>,
    started: Instant,
    breaker: Mutex<Breaker>,
    /// As `sight` has it, for who only looks.
    is_away: AtomicBool,
    sight: watch::Sender<Sight>,
}

/// Which server it is the way to.
#[derive(Clone, Copy)]
enum Role {
    /// The one that has the truth.
    Primary,
    /// One that follows it, and without which nothing is refused.
    Replica,
}

/// What everybody who waits for the server sees of it.
#[derive(Clone, Copy, Default)]
struct Sight {
    is_away: bool,
    is_closed: bool,
    /// How many probes came to their end.
    verdicts: u64,
}

impl Reach {
    pub(super) async fn open(connect: PgConnectOptions, options: OpenOptions) -> Result<Self, StoreError> {
        // The pool tries again until its time is up and then tells only that; one attempt tells why.
        let first = connect.connect().await?;
        let reach = Self::new(Role::Primary, connect, options);
        reach.pool().take_in(first).await?;
        Ok(reach)
    }

    /// The way to a server that follows another one. It need not be there yet.
    pub(super) fn to_replica(connect: PgConnectOptions, options: OpenOptions) -> Self {
        Self::new(Role::Replica, connect, options)
    }

    fn new(role: Role, connect: PgConnectOptions, options: OpenOptions) -> Self {
        let pool = pool(&connect, options);
        Self(Arc::new(Inner {
            role,
            connect,
            options,
            pool: RwLock::new(pool),
            started: Instant::now(),
            breaker: Mutex::new(Breaker::new(options.patience, Duration::ZERO)),
            is_away: AtomicBool::new(false),
            sight: watch::Sender::new(Sight::default()),
        }))
    }

    /// The pool that is used just now.
    pub(super) fn pool(&self) -> Pool {
        self.0.pool.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn is_away(&self) -> bool {
        self.0.is_away.load(Ordering::Relaxed)
    }

    /// For how long nobody has heard of the server, while it is away.
    pub(super) fn away_for(&self) -> Option<Duration> {
        if self.is_away() { self.0.breaker().away_for(self.0.passed()) } else { None }
    }

    /// Returns once the server is away, or is not.
    pub(super) async fn until(&self, is_away: bool) {
        // There is somebody to tell it for as long as we are here.
        let _ = self.0.sight.subscribe().wait_for(|sight| sight.is_away == is_away).await;
    }

    /// Returns once the way is closed by ourselves.
    pub(super) async fn until_closed(&self) {
        let _ = self.0.sight.subscribe().wait_for(|sight| sight.is_closed).await;
    }

    /// A pool of one connection, for who listens: it is made again by itself where it is lost.
    pub(super) fn pool_of_one(&self) -> PgPool {
        let options = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
        let options = options.acquire_timeout(acquire_timeout(self.0.options));
        options.connect_lazy_with(self.0.connect.clone())
    }

    pub(super) async fn close(&self) {
        self.0.sight.send_modify(|sight| sight.is_closed = true);
        self.pool().close().await;
    }

    /// Does something that needs the server, unless that is known to be away, and no longer than until it is. Whether a write
    /// that was begun was made is known only to who looks for it. The work stays where it is, since it is large.
    pub(super) async fn attend<T>(
        &self,
        mut work: Pin<&mut impl Future<Output = Result<T, StoreError>>>,
    ) -> Result<T, StoreError> {
        if self.is_away() {
            return Err(StoreError::Away);
        }
        let mut away = pin!(self.until(true));
        loop {
            tokio::select! {
                biased;
                result = &mut work => return self.judge(result).await,
                () = &mut away => return Err(StoreError::Away),
                () = tokio::time::sleep(self.0.options.patience) => drop(self.doubt(Doubt::Silence)),
            }
        }
    }

    /// Learns from what became of something. A failure that may be the server's is told once it is known whether that is
    /// away.
    pub(super) async fn judge<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        match result {
            Err(error @ StoreError::Unavailable(_)) => {
                let mut verdicts = self.doubt(Doubt::Failure);
                let before = verdicts.borrow_and_update().verdicts;
                let is_judged = |sight: &Sight| sight.is_away || sight.verdicts != before;
                let _ = verdicts.wait_for(is_judged).await;
                Err(if self.is_away() { StoreError::Away } else { error })
            }
            // Its pool was left behind.
            Err(StoreError::Closed) if !self.0.sight.borrow().is_closed => Err(StoreError::Away),
            Ok(_) | Err(StoreError::Database(_) | StoreError::Full(_)) => {
                self.0.breaker().hear(self.0.passed());
                result
            }
            Err(_) => result,
        }
    }

    /// Has the server probed if there is reason to; what tells when that came to its end.
    fn doubt(&self, doubt: Doubt) -> watch::Receiver<Sight> {
        // Before a probe can end.
        let verdicts = self.0.sight.subscribe();
        if self.0.breaker().doubt(doubt, self.0.passed()) {
            tokio::spawn(probe_until_answered(Arc::downgrade(&self.0)));
        }
        verdicts
    }
}

/// Probes the server until it answers, or until nobody is there any more who wants to know.
async fn probe_until_answered(inner: Weak<Inner>) {
    while let Some(inner) = inner.upgrade() {
        let answer = inner.probe().await;
        if !inner.take_in(answer) {
            return;
        }
        let mut sight = inner.sight.subscribe();
        tokio::select! {
            () = tokio::time::sleep(PROBE_PAUSE) => inner.breaker().probe_again(inner.passed()),
            _ = sight.wait_for(|sight| sight.is_closed) => return,
        }
    }
}

impl Inner {
    fn passed(&self) -> Duration {
        self.started.elapsed()
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        // Nothing in it can panic.
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server something that any answers at once, on a connection of its own: those of the pool may be busy, or
    /// lead to a server that is gone.
    async fn probe(&self) -> Result<(), String> {
        let asking = async {
            let mut connection = self.connect.connect().await?;
            sqlx::raw_sql("SELECT 1").execute(&mut connection).await?;
            connection.close().await
        };
        match tokio::time::timeout(self.options.patience, asking).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if is_from_a_full_server(&error) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_elapsed) => Err(format!("no answer within {} ms", self.options.patience.as_millis())),
        }
    }

    /// Takes in what came of a probe; tells whether there is to be another.
    fn take_in(&self, answer: Result<(), String>) -> bool {
        let verdict = self.breaker().probed(answer.is_ok(), self.passed());
        let error = answer.err().unwrap_or_default();
        match verdict {
            Verdict::Gone => {
                self.role.tell_gone(&error);
                self.replace_pool();
            }
            Verdict::Here | Verdict::StillGone { tell: None } => {}
            Verdict::StillGone { tell: Some(away) } => self.role.tell_still_gone(&error, away),
            Verdict::Back { after } => self.role.tell_back(after),
        }
        let is_away = matches!(verdict, Verdict::Gone | Verdict::StillGone { .. });
        self.is_away.store(is_away, Ordering::Relaxed);
        self.sight.send_modify(|sight| {
            sight.is_away = is_away;
            sight.verdicts += 1;
        });
        is_away
    }

    fn replace_pool(&self) {
        let pool = pool(&self.connect, self.options);
        let left = {
            let mut used = self.pool.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *used, pool)
        };
        tokio::spawn(async move { left.close().await });
    }
}

impl Role {
    fn tell_gone(self, error: &str) {
        match self {
            Self::Primary => {
                tracing::error!(
                    error,
                    "the database does not answer: what needs it is refused until it does"
                );
            }
            Self::Replica => {
                tracing::warn!(
                    error,
                    "the replica does not answer: collections are loaded from the database"
                );
            }
        }
    }

    fn tell_still_gone(self, error: &str, away: Duration) {
        let seconds = away.as_secs();
        match self {
            Self::Primary => tracing::error!(error, seconds, "the database still does not answer"),
            Self::Replica => tracing::warn!(error, seconds, "the replica still does not answer"),
        }
    }

    fn tell_back(self, after: Duration) {
        let seconds = after.as_secs();
        match self {
            Self::Primary => tracing::info!(seconds, "the database answers again"),
            Self::Replica => tracing::info!(seconds, "the replica answers again"),
        }
    }
}

fn pool(connect: &PgConnectOptions, options: OpenOptions) -> Pool {
    Pool::new(connect.clone(), options.connections_max, acquire_timeout(options))
}

fn acquire_timeout(options: OpenOptions) -> Duration {
    options.turn_timeout.max(ACQUIRE_TIMEOUT_MIN)
}

/// Whether a server refuses a connection because it has too many, or too little of something else: it is there.
fn is_from_a_full_server(error: &sqlx::Error) -> bool {
    let state = error.as_database_error().and_then(DatabaseError::code);
    state.is_some_and(|state| state.starts_with("53"))
}
