//! Projects.

use bourse_wire::{Code, Error, ProjectId, Text, Timestamp};

use crate::args::args;
use crate::backend::{Sequence, Store};
use crate::row::Row;
use crate::session::Session;
use crate::{ProjectScope, StoreError};

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

impl Store {
    /// Makes a project.
    pub async fn create_project(&self, name: Text<256>, now: Timestamp) -> Result<Project, StoreError> {
        self.write(move |mut session| Box::pin(async move { create(&mut session, name, now).await })).await
    }

    /// Calls a project something else.
    pub async fn rename_project(&self, scope: ProjectScope, name: Text<256>) -> Result<(), StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope.project()).await?;
                let sql = "UPDATE projects SET name = $2 WHERE project_id = $1";
                session.execute(sql, args![scope.project(), name.into_string()]).await.map(drop)
            })
        })
        .await
    }

    /// Every project, oldest first.
    pub async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        self.read(|mut session| {
            Box::pin(async move {
                let sql = "SELECT project_id, name, created_at FROM projects ORDER BY project_id";
                session.all(sql, args![]).await?.iter().map(project).collect()
            })
        })
        .await
    }

    /// One project.
    pub async fn project(&self, id: ProjectId) -> Result<Project, StoreError> {
        self.read(move |mut session| Box::pin(async move { require(&mut session, id).await })).await
    }
}

pub(crate) async fn create(
    session: &mut Session<'_>,
    name: Text<256>,
    now: Timestamp,
) -> Result<Project, StoreError> {
    let id = session.next_id(Sequence::Project).await?;
    let sql = "INSERT INTO projects (project_id, name, created_at) VALUES ($1, $2, $3)";
    session.execute(sql, args![id, name.as_str(), now]).await?;
    let id = id.try_into().map_err(|error| StoreError::corrupt("project id", error))?;
    Ok(Project { id, name: name.into_string(), created_at: now })
}

/// The project, or an error that names it.
pub(crate) async fn require(session: &mut Session<'_>, id: ProjectId) -> Result<Project, StoreError> {
    let sql = "SELECT project_id, name, created_at FROM projects WHERE project_id = $1";
    let row = session.first(sql, args![id]).await?;
    let missing = || Error::new(Code::ProjectNotFound, format!("project {id} not found"));
    project(&row.ok_or_else(missing)?)
}

fn project(row: &Row) -> Result<Project, StoreError> {
    Ok(Project {
        id: row.u64(0, "project id")?.try_into().map_err(|error| StoreError::corrupt("project id", error))?,
        name: row.text(1)?,
        created_at: row.parse(2, "project time")?,
    })
}
