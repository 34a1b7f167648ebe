//! How the storefronts of projects look, and what they trade and sell.

use bourse_wire::{Code, Error, ProjectId, Storefront, Timestamp};

use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Store};
use crate::columns::{Insert, or_replace, record};
use crate::session::Session;
use crate::{ProjectScope, StoreError, projects};

/// What a project said of its storefront.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredStorefront {
    /// What it said.
    pub storefront: Storefront,
    /// When it first said anything.
    pub created_at: Timestamp,
    /// When it last did.
    pub updated_at: Timestamp,
}

record! {
    struct StorefrontRow: "storefronts" ("project_id") {
        project_id: ProjectId,
        domain: Option<String>,
        content: String,
        created_at: Timestamp,
        updated_at: Timestamp,
        site: bool,
    }
}

impl StorefrontRow {
    fn stored(self) -> Result<StoredStorefront, StoreError> {
        let storefront = serde_json::from_str(&self.content);
        let storefront = storefront.map_err(|error| StoreError::corrupt("storefront", error))?;
        Ok(StoredStorefront { storefront, created_at: self.created_at, updated_at: self.updated_at })
    }
}

impl Store {
    /// What a project said of its storefront, if it said anything.
    pub fn storefront(&self, scope: ProjectScope) -> Pending<'_, Option<StoredStorefront>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let row = read(&mut session, scope.project()).await?;
                row.map(StorefrontRow::stored).transpose()
            })
        })
    }

    /// The project whose storefront is at a host.
    pub fn project_at(&self, domain: String) -> Pending<'_, Option<ProjectId>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM storefronts WHERE domain = $1";
                let row: Option<StorefrontRow> = session.select_first(sql, args![domain]).await?;
                Ok(row.map(|row| row.project_id))
            })
        })
    }

    /// The projects that have pages served to buyers, so many at most.
    pub fn projects_with_sites(&self, most: u64) -> Pending<'_, Vec<ProjectId>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM storefronts WHERE site ORDER BY project_id LIMIT $1";
                let rows: Vec<StorefrontRow> = session.select(sql, args![most]).await?;
                Ok(rows.into_iter().map(|row| row.project_id).collect())
            })
        })
    }

    /// Has a project's storefront be another one.
    pub fn put_storefront(
        &self,
        scope: ProjectScope,
        storefront: Storefront,
        actor: Actor,
    ) -> Pending<'_, StoredStorefront> {
        self.write(move |mut session| {
            Box::pin(async move {
                let project = projects::require(&mut session, scope.project()).await?;
                put(&mut session, project.id, storefront, &actor).await
            })
        })
    }
}

async fn read(session: &mut Session<'_>, project: ProjectId) -> Result<Option<StorefrontRow>, StoreError> {
    session.select_first("FROM storefronts WHERE project_id = $1", args![project]).await
}

async fn put(
    session: &mut Session<'_>,
    project_id: ProjectId,
    storefront: Storefront,
    actor: &Actor,
) -> Result<StoredStorefront, StoreError> {
    let domain = storefront.domain.as_str();
    let domain = (!domain.is_empty()).then(|| domain.to_owned());
    let taken = "SELECT project_id FROM storefronts WHERE domain = $1 AND project_id <> $2";
    if let Some(domain) = &domain
        && session.has(taken, args![domain.as_str(), project_id]).await?
    {
        let message = format!("domain: another project's storefront is at {domain}");
        return Err(Error::new(Code::RequestConflict, message).into());
    }
    let known = read(session, project_id).await?;
    let content =
        serde_json::to_string(&storefront).map_err(|error| StoreError::corrupt("storefront", error))?;
    let (created_at, updated_at) = (known.map_or(actor.at, |known| known.created_at), actor.at);
    let site = storefront.site.enabled;
    let row = StorefrontRow { project_id, domain: domain.clone(), content, created_at, updated_at, site };
    session.insert(Insert::of([row])?, &or_replace::<StorefrontRow>(&[])).await?;
    let entry = Entry::new(Act::StorefrontChanged, domain.unwrap_or_default()).of(project_id);
    audit::put(session, actor, entry).await?;
    Ok(StoredStorefront { storefront, created_at, updated_at })
}
