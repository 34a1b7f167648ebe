//! Which minute it is for all servers: that of the database's clock, whatever their own show.

use std::sync::{Arc, OnceLock};

use bourse_wire::Timestamp;

use crate::StoreError;
use crate::args::args;
use crate::metadata_queue::instant;
use crate::session::Session;

/// Minutes around the present one of which something is kept: one ends between two looks at the clock, which may be set a little.
pub(crate) const MINUTES_KEPT: i64 = 2;
const SECONDS_PER_MINUTE: i64 = 60;

/// What time it is.
#[derive(Clone, Copy)]
pub(crate) struct Present {
    /// The instant.
    pub(crate) now: Timestamp,
    /// The minute since 1970.
    pub(crate) minute: i64,
}

/// The clock of the database; of a cluster, that of its coordinator.
#[derive(Clone, Default)]
pub(crate) struct DatabaseClock {
    /// What tests have in its place, where minutes pass when they say so.
    pub(crate) stand_in: Arc<OnceLock<StandIn>>,
}

pub(crate) type StandIn = Box<dyn Fn() -> Timestamp + Send + Sync>;

impl DatabaseClock {
    pub(crate) async fn look(&self, session: &mut Session<'_>) -> Result<Present, StoreError> {
        let now = match self.stand_in.get() {
            Some(tell) => tell(),
            None => Self::ask(session).await?,
        };
        Ok(Present { now, minute: now.unix_seconds().div_euclid(SECONDS_PER_MINUTE) })
    }

    async fn ask(session: &mut Session<'_>) -> Result<Timestamp, StoreError> {
        let sql = match session {
            Session::Sqlite(_) => "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            Session::Postgres(_) => "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
        };
        let millis: Option<i64> = session.value(sql, args![]).await?;
        millis.map(instant).ok_or_else(|| StoreError::corrupt("time", "the database does not tell it"))
    }
}

impl Present {
    /// Deletes what a table has of other minutes. Of later ones there is something only where a clock was wrong.
    pub(crate) async fn forget(
        self,
        session: &mut Session<'_>,
        table: &'static str,
    ) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM {table} WHERE minute < $1 OR minute > $2");
        let kept = args![self.minute.saturating_sub(MINUTES_KEPT), self.minute.saturating_add(MINUTES_KEPT)];
        session.execute(sql, kept).await.map(drop)
    }
}
