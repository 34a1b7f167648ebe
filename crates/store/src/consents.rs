//! What takers have signed so that they can fill orders, so that every server knows of it.

use bourse_wire::{Address, Marketplace, Timestamp};

use crate::args::args;
use crate::backend::{Pending, Store};
use crate::columns::{Insert, or_replace, record, selection};

/// Something that a taker has signed. `Debug` is left out on purpose: what shows it is in no log.
#[derive(Clone, PartialEq, Eq)]
pub struct GivenConsent {
    /// What it is for; a later one for the same stands in its place.
    pub subject: String,
    /// What shows it.
    pub proof: String,
    /// The last second that it is used, since 1970.
    pub until: i64,
}

selection! { GivenConsent { subject, proof, until = "good_until" } }

record! {
    struct ConsentRow: "consents" ("taker, marketplace, subject") {
        taker: Address,
        marketplace: Marketplace,
        subject: String,
        proof: String,
        good_until: i64,
    }
}

impl Store {
    /// What somebody has signed on a marketplace that is still good.
    pub fn consents(
        &self,
        (marketplace, taker): (Marketplace, Address),
        now: Timestamp,
    ) -> Pending<'_, Vec<GivenConsent>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM consents WHERE taker = $1 AND marketplace = $2 AND good_until >= $3
                    ORDER BY subject";
                session.select(sql, args![taker, marketplace.number(), now.unix_seconds()]).await
            })
        })
    }

    /// Keeps what somebody has signed, and so many of all takers at most: what is over is forgotten, and what ends first where
    /// that is not enough.
    pub fn put_consent(
        &self,
        (marketplace, taker): (Marketplace, Address),
        given: GivenConsent,
        most: u64,
        now: Timestamp,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM consents WHERE good_until < $1";
                session.execute(sql, args![now.unix_seconds()]).await?;
                let GivenConsent { subject, proof, until: good_until } = given;
                let row = ConsentRow { taker, marketplace, subject, proof, good_until };
                session.insert(Insert::of([row])?, &or_replace::<ConsentRow>(&[])).await?;
                let sql = "DELETE FROM consents WHERE (good_until, taker, marketplace, subject) <=
                    (SELECT good_until, taker, marketplace, subject FROM consents
                    ORDER BY good_until DESC, taker DESC, marketplace DESC, subject DESC LIMIT 1 OFFSET $1)";
                session.execute(sql, args![most]).await.map(drop)
            })
        })
    }

    /// Forgets what somebody has signed, as the marketplace has. What they have signed since stays.
    pub fn forget_consents(
        &self,
        (marketplace, taker): (Marketplace, Address),
        given: Vec<GivenConsent>,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                for consent in given {
                    let sql = "DELETE FROM consents
                        WHERE taker = $1 AND marketplace = $2 AND subject = $3 AND proof = $4";
                    let args = args![taker, marketplace.number(), consent.subject, consent.proof];
                    session.execute(sql, args).await?;
                }
                Ok(())
            })
        })
    }
}
