//! Whether the makers of offers can pay: their funds, and what they let the marketplace take of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Address as RawAddress, U256};
use alloy_sol_types::SolCall;
use bourse_market::Terms;
use bourse_market::facts::Block;
use bourse_store::{Backing, CollectionKey, Store, StoreError};
use bourse_wire::{Address, Amount, ChainId, OrderFacts, Timestamp};

use crate::calls::Caller;
use crate::node::{Call, Failure, Node};
use crate::pace::Pace;
use crate::questions::{allowanceCall, balanceOfCall};
use crate::status::{Phase, Status};

const BPS_WHOLE: u64 = 10_000;

/// Whose funds: a maker's, in a currency, for an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Purse {
    maker: Address,
    currency: Address,
    operator: Address,
}

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

/// Looks at the funds behind offers, a bounded number for each block, those longest not looked at first.
#[derive(Debug)]
pub struct Offers {
    caller: Caller,
    purses_per_block: usize,
    /// At which block each was looked at.
    looked: BTreeMap<Purse, u64>,
}

impl Offers {
    /// Asks through `caller`, about at most so many makers for each block.
    pub fn new(caller: Caller, purses_per_block: usize) -> Self {
        Self { caller, purses_per_block, looked: BTreeMap::new() }
    }

    /// Looks at funds at the end of a block, and stores what they cover; tells how many offers were looked at.
    pub async fn look<N: Node>(
        &mut self,
        node: &N,
        store: &Store,
        (chain, at): (ChainId, Block),
        now: Timestamp,
    ) -> Result<usize, OffersError> {
        let offers = store.open_offers(chain).await?;
        let offers: Vec<(CollectionKey, OrderFacts)> =
            offers.into_iter().filter(|(_, order)| !terms(order).is_over(now)).collect();
        let funds = self.funds(node, &offers, at).await?;
        let mut covered: BTreeMap<CollectionKey, Vec<Backing>> = BTreeMap::new();
        let mut count = 0;
        for (collection, order) in &offers {
            let Some(funds) = purse(order).and_then(|purse| funds.get(&purse)) else { continue };
            let backing = funds.and_then(|funds| units(funds, order));
            count += 1;
            // Mostly nothing changed, and nothing has to be written.
            if backing == order.backing {
                continue;
            }
            covered.entry(*collection).or_default().push(Backing {
                marketplace: order.marketplace,
                order_id: order.order_id.clone(),
                units: backing,
            });
        }
        for (collection, backing) in covered {
            store.set_backing(collection, backing).await?;
        }
        Ok(count)
    }

    /// The funds of those whose turn it is; none where the currency does not tell.
    async fn funds<N: Node>(
        &mut self,
        node: &N,
        offers: &[(CollectionKey, OrderFacts)],
        at: Block,
    ) -> Result<BTreeMap<Purse, Option<U256>>, Failure> {
        let open: BTreeSet<Purse> = offers.iter().filter_map(|(_, order)| purse(order)).collect();
        self.looked.retain(|purse, _| open.contains(purse));
        let mut due: Vec<(u64, Purse)> = open
            .into_iter()
            .map(|purse| (self.looked.get(&purse).copied().unwrap_or(0), purse))
            .filter(|(looked, _)| *looked < at.number)
            .collect();
        due.sort_unstable();
        due.truncate(self.purses_per_block);
        let calls: Vec<Call> = due.iter().flat_map(|(_, purse)| questions(*purse)).collect();
        if calls.is_empty() {
            return Ok(BTreeMap::new());
        }
        let answers = self.caller.call(node, &calls, Some(at.hash)).await?;
        let mut funds = BTreeMap::new();
        for ((_, purse), answers) in due.into_iter().zip(answers.chunks(2)) {
            let number =
                |place: usize| balanceOfCall::abi_decode_returns(answers.get(place)?.as_ref().ok()?).ok();
            funds.insert(purse, number(0).zip(number(1)).map(|(held, allowed)| held.min(allowed)));
            self.looked.insert(purse, at.number);
        }
        Ok(funds)
    }
}

/// Looks at the funds behind offers at each new block, beside a follower of the same chain and while that one follows.
pub struct OfferWatch<N, P> {
    /// Whom to ask.
    pub node: Arc<N>,
    /// Where offers are.
    pub store: Arc<Store>,
    /// The time.
    pub pace: Arc<P>,
    /// How the follower is doing.
    pub status: Status,
    /// How long to wait between two looks at it.
    pub interval: Duration,
}

