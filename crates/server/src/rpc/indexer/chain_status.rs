//! Which chain an Indexer is of, which build answers, and how it does. One file for three short answers.

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

/// The build.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "IndexerVersionAnswer")]
pub(crate) struct VersionAnswer {
    version: Version,
}

/// Which build answers.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "IndexerVersion")]
pub(super) struct Version {
    /// The protocol that clients are generated for.
    webrpc_version: &'static str,
    /// The version of this program, as it has no schema apart from it.
    schema_version: &'static str,
    /// Always empty.
    schema_hash: &'static str,
    /// The version of this program.
    app_version: &'static str,
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
    /// 100 where the chain is followed, else 0.
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

/// The protocol that clients of this interface are generated for.
const WEBRPC_VERSION: &str = "v1";

pub(crate) async fn chain_id(call: Call, request: Request) -> Result<ChainAnswer, Failure> {
    Ok(ChainAnswer { chain_id: call.chain(request.chain_id.as_ref())? })
}

pub(crate) async fn version(call: Call, request: Request) -> Result<VersionAnswer, Failure> {
    call.chain(request.chain_id.as_ref())?;
    Ok(VersionAnswer { version: this_build() })
}

pub(crate) async fn runtime_status(call: Call, request: Request) -> Result<StatusAnswer, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    let indexer_enabled = call.app.nodes.get(chain).is_some();
    let (state, checks) = (RuntimeState::of(&call.app), checkpoint(&call, chain).await?);
    Ok(StatusAnswer { status: RuntimeStatus { state, indexer_enabled, chain_id: chain, checks } })
}

/// The build that answers.
pub(super) fn this_build() -> Version {
    let program = env!("CARGO_PKG_VERSION");
    Version { webrpc_version: WEBRPC_VERSION, schema_version: program, schema_hash: "", app_version: program }
}

/// How far a chain is followed.
pub(super) async fn checkpoint(call: &Call, chain: ChainId) -> Result<Checks, Failure> {
    let running = call.app.nodes.get(chain).is_some();
    let checkpoint = if running { call.app.store.checkpoint(chain).await? } else { None };
    let checkpoint = checkpoint.map(|(number, _)| number);
    let newest = checkpoint.unwrap_or_default();
    Ok(Checks {
        checkpoint,
        running,
        runnables: JsonObject::new(),
        cgo_enabled: false,
        quota_control_enabled: true,
        sync_mode: "follow",
        percent_indexed: if checkpoint.is_some() { 100 } else { 0 },
        last_block_num: newest,
        last_block_num_with_state: newest,
        bloom_status: (),
        bond: (),
        disk_usage: (),
        metrics: (),
    })
}
