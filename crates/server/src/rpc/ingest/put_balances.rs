//! Puts balances.

use bourse_store::{Change, CollectionKey, Subject};
use bourse_wire::{ChainRef, ProjectId, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::intake::{Record, Settled, commit};
use super::types::{Answer, IdempotencyKey, read};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{BalanceInput, Reader, balance_not_stated};
use crate::route::request;

/// The balances to put.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PutBalancesRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Chain of the records that name none.
    chain_id: Option<ChainRef>,
    /// A name of your choice: the same request under the same name has no effect a second time.
    idempotency_key: Option<IdempotencyKey>,
    /// What accounts hold of tokens: at most 1000.
    #[schemars(with = "Vec<BalanceInput>")]
    balances: Vec<Value>,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let balances = read(&call, request.chain_id.as_ref(), "balances", request.balances, Reader::balance)?;
    commit(&call, "PutBalances", request.idempotency_key, balances).await
}

/// A balance is a change as it is read.
impl Record for Change {
    fn subject(&self) -> Option<Subject> {
        Some(Subject::Collections)
    }

    async fn settle(
        app: &App,
        collection: CollectionKey,
        balances: Vec<(usize, Self)>,
        now: Timestamp,
    ) -> Result<Settled, Failure> {
        let is_followed = app.followed.has(&app.store, collection, now).await?;
        let mut settled = Settled::default();
        for (index, change) in balances {
            settled.add(index, balance_not_stated(collection, is_followed).map(|()| change));
        }
        Ok(settled)
    }
}
