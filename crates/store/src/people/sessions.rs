//! Sessions: who has proven who they are, and for how long that holds.

use std::net::IpAddr;

use bourse_wire::{RecordId, Timestamp};

use super::accounts::{Account, email_of};
use super::{ProofHash, seconds};
use crate::args::args;
use crate::audit::{self, Act, Actor, Entry, Identity};
use crate::backend::{Pending, Store};

/// A session to be opened.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Hash of its cookie.
    pub hash: ProofHash,
    /// Whose it is.
    pub account: RecordId,
    /// When it is over, whatever happens.
    pub expires_at: Timestamp,
}

/// How long refusals under one address are counted in one entry: an hour.
const REFUSALS_COUNTED_MS: i64 = 3_600_000;

impl Store {
    /// Opens a session; those that are over are forgotten.
    pub fn open_session(&self, new: NewSession, address: Option<IpAddr>, now: Timestamp) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM account_sessions WHERE expires_at <= $1";
                session.execute(sql, args![seconds(now)]).await?;
                let sql = "INSERT INTO account_sessions (session_hash, account_id, created_at, expires_at)
                    VALUES ($1, $2, $3, $4)";
                let args = args![new.hash.0, new.account, now, seconds(new.expires_at)];
                session.execute(sql, args).await?;
                let sql = "UPDATE accounts SET signed_in_at = $2 WHERE account_id = $1";
                session.execute(sql, args![new.account, now]).await?;
                let email = email_of(&mut session, new.account).await?;
                let entry = Entry::new(Act::SignedIn, &email);
                let identity = Identity::Account { id: new.account, email };
                audit::put(&mut session, &Actor { identity, address, at: now }, entry).await
            })
        })
    }

    /// Counts a try to sign in by each of these, of whom there are hashes. How many each has made within this minute, with this
    /// one, whichever servers they came to.
    pub fn count_sign_in_try(&self, tried_by: Vec<ProofHash>) -> Pending<'_, Vec<u64>> {
        let clock = self.clock.clone();
        self.write(move |mut session| {
            Box::pin(async move {
                let present = clock.look(&mut session).await?;
                present.forget(&mut session, "sign_in_tries").await?;
                let mut counted = Vec::with_capacity(tried_by.len());
                for hash in tried_by {
                    let sql = "INSERT INTO sign_in_tries (tried_by, minute, tries) VALUES ($1, $2, 1)
                        ON CONFLICT (tried_by) DO UPDATE SET minute = excluded.minute, tries =
                        CASE WHEN sign_in_tries.minute = excluded.minute THEN sign_in_tries.tries + 1 ELSE 1 END
                        RETURNING tries";
                    let tries: Option<u64> = session.value(sql, args![hash.0, present.minute]).await?;
                    counted.push(tries.unwrap_or_default());
                }
                Ok(counted)
            })
        })
    }

    /// Notes that somebody was not let in under this address; for those that are no account's, one entry is kept for all.
    pub fn note_refused_sign_in(
        &self,
        account: Option<&Account>,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Pending<'_, ()> {
        let subject = account.map_or_else(|| "no account".to_owned(), |account| account.email.clone());
        self.write(move |mut session| {
            Box::pin(async move {
                // Who it was is what is not known.
                let actor = Actor { identity: Identity::Service, address, at: now };
                let entry = Entry::new(Act::SignInRefused, subject);
                audit::put_counted(&mut session, &actor, entry, REFUSALS_COUNTED_MS).await
            })
        })
    }

    /// Whose session this is, while it lasts.
    pub fn session_account(&self, hash: ProofHash, now: Timestamp) -> Pending<'_, Option<Account>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM account_sessions JOIN accounts
                    ON accounts.account_id = account_sessions.account_id
                    WHERE session_hash = $1 AND expires_at > $2";
                session.select_first(sql, args![hash.0, seconds(now)]).await
            })
        })
    }

    /// Ends a session.
    pub fn close_session(&self, hash: ProofHash) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM account_sessions WHERE session_hash = $1";
                session.execute(sql, args![hash.0]).await.map(drop)
            })
        })
    }

    /// Ends every session of an account.
    pub fn close_sessions(&self, account: RecordId, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                for table in ["account_sessions", "pending_sign_ins"] {
                    let sql = format!("DELETE FROM {table} WHERE account_id = $1");
                    session.execute(sql, args![account]).await?;
                }
                let entry = Entry::new(Act::SessionsEnded, email_of(&mut session, account).await?);
                audit::put(&mut session, &actor, entry).await
            })
        })
    }
}
