//! What no log states: what contracts say of themselves, and what the makers of offers can pay.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bourse_store::{Batch, Change, CollectionKey, Store};
use bourse_wire::Address;

use crate::calls::Caller;
use crate::contract::describe;
use crate::node::Node;
use crate::offers::{Offers, OffersError};
use crate::pace::Pace;
use crate::status::{Phase, Snapshot, Status};

/// How many contracts are asked at once.
const CONTRACTS_AT_ONCE: usize = 20;

/// How a chain's collections are enriched.
#[derive(Clone, Copy, Debug)]
pub struct EnrichOptions {
    /// How long to wait between two looks.
    pub interval: Duration,
    /// Where many calls go at once.
    pub multicall: Option<Address>,
    /// The most makers whose funds are looked at for each block.
    pub purses_per_block: usize,
}

/// Works beside a follower of the same chain, while that one follows.
pub struct Enricher<N, P> {
    node: Arc<N>,
    store: Arc<Store>,
    pace: Arc<P>,
    status: Status,
    interval: Duration,
    caller: Caller,
    offers: Offers,
    /// Contracts that have been asked, or that somebody else told of.
    described: HashSet<Address>,
    /// The block at which funds were looked at last.
    looked: u64,
}

impl<N: Node, P: Pace> Enricher<N, P> {
    /// Works for the follower whose status this is.
    pub fn new(
        options: EnrichOptions,
        node: Arc<N>,
        store: Arc<Store>,
        pace: Arc<P>,
        status: Status,
    ) -> Self {
        Self {
            node,
            store,
            pace,
            status,
            interval: options.interval,
            caller: Caller::new(options.multicall),
            offers: Offers::new(Caller::new(options.multicall), options.purses_per_block),
            described: HashSet::new(),
            looked: 0,
        }
    }

    /// Works until whoever waits for this stops waiting.
    pub async fn run(mut self) {
        loop {
            let snapshot = self.status.get();
            // Whoever follows the chain also does this.
            if matches!(snapshot.phase, Phase::CatchingUp | Phase::Live)
                && let Err(error) = self.step(&snapshot).await
            {
                tracing::warn!(chain = %snapshot.chain, %error, "contracts could not be asked");
            }
            self.pace.sleep(self.interval).await;
        }
    }

    /// Asks a few contracts that were not asked yet, and makers of offers when there is a new block.
    pub async fn step(&mut self, snapshot: &Snapshot) -> Result<(), OffersError> {
        self.describe(snapshot).await?;
        let Some(at) = snapshot.checkpoint.filter(|at| at.number != self.looked) else { return Ok(()) };
        self.offers.look(&*self.node, &self.store, (snapshot.chain, at), self.pace.now()).await?;
        self.looked = at.number;
        Ok(())
    }

    async fn describe(&mut self, snapshot: &Snapshot) -> Result<(), OffersError> {
        let mut keys = Vec::new();
        for progress in snapshot.collections.iter() {
            if keys.len() >= CONTRACTS_AT_ONCE {
                break;
            }
            if self.described.contains(&progress.address) {
                continue;
            }
            let key = CollectionKey { chain: snapshot.chain, address: progress.address };
            let id = self.store.collection(key).await?;
            let info = match id {
                Some(id) => self.store.contract(id).await?,
                None => None,
            };
            // What somebody imported is not replaced by what the contract says of itself.
            if info.is_some() {
                self.described.insert(progress.address);
            } else {
                keys.push(key);
            }
        }
        if keys.is_empty() {
            return Ok(());
        }
        let addresses: Vec<Address> = keys.iter().map(|key| key.address).collect();
        let described = describe(&*self.node, &self.caller, &addresses).await?;
        for (key, described) in keys.into_iter().zip(described) {
            match described.info(key, self.pace.now()).to_json() {
                Ok(info) => {
                    let changes = vec![Change::Contract(info)];
                    self.store.commit(Batch { collection: key, changes, key: None }).await?;
                }
                Err(error) => tracing::warn!(contract = %key.address, %error, "a contract says too much"),
            }
            self.described.insert(key.address);
        }
        Ok(())
    }
}
