//! Who follows a chain, when several processes could. No clock is compared with another's: whoever has the right raises a counter,
//! and another takes it over once it has seen that stand still for long enough, naming what it saw.

use std::fmt;

use bourse_wire::{ChainId, Timestamp};

use crate::args::args;
use crate::columns::{Insert, or_nothing, record};
use crate::session::Session;
use crate::{Pending, Store, StoreError};

/// Who follows a chain, or would. As text it is in the table of leases: programs before schema 33 wrote their name alone, and
/// so do not leave there what is not so of them when they take one over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    /// What it drew when it started.
    pub name: String,
    /// The newest schema that it knows. A newer program takes a chain over from an older one at once, which would not keep of
    /// blocks what newer ones do.
    pub schema: i64,
}

impl fmt::Display for LeaseHolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.schema, self.name)
    }
}

/// The lease of a chain, as one who does not have it sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseSeen {
    /// Who has it.
    pub holder: String,
    /// A counter that the holder raises for as long as it follows.
    pub beat: u64,
}

/// Whose the right to follow a chain is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseHeld {
    /// Whoever asked has it.
    Here,
    /// Another has it; nothing of one that was given back this moment.
    Elsewhere(Option<LeaseSeen>),
}

/// Who asks for the right to follow a chain.
struct Claim {
    holder: LeaseHolder,
    until: Timestamp,
    ended: Option<LeaseSeen>,
}

record! {
    struct Lease: "chain_leases" ("chain_id") {
        holder: String,
        expires_at: Timestamp,
        beat: u64,
    }
}

impl Store {
    /// Takes the right to follow a chain, or renews it. Another's is taken over that is as it was when it was seen to have ended,
    /// or that an older program has. Programs before schema 33 leave the chain to its holder until a time by their own clock.
    pub async fn hold_lease(
        &self,
        chain: ChainId,
        holder: &LeaseHolder,
        until: Timestamp,
        ended: Option<LeaseSeen>,
    ) -> Result<LeaseHeld, StoreError> {
        let claim = Claim { holder: holder.clone(), until, ended };
        let sql = "FROM chain_leases WHERE chain_id = $1";
        let found: Vec<Lease> = self
            .read(move |mut session| Box::pin(async move { session.select(sql, args![chain]).await }))
            .await?;
        match found.into_iter().next() {
            // Who stands by has nothing to write.
            Some(found) if !claim.may_take(&found) => Ok(LeaseHeld::Elsewhere(Some(found.seen()))),
            _ => self.take_lease(chain, claim).await,
        }
    }

    fn take_lease(&self, chain: ChainId, claim: Claim) -> Pending<'_, LeaseHeld> {
        self.write(move |mut session| Box::pin(async move { take(&mut session, chain, claim).await }))
    }

    /// Gives the right to follow a chain back, if this holder has it: the next one has it at once.
    pub fn release_lease(&self, chain: ChainId, holder: &LeaseHolder) -> Pending<'_, ()> {
        let holder = holder.to_string();
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM chain_leases WHERE chain_id = $1 AND holder = $2";
                session.execute(sql, args![chain, holder]).await.map(drop)
            })
        })
    }
}

async fn take(session: &mut Session<'_>, chain: ChainId, claim: Claim) -> Result<LeaseHeld, StoreError> {
    let first = Lease { holder: claim.holder.to_string(), expires_at: claim.until, beat: 1 };
    if session.insert_counting(Insert::owned(chain, [&first])?, &or_nothing::<Lease>()).await? > 0 {
        return Ok(LeaseHeld::Here);
    }
    // Holds the row: of two who saw it end, the second finds what the first made of it.
    let sql = "UPDATE chain_leases SET holder = holder WHERE chain_id = $1";
    let Some(found) = session.returning::<Lease>(sql, args![chain]).await? else {
        return Ok(LeaseHeld::Elsewhere(None));
    };
    if !claim.may_take(&found) {
        return Ok(LeaseHeld::Elsewhere(Some(found.seen())));
    }
    let sql = "UPDATE chain_leases SET holder = $2, expires_at = $3, beat = $4 WHERE chain_id = $1";
    let args = args![chain, first.holder, first.expires_at, found.beat.saturating_add(1)];
    session.execute(sql, args).await.map(|_| LeaseHeld::Here)
}

impl Claim {
    fn may_take(&self, found: &Lease) -> bool {
        found.holder == self.holder.to_string()
            || found.schema() < self.holder.schema
            || self.ended.as_ref() == Some(&found.seen())
    }
}

impl Lease {
    fn seen(&self) -> LeaseSeen {
        LeaseSeen { holder: self.holder.clone(), beat: self.beat }
    }

    /// The newest schema that its holder knows; none of programs that did not tell.
    fn schema(&self) -> i64 {
        self.holder.split_once('/').and_then(|(schema, _)| schema.parse().ok()).unwrap_or_default()
    }
}
