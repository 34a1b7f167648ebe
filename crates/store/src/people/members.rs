//! Who may do what in which project.

use bourse_wire::{Error, ProjectId, RecordId, Text, Timestamp};

use super::accounts::{Account, email_of, is_administrator};
use super::{Invited, Role};
use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Store};
use crate::columns::{Known, selection};
use crate::projects::{self, Project};
use crate::session::Session;
use crate::{ProjectScope, StoreError, grants};

/// Somebody who belongs to a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Who.
    pub account: Account,
    /// What they may do.
    pub role: Role,
    /// Since when.
    pub added_at: Timestamp,
}

impl Store {
    /// What an account may do in a project; nothing when it is no member.
    pub fn role_of(&self, account: RecordId, project: ProjectId) -> Pending<'_, Option<Role>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT role FROM members WHERE account_id = $1 AND project_id = $2";
                // Of a role that only a newer version knows nobody can make use here.
                let role: Option<Known<Role>> = session.value(sql, args![account, project]).await?;
                Ok(role.and_then(|role| role.0))
            })
        })
    }

    /// The projects of an account, oldest first.
    pub fn projects_of(&self, account: RecordId) -> Pending<'_, Vec<(Project, Role)>> {
        self.read(move |mut session| {
            Box::pin(async move {
                selection! {
                    struct Membership {
                        project_id: ProjectId,
                        role: Known<Role>,
                    }
                }
                let sql = "FROM members WHERE account_id = $1 ORDER BY project_id";
                let mut found = Vec::new();
                let memberships: Vec<Membership> = session.select(sql, args![account]).await?;
                for Membership { project_id, role } in memberships {
                    let Some(role) = role.0 else { continue };
                    found.push((projects::require(&mut session, project_id).await?, role));
                }
                Ok(found)
            })
        })
    }

    /// Makes a project whose owner is the account. That of an administrator may state everything if it is the only one.
    pub fn create_own_project(&self, name: Text<256>, owner: RecordId, actor: Actor) -> Pending<'_, Project> {
        self.write(move |mut session| {
            Box::pin(async move {
                let project = projects::create(&mut session, name, &actor).await?;
                add(&mut session, owner, project.id, Role::Owner, actor.at).await?;
                if is_administrator(&mut session, owner).await? {
                    grants::add_to_first(&mut session, project.id, &actor).await?;
                }
                Ok(project)
            })
        })
    }

    /// The members of a project, in the order of their accounts.
    pub fn members(&self, scope: ProjectScope) -> Pending<'_, Vec<Member>> {
        self.read(move |mut session| {
            Box::pin(async move {
                selection! {
                    struct Membership {
                        role: Known<Role> = "members.role",
                        added_at: Timestamp = "members.added_at",
                    }
                }
                let sql = "FROM members JOIN accounts ON accounts.account_id = members.account_id
                    WHERE members.project_id = $1 ORDER BY accounts.account_id";
                let found: Vec<(Account, Membership)> = session.select(sql, args![scope.project()]).await?;
                let member = |(account, Membership { role, added_at })| {
                    Some(Member { account, role: role.0?, added_at })
                };
                Ok(found.into_iter().filter_map(member).collect())
            })
        })
    }

    /// Changes what a member may do.
    pub fn set_role(
        &self,
        scope: ProjectScope,
        account: RecordId,
        role: Role,
        actor: Actor,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE members SET role = $3 WHERE account_id = $1 AND project_id = $2";
                let changed = session.execute(sql, args![account, scope.project(), role.number()]).await?;
                found(changed, account)?;
                let subject = email_of(&mut session, account).await?;
                let detail = Invited::Member(scope.project(), role);
                let entry = Entry::new(Act::RoleChanged, subject).of(scope.project()).with(detail);
                audit::put(&mut session, &actor, entry).await
            })
        })
    }

    /// Takes a member out of a project.
    pub fn remove_member(&self, scope: ProjectScope, account: RecordId, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM members WHERE account_id = $1 AND project_id = $2";
                let changed = session.execute(sql, args![account, scope.project()]).await?;
                found(changed, account)?;
                let subject = email_of(&mut session, account).await?;
                let entry = Entry::new(Act::MemberRemoved, subject).of(scope.project());
                audit::put(&mut session, &actor, entry).await
            })
        })
    }
}

fn found(changed: u64, account: RecordId) -> Result<(), StoreError> {
    if changed == 0 {
        return Err(Error::not_found(format_args!("member {account}")).into());
    }
    Ok(())
}

/// Makes an account a member. One that is an owner already stays one.
pub(super) async fn add(
    session: &mut Session<'_>,
    account: RecordId,
    project: ProjectId,
    role: Role,
    now: Timestamp,
) -> Result<(), StoreError> {
    projects::require(session, project).await?;
    let sql = "INSERT INTO members (account_id, project_id, role, added_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (account_id, project_id) DO UPDATE SET role = excluded.role
        WHERE excluded.role < members.role";
    session.execute(sql, args![account, project, role.number(), now]).await.map(drop)
}
