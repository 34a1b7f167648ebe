//! Who follows a chain, when several processes could.

use bourse_wire::{ChainId, Timestamp};

use crate::args::args;
use crate::session::Session;
use crate::{Store, StoreError};

impl Store {
    /// Takes or renews the right to follow a chain until a time; `false` when another holder's has not ended.
    pub async fn hold_lease(
        &self,
        chain: ChainId,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let holder = holder.to_owned();
        self.write(move |mut session| {
            Box::pin(async move { hold(&mut session, chain, &holder, (now, until)).await })
        })
        .await
    }

    /// Gives the right to follow a chain back, if this holder has it.
    pub async fn release_lease(&self, chain: ChainId, holder: &str) -> Result<(), StoreError> {
        let holder = holder.to_owned();
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM chain_leases WHERE chain_id = $1 AND holder = $2";
                session.execute(sql, args![chain, holder]).await.map(drop)
            })
        })
        .await
    }
}

async fn hold(
    session: &mut Session<'_>,
    chain: ChainId,
    holder: &str,
    (now, until): (Timestamp, Timestamp),
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO chain_leases (chain_id, holder, expires_at) VALUES ($1, $2, $3)
        ON CONFLICT (chain_id) DO NOTHING";
    if session.execute(sql, args![chain, holder, until]).await? > 0 {
        return Ok(true);
    }
    // Holds the row: of two who find it ended, the second finds what the first made of it.
    let sql = "UPDATE chain_leases SET holder = holder WHERE chain_id = $1 RETURNING holder, expires_at";
    let Some(row) = session.first(sql, args![chain]).await? else { return Ok(false) };
    let expires_at: Timestamp = row.parse(1, "lease time")?;
    if row.text(0)? != holder && expires_at > now {
        return Ok(false);
    }
    let sql = "UPDATE chain_leases SET holder = $2, expires_at = $3 WHERE chain_id = $1";
    session.execute(sql, args![chain, holder, until]).await.map(|_| true)
}
