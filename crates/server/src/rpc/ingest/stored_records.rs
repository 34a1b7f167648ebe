//! What is stored of the things that a request is about.

use std::collections::{HashMap, HashSet};

use bourse_store::CollectionKey;
use bourse_wire::{Marketplace, OrderFacts, OrderKey, Timestamp};

use crate::app::App;
use crate::failure::Failure;

/// Those of these orders that are known.
pub(super) async fn orders(
    app: &App,
    collection: CollectionKey,
    keys: Vec<OrderKey>,
) -> Result<HashMap<OrderKey, OrderFacts>, Failure> {
    let Some(id) = app.store.collection(collection).await? else { return Ok(HashMap::new()) };
    let orders = app.store.orders_by_key(id, keys).await?;
    Ok(orders.into_iter().map(|order| (order.key(), order)).collect())
}

/// Those of these orders that their makers signed.
pub(super) async fn signed(
    app: &App,
    collection: CollectionKey,
    keys: Vec<OrderKey>,
) -> Result<HashSet<OrderKey>, Failure> {
    if keys.is_empty() {
        return Ok(HashSet::new());
    }
    let Some(id) = app.store.collection(collection).await? else { return Ok(HashSet::new()) };
    Ok(app.store.signed_of(id, keys).await?)
}

/// Whether the collection is followed, where that matters: where there are own orders among these.
pub(super) async fn is_followed(
    app: &App,
    collection: CollectionKey,
    mut marketplaces: impl Iterator<Item = Marketplace>,
    now: Timestamp,
) -> Result<bool, Failure> {
    let any_own = marketplaces.any(Marketplace::is_own);
    Ok(any_own && app.followed.has(&app.store, collection, now).await?)
}
