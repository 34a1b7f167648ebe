//! Who gets a share of a sale.

mod walks;
mod watch;

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address as RawAddress, Bytes, U256};
use alloy_sol_types::SolCall;
use bourse_market::facts::BlockHash;
use bourse_market::{RoyaltyCap, RoyaltyDue};
use bourse_wire::{Address, BPS_WHOLE, FeeEntry, TokenId};

use crate::calls::Caller;
use crate::node::{Call, Failure, Node, Reverted};
use crate::questions::{getRoyaltyInfoCall, royaltyInfoCall, royaltyLeftCall};
pub use watch::RoyaltyWatch;
pub(crate) use watch::sold;

/// An order of one of our own marketplaces, as far as its royalty depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sold {
    pub(crate) token: SoldToken,
    /// The number of the order.
    pub(crate) order: U256,
}

/// What is sold, and where: each marketplace knows royalties of contracts that do not tell theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SoldToken {
    pub(crate) market: Address,
    pub(crate) collection: Address,
    pub(crate) token_id: TokenId,
}

/// Who gets a share when tokens are sold. Whoever asks about many orders asks once for each of their tokens.
#[derive(Debug)]
pub(crate) struct Royalties {
    pub(crate) caller: Caller,
}

impl Royalties {
    /// Royalties as marketplaces of our own pay them, or as contracts tell them.
    pub(crate) fn new(caller: Caller) -> Self {
        Self { caller }
    }

    /// What filling each of these would cost at the end of a block, or of the newest one.
    pub(crate) async fn of<N: Node>(
        &self,
        node: &N,
        sold: &BTreeSet<Sold>,
        at: Option<BlockHash>,
    ) -> Result<BTreeMap<Sold, RoyaltyDue>, Failure> {
        let tokens: BTreeSet<SoldToken> = sold.iter().map(|sold| sold.token).collect();
        let pays = tokens.iter().map(SoldToken::as_paid);
        let calls: Vec<Call> = pays.chain(sold.iter().map(Sold::as_left)).collect();
        if calls.is_empty() {
            return Ok(BTreeMap::new());
        }
        let answers = self.caller.call(node, &calls, at).await?;
        let (paid, left) = answers.split_at(tokens.len().min(answers.len()));
        let read = |answer: &Result<Bytes, Reverted>| answer.as_ref().ok().and_then(told);
        let mut rates: BTreeMap<SoldToken, Told> =
            tokens.iter().copied().zip(paid.iter().map(read)).collect();
        self.ask_collections(node, &mut rates, at).await?;
        let due = |(sold, left): (&Sold, &Result<Bytes, Reverted>)| {
            let rate = rates.get(&sold.token).cloned().flatten().flatten();
            let cap = left.as_ref().ok().and_then(cap);
            (*sold, RoyaltyDue { rate, cap })
        };
        Ok(sold.iter().zip(left).map(due).collect())
    }

    /// Asks the collections themselves where a marketplace did not say.
    async fn ask_collections<N: Node>(
        &self,
        node: &N,
        rates: &mut BTreeMap<SoldToken, Told>,
        at: Option<BlockHash>,
    ) -> Result<(), Failure> {
        let silent: Vec<SoldToken> =
            rates.iter().filter(|(_, told)| told.is_none()).map(|(token, _)| *token).collect();
        if silent.is_empty() {
            return Ok(());
        }
        let calls: Vec<Call> = silent.iter().map(SoldToken::as_told).collect();
        let answers = self.caller.call(node, &calls, at).await?;
        for (token, answer) in silent.into_iter().zip(answers) {
            rates.insert(token, answer.ok().and_then(|answer| told(&answer)));
        }
        Ok(())
    }
}

/// What a contract says of a share: nothing, that there is none, or which.
type Told = Option<Option<FeeEntry>>;

/// For a price of which the answer is in basis points.
const PRICE: u64 = BPS_WHOLE;

impl SoldToken {
    /// Asks the marketplace what it would pay.
    fn as_paid(&self) -> Call {
        let asked = getRoyaltyInfoCall {
            tokenContract: RawAddress::from(*self.collection.bytes()),
            tokenId: self.token_id.value(),
            cost: U256::from(PRICE),
        };
        Call::about(self.collection, self.market, asked.abi_encode().into())
    }

    /// Asks the collection what it wants.
    fn as_told(&self) -> Call {
        let asked = royaltyInfoCall { tokenId: self.token_id.value(), salePrice: U256::from(PRICE) };
        Call::new(self.collection, asked.abi_encode().into())
    }
}

