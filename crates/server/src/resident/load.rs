//! Loading a whole collection: the store reads, a thread prepares what can be prepared, another builds.

use std::sync::Arc;

use bourse_budget::{Refused, Share};
use bourse_catalog::{Collection, Identity, Loader, PreparedOrder, PreparedToken, TokenPreparer};
use bourse_store::{CollectionId, CollectionKey, Mark, Part, Pending, StoreError};
use bourse_wire::{Address, Amount, CollectionNumbers, TokenId};
use tokio::sync::mpsc;

use super::under_way::LoadProgress;
use super::{Inner, Slot};

/// Parts that may wait for the builder.
const PARTS_WAITING: usize = 16;

/// Parts that are put in before memory is measured, which takes a while; and one of so many of those that are in by then,
/// since it takes the longer the more there are.
const PARTS_UNMEASURED: usize = 16;
const SHARE_UNMEASURED: usize = 32;

/// What came of it.
pub(super) enum LoadOutcome {
    /// Here it is.
    Whole(Arc<Slot>),
    /// It does not fit in the memory there is, were there nothing else.
    TooLarge,
    /// There is no memory for it beside what else is being loaded.
    NoRoom,
}

impl Inner {
    /// What a collection is called in answers.
    pub(super) fn identity(&self, key: CollectionKey, id: CollectionId) -> Identity {
        let (number, service) = (id.number(), self.service.clone());
        Identity { number, chain: key.chain, address: key.address, service }
    }

    pub(super) async fn load_slot(
        &self,
        key: CollectionKey,
        id: CollectionId,
        progress: &Arc<LoadProgress>,
    ) -> Result<LoadOutcome, StoreError> {
        // Each takes a connection and memory: those that come later wait.
        let _turn = self.turns.acquire().await;
        if let Some(replica) = &self.replica {
            let reading = |sender| replica.load(id, sender);
            let loaded = self.build_slot(key, id, progress, reading).await;
            match self.bring_to_store(id, loaded).await {
                Ok(Some(outcome)) => {
                    self.metrics.note_load("replica");
                    return Ok(outcome);
                }
                Ok(None) => self.metrics.note_load("replica_behind"),
                Err(error) => {
                    error.log("a collection cannot be loaded from the replica");
                    self.metrics.note_load("replica_failed");
                }
            }
        }
        self.metrics.note_load("database");
        self.build_slot(key, id, progress, |sender| self.store.load(id, sender)).await
    }

    /// What a replica had of a collection, with what the store has that came since. `None` where the store does not tell that:
    /// the replica is too far behind, or does not follow it any more.
    async fn bring_to_store(
        &self,
        id: CollectionId,
        loaded: Result<LoadOutcome, StoreError>,
    ) -> Result<Option<LoadOutcome>, StoreError> {
        let outcome = loaded?;
        let LoadOutcome::Whole(slot) = &outcome else { return Ok(Some(outcome)) };
        let mark = slot.mark();
        // One without any version has no number to be known by.
        let changes = if mark == Mark::default() { None } else { self.store.changes(id, mark).await? };
        let Some(changes) = changes else { return Ok(None) };
        slot.apply(changes).await;
        slot.put_currencies(&self.currencies).await;
        Ok(Some(outcome))
    }

    /// Builds a slot of what is read and sent.
    async fn build_slot<'s>(
        &'s self,
        key: CollectionKey,
        id: CollectionId,
        progress: &Arc<LoadProgress>,
        read: impl FnOnce(mpsc::Sender<Part>) -> Pending<'s, ()>,
    ) -> Result<LoadOutcome, StoreError> {
        let identity = self.identity(key, id);
        let (revision, currencies) = self.currencies.of(key.chain);
        let loader = Loader::new(&identity, self.clock.now());
        let (numbers, share) = (CollectionNumbers::new(key.chain, key.address), self.budget.share());
        let (sender, parts) = mpsc::channel(PARTS_WAITING);
        let (prepared_sender, prepared) = mpsc::channel(PARTS_WAITING);
        let preparing = tokio::task::spawn_blocking(move || prepare(numbers, parts, &prepared_sender));
        let progress = Arc::clone(progress);
        let building = tokio::task::spawn_blocking(move || {
            let (loader, mark) = build(loader, prepared, &share, &progress)?;
            let collection = loader.finish(mark.version, &currencies);
            share.grow(collection.bytes())?;
            share.set(collection.bytes());
            Ok((collection, mark.stamp, share))
        });
        read(sender).await?;
        preparing.await.map_err(|_| StoreError::Closed)?;
        let built: Result<(Collection, u64, Share), Refused> =
            building.await.map_err(|_| StoreError::Closed)?;
        let slot = match built {
            Ok(built) => Arc::new(Slot::new(key, id, built, revision)),
            Err(Refused::TooLarge) => return Ok(LoadOutcome::TooLarge),
            Err(Refused::NoRoom) => return Ok(LoadOutcome::NoRoom),
        };
        // Currencies may have changed meanwhile, and nobody knew of this slot.
        slot.put_currencies(&self.currencies).await;
        Ok(LoadOutcome::Whole(slot))
    }
}

