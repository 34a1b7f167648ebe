//! Who gets a share of a sale.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::{Address as RawAddress, U256};
use alloy_sol_types::SolCall;
use bourse_wire::{Address, FeeEntry, Timestamp};

use crate::calls::Caller;
use crate::node::{Call, Failure, Node};
use crate::pace::later;
use crate::questions::{getRoyaltyInfoCall, royaltyInfoCall};

/// The price that royalties are asked for: the answer is in basis points then.
const BPS_WHOLE: u64 = 10_000;
/// How long a royalty counts before it is asked for again.
const ROYALTY_LASTS: Duration = Duration::from_hours(1);

/// Who gets a share when tokens of a collection are sold.
pub(crate) struct Royalties {
    caller: Caller,
    /// The marketplace that knows royalties of contracts that do not tell theirs.
    market: Option<Address>,
    known: Mutex<HashMap<Address, (Timestamp, Option<FeeEntry>)>>,
}

impl Royalties {
    /// Royalties as a marketplace of our own pays them, or as contracts tell them.
    pub(crate) fn new(caller: Caller, market: Option<Address>) -> Self {
        Self { caller, market, known: Mutex::default() }
    }

    /// The royalty of each of these collections; none for those that ask for none.
    pub(crate) async fn of<N: Node>(
        &self,
        node: &N,
        collections: &BTreeSet<Address>,
        now: Timestamp,
    ) -> Result<BTreeMap<Address, Option<FeeEntry>>, Failure> {
        let (mut found, mut missing) = (BTreeMap::new(), Vec::new());
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for collection in collections {
                match known.get(collection) {
                    Some((until, royalty)) if *until > now => {
                        found.insert(*collection, royalty.clone());
                    }
                    _ => missing.push(*collection),
                }
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let calls: Vec<Call> = missing.iter().flat_map(|of| self.questions(*of)).collect();
        let answers = self.caller.call(node, &calls, None).await?;
        let each = calls.len() / missing.len();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (collection, answers) in missing.into_iter().zip(answers.chunks(each)) {
            let royalty = answers.iter().find_map(|answer| share(answer.as_deref().ok()?));
            known.insert(collection, (later(now, ROYALTY_LASTS), royalty.clone()));
            found.insert(collection, royalty);
        }
        Ok(found)
    }

    /// Asked for the first two token ids, as contracts may refuse one that does not exist.
    fn questions(&self, collection: Address) -> Vec<Call> {
        let price = U256::from(BPS_WHOLE);
        let mut calls = Vec::with_capacity(4);
        for token in [U256::ZERO, U256::from(1)] {
            if let Some(market) = self.market {
                let contract = RawAddress::from(*collection.bytes());
                let asked = getRoyaltyInfoCall { tokenContract: contract, tokenId: token, cost: price };
                calls.push(Call { to: market, data: asked.abi_encode().into() });
            }
            let asked = royaltyInfoCall { tokenId: token, salePrice: price };
            calls.push(Call { to: collection, data: asked.abi_encode().into() });
        }
        calls
    }
}

fn share(answer: &[u8]) -> Option<FeeEntry> {
    let royalty = royaltyInfoCall::abi_decode_returns(answer).ok()?;
    let bps = u64::try_from(royalty.royaltyAmount).ok().filter(|bps| (1..=BPS_WHOLE).contains(bps))?;
    let recipient_address = Address::from_bytes(royalty.receiver.into_array());
    let is_somebody = recipient_address != Address::ZERO;
    let bps = i64::try_from(bps).ok()?;
    is_somebody.then(|| FeeEntry { kind: "royalty".to_owned(), recipient_address, bps })
}
