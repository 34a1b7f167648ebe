//! Projects.

use bourse_wire::{Code, Error, ProjectId, Text, Timestamp};

use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Sequence, Store};
use crate::columns::{Insert, record};
use crate::session::Session;
use crate::{ProjectScope, StoreError, grants};

/// A project: what credentials, audiences, hosted collections and analytics belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Project id.
    pub id: ProjectId,
    /// Name.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

record! { Project: "projects" ("project_id") { id = "project_id", name, created_at } }

impl Store {
    /// Makes a project, which may state everything if it is the only one.
    pub fn create_project(&self, name: Text<256>, actor: Actor) -> Pending<'_, Project> {
        self.write(move |mut session| {
            Box::pin(async move {
                let project = create(&mut session, name, &actor).await?;
                grants::add_to_first(&mut session, project.id, &actor).await?;
                Ok(project)
            })
        })
    }

    /// Calls a project something else.
    pub fn rename_project(&self, scope: ProjectScope, name: Text<256>, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let before = require(&mut session, scope.project()).await?;
                let sql = "UPDATE projects SET name = $2 WHERE project_id = $1";
                session.execute(sql, args![scope.project(), name.as_str()]).await?;
                let entry = Entry::new(Act::ProjectRenamed, before.name).of(before.id);
                audit::put(&mut session, &actor, entry.with(format!("to {}", name.as_str()))).await
            })
        })
    }

    /// Every project, oldest first.
    pub fn projects(&self) -> Pending<'_, Vec<Project>> {
        self.read(|mut session| {
            Box::pin(async move { session.select("FROM projects ORDER BY project_id", args![]).await })
        })
    }

    /// One project.
    pub fn project(&self, id: ProjectId) -> Pending<'_, Project> {
        self.read(move |mut session| Box::pin(async move { require(&mut session, id).await }))
    }
}

pub(crate) async fn create(
    session: &mut Session<'_>,
    name: Text<256>,
    actor: &Actor,
) -> Result<Project, StoreError> {
    let id = session.next_id(Sequence::Project).await?;
    let id = id.try_into().map_err(|error| StoreError::corrupt("project id", error))?;
    let project = Project { id, name: name.into_string(), created_at: actor.at };
    session.insert(Insert::of([&project])?, "").await?;
    audit::put(session, actor, Entry::new(Act::ProjectCreated, &project.name).of(project.id)).await?;
    Ok(project)
}

/// The project, or an error that names it.
pub(crate) async fn require(session: &mut Session<'_>, id: ProjectId) -> Result<Project, StoreError> {
    let found = session.select_first("FROM projects WHERE project_id = $1", args![id]).await?;
    found.ok_or_else(|| Error::new(Code::ProjectNotFound, format!("project {id} not found")).into())
}

/// Holds a project until the transaction ends, so that what is counted of it stays as it is; or an error that names it.
pub(crate) async fn hold(session: &mut Session<'_>, id: ProjectId) -> Result<(), StoreError> {
    let sql = "UPDATE projects SET name = name WHERE project_id = $1";
    if session.execute(sql, args![id]).await? == 0 {
        return require(session, id).await.map(drop);
    }
    Ok(())
}
