//! Follows a contract's tokens and orders on its chain, as part of the project's market.

use bourse_store::{CollectionKey, Followed, ProjectFollow, Subject};
use bourse_wire::{Address, ChainId, ChainRef, Code, Error, ProjectId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::Rejection;
use crate::route::request;

/// The contract to follow.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "AdminCreateCollectionRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// The chain, which needs a node.
    chain_id: Option<ChainRef>,
    /// The contract.
    contract_address: Address,
    /// The block to read from: the one that the contract was deployed in, or an earlier one. Of a collection that is
    /// followed already, an earlier start than its own has it read anew from there; a later one changes nothing.
    #[serde(default)]
    from_block: u64,
}
request!(Request, project_id);

/// How far the collection is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AdminCreateCollectionResponse")]
pub(crate) struct Answer {
    /// The collection.
    collection: FollowedCollection,
}

/// A collection whose chain is followed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FollowedCollection {
    /// Its chain.
    chain_id: ChainId,
    /// Its contract.
    contract_address: Address,
    /// The first block that is read for it.
    from_block: u64,
    /// The first block that was not read for it yet.
    next_block: u64,
    /// Whether everything up to the newest known block was read.
    live: bool,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let key =
        CollectionKey { chain: call.chain(request.chain_id.as_ref())?, address: request.contract_address };
    let (app, from) = (&call.app, request.from_block);
    if key.address == Address::ZERO {
        return Err(Error::invalid("contractAddress", "the zero address is no contract").into());
    }
    if i64::try_from(from).is_err() {
        return Err(Error::invalid("fromBlock", "no chain has so many blocks").into());
    }
    let denied = |rejection: Rejection| Error::new(Code::PermissionDenied, rejection.message);
    call.check_grant(Subject::Collections, key).map_err(denied)?;
    if app.nodes.get(key.chain).is_none() {
        let reason = format!("chain {} has no node, so that nothing could be read", key.chain);
        return Err(Error::invalid("chainId", reason).into());
    }
    let follow = ProjectFollow { key, from, most: Some(app.settings.limits.followed_collections_max) };
    let followed = app.store.follow_for(call.scope(), follow, call.actor()).await?;
    app.followed.forget(key.chain);
    let Followed { from: from_block, next_block, live, .. } = followed;
    let (chain_id, contract_address) = (key.chain, key.address);
    Ok(Answer { collection: FollowedCollection { chain_id, contract_address, from_block, next_block, live } })
}
