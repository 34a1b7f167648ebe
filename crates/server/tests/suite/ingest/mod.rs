//! Getting data in: every record by itself, every repetition without effect.

mod access_and_batch_sizes;
mod cancel_and_invalidate_orders;
mod documentation;
mod idempotency;
mod orders_of_chains;
mod put_balances;
mod put_contracts;
mod put_currencies;
mod put_orders;
mod put_tokens;
mod rejected_records;
mod track_events;
mod track_events_access;

use bourse_store::{Changes, Mark};
use bourse_wire::{Marketplace, OrderFacts, OrderKey};
use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::seed::{ACCOUNT, RELICS, key};

/// Three days after every test begins.
const LATER: &str = "2025-03-17T12:00:00Z";

/// Puts records with A's secret token; the answer must be a success.
async fn put(app: &TestApp, operation: &str, body: Value) -> Value {
    app.project_a.call(&format!("Ingest/{operation}"), body).await.ok()
}

/// An answer in which nothing was rejected or replayed.
fn taken(accepted: u64, changed: u64) -> Value {
    json!({ "accepted": accepted, "changed": changed, "rejected": [], "replayed": false })
}

/// Place and reason of each rejected record.
fn reasons(answer: &Value) -> Vec<(u64, &str)> {
    let rejected = answer["rejected"].as_array().unwrap().iter();
    rejected.map(|record| (record["index"].as_u64().unwrap(), record["reason"].as_str().unwrap())).collect()
}

fn token(id: u64, name: &str) -> Value {
    json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": id.to_string(), "name": name })
}

/// A listing on OpenSea with some members changed.
fn order(id: &str, change: Value) -> Value {
    let mut order = json!({
        "chainId": "polygon", "collectionContractAddress": RELICS, "orderId": id, "marketplace": "opensea",
        "side": "listing", "tokenId": "1", "createdBy": ACCOUNT, "priceAmount": "250", "validUntil": LATER,
        "priceCurrencyAddress": "0x0000000000000000000000000000000000000000", "quantityInitial": "5",
    });
    let Value::Object(change) = change else { panic!("{change} is no object") };
    order.as_object_mut().unwrap().extend(change);
    order
}

fn order_key(id: &str) -> Value {
    json!({ "chainId": 137, "collectionContractAddress": RELICS, "marketplace": "opensea", "orderId": id })
}

/// What the store knows of an order of [`RELICS`] on OpenSea.
async fn stored_order(app: &TestApp, id: &str) -> Option<OrderFacts> {
    let collection = app.store.collection(key(RELICS)).await.unwrap()?;
    let keys = vec![OrderKey { marketplace: Marketplace::Opensea, order_id: id.to_owned() }];
    app.store.orders_by_key(collection, keys).await.unwrap().pop()
}

/// All that the store knows of [`RELICS`].
async fn stored(app: &TestApp) -> Changes {
    let collection = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    app.store.changes(collection, Mark::default()).await.unwrap().unwrap()
}

/// A token of [`RELICS`] as it is served; null when it is not known.
async fn served_token(app: &TestApp, id: u64) -> Value {
    let body = json!({ "chainID": 137, "contractTokenMap": { RELICS: [id.to_string()] } });
    let answer = app.project_a.call("Metadata/GetTokenMetadataBatch", body).await.ok();
    answer["contractTokenMetadata"][RELICS][0].clone()
}
