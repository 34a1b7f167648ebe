//! Who gets a share of a sale.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::{Address as RawAddress, U256};
use alloy_sol_types::SolCall;
use bourse_wire::{Address, BPS_WHOLE, FeeEntry, Timestamp};

use crate::calls::Caller;
use crate::node::{Call, Failure, Node};
use crate::pace::later;
use crate::questions::{getRoyaltyInfoCall, royaltyInfoCall};

/// How long a royalty counts before it is asked for again.
const ROYALTY_LASTS: Duration = Duration::from_hours(1);

/// What is sold, and where: each marketplace knows royalties of contracts that do not tell theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RoyaltyKey {
    pub(crate) market: Address,
    pub(crate) collection: Address,
}

/// Who gets a share when tokens of a collection are sold. It is asked at the newest block, whatever block an order is
/// of: nodes that keep no archive know no other.
pub(crate) struct Royalties {
    caller: Caller,
    known: Mutex<HashMap<RoyaltyKey, (Timestamp, Option<FeeEntry>)>>,
}

impl Royalties {
    /// Royalties as marketplaces of our own pay them, or as contracts tell them.
    pub(crate) fn new(caller: Caller) -> Self {
        Self { caller, known: Mutex::default() }
    }

    /// The royalty of each of these; none for those that ask for none.
    pub(crate) async fn of<N: Node>(
        &self,
        node: &N,
        sold: &BTreeSet<RoyaltyKey>,
        now: Timestamp,
    ) -> Result<BTreeMap<RoyaltyKey, Option<FeeEntry>>, Failure> {
        let (mut found, mut missing) = (BTreeMap::new(), Vec::new());
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for sold in sold {
                match known.get(sold) {
                    Some((until, royalty)) if *until > now => {
                        found.insert(*sold, royalty.clone());
                    }
                    _ => missing.push(*sold),
                }
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let questions: Vec<[Call; 4]> = missing.iter().map(|sold| questions(*sold)).collect();
        let answers = self.caller.call(node, questions.as_flattened(), None).await?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (sold, answers) in missing.into_iter().zip(answers.chunks(4)) {
            let royalty = answers.iter().find_map(|answer| share(answer.as_deref().ok()?));
            known.insert(sold, (later(now, ROYALTY_LASTS), royalty.clone()));
            found.insert(sold, royalty);
        }
        Ok(found)
    }
}

/// Asked for the first two token ids, as contracts may refuse one that does not exist, and for a price of which the answer
/// is in basis points.
fn questions(RoyaltyKey { market, collection }: RoyaltyKey) -> [Call; 4] {
    let (contract, price) = (RawAddress::from(*collection.bytes()), U256::from(BPS_WHOLE));
    let pays = |token: u64| {
        let asked = getRoyaltyInfoCall { tokenContract: contract, tokenId: U256::from(token), cost: price };
        Call::new(market, asked.abi_encode().into())
    };
    let tells = |token: u64| {
        let asked = royaltyInfoCall { tokenId: U256::from(token), salePrice: price };
        Call::new(collection, asked.abi_encode().into())
    };
    [pays(0), tells(0), pays(1), tells(1)]
}

fn share(answer: &[u8]) -> Option<FeeEntry> {
    let royalty = royaltyInfoCall::abi_decode_returns(answer).ok()?;
    let bps = u64::try_from(royalty.amount).ok().filter(|bps| (1..=BPS_WHOLE).contains(bps))?;
    let recipient_address = Address::from_bytes(royalty.receiver.into_array());
    let is_somebody = recipient_address != Address::ZERO;
    let bps = i64::try_from(bps).ok()?;
    is_somebody.then(|| FeeEntry { kind: "royalty".to_owned(), recipient_address, bps })
}