impl<N: Node, P: Pace> OfferWatch<N, P> {
    /// Looks until whoever waits for this stops waiting.
    pub async fn run(self, mut offers: Offers) {
        let mut looked = 0;
        loop {
            let snapshot = self.status.get();
            let is_following = matches!(snapshot.phase, Phase::CatchingUp | Phase::Live);
            if let Some(at) = snapshot.checkpoint.filter(|at| is_following && at.number != looked) {
                let block = (snapshot.chain, at);
                match offers.look(&*self.node, &self.store, block, self.pace.now()).await {
                    Ok(_) => looked = at.number,
                    Err(error) => {
                        tracing::warn!(chain = %snapshot.chain, %error, "funds could not be looked at");
                    }
                }
            }
            self.pace.sleep(self.interval).await;
        }
    }
}

fn questions(purse: Purse) -> [Call; 2] {
    let raw = |address: Address| RawAddress::from(*address.bytes());
    let held = balanceOfCall { account: raw(purse.maker) }.abi_encode();
    let allowed = allowanceCall { owner: raw(purse.maker), spender: raw(purse.operator) }.abi_encode();
    [held, allowed].map(|data| Call { to: purse.currency, data: data.into() })
}

/// Whose funds an offer needs, when it is known who takes them. The chain's own currency has no allowances.
fn purse(order: &OrderFacts) -> Option<Purse> {
    let operator = order.operator?;
    (order.currency != Address::ZERO).then_some(Purse {
        maker: order.maker,
        currency: order.currency,
        operator,
    })
}

fn terms(order: &OrderFacts) -> Terms {
    Terms {
        side: order.side,
        status: order.status,
        remaining: order.quantity_remaining,
        valid_from: order.valid_from,
        valid_until: order.valid_until,
        backing: None,
    }
}

/// How many units funds pay for. On our own marketplaces royalties of offers come on top of the price.
fn units(funds: U256, order: &OrderFacts) -> Option<Amount> {
    let price = order.price_amount.value();
    let bps = if order.marketplace.is_own() { u64::try_from(order.fee_bps).unwrap_or(0) } else { 0 };
    let (whole, bps) = (U256::from(BPS_WHOLE), U256::from(bps.min(BPS_WHOLE)));
    // Multiplying first could overflow.
    let (quotient, remainder) = price.div_rem(whole);
    let unit = price.saturating_add(quotient * bps + remainder * bps / whole);
    funds.checked_div(unit).map(Amount::from)
}

#[cfg(test)]
mod tests {
    use bourse_wire::{FeeEntry, Marketplace, OrderSide, OrderStatus};

    use super::*;

    fn offer(price: U256, fee_bps: i64, marketplace: Marketplace) -> OrderFacts {
        let at = Timestamp::ZERO;
        OrderFacts {
            order_id: "1".to_owned(),
            marketplace,
            side: OrderSide::Offer,
            status: OrderStatus::Active,
            origin_name: String::new(),
            token_id: None,
            maker: Address::from_bytes([1; 20]),
            price_amount: Amount::from(price),
            currency: Address::from_bytes([2; 20]),
            quantity_initial: Amount::from(10),
            quantity_remaining: Amount::from(10),
            quantity_decimals: 0,
            fee_bps,
            fee_breakdown: Vec::<FeeEntry>::new(),
            valid_from: at,
            valid_until: at,
            block_number: 1,
            order_created_at: at,
            order_updated_at: at,
            created_at: at,
            updated_at: at,
            operator: Some(Address::from_bytes([3; 20])),
            backing: None,
        }
    }

    #[test]
    fn funds_pay_for_whole_units_with_the_royalty_on_top() {
        let own = offer(U256::from(1000), 500, Marketplace::OwnV2);
        for (funds, expected) in [(0, 0), (1049, 0), (1050, 1), (2099, 1), (2100, 2)] {
            assert_eq!(units(U256::from(funds), &own), Some(Amount::from(expected)), "{funds}");
        }
        let other = offer(U256::from(1000), 500, Marketplace::Opensea);
        assert_eq!(units(U256::from(2000), &other), Some(Amount::from(2)));
        assert_eq!(units(U256::from(5), &offer(U256::ZERO, 0, Marketplace::OwnV1)), None);
        let dear = offer(U256::MAX, 10_000, Marketplace::OwnV1);
        assert_eq!(units(U256::MAX, &dear), Some(Amount::from(1)));
    }

    #[test]
    fn an_offer_needs_funds_that_somebody_may_take() {
        let mut order = offer(U256::from(1), 0, Marketplace::OwnV2);
        assert!(purse(&order).is_some());
        order.operator = None;
        assert!(purse(&order).is_none());
        let mut native = offer(U256::from(1), 0, Marketplace::OwnV2);
        native.currency = Address::ZERO;
        assert!(purse(&native).is_none());
    }
}
