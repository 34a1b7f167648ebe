//! One collection, as the marketplace knows it.

use bourse_wire::{Address, ChainId, ChainRef, ContractInfo, ContractType, Error, JsonObject, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which collection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetCollectionDetailRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
}
request!(Request);

/// The collection.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetCollectionDetailAnswer")]
pub(crate) struct Answer {
    /// What is known of it.
    collection: Collection,
}

/// A collection that is traded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MarketplaceCollection")]
pub(crate) struct Collection {
    /// The collection's number.
    id: u64,
    /// Always `active`.
    status: &'static str,
    /// Chain.
    chain_id: ChainId,
    /// Contract of the collection.
    contract_address: Address,
    /// Standard; `UNKNOWN` when nobody said anything of the contract.
    contract_type: ContractType,
    /// Always `normal`.
    priority: &'static str,
    /// Decimals of its quantities.
    token_quantity_decimals: u64,
    /// When it was synced; records are put here, so it never was.
    config: CollectionConfig,
    /// Always 0.
    sync_contract_metadata_job: u64,
    /// Always 0.
    refresh_metadata_job: u64,
    /// Always the zero time.
    refresh_metadata_timestamp: Timestamp,
    /// When the contract's information last changed; the zero time when that is not known.
    created_at: Timestamp,
    /// The same.
    updated_at: Timestamp,
}

/// When a collection was synced with its sources.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CollectionConfig {
    /// Always empty.
    last_synced: JsonObject,
    /// Always the zero time.
    collectibles_synced: Timestamp,
    /// Always the zero time.
    activities_synced: Timestamp,
    /// Always the zero time.
    activities_synced_continuity: Timestamp,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let missing = || Error::not_found(format_args!("collection {} on chain {}", key.address, key.chain));
    let id = call.app.store.collection(key).await?.ok_or_else(missing)?;
    let info = call.app.store.contract(id).await?;
    let info: Option<ContractInfo> = info.map(|info| serde_json::from_str(&info)).transpose()?;
    let changed_at = info.as_ref().map_or(Timestamp::ZERO, |info| info.updated_at);
    Ok(Answer {
        collection: Collection {
            id: id.number(),
            status: "active",
            chain_id: key.chain,
            contract_address: key.address,
            contract_type: info.as_ref().map_or(ContractType::Unknown, |info| info.r#type),
            priority: "normal",
            token_quantity_decimals: info.and_then(|info| info.decimals).unwrap_or_default(),
            config: CollectionConfig::default(),
            sync_contract_metadata_job: 0,
            refresh_metadata_job: 0,
            refresh_metadata_timestamp: Timestamp::ZERO,
            created_at: changed_at,
            updated_at: changed_at,
        },
    })
}
