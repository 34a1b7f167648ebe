//! Tokens of hosted collections.

use bourse_wire::{Error, Page, RecordId, Timestamp, TokenId, TokenInput, TokenMetadata};

use super::assets::{AssetRecord, AssetRow};
use super::collections::{missing, require as require_collection, touch};
use super::files::count_deleted;
use super::link_queue::{Concerned, ask_of_collection};
use crate::args::args;
use crate::backend::{Pending, Store};
use crate::columns::{Value as _, selection};
use crate::session::Session;
use crate::{ProjectScope, StoreError};

/// A token of a hosted collection.
#[derive(Clone, Debug, PartialEq)]
pub struct HostedToken {
    /// What is known of it.
    pub metadata: TokenMetadata,
    /// Whether it is hidden from the public addresses.
    pub private: bool,
}

selection! { HostedToken { metadata, private } }

/// A token to be added to a hosted collection.
#[derive(Clone, Debug)]
pub struct NewHostedToken {
    /// Token id.
    pub token_id: TokenId,
    /// What is said of it.
    pub input: TokenInput,
    /// Whether it is hidden from the public addresses.
    pub private: bool,
}

/// What is to be different about a token of a hosted collection.
#[derive(Clone, Debug)]
pub struct HostedTokenEdit {
    /// Token id.
    pub token_id: TokenId,
    /// What is said of it now; what is left out stays.
    pub input: TokenInput,
    /// Whether it is hidden from the public addresses; as before when absent.
    pub private: Option<bool>,
}

