//! From logs to what they state of followed collections.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use alloy_primitives::Bytes;
use bourse_market::RoyaltyDue;
use bourse_market::facts::{Block, BlockHash, Fact, Log, StatedFact};
use bourse_protocols::native::Inquiry;
use bourse_protocols::{LogQuestion, Scope, Statement};
use bourse_store::BlockFacts;
use bourse_wire::Address;

use crate::decode::{DecodedLogs, Decoder, TOKEN_TOPICS, TRANSFER_TOPICS};
use crate::node::{Call, Failure, LogFilter, Node, TimedLog};
use crate::pace::Pace;
use crate::royalties::{Royalties, Sold, SoldToken};
use crate::status::Status;

/// Turns logs into facts. Shared by everything that reads logs of one chain.
pub(crate) struct Reading<N, P> {
    pub(crate) node: Arc<N>,
    pub(crate) pace: Arc<P>,
    pub(crate) decoder: Decoder,
    pub(crate) royalties: Royalties,
    pub(crate) status: Status,
}

/// What a log states, before it is known whether that is of a followed collection.
struct LogFact<'a> {
    log: &'a Log,
    /// Place among what the log states.
    part: u32,
    scope: Scope,
    fact: Fact,
}

impl LogFact<'_> {
    /// What an order sells, if it is one that was made, and the marketplace that wrote it down.
    fn sold(&self) -> Option<Sold> {
        let (Fact::OrderMade(made), Scope::Collection(collection)) = (&self.fact, self.scope) else {
            return None;
        };
        let token = SoldToken { market: self.log.address, collection, token_id: made.token_id? };
        Some(Sold { token, order: made.order_id.parse().ok()? })
    }
}

impl<N: Node, P: Pace> Reading<N, P> {
    /// What the logs of `blocks` state of `collections`, one entry for each block. Both are in the order of the chain;
    /// a log of another block than these is not looked at. Royalties of new orders are those of the last block where
    /// `is_newest`, else of the newest one there is.
    pub(crate) async fn facts(
        &self,
        blocks: &[Block],
        logs: &[TimedLog],
        collections: &HashSet<Address>,
        is_newest: bool,
    ) -> Result<Vec<BlockFacts>, Failure> {
        let (mut stated, malformed) = self.decoded(logs);
        self.status.malformed(malformed);
        stated.extend(self.asked(logs, collections).await?);
        stated.sort_by_key(|stated| (stated.log.block_number, stated.log.index));
        self.note_royalties(&stated, collections);
        stated.retain(|stated| stated.fact != Fact::RoyaltiesChanged);
        let at = blocks.last().filter(|_| is_newest).map(|block| block.hash);
        let royalties = self.royalties_of(&stated, collections, at).await?;
        let mut facts: Vec<BlockFacts> =
            blocks.iter().map(|block| BlockFacts { block: *block, facts: Vec::new() }).collect();
        let mut place = 0;
        for mut stated in stated {
            let (sold, log) = (stated.sold(), stated.log);
            while facts.get(place).is_some_and(|entry| entry.block.number < log.block_number) {
                place += 1;
            }
            let Some(entry) = facts.get_mut(place) else { break };
            if entry.block.number != log.block_number {
                continue;
            }
            if let (Fact::OrderMade(order), Some(sold)) = (&mut stated.fact, sold) {
                let due = royalties.get(&sold);
                order.fees.extend(due.into_iter().flat_map(|due| due.fees(order.price_amount)));
            }
            state(&mut entry.facts, stated, collections);
        }
        Ok(facts)
    }

    /// Tells whoever looks at royalties what logs say of them.
    fn note_royalties(&self, stated: &[LogFact<'_>], collections: &HashSet<Address>) {
        for LogFact { log, scope, fact, .. } in stated {
            let Scope::Collection(collection) = *scope else { continue };
            match fact {
                Fact::RoyaltiesChanged => self.status.note_royalties(collection, log.block_number, true),
                Fact::OrderMade(_) if collections.contains(&collection) => {
                    self.status.note_royalties(collection, log.block_number, false);
                }
                _ => {}
            }
        }
    }

    /// The royalties of orders that logs tell of. Nodes that keep no archive know of none but the newest blocks.
    async fn royalties_of(
        &self,
        stated: &[LogFact<'_>],
        collections: &HashSet<Address>,
        at: Option<BlockHash>,
    ) -> Result<BTreeMap<Sold, RoyaltyDue>, Failure> {
        let sold = stated.iter().filter_map(LogFact::sold);
        let sold = sold.filter(|sold| collections.contains(&sold.token.collection)).collect();
        match self.royalties.of(&*self.node, &sold, at).await {
            Err(_) if at.is_some() => self.royalties.of(&*self.node, &sold, None).await,
            due => due,
        }
    }

    /// What logs state of which more has to be asked. Nodes that keep no archive do not know the state of a block that is
    /// long ago; then the present one is as good, as an order of a counter that has moved since is over.
    async fn asked<'a>(
        &'a self,
        logs: &'a [TimedLog],
        collections: &HashSet<Address>,
    ) -> Result<Vec<LogFact<'a>>, Failure> {
        let mut facts = Vec::new();
        for TimedLog { log, .. } in logs {
            for (protocol, LogQuestion { collection, inquiry }) in self.decoder.questions(log) {
                if !collections.contains(&collection) {
                    continue;
                }
                let answers = self.answers(log, inquiry).await?;
                let scope = Scope::Collection(collection);
                let fact = protocol.answered_log(log, &answers);
                facts.extend(fact.map(|fact| LogFact { log, part: 0, scope, fact }));
            }
        }
        Ok(facts)
    }

