//! What hosted collections say of the contracts that are linked with them.
//!
//! Who speaks for a contract follows from what is stored: of the links whose project may state that of the contract, and whose
//! collection is published, the one that was made first.

use std::collections::BTreeMap;

use bourse_wire::{
    Asset, CollectionMetadata, ContractCollection, HOSTED, MetadataStatus, ProjectId, RecordId, TokenId,
    TokenMetadata,
};

use super::HostedToken;
use super::assets::{AssetRecord, AssetRow};
use crate::args::args;
use crate::backend::{Pending, Store};
use crate::collections::CollectionKey;
use crate::columns::selection;
use crate::grants::Subject;
use crate::session::{Session, list};
use crate::{HostedCollection, ProjectScope, StoreError};

/// A published collection that speaks for a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Speaker {
    pub(super) project: ProjectId,
    pub(super) collection: RecordId,
}

impl Store {
    /// Those of these tokens of a contract of which a hosted collection that it is linked with says something.
    pub fn said_by_links(&self, contract: CollectionKey, tokens: Vec<TokenId>) -> Pending<'_, Vec<TokenId>> {
        let public_url = self.public_url.clone();
        self.read(move |mut session| {
            Box::pin(async move {
                let Some(speaker) = speaker(&mut session, contract, Subject::Collections).await? else {
                    return Ok(Vec::new());
                };
                let said = tokens_said(&mut session, speaker, &tokens, &public_url).await?;
                Ok(said.into_keys().collect())
            })
        })
    }
}

selection! {
    /// A collection that may speak for a contract.
    #[derive(PartialEq, Eq)]
    struct Linked {
        project_id: ProjectId = "contract_links.project_id",
        hosted_collection_id: RecordId = "contract_links.hosted_collection_id",
    }
}

/// Links of a contract by whose project may state one of these subjects of it.
const MAY_SPEAK: &str = "FROM contract_links JOIN grants ON grants.project_id = contract_links.project_id
    WHERE contract_links.chain_id = $1 AND contract_links.contract_address = $2 AND grants.subject IN ($3, $4)
    AND ((grants.chain_id = 0 AND grants.contract_address = '')
    OR (grants.chain_id = $1 AND grants.contract_address IN ('', $2)))";

/// Holds the collections that may speak for a contract until the transaction ends, always in the same order. Whoever changes something
/// of one of them, or links it, holds it too. So what they do is there as a whole, or comes after this: a coordinator of a cluster
/// shows what they ask for before a worker shows what it is about, and who saw no link has not asked at all.
pub(super) async fn hold_speakers(
    session: &mut Session<'_>,
    contract: CollectionKey,
) -> Result<(), StoreError> {
    let (collections, identity) = (Subject::Collections.number(), Subject::Identity.number());
    let sql = format!("{MAY_SPEAK} ORDER BY contract_links.project_id");
    let args = args![contract.chain, contract.address, collections, identity];
    let mut linked: Vec<Linked> = session.select(sql, args).await?;
    linked.dedup();
    for Linked { project_id, hosted_collection_id } in linked {
        hold_hosted(session, project_id, hosted_collection_id).await?;
    }
    Ok(())
}

/// Holds a hosted collection until the transaction ends.
pub(super) async fn hold_hosted(
    session: &mut Session<'_>,
    project: ProjectId,
    collection: RecordId,
) -> Result<(), StoreError> {
    let sql = "UPDATE hosted_collections SET private = private
        WHERE project_id = $1 AND hosted_collection_id = $2";
    session.execute(sql, args![project, collection]).await.map(drop)
}

