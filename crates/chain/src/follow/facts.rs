//! From logs to what they state of followed collections.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use alloy_primitives::B256;
use bourse_market::facts::{Block, Fact, Log, Stated};
use bourse_protocols::{self as protocols, Concerns};
use bourse_store::BlockFacts;
use bourse_wire::{Address, FeeEntry};

use crate::decode::{Decoder, Finding, TOKEN_TOPICS};
use crate::node::{Failure, Node, ToldLog, Wanted};
use crate::pace::Pace;
use crate::royalties::{Royalties, Sold};
use crate::status::Status;

/// Turns logs into facts. Shared by everything that reads logs of one chain.
pub(crate) struct Reading<N, P> {
    pub(crate) node: Arc<N>,
    pub(crate) pace: Arc<P>,
    pub(crate) decoder: Decoder,
    pub(crate) royalties: Royalties,
    pub(crate) status: Status,
}

/// What logs state, before it is known whose they are.
struct Found<'a> {
    log: &'a Log,
    finding: Finding,
}

impl Found<'_> {
    /// What an order is about, if it is one that was made, and the marketplace that wrote it down.
    fn sold(&self) -> Option<Sold> {
        match (&self.finding.fact, self.finding.concerns) {
            (Fact::OrderMade(_), Concerns::Collection(collection)) => {
                Some(Sold { market: self.log.address, collection })
            }
            _ => None,
        }
    }
}

impl<N: Node, P: Pace> Reading<N, P> {
    /// What the logs of `blocks` state of `collections`, one entry for each block. Both are in the order of the chain;
    /// a log of another block than these is not looked at.
    pub(crate) async fn facts(
        &self,
        blocks: &[Block],
        logs: &[ToldLog],
        collections: &HashSet<Address>,
    ) -> Result<Vec<BlockFacts>, Failure> {
        let (found, malformed) = self.decoded(logs);
        self.status.malformed(malformed);
        let sold: BTreeSet<Sold> = found
            .iter()
            .filter_map(Found::sold)
            .filter(|sold| collections.contains(&sold.collection))
            .collect();
        let royalties = self.royalties.of(&*self.node, &sold, self.pace.now()).await?;
        let mut facts: Vec<BlockFacts> =
            blocks.iter().map(|block| BlockFacts { block: *block, facts: Vec::new() }).collect();
        let mut place = 0;
        for found in found {
            let sold = found.sold();
            let Found { log, mut finding } = found;
            while facts.get(place).is_some_and(|entry| entry.block.number < log.block_number) {
                place += 1;
            }
            let Some(entry) = facts.get_mut(place) else { break };
            if entry.block.number != log.block_number {
                continue;
            }
            if let (Fact::OrderMade(order), Some(sold)) = (&mut finding.fact, sold) {
                let royalty: Option<&FeeEntry> = royalties.get(&sold).and_then(Option::as_ref);
                order.fees.extend(royalty.cloned());
            }
            state(&mut entry.facts, log, finding, collections);
        }
        Ok(facts)
    }

    /// Contracts of tokens that are not followed, as far as these logs tell of any.
    pub(crate) fn strangers(&self, logs: &[ToldLog], followed: &HashSet<Address>) -> BTreeSet<Address> {
        let names_tokens = |fact: &Fact| matches!(fact, Fact::Transfer { .. } | Fact::OrderMade(_));
        let (found, _) = self.decoded(logs);
        found
            .iter()
            .filter(|found| names_tokens(&found.finding.fact))
            .filter_map(|found| match found.finding.concerns {
                Concerns::Collection(of) => Some(of),
                Concerns::EveryCollection => None,
            })
            .filter(|of| !followed.contains(of))
            .collect()
    }

    /// What logs state, and how many are not what their names say.
    fn decoded<'a>(&self, logs: &'a [ToldLog]) -> (Vec<Found<'a>>, u64) {
        let mut malformed = 0;
        let mut found = Vec::with_capacity(logs.len());
        for transaction in logs.chunk_by(|a, b| a.log.tx_hash == b.log.tx_hash) {
            let logs: Vec<&Log> = transaction.iter().map(|told| &told.log).collect();
            let (signed, unread) = self.decoder.read_signed(&logs);
            malformed += unread;
            let mut signed = signed.into_iter().peekable();
            for (place, log) in logs.into_iter().enumerate() {
                match self.decoder.read(log) {
                    Ok(findings) => found.extend(findings.into_iter().map(|finding| Found { log, finding })),
                    Err(_) => malformed += 1,
                }
                while let Some((_, finding)) = signed.next_if(|(of, _)| *of == place) {
                    found.push(Found { log, finding });
                }
            }
        }
        (found, malformed)
    }

    /// All logs that may state something of collections: of anybody when there are too many to name.
    pub(crate) fn wanted(&self, collections: &HashSet<Address>, addresses_max: usize) -> Wanted {
        let mut addresses: Vec<Address> = collections.iter().copied().collect();
        addresses.extend(self.decoder.writers());
        if addresses.len() > addresses_max {
            addresses.clear();
        }
        addresses.sort_unstable();
        Wanted { addresses, topics: vec![self.decoder.topics()] }
    }

    /// The logs that may state something of one collection. Marketplaces name the collection in a topic, but not
    /// always in the same one. Those of signed orders name none: what became of such an order before it was put is asked
    /// when it is put.
    pub(crate) fn wanted_of(&self, collection: Address) -> Vec<Wanted> {
        let mut word = [0; 32];
        word[12..].copy_from_slice(collection.bytes());
        let named = vec![B256::from(word)];
        let [made, filled, cancelled, all_invalidated, some_invalidated] = protocols::own::TOPICS;
        let markets: Vec<Address> = self.decoder.market_addresses().collect();
        let of_tokens = Wanted { addresses: vec![collection], topics: vec![TOKEN_TOPICS.to_vec()] };
        if markets.is_empty() {
            return vec![of_tokens];
        }
        let of_market = |topics| Wanted { addresses: markets.clone(), topics };
        vec![
            of_tokens,
            of_market(vec![vec![made, filled], vec![], vec![], named.clone()]),
            of_market(vec![vec![cancelled, some_invalidated], vec![], named]),
            of_market(vec![vec![all_invalidated]]),
        ]
    }
}

fn state(facts: &mut Vec<Stated>, log: &Log, finding: Finding, collections: &HashSet<Address>) {
    let stated = |collection, fact| Stated {
        collection,
        tx_hash: log.tx_hash,
        log_index: log.index,
        part: finding.part,
        fact,
    };
    match finding.concerns {
        Concerns::Collection(of) if collections.contains(&of) => facts.push(stated(of, finding.fact)),
        Concerns::Collection(_) => {}
        Concerns::EveryCollection => {
            let mut all: Vec<Address> = collections.iter().copied().collect();
            all.sort_unstable();
            facts.extend(all.into_iter().map(|of| stated(of, finding.fact.clone())));
        }
    }
}