    async fn answers(&self, log: &Log, inquiry: Inquiry) -> Result<Vec<Option<Bytes>>, Failure> {
        let call = [Call::from(inquiry)];
        let answers = match self.node.call(&call, Some(log.block_hash)).await {
            Ok(answers) => answers,
            Err(_) => self.node.call(&call, None).await?,
        };
        Ok(answers.into_iter().map(Result::ok).collect())
    }

    /// Contracts of tokens that are not followed, as far as these logs tell of any.
    pub(crate) fn strangers(&self, logs: &[TimedLog], followed: &HashSet<Address>) -> BTreeSet<Address> {
        let names_tokens = |fact: &Fact| matches!(fact, Fact::Transfer { .. } | Fact::OrderMade(_));
        let (stated, _) = self.decoded(logs);
        stated
            .iter()
            .filter(|stated| names_tokens(&stated.fact))
            .filter_map(|stated| match stated.scope {
                Scope::Collection(of) => Some(of),
                Scope::EveryCollection => None,
            })
            .filter(|of| !followed.contains(of))
            .collect()
    }

    /// The logs that [`Reading::strangers`] finds collections in.
    pub(crate) fn stranger_filters(&self) -> Vec<LogFilter> {
        let transfers = LogFilter { addresses: Vec::new(), topics: vec![TRANSFER_TOPICS.to_vec()] };
        let addresses: Vec<Address> = self.decoder.addresses().into_iter().collect();
        let orders = LogFilter { addresses, topics: vec![self.decoder.topics()] };
        // A filter that names nobody would be for everybody.
        [transfers].into_iter().chain((!orders.addresses.is_empty()).then_some(orders)).collect()
    }

    /// What logs state, and how many are not what their names say.
    fn decoded<'a>(&self, logs: &'a [TimedLog]) -> (Vec<LogFact<'a>>, u64) {
        let mut all_malformed = 0;
        let mut facts: Vec<LogFact<'a>> = Vec::with_capacity(logs.len());
        for transaction in logs.chunk_by(|a, b| a.log.tx_hash == b.log.tx_hash) {
            let logs: Vec<&Log> = transaction.iter().map(|timed| &timed.log).collect();
            let DecodedLogs { statements, malformed } = self.decoder.read(&logs);
            all_malformed += malformed;
            let mut parts = vec![0; logs.len()];
            for Statement { log: place, scope, fact } in statements {
                facts.push(LogFact { log: logs[place], part: parts[place], scope, fact });
                parts[place] += 1;
            }
        }
        (facts, all_malformed)
    }

    /// All logs that may state something of collections: of anybody when there are too many to name.
    pub(crate) fn log_filter(&self, collections: &HashSet<Address>, addresses_max: usize) -> LogFilter {
        let mut addresses: Vec<Address> = collections.iter().copied().collect();
        addresses.extend(self.decoder.addresses());
        if addresses.len() > addresses_max {
            addresses.clear();
        }
        addresses.sort_unstable();
        LogFilter { addresses, topics: vec![self.decoder.topics()] }
    }

    /// The logs that may state something of one collection, each of those that tell of it in a way of their own.
    pub(crate) fn collection_filters(&self, collection: Address) -> Vec<LogFilter> {
        let of_tokens = LogFilter { addresses: vec![collection], topics: vec![TOKEN_TOPICS.to_vec()] };
        [of_tokens].into_iter().chain(self.decoder.collection_filters(collection)).collect()
    }
}

fn state(facts: &mut Vec<StatedFact>, stated: LogFact<'_>, collections: &HashSet<Address>) {
    let LogFact { log, part, scope, fact } = stated;
    let of =
        |collection, fact| StatedFact { collection, tx_hash: log.tx_hash, log_index: log.index, part, fact };
    match scope {
        Scope::Collection(collection) if collections.contains(&collection) => {
            facts.push(of(collection, fact));
        }
        Scope::Collection(_) => {}
        Scope::EveryCollection => {
            let mut all: Vec<Address> = collections.iter().copied().collect();
            all.sort_unstable();
            facts.extend(all.into_iter().map(|collection| of(collection, fact.clone())));
        }
    }
}

#[cfg(test)]
mod tests;
