//! Puts currencies.

use bourse_store::{CollectionKey, Subject};
use bourse_wire::{ChainRef, Error, ProjectId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::types::{Answer, IdempotencyKey, Rejected, read};
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{CurrencyInput, Reader};
use crate::route::request;

/// The currencies to put.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PutCurrenciesRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Chain of the records that name none.
    chain_id: Option<ChainRef>,
    /// Not taken: currencies belong to no collection, and only collections remember such keys.
    idempotency_key: Option<IdempotencyKey>,
    /// Currencies, each of which replaces all that was known of it: at most 1000.
    #[schemars(with = "Vec<CurrencyInput>")]
    currencies: Vec<Value>,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    if request.idempotency_key.is_some_and(|key| !key.as_str().is_empty()) {
        // Better refused than silently without effect.
        return Err(Error::invalid("idempotencyKey", "is not taken for currencies: leave it out").into());
    }
    let chain = request.chain_id.as_ref();
    let read = read(&call, chain, "currencies", request.currencies, Reader::currency)?;
    let mut rejected = read.rejected;
    let mut currencies = Vec::with_capacity(read.accepted.len());
    for (index, currency) in read.accepted {
        let contract = CollectionKey { chain: currency.chain_id, address: currency.contract_address };
        match call.check_grant(Subject::Currencies, contract) {
            Ok(()) => currencies.push(currency),
            Err(rejection) => rejected.push(Rejected::new(index, rejection)),
        }
    }
    rejected.sort_by_key(|rejected| rejected.index);
    let accepted = currencies.len();
    let changed =
        if currencies.is_empty() { 0 } else { call.app.put_currencies(currencies, call.actor()).await? };
    Ok(Answer { accepted, changed, rejected, replayed: false })
}