/// A part, ready to be put in.
enum Prepared {
    Begin { mark: Mark },
    Contract(String),
    Tokens(Vec<PreparedToken>),
    Balances(Vec<(TokenId, Address, Amount)>),
    Orders(Vec<PreparedOrder>),
}

impl Prepared {
    fn rows(&self) -> usize {
        match self {
            Self::Begin { .. } | Self::Contract(_) => 0,
            Self::Tokens(tokens) => tokens.len(),
            Self::Balances(balances) => balances.len(),
            Self::Orders(orders) => orders.len(),
        }
    }
}

/// Prepares parts until there are no more, or nobody wants them. Going away tells the store to stop.
fn prepare(numbers: CollectionNumbers, mut parts: mpsc::Receiver<Part>, prepared: &mpsc::Sender<Prepared>) {
    let mut preparer = TokenPreparer::default();
    while let Some(part) = parts.blocking_recv() {
        let ready = match part {
            Part::Begin { mark } => Prepared::Begin { mark },
            Part::Contract(info) => Prepared::Contract(info),
            Part::Tokens(tokens) => {
                let tokens = tokens.into_iter();
                Prepared::Tokens(
                    tokens.map(|token| preparer.prepare(token.token_id, token.metadata)).collect(),
                )
            }
            Part::Balances(balances) => {
                let held = balances.iter().map(|held| (held.token_id, held.account, held.balance));
                Prepared::Balances(held.collect())
            }
            Part::Orders(orders) => {
                let orders = orders.iter().map(|order| PreparedOrder::new(numbers, order));
                Prepared::Orders(orders.collect())
            }
        };
        if prepared.blocking_send(ready).is_err() {
            return;
        }
    }
}