impl Sold {
    /// Asks the marketplace what the order is held to.
    fn as_left(&self) -> Call {
        let asked = royaltyLeftCall { requestId: self.order }.abi_encode().into();
        Call::about(self.token.collection, self.token.market, asked)
    }
}

fn told(answer: &Bytes) -> Told {
    let royalty = royaltyInfoCall::abi_decode_returns(answer).ok()?;
    let bps = i64::try_from(royalty.amount).ok().filter(|bps| (1..=BPS_WHOLE.cast_signed()).contains(bps));
    let recipient_address = Address::from_bytes(royalty.receiver.into_array());
    let bps = bps.filter(|_| recipient_address != Address::ZERO);
    Some(bps.map(|bps| FeeEntry { kind: "royalty".to_owned(), recipient_address, bps }))
}

fn cap(answer: &Bytes) -> Option<RoyaltyCap> {
    let left = royaltyLeftCall::abi_decode_returns(answer).ok()?;
    Some(RoyaltyCap { amount: left.royalty, units: left.quantity })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use alloy_sol_types::SolValue as _;

    use super::*;
    use crate::node::CallResults;
    use crate::testing::{Answers, Contracts};

    const OURS: Address = Address::from_bytes([0xa1; 20]);
    const THEIRS: Address = Address::from_bytes([0xa2; 20]);
    const UNKNOWN: Address = Address::from_bytes([0xa3; 20]);
    const COLLECTION: Address = Address::from_bytes([0xc0; 20]);

    /// Two marketplaces, of which ours holds its orders to 50, one that is something else, and a collection whose tokens
    /// cost as many basis points as their numbers.
    #[derive(Default)]
    struct World {
        asked: Mutex<Vec<(Address, Option<BlockHash>)>>,
    }

    fn answer(call: &Call) -> Result<Bytes, Reverted> {
        let share = |token: U256| Ok((RawAddress::repeat_byte(7), token).abi_encode().into());
        if let Ok(asked) = getRoyaltyInfoCall::abi_decode(&call.data) {
            return if call.to == UNKNOWN { Err(Reverted) } else { share(asked.tokenId) };
        }
        if let Ok(asked) = royaltyInfoCall::abi_decode(&call.data) {
            return share(asked.tokenId);
        }
        let is_ours = call.to == OURS && royaltyLeftCall::abi_decode(&call.data).is_ok();
        if is_ours { Ok((U256::from(50), U256::from(3)).abi_encode().into()) } else { Err(Reverted) }
    }

    impl Answers for World {
        fn answers(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
            self.asked.lock().unwrap().extend(calls.iter().map(|call| (call.to, at)));
            Ok(calls.iter().map(answer).collect())
        }
    }

    fn sold(market: Address, token: u64, order: u64) -> Sold {
        let token = SoldToken { market, collection: COLLECTION, token_id: token.into() };
        Sold { token, order: U256::from(order) }
    }

    #[tokio::test]
    async fn each_token_is_asked_about_once_and_each_order_for_what_holds_it() {
        let node = Contracts(World::default());
        let orders = [sold(OURS, 0, 1), sold(OURS, 900, 2), sold(THEIRS, 900, 3), sold(THEIRS, 900, 4)];
        let orders: BTreeSet<Sold> = orders.into_iter().chain([sold(UNKNOWN, 700, 5)]).collect();
        let royalties = Royalties::new(Caller::new(None));
        let at = Some(BlockHash::repeat_byte(1));
        let due = royalties.of(&node, &orders, at).await.unwrap();
        let rate = |sold: Sold| due[&sold].rate.as_ref().map(|rate| rate.bps);
        assert_eq!(rate(sold(OURS, 0, 1)), None);
        assert_eq!(rate(sold(OURS, 900, 2)), Some(900));
        assert_eq!(rate(sold(THEIRS, 900, 4)), Some(900));
        assert_eq!(rate(sold(UNKNOWN, 700, 5)), Some(700), "its collection tells");
        let cap = RoyaltyCap { amount: U256::from(50), units: U256::from(3) };
        assert_eq!((due[&sold(OURS, 900, 2)].cap, due[&sold(THEIRS, 900, 3)].cap), (Some(cap), None));
        let asked = node.0.asked.lock().unwrap();
        assert_eq!(asked.len(), 4 + 5 + 1, "tokens, orders, and one collection");
        assert!(asked.iter().all(|(_, asked_at)| *asked_at == at));
    }
}