/// Who speaks for a contract, as far as a subject goes.
pub(crate) async fn speaker(
    session: &mut Session<'_>,
    contract: CollectionKey,
    subject: Subject,
) -> Result<Option<Speaker>, StoreError> {
    let sql = format!("SELECT DISTINCT contract_links.project_id {MAY_SPEAK}");
    let args = args![contract.chain, contract.address, subject.number(), subject.number()];
    let mut links: Vec<(ProjectId, ContractCollection)> = Vec::new();
    for project in session.values::<ProjectId>(sql, args).await? {
        // Links are with their projects, which on a cluster are on different nodes.
        let sql =
            "FROM contract_collections WHERE project_id = $1 AND chain_id = $2 AND contract_address = $3";
        let link = session.select_first(sql, args![project, contract.chain, contract.address]).await?;
        links.extend(link.map(|link| (project, link)));
    }
    links.sort_by_key(|(_, link)| link.id);
    for (project, ContractCollection { collection_id: collection, .. }) in links {
        let sql = "SELECT hosted_collection_id FROM hosted_collections
            WHERE project_id = $1 AND hosted_collection_id = $2 AND private = FALSE";
        if session.has(sql, args![project, collection]).await? {
            return Ok(Some(Speaker { project, collection }));
        }
    }
    Ok(None)
}

/// What is said of some tokens of a contract: of those that are published.
pub(crate) async fn tokens_said(
    session: &mut Session<'_>,
    speaker: Speaker,
    tokens: &[TokenId],
    public_url: &str,
) -> Result<BTreeMap<TokenId, TokenMetadata>, StoreError> {
    let Speaker { project, collection } = speaker;
    let sql = format!(
        "FROM hosted_tokens LEFT JOIN hosted_assets
        ON hosted_assets.project_id = hosted_tokens.project_id
        AND hosted_assets.hosted_collection_id = hosted_tokens.hosted_collection_id
        AND hosted_assets.token_id = hosted_tokens.token_id
        WHERE hosted_tokens.project_id = $1 AND hosted_tokens.hosted_collection_id = $2
        AND hosted_tokens.private = FALSE AND hosted_tokens.token_id IN ({})
        ORDER BY hosted_assets.asset_id",
        list(tokens.len(), 2)
    );
    let named = tokens.iter().flat_map(|token| args![*token]);
    let args = args![project, collection].into_iter().chain(named).collect();
    let rows: Vec<(HostedToken, Option<AssetRow>)> = session.select(sql, args).await?;
    let mut found: BTreeMap<TokenId, (TokenMetadata, Vec<Asset>)> = BTreeMap::new();
    for (HostedToken { metadata, .. }, asset) in rows {
        let (_, assets) = found.entry(metadata.token_id).or_insert((metadata, Vec::new()));
        assets.extend(asset.map(|row| AssetRecord::from(row).shown(project, public_url)));
    }
    let said = found.into_iter().filter_map(|(token_id, (mut token, assets))| {
        token.link_assets(&assets);
        token.status = Some(MetadataStatus::Available);
        HOSTED.clone_into(&mut token.source);
        // With the addresses of its files it may be larger than when it was taken.
        let Err(error) = token.to_json() else { return Some((token_id, token)) };
        tracing::warn!(%project, %collection, token = %token_id, %error, "a hosted token is too large to be served");
        None
    });
    Ok(said.collect())
}

/// What is said of a contract itself, if anything is.
pub(super) async fn contract_said(
    session: &mut Session<'_>,
    contract: CollectionKey,
    public_url: &str,
) -> Result<Option<CollectionMetadata>, StoreError> {
    let Some(Speaker { project, collection }) = speaker(session, contract, Subject::Identity).await? else {
        return Ok(None);
    };
    let scope = ProjectScope::of_operator(project);
    let HostedCollection { mut metadata, .. } =
        super::collections::require(session, scope, collection).await?;
    let sql = "FROM hosted_assets WHERE project_id = $1 AND hosted_collection_id = $2 AND token_id IS NULL
        ORDER BY asset_id";
    let rows: Vec<AssetRow> = session.select(sql, args![project, collection]).await?;
    let assets: Vec<Asset> =
        rows.into_iter().map(|row| AssetRecord::from(row).shown(project, public_url)).collect();
    metadata.link_assets(&assets);
    let is_silent = [&metadata.name, &metadata.description, &metadata.image, &metadata.external_link]
        .iter()
        .all(|text| text.is_empty());
    Ok((!is_silent).then_some(metadata))
}
