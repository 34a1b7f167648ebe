//! Loading a whole collection: the store reads, a thread prepares what can be prepared, another builds.

use std::sync::Arc;

use bourse_budget::{Refused, Share};
use bourse_catalog::{Collection, Identity, Loader, PreparedOrder, PreparedToken, TokenPreparer};
use bourse_store::{CollectionId, CollectionKey, Mark, Part, StoreError};
use bourse_wire::{Address, Amount, CollectionNumbers, TokenId};
use tokio::sync::mpsc;

use super::{Inner, Slot};

/// Parts that may wait for the builder.
const PARTS_WAITING: usize = 16;

/// Parts that are put in before memory is measured: that takes a while.
const PARTS_UNMEASURED: usize = 16;

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
    pub(super) async fn load_slot(
        &self,
        key: CollectionKey,
        id: CollectionId,
    ) -> Result<LoadOutcome, StoreError> {
        // Each takes a connection and memory: those that come later wait.
        let _turn = self.turns.acquire().await;
        let identity = Identity {
            number: id.number(),
            chain: key.chain,
            address: key.address,
            service: self.service.clone(),
        };
        let (revision, currencies) = self.currencies.of(key.chain);
        let loader = Loader::new(&identity, self.clock.now());
        let (numbers, share) = (CollectionNumbers::new(key.chain, key.address), self.budget.share());
        let (sender, parts) = mpsc::channel(PARTS_WAITING);
        let (prepared_sender, prepared) = mpsc::channel(PARTS_WAITING);
        let preparing = tokio::task::spawn_blocking(move || prepare(numbers, parts, &prepared_sender));
        let building = tokio::task::spawn_blocking(move || {
            let (loader, mark) = build(loader, prepared, &share)?;
            let collection = loader.finish(mark.version, &currencies);
            share.grow(collection.bytes())?;
            share.set(collection.bytes());
            Ok((collection, mark.stamp, share))
        });
        self.store.load(id, sender).await?;
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
) -> Result<(Loader, Mark), Refused> {
    let (mut begun, mut taken) = (Mark::default(), 0_usize);
    while let Some(part) = parts.blocking_recv() {
        match part {
            Prepared::Begin { mark } => begun = mark,
            Prepared::Contract(info) => loader.contract(info),
            Prepared::Tokens(tokens) => loader.tokens(tokens),
            Prepared::Balances(balances) => loader.balances(&balances),
            Prepared::Orders(orders) => loader.orders(&orders),
        }
        taken += 1;
        if taken.is_multiple_of(PARTS_UNMEASURED) {
            share.grow(loader.bytes())?;
        }
    }
    Ok((loader, begun))
}

#[cfg(test)]
mod tests {
    use bourse_budget::Budget;
    use bourse_store::testing::{TestDatabase, make_collections, numbered_address};
    use bourse_wire::{ChainId, ServiceName};

    use super::super::{MemoryLimits, Residence, Resident, lock};
    use super::*;
    use crate::clock::Clock;
    use crate::door::RefusalCounters;
    use crate::metrics::Metrics;

    /// Each keeps a connection, which others need too.
    #[tokio::test]
    async fn a_load_waits_while_as_many_as_may_are_under_way() {
        let database = TestDatabase::fresh().await.unwrap();
        let store = database.open().await.unwrap();
        let chain = ChainId(137);
        make_collections(&store, chain, 1).await.unwrap();
        let key = CollectionKey { chain, address: numbered_address(1) };
        let metrics = Metrics::new(RefusalCounters::default()).resident;
        let limits = MemoryLimits { budget: Budget::new(1 << 20), loads_max: 2 };
        let service = ServiceName::new("bourse");
        let resident =
            Resident::open(limits, store.clone(), Clock::system(), service, metrics).await.unwrap();
        let inner = &resident.0;
        let others = (inner.turns.acquire().await.unwrap(), inner.turns.acquire().await.unwrap());
        let (asking, asked) = (resident.clone(), key);
        let finding = tokio::spawn(async move { asking.find(asked).await });
        while !lock(&inner.loads).contains_key(&key) {
            tokio::task::yield_now().await;
        }
        for _ in 0..20 {
            assert!(store.collection(key).await.unwrap().is_some(), "others are answered meanwhile");
            assert!(!finding.is_finished() && inner.slots.get(&key).is_none());
        }
        drop(others);
        assert!(matches!(finding.await.unwrap(), Ok(Residence::Resident(_))));
    }
}
