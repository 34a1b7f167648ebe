//! Who follows a chain, when several processes could.

use bourse_wire::{ChainId, Timestamp};

use crate::args::args;
use crate::columns::{Insert, or_nothing, record};
use crate::session::Session;
use crate::{Pending, Store, StoreError};

impl Store {
    /// Takes or renews the right to follow a chain until a time; `false` when another holder's has not ended.
    pub fn hold_lease(
        &self,
        chain: ChainId,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Pending<'_, bool> {
        let holder = holder.to_owned();
        self.write(move |mut session| {
            Box::pin(async move { hold(&mut session, chain, now, Lease { holder, expires_at: until }).await })
        })
    }

    /// Gives the right to follow a chain back, if this holder has it.
    pub fn release_lease(&self, chain: ChainId, holder: &str) -> Pending<'_, ()> {
        let holder = holder.to_owned();
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM chain_leases WHERE chain_id = $1 AND holder = $2";
                session.execute(sql, args![chain, holder]).await.map(drop)
            })
        })
    }
}

record! {
    struct Lease: "chain_leases" ("chain_id") {
        holder: String,
        expires_at: Timestamp,
    }
}

async fn hold(
    session: &mut Session<'_>,
    chain: ChainId,
    now: Timestamp,
    lease: Lease,
) -> Result<bool, StoreError> {
    if session.insert_counting(Insert::owned(chain, [&lease])?, &or_nothing::<Lease>()).await? > 0 {
        return Ok(true);
    }
    // Holds the row: of two who find it ended, the second finds what the first made of it.
    let sql = "UPDATE chain_leases SET holder = holder WHERE chain_id = $1";
    let Some(held) = session.returning::<Lease>(sql, args![chain]).await? else { return Ok(false) };
    if held.holder != lease.holder && held.expires_at > now {
        return Ok(false);
    }
    let sql = "UPDATE chain_leases SET holder = $2, expires_at = $3 WHERE chain_id = $1";
    session.execute(sql, args![chain, lease.holder, lease.expires_at]).await.map(|_| true)
}
