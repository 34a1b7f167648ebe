//! Whether the makers of offers can pay: their funds, and what they let the marketplace take of them.
//!
//! No log states it, so contracts are asked: for each block about those whose money moved and about offers that are new,
//! and now and then about all, as there is money that changes without a word.

mod money;
mod payer;
mod watch;
mod watched;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use alloy_primitives::{Address as RawAddress, U256};
use alloy_sol_types::SolCall;
use bourse_market::facts::Block;
use bourse_market::{RoyaltyDue, Terms, units_paid};
use bourse_store::{Backing, CollectionKey, OfferScope, Payer, Store, StoreError};
use bourse_wire::{Address, Amount, ChainId, OrderFacts, Timestamp};

use crate::calls::Caller;
use crate::node::{Call, Failure, Node, Span};
use crate::questions::{allowanceCall, balanceOfCall};
use crate::royalties::{Royalties, Sold, sold};
pub(crate) use payer::payer_of;
pub use watch::OfferWatch;
use watched::Watched;

/// The most blocks whose logs are read for one look; after a longer pause all payers are looked at.
const BLOCKS_MAX: u64 = 64;

/// Why funds could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum OffersError {
    /// A node failed.
    #[error("{0}")]
    Node(#[from] Failure),
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// How funds are looked at.
#[derive(Clone, Copy, Debug)]
pub struct OfferOptions {
    /// The most makers whose funds are asked for at once.
    pub payers_at_once: usize,
    /// The most offers whose royalties are asked for at once.
    pub royalties_at_once: usize,
    /// How long a maker is believed of whom no log tells anything.
    pub sweep: Duration,
}

impl Default for OfferOptions {
    fn default() -> Self {
        Self { payers_at_once: 1_000, royalties_at_once: 1_000, sweep: Duration::from_mins(5) }
    }
}

/// How far a chain was followed when funds are looked at.
#[derive(Clone, Debug)]
pub struct FollowedChain {
    /// The chain.
    pub chain: ChainId,
    /// Its newest block.
    pub block: Block,
    /// How often it took blocks back.
    pub reorgs: u64,
    /// The collections that move on with it.
    pub live: HashSet<Address>,
}

/// Looks at the funds behind offers.
#[derive(Debug)]
pub struct Offers {
    royalties: Royalties,
    options: OfferOptions,
    watched: Watched,
    /// How far the chain was when it was last read what happened to the money of payers, and what the clock said then.
    read: Option<(FollowedChain, Timestamp)>,
}

impl Offers {
    /// Asks through `caller`.
    pub fn new(caller: Caller, options: OfferOptions) -> Self {
        Self { royalties: Royalties::new(caller), options, watched: Watched::default(), read: None }
    }

    /// Forgets what was read, when somebody else goes on.
    pub fn forget(&mut self) {
        self.watched.clear();
        self.read = None;
    }

    /// Takes that something happened to the money behind an offer, which may be a new one.
    pub fn touch(&mut self, payer: Payer) {
        self.watched.touch(payer);
    }

    /// Whether there are more to look at than one look had room for.
    pub fn has_more(&self) -> bool {
        self.watched.is_touched()
    }

    /// Looks at funds at the end of the newest block that `follower` tells of, and stores what they cover; tells how many
    /// makers were looked at.
    pub async fn look<N: Node>(
        &mut self,
        node: &N,
        store: &Store,
        follower: impl Fn() -> Option<FollowedChain>,
        now: Timestamp,
    ) -> Result<usize, OffersError> {
        let Some(at) = follower() else { return Ok(0) };
        self.read_on(node, store, &at, now).await?;
        let due = self.watched.due(now, self.options.sweep, self.options.payers_at_once);
        if due.is_empty() {
            return Ok(0);
        }
        let makers: BTreeSet<Address> = due.iter().map(|payer| payer.maker).collect();
        let mut offers = store.open_offers(at.chain, makers.into_iter().collect()).await?;
        offers.retain(|(_, order)| !Terms::from(order).is_over(now));
        // Who made one of them may have seen that a newer block brought the money; the block of before does not know of it.
        let Some(newest) = follower() else { return Ok(0) };
        let known = Known {
            funds: self.funds(node, &due, newest.block).await?,
            royalties: self.royalties_of(node, &offers, newest.block).await?,
        };
        cover(store, newest.block, &offers, &known).await?;
        let open: BTreeSet<Payer> = offers.iter().filter_map(|(_, order)| payer_of(order)).collect();
        for payer in &due {
            if open.contains(payer) {
                self.watched.looked(*payer, now);
            } else {
                self.watched.forget(*payer);
            }
        }
        Ok(due.len())
    }

    /// Reads what happened since the last look, or begins anew when that cannot be told.
    async fn read_on<N: Node>(
        &mut self,
        node: &N,
        store: &Store,
        at: &FollowedChain,
        now: Timestamp,
    ) -> Result<(), OffersError> {
        let is_near = |(read, then): &&(FollowedChain, Timestamp)| {
            let blocks = at.block.number.checked_sub(read.block.number);
            // By a clock that was set back offers are open again whose makers are not watched any more.
            *then <= now && read.reorgs == at.reorgs && blocks.is_some_and(|blocks| blocks <= BLOCKS_MAX)
        };
        let Some((read, _)) = self.read.as_ref().filter(is_near) else {
            for payer in store.payers(at.chain, OfferScope::Everything, now).await? {
                self.watched.touch(payer);
            }
            self.watched.touch_all();
            self.read = Some((at.clone(), now));
            return Ok(());
        };
        let before = read.block.number;
        let mut scopes = vec![OfferScope::ChangedAfter(before)];
        // Collections that came to the newest block bring offers of older ones.
        let arrived: Vec<Address> = at.live.difference(&read.live).copied().collect();
        if !arrived.is_empty() {
            scopes.push(OfferScope::Collections(arrived));
        }
        if before < at.block.number {
            self.read_logs(node, before + 1, at.block).await?;
        }
        for scope in scopes {
            for payer in store.payers(at.chain, scope, now).await? {
                self.watched.touch(payer);
            }
        }
        self.read = Some((at.clone(), now));
        Ok(())
    }

    /// Reads whose money moved from a block on.
    async fn read_logs<N: Node>(&mut self, node: &N, from: u64, to: Block) -> Result<(), Failure> {
        let Some(filters) = money::log_filters(self.watched.iter()) else {
            self.watched.touch_all();
            return Ok(());
        };
        if filters.is_empty() {
            return Ok(());
        }
        let is_one = from == to.number;
        let span = if is_one { Span::Block(to.hash) } else { Span::Range { from, to: to.number } };
        match node.logs(span, &filters).await {
            Ok(told) => {
                for timed in &told.logs {
                    for account in money::accounts(&timed.log) {
                        self.watched.touch_account(account, timed.log.address);
                    }
                }
            }
            // It does not tell so much at once; then everybody is asked.
            Err(Failure::SmallerRange { .. }) => self.watched.touch_all(),
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// What payers have and may be taken; none where the currency does not tell.
    async fn funds<N: Node>(
        &self,
        node: &N,
        payers: &[Payer],
        at: Block,
    ) -> Result<BTreeMap<Payer, Option<U256>>, Failure> {
        let calls: Vec<Call> = payers.iter().flat_map(|payer| questions(*payer)).collect();
        let answers = self.royalties.caller.call(node, &calls, Some(at.hash)).await?;
        let funds = payers.iter().zip(answers.chunks(2)).map(|(payer, answers)| {
            let number =
                |place: usize| balanceOfCall::abi_decode_returns(answers.get(place)?.as_ref().ok()?).ok();
            (*payer, number(0).zip(number(1)).map(|(held, allowed)| held.min(allowed)))
        });
        Ok(funds.collect())
    }

    /// What offers of our own marketplaces cost beside their price, as of the block that their makers' funds are of: what is
    /// shown of an order may be older. That has to do for those of somebody who has very many.
    async fn royalties_of<N: Node>(
        &self,
        node: &N,
        offers: &[(CollectionKey, OrderFacts)],
        at: Block,
    ) -> Result<BTreeMap<Sold, RoyaltyDue>, Failure> {
        let sold = offers.iter().filter_map(|(collection, order)| sold(collection.address, order));
        let sold = sold.take(self.options.royalties_at_once).collect();
        self.royalties.of(node, &sold, Some(at.hash)).await
    }
}

/// What a block says of offers.
struct Known {
    /// What payers have and may be taken; none where the currency does not tell.
    funds: BTreeMap<Payer, Option<U256>>,
    royalties: BTreeMap<Sold, RoyaltyDue>,
}

impl Known {
    /// How many units of an offer these funds pay for.
    fn units(&self, funds: U256, collection: CollectionKey, order: &OrderFacts) -> Option<Amount> {
        match sold(collection.address, order).and_then(|sold| self.royalties.get(&sold)) {
            Some(royalty) => royalty.units_paid(funds, order.price_amount),
            None => units_paid(funds, order),
        }
    }
}

/// Stores how many units of offers can be paid for.
async fn cover(
    store: &Store,
    at: Block,
    offers: &[(CollectionKey, OrderFacts)],
    known: &Known,
) -> Result<(), StoreError> {
    let mut covered: BTreeMap<CollectionKey, Vec<Backing>> = BTreeMap::new();
    for (collection, order) in offers {
        let Some(funds) = payer_of(order).and_then(|payer| known.funds.get(&payer)) else { continue };
        let backing = funds.and_then(|funds| known.units(funds, *collection, order));
        // Mostly nothing changed, and nothing has to be written.
        if backing == order.backing {
            continue;
        }
        covered.entry(*collection).or_default().push(Backing { key: order.key(), units: backing });
    }
    for (collection, backing) in covered {
        store.set_backing(collection, at, backing).await?;
    }
    Ok(())
}

fn questions(payer: Payer) -> [Call; 2] {
    let raw = |address: Address| RawAddress::from(*address.bytes());
    let held = balanceOfCall { account: raw(payer.maker) }.abi_encode();
    let allowed = allowanceCall { owner: raw(payer.maker), spender: raw(payer.operator) }.abi_encode();
    [held, allowed].map(|data| Call::new(payer.currency, data.into()))
}
