//! Puts orders.

use std::collections::HashMap;

use bourse_protocols::native::Proof;
use bourse_store::{Change, CollectionKey, Subject};
use bourse_wire::{ChainRef, OrderFacts, OrderInput, OrderKey, ProjectId, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::intake::{Record, Settled, commit};
use super::records_body::{Claims, RecordsBody};
use super::signed::{check, is_expired, not_over};
use super::stored_records;
use super::strangers;
use super::types::{Answer, IdempotencyKey, ReadRecords, Rejected, read, read_all};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{OrderSubmission, Reader, Rejection, SignedOrderInput, dated, not_stated};

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
    /// Orders, each of which replaces all that was known of it, and signed orders: at most 1000.
    #[schemars(with = "Vec<AnyOrderInput>")]
    orders: Vec<R>,
}

/// An order by what it is, or by what was signed.
#[derive(JsonSchema)]
#[schemars(rename = "PutOrderInput", untagged)]
#[expect(dead_code, reason = "documents what is read one by one")]
enum AnyOrderInput {
    /// By what it is.
    Facts(Box<OrderInput>),
    /// By what was signed.
    Signed(SignedOrderInput),
}

impl<R> Claims for Body<R> {
    fn claimed_project(&self) -> Option<ProjectId> {
        self.project_id
    }
}

/// A request with orders.
pub(crate) type Request = RecordsBody<Body<OrderInput>, Body<Value>>;

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let (orders, key) = match request {
        RecordsBody::Read(body) => {
            let order = |reader: &Reader<'_>, input| {
                reader.order_input(input).map(|(key, facts)| (key, OrderSubmission::Facts(Box::new(facts))))
            };
            (read_all(&call, body.chain_id.as_ref(), "orders", body.orders, order)?, body.idempotency_key)
        }
        RecordsBody::Raw(body) => {
            let orders = read(&call, body.chain_id.as_ref(), "orders", body.orders, Reader::any_order)?;
            (orders, body.idempotency_key)
        }
    };
    commit(&call, "PutOrders", key, told_apart(&call, orders)).await
}

/// An order, and whether whoever sends it may state orders of its collection.
struct PutOrder {
    order: OrderSubmission,
    is_vouched: bool,
}

/// The orders, told apart by whether the project vouches for them. Those that it does not vouch for are bounded.
fn told_apart(
    call: &Call,
    read: ReadRecords<(CollectionKey, OrderSubmission)>,
) -> ReadRecords<(CollectionKey, PutOrder)> {
    let mut orders =
        ReadRecords { accepted: Vec::with_capacity(read.accepted.len()), rejected: read.rejected };
    for (index, (collection, order)) in read.accepted {
        let is_vouched = call.check_grant(Subject::Collections, collection).is_ok();
        let is_stranger = !is_vouched && matches!(order, OrderSubmission::Signed(_));
        match if is_stranger { strangers::check_rate(call) } else { Ok(()) } {
            Ok(()) => orders.accepted.push((index, (collection, PutOrder { order, is_vouched }))),
            Err(rejection) => orders.rejected.push(Rejected::new(index, rejection)),
        }
    }
    orders
}

impl Record for PutOrder {
    fn subject(&self) -> Option<Subject> {
        match &self.order {
            OrderSubmission::Facts(_) => Some(Subject::Collections),
            // Nobody shows the signature, so that somebody has to vouch for it.
            OrderSubmission::Signed(order) if order.proof == Proof::Held => Some(Subject::Collections),
            // Its maker vouches for it.
            OrderSubmission::Signed(_) => None,
        }
    }

    async fn settle(
        app: &App,
        collection: CollectionKey,
        orders: Vec<(usize, Self)>,
        now: Timestamp,
    ) -> Result<Settled, Failure> {
        // The same for all: grants are for collections.
        let is_vouched = orders.iter().all(|(_, put)| put.is_vouched);
        let orders: Vec<_> = orders.into_iter().map(|(index, put)| (index, put.order)).collect();
        let marketplaces = orders.iter().map(|(_, order)| order.facts().marketplace);
        let is_followed = stored_records::is_followed(app, collection, marketplaces, now).await?;
        let expired = orders.iter().map(|(_, order)| order.facts()).filter(|facts| is_expired(facts, now));
        let expired: Vec<OrderKey> = expired.map(OrderFacts::key).collect();
        let known = if expired.is_empty() {
            HashMap::new()
        } else {
            stored_records::orders(app, collection, expired).await?
        };
        let plain = orders.iter().filter_map(|(_, order)| match order {
            // Nothing is signed of orders that our own contracts keep.
            OrderSubmission::Facts(facts) if !facts.marketplace.is_own() => Some(facts.key()),
            OrderSubmission::Facts(_) | OrderSubmission::Signed(_) => None,
        });
        let already_signed = stored_records::signed(app, collection, plain.collect()).await?;
        let mut settled = Settled::default();
        let mut signed = Vec::new();
        for (index, order) in orders {
            let facts = order.facts();
            if matches!(order, OrderSubmission::Facts(_)) && already_signed.contains(&facts.key()) {
                settled.add(index, Err(Rejection::signed_by_maker(&facts.order_id)));
                continue;
            }
            if let Err(stated) = not_stated(collection, facts.marketplace, is_followed) {
                settled.add(index, Err(stated));
                continue;
            }
            // One that is known may be repeated after its time; its status tells that it is over.
            let is_known = known.contains_key(&facts.key());
            if let Err(over) = not_over(facts, now)
                && !is_known
            {
                settled.add(index, Err(over));
                continue;
            }
            match order {
                OrderSubmission::Facts(facts) => {
                    settled.add(index, Ok(Change::Order(Box::new(dated(*facts, now)))));
                }
                OrderSubmission::Signed(admitted) => signed.push((index, *admitted)),
            }
        }
        for (index, order) in check(app, collection, now, signed, is_vouched).await? {
            settled.add(index, order.map(|signed| Change::SignedOrder(Box::new(signed))));
        }
        Ok(settled)
    }
}
