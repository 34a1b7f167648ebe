//! The second factor: the secret of an authenticator app, codes for whoever lost it, and sign-ins that wait for a code.
//!
//! Codes are computed elsewhere. What must hold whoever asks at once is kept here: that a code and a recovery code let
//! somebody in once, and that there are so many tries in an hour.

use bourse_wire::{Email, Error, RecordId, Timestamp};

use super::accounts::{Account, email_of, folded};
use super::{ProofHash, account_missing, seconds};
use crate::StoreError;
use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Store};
use crate::columns::{Insert, record};
use crate::session::Session;

/// Codes that may be tried in an hour for one account, from wherever. Whoever gets there knows the password.
const TRIES_PER_HOUR: u64 = 20;

/// The second factor of an account. `Debug` is left out on purpose: the secret is in no log.
#[derive(Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// What codes are computed from, in hexadecimal.
    pub secret: String,
    /// When the first code of it was shown; nothing until then, and until then it does not count.
    pub confirmed_at: Option<Timestamp>,
}

/// The first code of a second factor, and what comes with it.
#[derive(Clone)]
pub struct Confirmation {
    /// The step of time that the code was of.
    pub step: u64,
    /// Hashes of the recovery codes.
    pub recovery: Vec<ProofHash>,
    /// The session that stays; all others of the account end.
    pub keep: ProofHash,
}

/// What somebody shows beside the password.
#[derive(Clone)]
pub enum ShownCode {
    /// A code of the app, right for this step of time.
    Step(u64),
    /// The hash of a recovery code, right or not.
    Recovery(ProofHash),
}

/// A sign-in that waits for a code.
#[derive(Clone, Debug)]
pub struct NewPendingSignIn {
    /// Hash of its cookie.
    pub hash: ProofHash,
    /// Whose password was shown.
    pub account: RecordId,
    /// When the password has to be shown again.
    pub expires_at: Timestamp,
}

record! { SecondFactor: "second_factors" ("account_id") { secret, confirmed_at } }

record! {
    struct RecoveryCode: "recovery_codes" ("account_id, code_hash") {
        account_id: RecordId,
        code_hash: String,
    }
}

