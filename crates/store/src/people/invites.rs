//! Invitations: links that make somebody an administrator, a member, or just somebody with an account. Each works once.

use std::net::IpAddr;

use bourse_wire::{Error, ProjectId, RecordId, Timestamp};

use super::accounts::{self, Account, NewAccount};
use super::{Invited, ProofHash, Role, members, seconds};
use crate::StoreError;
use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Store};
use crate::columns::selection;
use crate::extent::Extent;
use crate::session::Session;

const ADMINISTRATOR: u8 = 0;
const PERSON: u8 = 3;

/// An invitation to be stored.
#[derive(Clone, Debug)]
pub struct NewInvite {
    /// Hash of its link.
    pub hash: ProofHash,
    /// What it makes of who accepts it.
    pub invited: Invited,
    /// Who invites; nobody when the service itself does at its first start.
    pub made_by: Option<RecordId>,
    /// When it is over.
    pub expires_at: Timestamp,
}

/// An invitation that can be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invite {
    /// What it makes of who accepts it.
    pub invited: Invited,
    /// Who invites.
    pub made_by: Option<RecordId>,
}

/// An invitation that nobody has accepted yet, as it is listed: without its link, which only who was invited has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenInvite {
    /// By which it is revoked: the beginning of its hash, from which nobody finds the link.
    pub id: String,
    /// What it makes of who accepts it.
    pub invited: Invited,
    /// Who invites, by the address of their account; nobody when it was the operator, or somebody who is gone.
    pub made_by: Option<String>,
    /// Whether who invites may do so no longer, so that it cannot be accepted.
    pub is_void: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it is over.
    pub expires_at: Timestamp,
}

/// Characters of an invitation's hash that are its id.
const ID_CHARS: usize = 16;

impl Store {
    /// The invitations that are not over and that nobody has accepted, the newest first.
    pub fn open_invites(&self, extent: Extent, now: Timestamp) -> Pending<'_, Vec<OpenInvite>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let sql = "FROM invites LEFT JOIN accounts ON accounts.account_id = invites.made_by
                    WHERE invites.expires_at > $1 AND ($2 = 0 OR invites.project_id = $2)";
                let args = args![seconds(now), extent.project_number()];
                let rows: Vec<OpenInviteRow> = session.select(sql, args).await?;
                let mut found = Vec::with_capacity(rows.len());
                for row in rows {
                    let invite =
                        InviteRow { project_id: row.project_id, role: row.role, made_by: row.made_by };
                    let invite = invite.invite();
                    found.push(OpenInvite {
                        id: row.invite_hash.chars().take(ID_CHARS).collect(),
                        invited: invite.invited,
                        is_void: !may_still_invite(&mut session, &invite).await?,
                        made_by: row.email,
                        created_at: row.created_at,
                        expires_at: Timestamp::from_unix_seconds(row.expires_at),
                    });
                }
                // Not in SQL: as text, a time with a fraction sorts before the whole second it follows.
                found.sort_by(|one, other| (other.created_at, &one.id).cmp(&(one.created_at, &other.id)));
                Ok(found)
            })
        })
    }

    /// Takes an invitation back: from now on its link is like one that never was.
    pub fn revoke_invite(&self, extent: Extent, id: String, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = format!(
                    "DELETE FROM invites WHERE substr(invite_hash, 1, {ID_CHARS}) = $1
                    AND ($2 = 0 OR project_id = $2)"
                );
                let args = args![id.as_str(), extent.project_number()];
                let row: Option<InviteRow> = session.returning(sql, args).await?;
                let missing = || Error::not_found(format_args!("invitation {id:.64}"));
                let invite = row.ok_or_else(missing)?.invite();
                audit::put(&mut session, &actor, entry(Act::InviteRevoked, &invite)).await
            })
        })
    }

    /// Stores an invitation; those that are over are forgotten.
    pub fn create_invite(&self, new: NewInvite, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let now = actor.at;
                let sql = "DELETE FROM invites WHERE expires_at <= $1";
                session.execute(sql, args![seconds(now)]).await?;
                let (project, role) = match new.invited {
                    Invited::Administrator => (None, ADMINISTRATOR),
                    Invited::Person => (None, PERSON),
                    Invited::Member(project, role) => (Some(project.get()), role.number()),
                    Invited::Unknown(_) => return Err(unknown().into()),
                };
                let sql =
                    "INSERT INTO invites (invite_hash, project_id, role, made_by, created_at, expires_at)
                    VALUES ($1, $2, $3, $4, $5, $6)";
                let made_by = new.made_by.map(RecordId::get);
                let args = args![new.hash.0, project, role, made_by, now, seconds(new.expires_at)];
                session.execute(sql, args).await?;
                let invite = Invite { invited: new.invited, made_by: new.made_by };
                audit::put(&mut session, &actor, entry(Act::InviteCreated, &invite)).await
            })
        })
    }

    /// The invitation of a link, while it can be accepted.
    pub fn invite(&self, hash: ProofHash, now: Timestamp) -> Pending<'_, Option<Invite>> {
        self.read(move |mut session| Box::pin(async move { find(&mut session, &hash, now).await }))
    }

    /// Accepts an invitation with a new account. Once somebody accepted one that the service made at its first start, all
    /// others of that kind are void.
    pub fn accept_as_new(
        &self,
        hash: ProofHash,
        new: NewAccount,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Pending<'_, Account> {
        self.write(move |mut session| {
            Box::pin(async move {
                let invite = take(&mut session, &hash, now).await?;
                let administrator = invite.invited == Invited::Administrator;
                let account = accounts::create(&mut session, new, administrator, now).await?;
                let actor = Actor::account(&account, address, now);
                let made = Entry::new(Act::AccountCreated, &account.email);
                audit::put(&mut session, &actor, made).await?;
                apply(&mut session, invite, account.id, &actor).await?;
                Ok(account)
            })
        })
    }

    /// Accepts an invitation for an account that is there.
    pub fn accept(&self, hash: ProofHash, account: RecordId, actor: Actor) -> Pending<'_, Invite> {
        self.write(move |mut session| {
            Box::pin(async move {
                let invite = take(&mut session, &hash, actor.at).await?;
                if invite.invited == Invited::Administrator {
                    let sql = "UPDATE accounts SET administrator = TRUE WHERE account_id = $1";
                    session.execute(sql, args![account]).await?;
                }
                apply(&mut session, invite.clone(), account, &actor).await?;
                Ok(invite)
            })
        })
    }
}

