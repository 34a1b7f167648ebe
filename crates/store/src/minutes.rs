//! Which minute it is for all servers: that of the database's clock, whatever their own show.

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

impl Present {
    /// By the clock of the database; of a cluster, by that of its coordinator.
    pub(crate) async fn look(session: &mut Session<'_>) -> Result<Self, StoreError> {
        let sql = match session {
            Session::Sqlite(_) => "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            Session::Postgres(_) => "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
        };
        let millis: Option<i64> = session.value(sql, args![]).await?;
        let now = millis
            .map(instant)
            .ok_or_else(|| StoreError::corrupt("time", "the database does not tell it"))?;
        Ok(Self { now, minute: now.unix_seconds().div_euclid(SECONDS_PER_MINUTE) })
    }

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