impl Store {
    /// The second factor of an account, confirmed or not.
    pub fn second_factor(&self, account: RecordId) -> Pending<'_, Option<SecondFactor>> {
        self.read(move |mut session| {
            Box::pin(async move {
                session.select_first("FROM second_factors WHERE account_id = $1", args![account]).await
            })
        })
    }

    /// How many recovery codes an account has left.
    pub fn recovery_codes_left(&self, account: RecordId) -> Pending<'_, u64> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT COUNT(*) FROM recovery_codes WHERE account_id = $1";
                Ok(session.value(sql, args![account]).await?.unwrap_or_default())
            })
        })
    }

    /// Notes a secret of which no code was shown yet, in the place of an earlier one.
    pub fn propose_second_factor(&self, account: RecordId, secret: String) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT account_id FROM accounts WHERE account_id = $1";
                if !session.has(sql, args![account]).await? {
                    return Err(account_missing(account).into());
                }
                let sql = "INSERT INTO second_factors (account_id, secret, used_step, tried_hour, tries)
                    VALUES ($1, $2, 0, 0, 0) ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret
                    WHERE second_factors.confirmed_at IS NULL";
                match session.execute(sql, args![account, secret]).await? {
                    0 => Err(Error::conflict("the second factor is on: switch it off first").into()),
                    _ => Ok(()),
                }
            })
        })
    }

    /// Switches the second factor on: its first code was shown.
    pub fn confirm_second_factor(
        &self,
        account: RecordId,
        shown: Confirmation,
        actor: Actor,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE second_factors SET confirmed_at = $2, used_step = $3, tries = 0
                    WHERE account_id = $1 AND confirmed_at IS NULL";
                if session.execute(sql, args![account, actor.at, shown.step]).await? == 0 {
                    return Err(
                        Error::conflict("there is no second factor that waits for its first code").into()
                    );
                }
                replace_recovery_codes(&mut session, account, shown.recovery).await?;
                let sql = "DELETE FROM account_sessions WHERE account_id = $1 AND session_hash <> $2";
                session.execute(sql, args![account, shown.keep.0]).await?;
                note(&mut session, &actor, Act::SecondFactorOn, account).await
            })
        })
    }

    /// Counts a try to show a code. Whether there may be one: so many an hour, from wherever.
    pub fn count_code_try(&self, account: RecordId, now: Timestamp) -> Pending<'_, bool> {
        let hour = seconds(now) / 3600;
        self.write(move |mut session| {
            Box::pin(async move {
                let sql =
                    "UPDATE second_factors SET tries = CASE WHEN tried_hour = $2 THEN tries + 1 ELSE 1 END,
                    tried_hour = $2 WHERE account_id = $1 RETURNING tries";
                let tries: Option<u64> = session.value(sql, args![account, hour]).await?;
                Ok(tries.is_some_and(|tries| tries <= TRIES_PER_HOUR))
            })
        })
    }

    /// Uses a code up. Whether it was good: that of a step is, if no code of this step or of a later one was used before; a
    /// recovery code is, if it is there.
    pub fn use_code(&self, account: RecordId, shown: ShownCode) -> Pending<'_, bool> {
        self.write(move |mut session| {
            Box::pin(async move {
                let used = match shown {
                    ShownCode::Step(step) => {
                        let sql = "UPDATE second_factors SET used_step = $2
                            WHERE account_id = $1 AND used_step < $2 AND confirmed_at IS NOT NULL";
                        session.execute(sql, args![account, step]).await?
                    }
                    ShownCode::Recovery(hash) => {
                        let sql = "DELETE FROM recovery_codes WHERE account_id = $1 AND code_hash = $2";
                        session.execute(sql, args![account, hash.0]).await?
                    }
                };
                if used > 0 {
                    let sql = "UPDATE second_factors SET tries = 0 WHERE account_id = $1";
                    session.execute(sql, args![account]).await?;
                }
                Ok(used > 0)
            })
        })
    }

    /// Gives an account other recovery codes; those that it had work no longer.
    pub fn renew_recovery_codes(
        &self,
        account: RecordId,
        codes: Vec<ProofHash>,
        actor: Actor,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                // Held, so that what two do at once are not the codes of both.
                let sql = "UPDATE second_factors SET tries = tries
                    WHERE account_id = $1 AND confirmed_at IS NOT NULL";
                if session.execute(sql, args![account]).await? == 0 {
                    return Err(Error::conflict("the second factor is off").into());
                }
                replace_recovery_codes(&mut session, account, codes).await?;
                note(&mut session, &actor, Act::RecoveryCodesRenewed, account).await
            })
        })
    }

    /// Switches the second factor off. Whether it was on.
    pub fn remove_second_factor(&self, account: RecordId, actor: Actor) -> Pending<'_, bool> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT account_id FROM second_factors
                    WHERE account_id = $1 AND confirmed_at IS NOT NULL";
                let was_on = session.has(sql, args![account]).await?;
                for table in ["recovery_codes", "second_factors", "pending_sign_ins"] {
                    let sql = format!("DELETE FROM {table} WHERE account_id = $1");
                    session.execute(sql, args![account]).await?;
                }
                if was_on {
                    note(&mut session, &actor, Act::SecondFactorOff, account).await?;
                }
                Ok(was_on)
            })
        })
    }

    /// The account of an address, for the operator.
    pub fn account_by_email(&self, email: &Email) -> Pending<'_, Account> {
        let email = folded(email);
        self.read(move |mut session| {
            Box::pin(async move {
                let found: Option<Account> =
                    session.select_first("FROM accounts WHERE email = $1", args![email.clone()]).await?;
                Ok(found.ok_or_else(|| Error::not_found(format_args!("account of {email}")))?)
            })
        })
    }

    /// Lets a sign-in wait for a code; those that waited too long are forgotten.
    pub fn await_code(&self, new: NewPendingSignIn, now: Timestamp) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM pending_sign_ins WHERE expires_at <= $1";
                session.execute(sql, args![seconds(now)]).await?;
                let sql = "INSERT INTO pending_sign_ins (session_hash, account_id, expires_at)
                    VALUES ($1, $2, $3)";
                session.execute(sql, args![new.hash.0, new.account, seconds(new.expires_at)]).await.map(drop)
            })
        })
    }

    /// Who waits to show a code, while that lasts.
    pub fn pending_account(&self, hash: ProofHash, now: Timestamp) -> Pending<'_, Option<Account>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM pending_sign_ins JOIN accounts
                    ON accounts.account_id = pending_sign_ins.account_id
                    WHERE session_hash = $1 AND expires_at > $2";
                session.select_first(sql, args![hash.0, seconds(now)]).await
            })
        })
    }

    /// Ends the waiting of a sign-in. Whether it was still there: of two who end it at once, one is told so.
    pub fn end_pending_sign_in(&self, hash: ProofHash) -> Pending<'_, bool> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM pending_sign_ins WHERE session_hash = $1";
                Ok(session.execute(sql, args![hash.0]).await? > 0)
            })
        })
    }
}

/// Writes down what somebody did with the second factor of an account.
async fn note(
    session: &mut Session<'_>,
    actor: &Actor,
    act: Act,
    account: RecordId,
) -> Result<(), StoreError> {
    let entry = Entry::new(act, email_of(session, account).await?);
    audit::put(session, actor, entry).await
}

async fn replace_recovery_codes(
    session: &mut Session<'_>,
    account: RecordId,
    codes: Vec<ProofHash>,
) -> Result<(), StoreError> {
    session.execute("DELETE FROM recovery_codes WHERE account_id = $1", args![account]).await?;
    let codes = codes.into_iter().map(|hash| RecoveryCode { account_id: account, code_hash: hash.0 });
    session.insert(Insert::of(codes)?, "").await
}