async fn find(
    session: &mut Session<'_>,
    hash: &ProofHash,
    now: Timestamp,
) -> Result<Option<Invite>, StoreError> {
    let sql = "FROM invites WHERE invite_hash = $1 AND expires_at > $2";
    let row: Option<InviteRow> = session.select_first(sql, args![hash.0.as_str(), seconds(now)]).await?;
    let Some(invite) = row.map(InviteRow::invite) else { return Ok(None) };
    if let Invited::Unknown(_) = invite.invited {
        return Err(unknown().into());
    }
    Ok(may_still_invite(session, &invite).await?.then_some(invite))
}

/// Whether who made an invitation may still do what it does: an invitation ends with the right to make it.
async fn may_still_invite(session: &mut Session<'_>, invite: &Invite) -> Result<bool, StoreError> {
    // The operator invites from the command line.
    let Some(maker) = invite.made_by else { return Ok(true) };
    if accounts::is_administrator(session, maker).await? {
        return Ok(true);
    }
    let Some(project) = invite.invited.project() else { return Ok(false) };
    let sql = "SELECT account_id FROM members WHERE account_id = $1 AND project_id = $2 AND role = $3";
    session.has(sql, args![maker, project, Role::Owner.number()]).await
}

/// Deletes an invitation and tells what it was: of two who accept at once, one finds nothing.
async fn take(session: &mut Session<'_>, hash: &ProofHash, now: Timestamp) -> Result<Invite, StoreError> {
    let sql = "DELETE FROM invites WHERE invite_hash = $1 AND expires_at > $2";
    let row: Option<InviteRow> = session.returning(sql, args![hash.0.as_str(), seconds(now)]).await?;
    let over = || Error::not_found(format_args!("invitation: it was used, or its time is over,"));
    let invite = row.ok_or_else(over)?.invite();
    if let Invited::Unknown(_) = invite.invited {
        // What was deleted comes back with the transaction.
        return Err(unknown().into());
    }
    if may_still_invite(session, &invite).await? { Ok(invite) } else { Err(over().into()) }
}

async fn apply(
    session: &mut Session<'_>,
    invite: Invite,
    account: RecordId,
    actor: &Actor,
) -> Result<(), StoreError> {
    audit::put(session, actor, entry(Act::InviteAccepted, &invite)).await?;
    match invite.invited {
        Invited::Member(project, role) => members::add(session, account, project, role, actor.at).await,
        Invited::Administrator if invite.made_by.is_none() => {
            session.execute("DELETE FROM invites WHERE made_by IS NULL", args![]).await.map(drop)
        }
        Invited::Administrator | Invited::Person | Invited::Unknown(_) => Ok(()),
    }
}

/// Why an invitation to something that this version does not know is of no use here.
fn unknown() -> Error {
    Error::conflict(
        "this invitation is to something that only a newer version of the service knows: accept it once every server is \
         upgraded",
    )
}

/// What the audit log says of an invitation.
fn entry(act: Act, invite: &Invite) -> Entry {
    let entry = Entry::new(act, format_args!("as {}", invite.invited));
    match invite.invited.project() {
        Some(project) => entry.of(project),
        None => entry,
    }
}

selection! {
    struct InviteRow {
        project_id: Option<ProjectId>,
        role: u8,
        made_by: Option<RecordId>,
    }
}

selection! {
    struct OpenInviteRow {
        invite_hash: String = "invites.invite_hash",
        project_id: Option<ProjectId> = "invites.project_id",
        role: u8 = "invites.role",
        made_by: Option<RecordId> = "invites.made_by",
        email: Option<String> = "accounts.email",
        created_at: Timestamp = "invites.created_at",
        expires_at: u64 = "invites.expires_at",
    }
}

impl InviteRow {
    fn invite(self) -> Invite {
        let invited = match (self.project_id, self.role) {
            (None, ADMINISTRATOR) => Invited::Administrator,
            (None, PERSON) => Invited::Person,
            (Some(project), number) => match Role::from_number(number) {
                Some(role) => Invited::Member(project, role),
                None => Invited::Unknown(Some(project)),
            },
            (None, _) => Invited::Unknown(None),
        };
        Invite { invited, made_by: self.made_by }
    }
}
