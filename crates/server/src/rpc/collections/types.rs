//! What several operations of the service share.

use bourse_store::{AssetRecord, HostedCollection, HostedToken, ProjectScope, StoreError};
use bourse_wire::{
    Asset, ChainRef, Collection, CollectionBaseUris, CollectionInput, Error, HOSTED, MetadataStatus,
    ProjectId, RecordId, TokenId, TokenMetadata,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::route::request;

/// Which collection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CollectionRequest {
    /// The credential's own project, when given.
    pub(super) project_id: Option<ProjectId>,
    /// Collection id.
    pub(super) collection_id: RecordId,
}
request!(CollectionRequest, project_id);

/// Which token.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenRequest {
    /// The credential's own project, when given.
    pub(super) project_id: Option<ProjectId>,
    /// Collection id.
    pub(super) collection_id: RecordId,
    /// Token id.
    pub(super) token_id: TokenId,
}
request!(TokenRequest, project_id);

/// Which asset.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AssetRequest {
    /// The credential's own project, when given.
    pub(super) project_id: Option<ProjectId>,
    /// Asset id.
    pub(super) asset_id: RecordId,
}
request!(AssetRequest, project_id);

/// Which contract.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContractRequest {
    /// The credential's own project, when given.
    pub(super) project_id: Option<ProjectId>,
    /// Chain, by number or by name.
    pub(super) chain_id: Option<ChainRef>,
    /// Contract address.
    pub(super) contract_address: bourse_wire::Address,
}
request!(ContractRequest, project_id);

/// A contract to link with a collection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContractCollectionRequest {
    /// The credential's own project, when given.
    pub(super) project_id: Option<ProjectId>,
    /// The link.
    pub(super) contract_collection: ContractCollectionInput,
}
request!(ContractCollectionRequest, project_id);

/// A link between a contract and a collection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContractCollectionInput {
    /// Chain, by number or by name.
    pub(super) chain_id: Option<ChainRef>,
    /// Contract address.
    pub(super) contract_address: bourse_wire::Address,
    /// Collection id.
    pub(super) collection_id: RecordId,
}

/// A collection to make or to change.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CollectionInputRequest {
    /// The credential's own project, when given.
    pub(super) project_id: Option<ProjectId>,
    /// Its metadata: to make one, with a name; to change one, with its id and what is to be different.
    pub(super) collection: CollectionInput,
}
request!(CollectionInputRequest, project_id);

/// A collection.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CollectionAnswer {
    pub(super) collection: Collection,
}

/// A token with its assets.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TokenAnswer {
    pub(crate) token: TokenMetadata,
    pub(super) assets: Vec<Asset>,
}

/// An asset.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AssetAnswer {
    pub(super) asset: Asset,
}

/// That it was done.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatusAnswer {
    /// Always true; a failure is an error.
    pub(super) status: bool,
}

/// That it was done.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OkAnswer {
    /// Always true; a failure is an error.
    pub(super) ok: bool,
}

/// The public address of a collection.
pub(crate) fn collection_url(app: &App, project: ProjectId, collection: RecordId) -> String {
    format!("{}/projects/{project}/collections/{collection}", app.settings.public_url())
}

/// An asset as clients see it.
pub(crate) fn asset(app: &App, project: ProjectId, record: AssetRecord) -> Asset {
    record.shown(project, &app.settings.public_url())
}

/// The assets of a token, or of the collection itself.
pub(crate) async fn assets(
    app: &App,
    scope: ProjectScope,
    collection: RecordId,
    token: Option<TokenId>,
) -> Result<Vec<Asset>, StoreError> {
    let records = app.store.assets_of(scope, collection, token).await?;
    Ok(records.into_iter().map(|record| asset(app, scope.project(), record)).collect())
}

/// A collection as clients see it.
pub(crate) async fn collection(
    app: &App,
    scope: ProjectScope,
    hosted: HostedCollection,
) -> Result<Collection, StoreError> {
    let url = collection_url(app, hosted.project, hosted.id);
    let assets = assets(app, scope, hosted.id, None).await?;
    let mut metadata = hosted.metadata;
    metadata.link_assets(&assets);
    Ok(Collection {
        id: hosted.id,
        project_id: hosted.project,
        metadata,
        private: hosted.private,
        token_count: hosted.token_count,
        created_at: hosted.created_at,
        updated_at: hosted.updated_at,
        base_uris: CollectionBaseUris { contract: format!("{url}.json"), token: format!("{url}/tokens/") },
        assets,
    })
}

/// A token as clients see it, with its assets.
pub(crate) async fn token(
    app: &App,
    scope: ProjectScope,
    collection: RecordId,
    hosted: HostedToken,
) -> Result<TokenAnswer, StoreError> {
    let assets = app.store.assets_of(scope, collection, Some(hosted.metadata.token_id)).await?;
    Ok(token_with(app, scope, hosted, assets))
}

/// The same, where its assets are known.
pub(crate) fn token_with(
    app: &App,
    scope: ProjectScope,
    hosted: HostedToken,
    assets: Vec<AssetRecord>,
) -> TokenAnswer {
    let mut token = hosted.metadata;
    let assets: Vec<Asset> = assets.into_iter().map(|record| asset(app, scope.project(), record)).collect();
    token.link_assets(&assets);
    HOSTED.clone_into(&mut token.source);
    token.status = Some(MetadataStatus::Available);
    TokenAnswer { token, assets }
}

/// The id that a record to update must carry.
pub(crate) fn required_id(id: Option<RecordId>, member: &str) -> Result<RecordId, Error> {
    id.ok_or_else(|| Error::invalid(member, "is required"))
}
