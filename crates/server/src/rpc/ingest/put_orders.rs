//! Puts orders.

use std::collections::HashMap;

use bourse_store::{Change, CollectionKey};
use bourse_wire::{ChainRef, OrderFacts, OrderInput, OrderStatus, ProjectId, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::intake::{Record, Settled, commit};
use super::known;
use super::one_pass::{Claims, OnePass};
use super::types::{Answer, IdempotencyKey, read, read_all};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{OrderKey, Reader, Reason, Rejection, not_stated};

/// The orders to put.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PutOrdersRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body<R> {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Chain of the records that name none.
    chain_id: Option<ChainRef>,
    /// A name of your choice: the same request under the same name has no effect a second time.
    idempotency_key: Option<IdempotencyKey>,
    /// Orders, each of which replaces all that was known of it: at most 1000.
    #[schemars(with = "Vec<OrderInput>")]
    orders: Vec<R>,
}

impl<R> Claims for Body<R> {
    fn claimed_project(&self) -> Option<ProjectId> {
        self.project_id
    }
}

/// A request with orders.
pub(crate) type Request = OnePass<Body<OrderInput>, Body<Value>>;

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let (orders, key) = match request {
        OnePass::Read(body) => {
            let orders = ("orders", body.orders);
            (read_all(&call, body.chain_id.as_ref(), orders, Reader::order_input)?, body.idempotency_key)
        }
        OnePass::Given(body) => {
            let orders = ("orders", body.orders);
            (read(&call, body.chain_id.as_ref(), orders, Reader::order)?, body.idempotency_key)
        }
    };
    commit(&call, "PutOrders", key, orders).await
}

impl Record for OrderFacts {
    const IS_BLIND: bool = true;

    async fn settle(
        app: &App,
        collection: CollectionKey,
        orders: Vec<(usize, Self)>,
        now: Timestamp,
    ) -> Result<Settled, Failure> {
        let marketplaces = orders.iter().map(|(_, order)| order.marketplace);
        let is_followed = known::is_followed(app, collection, marketplaces, now).await?;
        let expired = orders.iter().filter(|(_, order)| is_expired(order, now));
        let expired: Vec<OrderKey> =
            expired.map(|(_, order)| (order.marketplace, order.order_id.clone())).collect();
        let known =
            if expired.is_empty() { HashMap::new() } else { known::orders(app, collection, expired).await? };
        let mut settled = Settled::default();
        for (index, order) in orders {
            if let Err(stated) = not_stated(collection, order.marketplace, is_followed) {
                settled.add(index, Err(stated));
                continue;
            }
            let is_known = known.contains_key(&(order.marketplace, order.order_id.clone()));
            settled.add(index, settle(order, is_known, now));
        }
        Ok(settled)
    }
}

/// Whether it is said to be active although its time is over.
fn is_expired(order: &OrderFacts, now: Timestamp) -> bool {
    let until = order.valid_until;
    order.status == OrderStatus::Active && until != Timestamp::ZERO && until <= now
}

/// An order as it is to be stored. One that was sent before keeps its times there when nothing else is different.
fn settle(mut order: OrderFacts, is_known: bool, now: Timestamp) -> Result<Change, Rejection> {
    // One that is known may be repeated after its time; its status tells that it is over.
    if is_expired(&order, now) && !is_known {
        let until = order.valid_until;
        let message = format!("validUntil: {until} is over, and the order is said to be active");
        return Err(Rejection::new(Reason::Expired, message));
    }
    for time in [&mut order.created_at, &mut order.updated_at] {
        if *time == Timestamp::ZERO {
            *time = now;
        }
    }
    Ok(Change::Order(Box::new(order)))
}
