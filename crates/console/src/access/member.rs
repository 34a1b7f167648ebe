//! A visitor in a project.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use bourse_store::{Project, ProjectScope, Role, StoreError};
use bourse_wire::{Code, ProjectId};

use super::Visitor;
use crate::Console;
use crate::refusal::Refusal;

/// A visitor who may at least look at the project in the path. Whoever may not is told that there is no such project.
pub(crate) struct Member {
    pub(crate) visitor: Visitor,
    pub(crate) project: Project,
    pub(crate) role: Role,
    names: Vec<(String, String)>,
}

impl FromRequestParts<Arc<Console>> for Member {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, Refusal> {
        let visitor = Visitor::from_request_parts(parts, console).await?;
        let raw = RawPathParams::from_request_parts(parts, console).await;
        let raw = raw.map_err(|_| Refusal::missing("page"))?;
        let names: Vec<_> = raw.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let id = find(&names, "project").parse::<u64>().ok().and_then(|id| ProjectId::try_from(id).ok());
        let id = id.ok_or_else(|| Refusal::missing("project"))?;
        let role = if visitor.account.administrator {
            Some(Role::Owner)
        } else {
            console.store().role_of(visitor.account.id, id).await?
        };
        let role = role.ok_or_else(|| Refusal::missing("project"))?;
        let project = console.store().project(id).await.map_err(|error| match error {
            StoreError::Refused(error) if error.code == Code::ProjectNotFound => Refusal::missing("project"),
            other => other.into(),
        })?;
        Ok(Self { visitor, project, role, names })
    }
}

impl Member {
    pub(crate) fn console(&self) -> &Arc<Console> {
        &self.visitor.console
    }

    /// The right to the records of the project: the session is that of one of its members.
    pub(crate) fn scope(&self) -> ProjectScope {
        ProjectScope::proven_by_membership(self.project.id)
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.role == Role::Owner
    }

    /// A part of the path by its name; empty when there is none.
    pub(crate) fn name(&self, name: &str) -> &str {
        find(&self.names, name)
    }

    /// A part of the path, read; a page that is nowhere when it cannot be.
    pub(crate) fn part<T: std::str::FromStr>(&self, name: &str) -> Result<T, Refusal> {
        self.name(name).parse().map_err(|_| Refusal::missing("page"))
    }

    /// The number in the path that names a record.
    pub(crate) fn id(&self, name: &str) -> Result<bourse_wire::RecordId, Refusal> {
        self.part::<u64>(name)?.try_into().map_err(|_| Refusal::missing("page"))
    }

    /// The path of a page of this project: `path("/credentials")`.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/console/projects/{}{rest}", self.project.id)
    }
}

fn find<'n>(names: &'n [(String, String)], name: &str) -> &'n str {
    names.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
}

/// A member who may change the project.
pub(crate) struct Owner(pub(crate) Member);

impl FromRequestParts<Arc<Console>> for Owner {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, Refusal> {
        let member = Member::from_request_parts(parts, console).await?;
        if member.is_owner() { Ok(Self(member)) } else { Err(Refusal::for_owners()) }
    }
}
