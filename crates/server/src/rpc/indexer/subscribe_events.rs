//! What happens in contracts, as it happens: a stream in the form of the published indexer's clients.

use bourse_wire::{ChainRef, EventFilter};
use schemars::JsonSchema;
use serde::Deserialize;

use super::event_filter::check_filter;
use crate::call::Call;
use crate::event_log::EventLog;
use crate::failure::Failure;
use crate::route::request;
use crate::streams::{self, Subscription};

/// What to tell of.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SubscribeEventsRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// What is told. The contracts must be named.
    filter: EventFilter,
}
request!(Request);

/// One line of the stream.
#[derive(JsonSchema)]
#[schemars(rename = "SubscribeEventsAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// What happened, or did not after all.
    log: EventLog,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Subscription, Failure> {
    check_filter(&call.app, "filter", call.app.settings.limits.batch_contracts_max, &request.filter)?;
    let contract = |address: &_| call.collection(request.chain_id.as_ref(), *address);
    let contracts: Result<_, _> = request.filter.contract_addresses.iter().map(contract).collect();
    streams::events(&call, contracts?, request.filter).await
}
