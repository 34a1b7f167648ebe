//! Which chain an Indexer is of, and how it does. One file for two short answers.

use bourse_wire::{ChainId, ChainRef, JsonObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::runtime_status::RuntimeState;

/// Of which chain.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "IndexerChainRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
}
request!(Request);

/// The chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetChainIDAnswer")]
pub(crate) struct ChainAnswer {
    /// Its number.
    #[serde(rename = "chainID")]
    chain_id: ChainId,
}

/// How it does.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "IndexerRuntimeStatusAnswer")]
pub(crate) struct StatusAnswer {
    status: RuntimeStatus,
}

/// How the Indexer of a chain does.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "IndexerRuntimeStatus")]
struct RuntimeStatus {
    #[serde(flatten)]
    state: RuntimeState,
    /// Whether a node of the chain is configured, so that what is followed of it moves on.
    indexer_enabled: bool,
    /// Chain.
    #[serde(rename = "chainID")]
    chain_id: ChainId,
    /// How far the chain is followed.
    checks: Checks,
}

/// How far a chain is followed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "IndexerChecks")]
pub(super) struct Checks {
    /// The newest block that is stored; null where nothing of the chain is followed.
    checkpoint: Option<u64>,
    /// Whether a node of the chain is configured.
    running: bool,
    /// Always empty.
    runnables: JsonObject,
    /// Always false.
    cgo_enabled: bool,
    /// Whether projects have quotas: always.
    quota_control_enabled: bool,
    /// Always `follow`.
    sync_mode: &'static str,
    /// How much of the chain is stored, as far as this server knows its newest block; 0 while it does not.
    percent_indexed: u8,
    /// The checkpoint; 0 where there is none.
    last_block_num: u64,
    /// The same.
    last_block_num_with_state: u64,
    /// Always null, as the others: nothing here is built like that.
    bloom_status: (),
    /// Always null.
    bond: (),
    /// Always null.
    disk_usage: (),
    /// Always null.
    metrics: (),
}

pub(crate) async fn chain_id(call: Call, request: Request) -> Result<ChainAnswer, Failure> {
    Ok(ChainAnswer { chain_id: call.chain(request.chain_id.as_ref())? })
}

pub(crate) async fn runtime_status(call: Call, request: Request) -> Result<StatusAnswer, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    let indexer_enabled = call.app.nodes.get(chain).is_some();
    let (state, checks) = (RuntimeState::of(&call.app), checkpoint(&call, chain).await?);
    Ok(StatusAnswer { status: RuntimeStatus { state, indexer_enabled, chain_id: chain, checks } })
}

/// How far a chain is followed.
pub(super) async fn checkpoint(call: &Call, chain: ChainId) -> Result<Checks, Failure> {
    let nodes = call.app.nodes.get(chain);
    let checkpoint = if nodes.is_some() { call.app.store.checkpoint(chain).await? } else { None };
    let checkpoint = checkpoint.map(|(number, _)| number);
    let newest = checkpoint.unwrap_or_default();
    Ok(Checks {
        checkpoint,
        running: nodes.is_some(),
        runnables: JsonObject::new(),
        cgo_enabled: false,
        quota_control_enabled: true,
        sync_mode: "follow",
        percent_indexed: nodes
            .and_then(|nodes| nodes.status().head)
            .map_or(0, |head| percent(newest, head.number)),
        last_block_num: newest,
        last_block_num_with_state: newest,
        bloom_status: (),
        bond: (),
        disk_usage: (),
        metrics: (),
    })
}

/// What share the blocks up to a height are of those up to the newest.
fn percent(height: u64, newest: u64) -> u8 {
    let share = u128::from(height.min(newest)) * 100 / u128::from(newest.max(1));
    u8::try_from(share).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn the_share_that_is_stored_is_rounded_down() {
        let shares = [(0, 0), (0, 7), (1, 3), (99, 100), (7, 7), (9, 7), (u64::MAX, u64::MAX)];
        assert_eq!(shares.map(|(height, newest)| percent(height, newest)), [0, 0, 33, 99, 100, 100, 100]);
    }
}
