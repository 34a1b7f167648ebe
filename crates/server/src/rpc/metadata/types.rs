//! What the operations that fetch anew share.

use bourse_store::{CollectionKey, Refresh, RefreshTask, RefreshedThing};
use bourse_wire::{Address, ChainId, ChainRef, Error, RecordId, TaskStatus, Timestamp, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check_batch;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which contract is to be fetched anew.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RefreshContractRequest")]
pub(crate) struct ContractRequest {
    /// Chain, by number or by name.
    #[serde(rename = "chainHandle")]
    chain_handle: Option<ChainRef>,
    /// The same, as other operations call it.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Contract address.
    #[serde(rename = "contractAddress")]
    contract_address: Address,
}
request!(ContractRequest);

impl ContractRequest {
    pub(super) fn collection(&self, call: &Call) -> Result<CollectionKey, Error> {
        let chain = self.chain_handle.as_ref().or(self.chain_id.as_ref());
        call.collection(chain, self.contract_address)
    }
}

/// Which tokens are to be fetched anew.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RefreshTokensRequest")]
pub(crate) struct TokensRequest {
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// The same, as other operations call it.
    #[serde(rename = "chainHandle")]
    chain_handle: Option<ChainRef>,
    /// Contract address.
    #[serde(rename = "contractAddress")]
    contract_address: Address,
    /// Token ids: at most 50. Those that are not known are left out.
    #[serde(rename = "tokenIDs", default)]
    token_ids: Vec<TokenId>,
    /// All tokens of the contract, in place of those that are named.
    #[serde(rename = "refreshAll", default)]
    refresh_all: bool,
}
request!(TokensRequest);

impl TokensRequest {
    /// Puts the tokens into the queue.
    pub(super) async fn refresh(self, call: &Call) -> Result<RefreshTask, Failure> {
        let key =
            call.collection(self.chain_id.as_ref().or(self.chain_handle.as_ref()), self.contract_address)?;
        let wanted = if self.refresh_all { all_tokens(call) } else { some_tokens(call, self.token_ids)? };
        refresh(call, key, wanted).await
    }
}

fn some_tokens(call: &Call, tokens: Vec<TokenId>) -> Result<Refresh, Error> {
    check_batch("tokenIDs", "token ids", tokens.len(), call.app.settings.limits.batch_tokens_max)?;
    if tokens.is_empty() {
        return Err(Error::invalid("tokenIDs", "is required: name tokens, or set refreshAll"));
    }
    Ok(Refresh::Tokens(tokens))
}

pub(super) fn all_tokens(call: &Call) -> Refresh {
    Refresh::AllTokens { again_after_ms: call.app.settings.metadata.refresh_all_ms }
}

/// Refuses to promise what nobody could be asked for.
pub(super) fn check_node(call: &Call, chain: ChainId) -> Result<(), Error> {
    let reason = match call.app.settings.networks.get(chain.0) {
        Some(network) if !network.rpc_urls.is_empty() => return Ok(()),
        Some(network) => {
            format!(
                "network {0} has no node (`networks.{0}.rpc_url`), so nothing can be fetched",
                network.name
            )
        }
        None => format!("no network with the id {chain} has a node, so nothing can be fetched"),
    };
    Err(Error::invalid("chainID", reason))
}

/// Puts what is wanted into the queue, if there is anybody to ask.
pub(super) async fn refresh(
    call: &Call,
    key: CollectionKey,
    wanted: Refresh,
) -> Result<RefreshTask, Failure> {
    check_node(call, key.chain)?;
    let refreshed = call.app.store.refresh(call.scope(), key, wanted, call.now).await?;
    for (key, mark) in refreshed.versions {
        call.follow(key, mark).await;
    }
    Ok(refreshed.task)
}

/// The number of a task.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TaskIdAnswer")]
pub(crate) struct TaskIdAnswer {
    /// Task id, for `GetTask`.
    #[serde(rename = "taskID")]
    id: RecordId,
    /// The same, as other clients spell it.
    #[serde(rename = "taskId")]
    same_id: RecordId,
}

impl From<RecordId> for TaskIdAnswer {
    fn from(id: RecordId) -> Self {
        Self { id, same_id: id }
    }
}

/// A task.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TaskAnswer {
    pub(super) task: Task,
}

/// Something that was asked for, and how far it is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task {
    /// Task id.
    id: RecordId,
    /// Which queue it is in; there is one.
    queue: &'static str,
    /// How far it is: done when everything was fetched or given up, failed when nothing could be fetched.
    status: TaskStatus,
    /// How often the token that was tried most was tried in vain.
    r#try: u64,
    /// When the next attempt is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_at: Option<Timestamp>,
    /// When it was asked for.
    created_at: Timestamp,
    /// The contract or contracts, how many of the tokens or contracts are done, and what went wrong with some of the others.
    payload: Vec<String>,
    /// What came of it so far: the last of those again, without the contract.
    result: Vec<String>,
}

impl From<RefreshTask> for Task {
    fn from(task: RefreshTask) -> Self {
        let done = task.total.saturating_sub(task.waiting + task.failed);
        let name = |key: &CollectionKey| format!("{}/{}", key.chain, key.address);
        let mut payload: Vec<String> = task.collections.iter().map(name).collect();
        payload.push(format!(
            "{done} of {} fetched, {} waiting, {} not available",
            task.total, task.waiting, task.failed
        ));
        payload.extend(task.reasons.iter().map(|reason| match &reason.of {
            RefreshedThing::Token(token) => format!("token {token}: {}", reason.why),
            RefreshedThing::Contract(_) if task.collections.len() == 1 => format!("contract: {}", reason.why),
            RefreshedThing::Contract(key) => format!("contract {}: {}", key.address, reason.why),
        }));
        Self {
            id: task.id,
            queue: "metadata",
            status: task.status(),
            r#try: task.attempts,
            run_at: task.run_at,
            created_at: task.created_at,
            result: payload.get(1..).map(<[String]>::to_vec).unwrap_or_default(),
            payload,
        }
    }
}
