//! What happens in a project's market is counted like events that were sent: activities of the collections in it become
//! market events of who had a part in them. The cursor of a collection moves in the transaction that counts, so each
//! activity is counted once, whoever counts and whenever it is killed.

use std::sync::{Arc, Mutex, PoisonError};

use bourse_analytics::is_countable;
use bourse_store::{
    Activity, Actor, CollectionId, CollectionKey, EventKind, Mark, Market, MarketNews, ProjectScope, Store,
    StoreError, Versions,
};
use bourse_wire::{ActivityAction, ActivityFacts, Address, ProjectId, Timestamp};
use hashbrown::{HashMap, HashSet};

use super::batch::{BatchId, EventBatch, TrackedEvent};
use super::{CountingError, CountingHouse};

/// Activities that are counted in one go.
const ACTIVITIES_MAX: u64 = 5_000;
/// Markets that are remembered to have been joined; with more it starts anew.
const JOINED_MAX: usize = 1 << 16;

/// Which collections are known to be in which project's market, so that this is written down once and not with every
/// record.
#[derive(Default)]
pub struct MarketMembers(Mutex<HashSet<(ProjectId, CollectionKey)>>);

impl MarketMembers {
    /// Puts a collection into a project's market.
    pub async fn join(
        &self,
        store: &Store,
        scope: ProjectScope,
        collection: CollectionKey,
        actor: impl FnOnce() -> Actor,
    ) -> Result<(), StoreError> {
        let market = (scope.project(), collection);
        if self.known().contains(&market) {
            return Ok(());
        }
        store.join_market(scope, collection, actor()).await?;
        let mut known = self.known();
        if known.len() >= JOINED_MAX {
            known.clear();
        }
        known.insert(market);
        Ok(())
    }

    /// Forgets those that the store does not know to be in a market: the database failed over to an older copy, or was restored
    /// from one. Those that were joined a moment ago are written down once more.
    fn keep(&self, markets: &[Market]) {
        let mut known = self.known();
        if !known.is_empty() {
            let stored: HashSet<_> = markets.iter().map(|market| (market.project, market.key)).collect();
            known.retain(|market| stored.contains(market));
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashSet<(ProjectId, CollectionKey)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts what happens in markets, round by round.
#[derive(Default)]
pub struct MarketCounter {
    /// The version of its collection up to which each market is counted.
    counted: HashMap<(ProjectId, CollectionId), Mark>,
}

impl MarketCounter {
    /// Counts all that is not counted yet. A market that fails keeps no other waiting; tells how many did.
    pub async fn round(
        &mut self,
        house: &CountingHouse,
        members: &MarketMembers,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let store = house.store();
        let markets = store.markets().await?;
        members.keep(&markets);
        let markets: Vec<_> = markets.iter().map(|market| (market.project, market.collection)).collect();
        let (versions, mut failed) = versions(store, &markets).await?;
        for market in markets {
            let Some(version) = versions.get(&market.1) else { continue };
            if self.counted.get(&market) == Some(version) {
                continue;
            }
            // The version is older than what is read now, so that what comes meanwhile is looked at in the next round.
            match count(house, market, now).await {
                Ok(()) => drop(self.counted.insert(market, *version)),
                Err(error) => {
                    tracing::warn!(project = %market.0, collection = market.1.number(), %error, "counting a market");
                    failed += 1;
                }
            }
        }
        Ok(failed)
    }
}

fn store_failed(error: StoreError) -> Arc<CountingError> {
    Arc::new(error.into())
}

/// The versions that can be read, and how many cannot.
async fn versions(
    store: &Store,
    markets: &[(ProjectId, CollectionId)],
) -> Result<(HashMap<CollectionId, Mark>, usize), StoreError> {
    let mut ids: Vec<CollectionId> = markets.iter().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    let Versions { found, failed } = store.versions_apart(ids).await?;
    Ok((found.into_iter().collect(), failed.iter().map(|(ids, _)| ids.len()).sum()))
}

/// Counts all of one market that is not counted yet.
async fn count(
    house: &CountingHouse,
    (project, id): (ProjectId, CollectionId),
    now: Timestamp,
) -> Result<(), Arc<CountingError>> {
    let scope = ProjectScope::for_counting(project);
    loop {
        let news = house.store().market_news(scope, id, ACTIVITIES_MAX).await.map_err(store_failed)?;
        let Some(MarketNews { step, activities }) = news else { return Ok(()) };
        let events = activities.iter().flat_map(|activity| events(id, activity, now)).collect();
        let batch = EventBatch { id: BatchId::OfMarket(step.name(), step), events };
        // Somebody else may have been faster. Then there is something else to be counted, or nothing.
        house.track(scope, batch, now).await?;
    }
}

/// What wallets did when something happened in a market. Mints and transfers are nobody's trade.
fn events(id: CollectionId, Activity { facts, .. }: &Activity, now: Timestamp) -> Vec<TrackedEvent> {
    let (maker, taker) = (Some(facts.from), facts.to);
    let parts = match facts.action {
        ActivityAction::Listing => [(maker, "list"), (None, "")],
        ActivityAction::Offer => [(maker, "offer"), (None, "")],
        ActivityAction::Sale => [(maker, "sell"), (taker, "buy")],
        ActivityAction::ListingCancel | ActivityAction::OfferCancel => [(maker, "cancel"), (None, "")],
        ActivityAction::Unknown | ActivityAction::Mint | ActivityAction::Transfer => return Vec::new(),
    };
    // Sources say when something happened, and some do not know, or claim times that have not come. What we saw ourselves
    // when our clock was ahead has happened by now.
    let believed = [facts.at, facts.created_at].into_iter().find(|at| is_countable(*at, now));
    let Some(at) = believed.or((facts.created_at > now).then_some(now)) else { return Vec::new() };
    let event = |(wallet, action): (Option<Address>, &str)| {
        let wallet = wallet.filter(|wallet| *wallet != Address::ZERO)?;
        let (id, action) = (event_id(id, facts, action), Some(action.into()));
        Some(TrackedEvent { wallet, kind: EventKind::Market, at, id, action })
    };
    parts.into_iter().filter_map(event).collect()
}

/// A chain may take back what happened on it, and state it again a moment later: that counts once. What did not happen
/// on a chain is never taken back.
fn event_id(id: CollectionId, facts: &ActivityFacts, action: &str) -> Option<Box<str>> {
    let name = || format!("market:{}:{action}:{}", id.number(), facts.unique_hash).into_boxed_str();
    (!facts.tx_hash.is_empty()).then(name)
}
