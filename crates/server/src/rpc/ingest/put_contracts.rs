//! Puts what is known of contracts.

use bourse_store::{CollectionKey, Subject};
use bourse_wire::{ChainRef, ContractInfo, ProjectId, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::intake::{Record, Settled, commit};
use super::types::{Answer, IdempotencyKey, read};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{ContractRecordInput, Reader, contract_change};
use crate::route::request;

/// The contracts to put.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PutContractsRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Chain of the records that name none.
    chain_id: Option<ChainRef>,
    /// A name of your choice: the same request under the same name has no effect a second time.
    idempotency_key: Option<IdempotencyKey>,
    /// Contracts, each of which replaces all that was known of it: at most 1000.
    #[schemars(with = "Vec<ContractRecordInput>")]
    contracts: Vec<Value>,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let contracts = read(&call, request.chain_id.as_ref(), "contracts", request.contracts, Reader::contract)?;
    commit(&call, "PutContracts", request.idempotency_key, contracts).await
}

impl Record for ContractInfo {
    fn subject(&self) -> Option<Subject> {
        Some(Subject::Identity)
    }

    async fn settle(
        _app: &App,
        _collection: CollectionKey,
        contracts: Vec<(usize, Self)>,
        now: Timestamp,
    ) -> Result<Settled, Failure> {
        let mut settled = Settled::default();
        for (index, mut contract) in contracts {
            let is_dated = contract.updated_at != Timestamp::ZERO;
            if !is_dated {
                contract.updated_at = now;
            }
            settled.add(index, contract_change(&contract, is_dated));
        }
        Ok(settled)
    }
}