impl Store {
    /// Adds a token to a collection.
    pub fn create_hosted_token(
        &self,
        scope: ProjectScope,
        collection: RecordId,
        token: NewHostedToken,
        now: Timestamp,
    ) -> Pending<'_, HostedToken> {
        self.write(move |mut session| {
            Box::pin(async move {
                if !touch(&mut session, scope, collection, now).await? {
                    return Err(missing(collection));
                }
                let NewHostedToken { token_id, input, private } = token;
                let mut metadata = TokenMetadata { token_id, updated_at: now, ..TokenMetadata::default() };
                input.apply(&mut metadata);
                let sql = "INSERT INTO hosted_tokens (project_id, hosted_collection_id, token_id, metadata, private)
                    VALUES ($1, $2, $3, $4, $5)
                    ON CONFLICT (project_id, hosted_collection_id, token_id) DO NOTHING";
                let args = args![scope.project(), collection, token_id, metadata.arg()?, private];
                if session.execute(sql, args).await? == 0 {
                    let reason = format!("token {token_id} exists in collection {collection}: update it instead");
                    return Err(Error::conflict(reason).into());
                }
                ask(&mut session, scope, (collection, token_id), now).await?;
                Ok(HostedToken { metadata, private })
            })
        })
    }

    /// One token.
    pub fn hosted_token(
        &self,
        scope: ProjectScope,
        collection: RecordId,
        token: TokenId,
    ) -> Pending<'_, HostedToken> {
        self.read(move |mut session| {
            Box::pin(async move { require(&mut session, scope, collection, token).await })
        })
    }

    /// One token with its assets, oldest first.
    pub fn hosted_token_with_assets(
        &self,
        scope: ProjectScope,
        collection: RecordId,
        token: TokenId,
    ) -> Pending<'_, (HostedToken, Vec<AssetRecord>)> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM hosted_tokens LEFT JOIN hosted_assets
                    ON hosted_assets.project_id = hosted_tokens.project_id
                    AND hosted_assets.hosted_collection_id = hosted_tokens.hosted_collection_id
                    AND hosted_assets.token_id = hosted_tokens.token_id
                    WHERE hosted_tokens.project_id = $1 AND hosted_tokens.hosted_collection_id = $2
                    AND hosted_tokens.token_id = $3 ORDER BY hosted_assets.asset_id";
                let found: Vec<(HostedToken, Option<AssetRow>)> =
                    session.select(sql, args![scope.project(), collection, token]).await?;
                let (mut tokens, assets): (Vec<_>, Vec<_>) = found.into_iter().unzip();
                match tokens.pop() {
                    Some(found) => Ok((found, assets.into_iter().flatten().map(AssetRecord::from).collect())),
                    None => Err(missing_token(&mut session, scope, collection, token).await),
                }
            })
        })
    }

    /// One page of a collection's tokens in the order of their ids, read one beyond the page.
    pub fn hosted_tokens(
        &self,
        scope: ProjectScope,
        collection: RecordId,
        page: &Page,
    ) -> Pending<'_, Vec<HostedToken>> {
        let (limit, offset) = (page.page_size + 1, page.offset());
        self.read(move |mut session| {
            Box::pin(async move {
                require_collection(&mut session, scope, collection).await?;
                // Decimal text without leading zeros sorts as numbers do when shorter comes first.
                let sql = "FROM hosted_tokens
                    WHERE project_id = $1 AND hosted_collection_id = $2
                    ORDER BY LENGTH(token_id), token_id LIMIT $3 OFFSET $4";
                session.select(sql, args![scope.project(), collection, limit, offset]).await
            })
        })
    }

    /// Changes what the input says of a token.
    pub fn update_hosted_token(
        &self,
        scope: ProjectScope,
        collection: RecordId,
        edit: HostedTokenEdit,
        now: Timestamp,
    ) -> Pending<'_, HostedToken> {
        self.write(move |mut session| {
            Box::pin(async move {
                let HostedTokenEdit { token_id, input, private } = edit;
                touch(&mut session, scope, collection, now).await?;
                let mut known = require(&mut session, scope, collection, token_id).await?;
                input.apply(&mut known.metadata);
                known.metadata.updated_at = now;
                known.private = private.unwrap_or(known.private);
                let sql = "UPDATE hosted_tokens SET metadata = $4, private = $5
                    WHERE project_id = $1 AND hosted_collection_id = $2 AND token_id = $3";
                let metadata = known.metadata.arg()?;
                let args = args![scope.project(), collection, token_id, metadata, known.private];
                session.execute(sql, args).await?;
                ask(&mut session, scope, (collection, token_id), now).await?;
                Ok(known)
            })
        })
    }

    /// Deletes a token and the assets it has. Tells the contents of those, which other assets may still have.
    pub fn delete_hosted_token(
        &self,
        scope: ProjectScope,
        collection: RecordId,
        token: TokenId,
        now: Timestamp,
    ) -> Pending<'_, Vec<String>> {
        self.write(move |mut session| {
            Box::pin(async move {
                touch(&mut session, scope, collection, now).await?;
                require(&mut session, scope, collection, token).await?;
                let this = "project_id = $1 AND hosted_collection_id = $2 AND token_id = $3";
                let args = args![scope.project(), collection, token];
                let freed = count_deleted(&mut session, scope, this, args.clone()).await?;
                for table in ["hosted_assets", "hosted_tokens"] {
                    session.execute(format!("DELETE FROM {table} WHERE {this}"), args.clone()).await?;
                }
                ask(&mut session, scope, (collection, token), now).await?;
                Ok(freed)
            })
        })
    }
}

/// Has contracts that are linked with the collection served with what it says of a token by now.
async fn ask(
    session: &mut Session<'_>,
    scope: ProjectScope,
    (collection, token): (RecordId, TokenId),
    now: Timestamp,
) -> Result<(), StoreError> {
    ask_of_collection(session, (scope.project(), collection), Concerned::Token(token), now).await
}

/// The token, or an error that names what is missing.
pub(super) async fn require(
    session: &mut Session<'_>,
    scope: ProjectScope,
    collection: RecordId,
    token: TokenId,
) -> Result<HostedToken, StoreError> {
    let sql = "FROM hosted_tokens WHERE project_id = $1 AND hosted_collection_id = $2 AND token_id = $3";
    if let Some(found) = session.select_first(sql, args![scope.project(), collection, token]).await? {
        return Ok(found);
    }
    Err(missing_token(session, scope, collection, token).await)
}

/// What is missing where there is no such token: that, or its collection.
async fn missing_token(
    session: &mut Session<'_>,
    scope: ProjectScope,
    collection: RecordId,
    token: TokenId,
) -> StoreError {
    match require_collection(session, scope, collection).await {
        Ok(_) => Error::not_found(format_args!("token {token} of collection {collection}")).into(),
        Err(error) => error,
    }
}
