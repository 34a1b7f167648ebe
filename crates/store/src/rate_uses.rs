//! What was used of limits, told from server to server.

use crate::args::args;
use crate::backend::{Pending, Store};
use crate::columns::{Insert, or_replace, record, selection};

/// Minutes after which what was used is forgotten: the clock of another server may be somewhat behind.
const MINUTES_KEPT: i64 = 2;

/// What somebody used of a limit in a minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateUse {
    /// Who, of which limit.
    pub bucket: String,
    /// How much.
    pub used: u64,
}

selection! { RateUse { bucket, used = "CAST(SUM(used) AS BIGINT)" } }

record! {
    struct RateUseRow: "rate_uses" ("minute, server, bucket") {
        minute: i64,
        server: String,
        bucket: String,
        used: u64,
    }
}

impl Store {
    /// Tells what was used through a server in a minute, in the place of what it told of that before, and learns what was used
    /// through all others.
    pub fn exchange_rate_uses(
        &self,
        server: String,
        minute: i64,
        used: Vec<RateUse>,
    ) -> Pending<'_, Vec<RateUse>> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM rate_uses WHERE minute < $1";
                session.execute(sql, args![minute.saturating_sub(MINUTES_KEPT)]).await?;
                let row =
                    |RateUse { bucket, used }| RateUseRow { minute, server: server.clone(), bucket, used };
                let rows = Insert::of(used.into_iter().map(row))?;
                session.insert(rows, &or_replace::<RateUseRow>(&[])).await?;
                let sql = "FROM rate_uses WHERE minute = $1 AND server <> $2 GROUP BY bucket";
                session.select(sql, args![minute, server]).await
            })
        })
    }
}
