//! Accounts.

use bourse_wire::{Email, Error, RecordId, Timestamp};

use super::{ProofHash, account_missing};
use crate::StoreError;
use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Sequence, Store};
use crate::columns::{record, selection};
use crate::session::Session;

/// Somebody who may sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Number of the account.
    pub id: RecordId,
    /// By which they sign in.
    pub email: String,
    /// Whether they may do everything in every project.
    pub administrator: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When they last signed in.
    pub signed_in_at: Option<Timestamp>,
}

/// An account to be made.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// By which they sign in, whatever its letters' case.
    pub email: Email,
    /// The password, hashed slowly.
    pub password_hash: String,
}

record! { Account: "accounts" ("account_id") {
    id = "account_id",
    email,
    administrator,
    created_at,
    signed_in_at,
} }

impl Store {
    /// Whether anybody can sign in.
    pub fn has_accounts(&self) -> Pending<'_, bool> {
        self.read(|mut session| {
            Box::pin(async move {
                let sql = "SELECT account_id FROM accounts LIMIT 1";
                session.has(sql, args![]).await
            })
        })
    }

    /// Everybody who may sign in, oldest account first.
    pub fn accounts(&self) -> Pending<'_, Vec<Account>> {
        self.read(|mut session| {
            Box::pin(async move { session.select("FROM accounts ORDER BY account_id", args![]).await })
        })
    }

    /// The account of an address, with the hash of its password.
    pub fn account_of(&self, email: &Email) -> Pending<'_, Option<(Account, String)>> {
        let email = folded(email);
        self.read(move |mut session| {
            Box::pin(async move {
                selection! {
                    struct Password {
                        password_hash: String,
                    }
                }
                let found: Option<(Account, Password)> =
                    session.select_first("FROM accounts WHERE email = $1", args![email]).await?;
                Ok(found.map(|(account, password)| (account, password.password_hash)))
            })
        })
    }

    /// Changes a password. Every session but the given one ends: whoever knew the old password is out.
    pub fn set_password(
        &self,
        id: RecordId,
        password_hash: String,
        keep: ProofHash,
        actor: Actor,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE accounts SET password_hash = $2 WHERE account_id = $1";
                if session.execute(sql, args![id, password_hash]).await? == 0 {
                    return Err(account_missing(id).into());
                }
                let sql = "DELETE FROM account_sessions WHERE account_id = $1 AND session_hash <> $2";
                session.execute(sql, args![id, keep.0]).await?;
                session.execute("DELETE FROM pending_sign_ins WHERE account_id = $1", args![id]).await?;
                let entry = Entry::new(Act::PasswordChanged, email_of(&mut session, id).await?);
                audit::put(&mut session, &actor, entry).await
            })
        })
    }

    /// Removes an account with its sessions and memberships. The last administrator stays.
    pub fn remove_account(&self, id: RecordId, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                // Held until the end, so that of two administrators who remove each other one stays.
                let sql = "UPDATE accounts SET administrator = administrator WHERE administrator";
                let administrators = session.execute(sql, args![]).await?;
                let sql = "FROM accounts WHERE account_id = $1";
                let account: Option<Account> = session.select_first(sql, args![id]).await?;
                let account = account.ok_or_else(|| account_missing(id))?;
                if account.administrator && administrators < 2 {
                    return Err(Error::conflict("the last administrator cannot be removed").into());
                }
                session.execute("DELETE FROM accounts WHERE account_id = $1", args![id]).await?;
                let role = if account.administrator { "an administrator" } else { "" };
                let entry = Entry::new(Act::AccountRemoved, &account.email).with(role);
                audit::put(&mut session, &actor, entry).await
            })
        })
    }
}

/// By which somebody signs in.
pub(super) async fn email_of(session: &mut Session<'_>, id: RecordId) -> Result<String, StoreError> {
    let found = session.value("SELECT email FROM accounts WHERE account_id = $1", args![id]).await?;
    found.ok_or_else(|| account_missing(id).into())
}

/// Whether an account is there and may do everything.
pub(super) async fn is_administrator(session: &mut Session<'_>, id: RecordId) -> Result<bool, StoreError> {
    session.has("SELECT account_id FROM accounts WHERE account_id = $1 AND administrator", args![id]).await
}

/// Makes an account, unless its address has one.
pub(super) async fn create(
    session: &mut Session<'_>,
    new: NewAccount,
    administrator: bool,
    now: Timestamp,
) -> Result<Account, StoreError> {
    let id = session.next_id(Sequence::Account).await?;
    let sql = "INSERT INTO accounts (account_id, email, password_hash, administrator, created_at)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (email) DO NOTHING";
    let args = args![id, folded(&new.email), new.password_hash, administrator, now];
    let taken = || Error::conflict(format!("{} has an account: sign in with it", new.email));
    Ok(session.returning(sql, args).await?.ok_or_else(taken)?)
}

/// Nobody has two addresses that differ in the case of letters.
pub(super) fn folded(email: &Email) -> String {
    email.to_string().to_lowercase()
}
