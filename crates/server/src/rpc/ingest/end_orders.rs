//! Orders that end otherwise than by being filled.

use bourse_store::{Change, CollectionKey, Subject};
use bourse_wire::{ChainRef, OrderKey, OrderStatus, ProjectId, Text, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::intake::{Record, Settled, commit};
use super::stored_records;
use super::types::{Answer, IdempotencyKey, read};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{OrderKeyInput, Reason, Rejection, not_stated};
use crate::route::request;

/// The orders to end.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "EndOrdersRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Chain of the records that name none.
    chain_id: Option<ChainRef>,
    /// A name of your choice: the same request under the same name has no effect a second time.
    idempotency_key: Option<IdempotencyKey>,
    /// Why, for the service's log.
    #[serde(default)]
    reason: Text<256>,
    /// Which orders: at most 1000.
    #[schemars(with = "Vec<OrderKeyInput>")]
    orders: Vec<Value>,
}
request!(Request, project_id);

/// An order, and the status it ends with.
struct Ending {
    order: OrderKey,
    status: OrderStatus,
}

/// Gives orders a status that is not active.
pub(super) async fn end(
    call: &Call,
    operation: &'static str,
    status: OrderStatus,
    request: Request,
) -> Result<Answer, Failure> {
    let orders = read(call, request.chain_id.as_ref(), "orders", request.orders, |reader, members| {
        let (collection, order) = reader.order_key(members)?;
        Ok((collection, Ending { order, status }))
    })?;
    let answer = commit(call, operation, request.idempotency_key, orders).await?;
    tracing::info!(
        operation,
        project = %call.caller.project(),
        changed = answer.changed,
        reason = request.reason.as_str(),
        "orders ended"
    );
    Ok(answer)
}

impl Record for Ending {
    fn subject(&self) -> Option<Subject> {
        Some(Subject::Collections)
    }

    async fn settle(
        app: &App,
        collection: CollectionKey,
        endings: Vec<(usize, Self)>,
        now: Timestamp,
    ) -> Result<Settled, Failure> {
        let marketplaces = endings.iter().map(|(_, ending)| ending.order.marketplace);
        let is_followed = stored_records::is_followed(app, collection, marketplaces, now).await?;
        let keys = endings.iter().map(|(_, ending)| ending.order.clone()).collect();
        let stored = stored_records::orders(app, collection, keys).await?;
        let mut settled = Settled::default();
        for (index, Self { order: key, status }) in endings {
            if let Err(stated) = not_stated(collection, key.marketplace, is_followed) {
                settled.add(index, Err(stated));
                continue;
            }
            if stored.contains_key(&key) {
                settled.add(index, Ok(Change::OrderEnded { key, status }));
            } else {
                let (marketplace, order_id) = (key.marketplace.word(&app.service_name), &key.order_id);
                let CollectionKey { chain, address } = collection;
                let message =
                    format!("order {order_id:.64} of {marketplace} for {address} on chain {chain} not found");
                settled.add(index, Err(Rejection::new(Reason::NotFound, message)));
            }
        }
        Ok(settled)
    }
}
