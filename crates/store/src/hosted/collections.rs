//! Hosted collections.

use bourse_wire::{CollectionInput, CollectionMetadata, Error, Page, ProjectId, RecordId, Timestamp};

use super::files::count_deleted;
use super::link_queue::{Concerned, ask_of_collection};
use super::links::forget_links;
use crate::args::args;
use crate::backend::{Pending, Sequence, Store};
use crate::columns::{Value as _, selection};
use crate::session::Session;
use crate::{ProjectScope, StoreError, projects};

/// A collection that a project hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostedCollection {
    /// Collection id.
    pub id: RecordId,
    /// The project it belongs to.
    pub project: ProjectId,
    /// Name, description and the like.
    pub metadata: CollectionMetadata,
    /// Whether it is hidden from the public addresses.
    pub private: bool,
    /// How many tokens it has.
    pub token_count: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Who sees a collection at its public addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Nobody.
    Private,
    /// Everybody, but for its private tokens.
    Public,
    /// Everybody; its private tokens are private no longer.
    PublicWithTokens,
}

// The project is the first argument of every statement that selects these: a subquery that took it from the row beside it
// would ask all nodes of a cluster.
selection! { HostedCollection {
    id = "hosted_collection_id",
    project = "project_id",
    metadata,
    private,
    token_count = "(SELECT COUNT(*) FROM hosted_tokens
        WHERE hosted_tokens.project_id = $1
        AND hosted_tokens.hosted_collection_id = hosted_collections.hosted_collection_id)",
    created_at,
    updated_at,
} }

impl Store {
    /// Makes a collection; private until published, unless told otherwise.
    pub fn create_hosted_collection(
        &self,
        scope: ProjectScope,
        input: CollectionInput,
        now: Timestamp,
    ) -> Pending<'_, HostedCollection> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                let id = session.next_id(Sequence::HostedCollection).await?;
                let mut metadata = CollectionMetadata::default();
                input.metadata.unwrap_or_default().apply(&mut metadata);
                let sql = "INSERT INTO hosted_collections
                    (project_id, hosted_collection_id, metadata, private, created_at, updated_at)
                    VALUES ($1, $2, $3, $4, $5, $5)";
                let private = input.private.unwrap_or(true);
                session.execute(sql, args![scope.project(), id, metadata.arg()?, private, now]).await?;
                let id = id.try_into().map_err(|error| StoreError::corrupt("collection id", error))?;
                require(&mut session, scope, id).await
            })
        })
    }

    /// One collection.
    pub fn hosted_collection(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, HostedCollection> {
        self.read(move |mut session| Box::pin(async move { require(&mut session, scope, id).await }))
    }

    /// One page of a project's collections, oldest first, read one beyond the page.
    pub fn hosted_collections(&self, scope: ProjectScope, page: &Page) -> Pending<'_, Vec<HostedCollection>> {
        let (limit, offset) = (page.page_size + 1, page.offset());
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM hosted_collections WHERE project_id = $1
                    ORDER BY hosted_collection_id LIMIT $2 OFFSET $3";
                session.select(sql, args![scope.project(), limit, offset]).await
            })
        })
    }

    /// Changes what the input says of a collection.
    pub fn update_hosted_collection(
        &self,
        scope: ProjectScope,
        id: RecordId,
        input: CollectionInput,
        now: Timestamp,
    ) -> Pending<'_, HostedCollection> {
        self.write(move |mut session| {
            Box::pin(async move {
                touch(&mut session, scope, id, now).await?;
                let mut known = require(&mut session, scope, id).await?;
                input.metadata.unwrap_or_default().apply(&mut known.metadata);
                let sql = "UPDATE hosted_collections SET metadata = $3, private = $4
                    WHERE project_id = $1 AND hosted_collection_id = $2";
                let private = input.private.unwrap_or(known.private);
                session.execute(sql, args![scope.project(), id, known.metadata.arg()?, private]).await?;
                let is_all = private != known.private;
                let concerned = if is_all { Concerned::Everything } else { Concerned::Contract };
                ask_of_collection(&mut session, (scope.project(), id), concerned, now).await?;
                require(&mut session, scope, id).await
            })
        })
    }

    /// Shows a collection at its public addresses, or hides it.
    pub fn publish_hosted_collection(
        &self,
        scope: ProjectScope,
        id: RecordId,
        visibility: Visibility,
        now: Timestamp,
    ) -> Pending<'_, HostedCollection> {
        self.write(move |mut session| {
            Box::pin(async move {
                let private = visibility == Visibility::Private;
                require(&mut session, scope, id).await?;
                let sql = "UPDATE hosted_collections SET private = $3, updated_at = $4
                    WHERE project_id = $1 AND hosted_collection_id = $2";
                session.execute(sql, args![scope.project(), id, private, now]).await?;
                if visibility == Visibility::PublicWithTokens {
                    let sql = "UPDATE hosted_tokens SET private = FALSE
                        WHERE project_id = $1 AND hosted_collection_id = $2";
                    session.execute(sql, args![scope.project(), id]).await?;
                }
                let collection = (scope.project(), id);
                ask_of_collection(&mut session, collection, Concerned::Everything, now).await?;
                require(&mut session, scope, id).await
            })
        })
    }

    /// Deletes a collection with its tokens, assets and contract links. Tells the contents of the assets, as many as are
    /// told at once; other assets may still have them.
    pub fn delete_hosted_collection(
        &self,
        scope: ProjectScope,
        id: RecordId,
        now: Timestamp,
    ) -> Pending<'_, Vec<String>> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, id).await?;
                let (this, args) =
                    ("project_id = $1 AND hosted_collection_id = $2", args![scope.project(), id]);
                // It is held first, so that nobody puts in a file after those that are there were counted.
                let sql = format!("UPDATE hosted_collections SET private = private WHERE {this}");
                session.execute(sql, args.clone()).await?;
                let freed = count_deleted(&mut session, scope, this, args.clone()).await?;
                session.execute(format!("DELETE FROM hosted_collections WHERE {this}"), args).await?;
                let collection = (scope.project(), id);
                ask_of_collection(&mut session, collection, Concerned::Everything, now).await?;
                forget_links(&mut session, scope, id).await?;
                Ok(freed)
            })
        })
    }
}

/// The collection, or an error that names it.
pub(super) async fn require(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<HostedCollection, StoreError> {
    let sql = "FROM hosted_collections WHERE project_id = $1 AND hosted_collection_id = $2";
    let found = session.select_first(sql, args![scope.project(), id]).await?;
    found.ok_or_else(|| missing(id))
}

pub(super) fn missing(id: RecordId) -> StoreError {
    Error::not_found(format_args!("collection {id}")).into()
}

/// Notes that something in a collection changed. It also holds the collection until the transaction ends: changes in
/// one collection follow each other when each begins with this, and what is read after it nobody else is changing. Whether there
/// is such a collection.
pub(super) async fn touch(
    session: &mut Session<'_>,
    scope: ProjectScope,
    collection: RecordId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let sql =
        "UPDATE hosted_collections SET updated_at = $3 WHERE project_id = $1 AND hosted_collection_id = $2";
    Ok(session.execute(sql, args![scope.project(), collection, now]).await? > 0)
}
