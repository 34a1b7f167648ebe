//! What was used of limits, told from server to server. Which minute it is the clock of the database says, whatever those of
//! servers show.

use bourse_wire::Timestamp;

use crate::args::args;
use crate::backend::{Pending, Store};
use crate::columns::{Insert, or_replace, record, selection};

/// How many minutes a server may be before or behind that of the database when it tells something of its own: one ends between
/// the two looks at a clock.
const MINUTES_OFF: u64 = 1;

/// What somebody used of a limit in a minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateUse {
    /// Who, of which limit.
    pub bucket: String,
    /// How much.
    pub used: u64,
}

selection! { RateUse { bucket, used = "CAST(SUM(used) AS BIGINT)" } }

/// What a server learns when it tells what was used through it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatesExchanged {
    /// What time it is for all servers: that of the database.
    pub now: Timestamp,
    /// What was used through all others. Nothing was told where it was of another minute than there is for the others.
    pub elsewhere: Option<Vec<RateUse>>,
}

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
    ) -> Pending<'_, RatesExchanged> {
        let clock = self.clock.clone();
        self.write(move |mut session| {
            Box::pin(async move {
                let present = clock.look(&mut session).await?;
                let now = present.now;
                if minute.abs_diff(present.minute) > MINUTES_OFF {
                    return Ok(RatesExchanged { now, elsewhere: None });
                }
                present.forget(&mut session, "rate_uses").await?;
                let row =
                    |RateUse { bucket, used }| RateUseRow { minute, server: server.clone(), bucket, used };
                let rows = Insert::of(used.into_iter().map(row))?;
                session.insert(rows, &or_replace::<RateUseRow>(&[])).await?;
                let sql = "FROM rate_uses WHERE minute = $1 AND server <> $2 GROUP BY bucket";
                let elsewhere = session.select(sql, args![minute, server]).await?;
                Ok(RatesExchanged { now, elsewhere: Some(elsewhere) })
            })
        })
    }
}