/// Takes parts until there are no more, or there is no memory for them.
fn build(
    mut loader: Loader,
    mut parts: mpsc::Receiver<Prepared>,
    share: &Share,
    progress: &LoadProgress,
) -> Result<(Loader, Mark), Refused> {
    let (mut begun, mut taken, mut measured) = (Mark::default(), 0, 0);
    while let Some(part) = parts.blocking_recv() {
        progress.add(part.rows());
        match part {
            Prepared::Begin { mark } => begun = mark,
            Prepared::Contract(info) => loader.contract(info),
            Prepared::Tokens(tokens) => loader.tokens(tokens),
            Prepared::Balances(balances) => loader.balances(&balances),
            Prepared::Orders(orders) => loader.orders(&orders),
        }
        taken += 1;
        if taken - measured >= PARTS_UNMEASURED.max(taken / SHARE_UNMEASURED) {
            measured = taken;
            share.grow(loader.bytes())?;
        }
    }
    Ok((loader, begun))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use bourse_budget::Budget;
    use bourse_store::testing::{TestDatabase, batch, make_collections, numbered_address};
    use bourse_store::{Change, Store};
    use bourse_wire::{ChainId, ServiceName};

    use super::super::under_way::UnderWay;
    use super::super::{MemoryLimits, Residence, Resident, lock};
    use super::*;
    use crate::clock::Clock;
    use crate::dispatch::retry_after_seconds;
    use crate::door::RefusalCounters;
    use crate::failure::Failure;
    use crate::metrics::Metrics;

    /// The collection.
    fn key() -> CollectionKey {
        CollectionKey { chain: ChainId(137), address: numbered_address(1) }
    }

    /// A service with one collection, and how long it waits for that.
    async fn open(patience: Duration) -> (TestDatabase, Store, Resident) {
        let database = TestDatabase::fresh().await.unwrap();
        let store = database.open().await.unwrap();
        make_collections(&store, key().chain, 1).await.unwrap();
        let metrics = Metrics::new(RefusalCounters::default(), None).resident;
        let limits =
            MemoryLimits { budget: Budget::new(1 << 20), loads_max: 2, patience, kept: None, replica: None };
        let service = ServiceName::new("bourse");
        let resident =
            Resident::open(limits, store.clone(), Clock::system(), service, metrics).await.unwrap();
        (database, store, resident)
    }

    /// Each keeps a connection, which others need too.
    #[tokio::test]
    async fn a_load_waits_while_as_many_as_may_are_under_way() {
        let (_database, store, resident) = open(Duration::MAX).await;
        let inner = &resident.0;
        let others = (inner.turns.acquire().await.unwrap(), inner.turns.acquire().await.unwrap());
        let asking = resident.clone();
        let finding = tokio::spawn(async move { asking.find(key()).await });
        while !lock(&inner.loads).contains_key(&key()) {
            tokio::task::yield_now().await;
        }
        for _ in 0..20 {
            assert!(store.collection(key()).await.unwrap().is_some(), "others are answered meanwhile");
            assert!(!finding.is_finished() && inner.slots.get(&key()).is_none());
        }
        drop(others);
        assert!(matches!(finding.await.unwrap(), Ok(Residence::Resident(_))));
    }

    /// Whoever asks for a collection that takes long is told so before their time is up, and it is loaded for whoever asks next.
    #[tokio::test]
    async fn a_load_that_takes_long_is_told_of_and_goes_on() {
        let (_database, _store, resident) = open(Duration::from_millis(1)).await;
        let inner = &resident.0;
        let others = (inner.turns.acquire().await.unwrap(), inner.turns.acquire().await.unwrap());
        for _ in 0..3 {
            let Err(error) = resident.find(key()).await else { panic!("nothing is loaded yet") };
            let message = error.to_string();
            assert!(message.contains(&key().address.to_string()), "{message}");
            // Counting may take longer than that, too.
            let told = ["0 of 1 rows; try again", "0 rows so far; try again"];
            assert!(told.iter().any(|told| message.contains(told)), "{message}");
            let Failure::Refused(error) = Failure::from(error) else { panic!("{message}") };
            assert_eq!((error.code.status(), retry_after_seconds(error.code)), (503, Some(1)));
        }
        drop(others);
        while !matches!(resident.find(key()).await, Ok(Residence::Resident(_))) {
            assert!(lock(&inner.loads).len() <= 1, "it is loaded once for all");
            tokio::task::yield_now().await;
        }
    }

    /// What is written while a collection is loaded is there before the first who reads it, and the writer does not wait for that.
    #[tokio::test]
    async fn what_is_written_during_a_load_is_read_from_its_first_moment() {
        let (_database, store, resident) = open(Duration::MAX).await;
        let inner = Arc::clone(&resident.0);
        let id = store.collection(key()).await.unwrap().unwrap();
        let loaded = inner.load_slot(key(), id, &Arc::default()).await.unwrap();
        let LoadOutcome::Whole(slot) = &loaded else { panic!("it is small") };
        let (slot, (end, may_end)) = (Arc::clone(slot), tokio::sync::oneshot::channel::<()>());
        let ending = {
            let inner = Arc::clone(&inner);
            async move {
                may_end.await.map_err(|_| StoreError::Closed)?;
                inner.end_load(key(), Ok(loaded), Instant::now()).await
            }
        };
        lock(&inner.loads).insert(key(), UnderWay::begin(ending, Arc::default()));
        let token = Change::Token { token_id: TokenId::from(7), metadata: r#"{"tokenId":"7"}"#.to_owned() };
        let committed = store.commit(batch(key(), vec![token])).await.unwrap();
        resident.follow(key(), committed.mark()).await;
        // What comes after it is resident waits.
        let following = slot.following().await;
        end.send(()).unwrap();
        while inner.slots.get(&key()).is_none() {
            tokio::task::yield_now().await;
        }
        assert!(slot.read().token(TokenId::from(7)).is_some());
        drop(following);
        assert!(matches!(resident.find(key()).await, Ok(Residence::Resident(_))));
    }
}
