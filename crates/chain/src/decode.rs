//! What the logs of token contracts and marketplaces state.

use std::collections::BTreeSet;
use std::sync::Arc;

use alloy_primitives::B256;
use alloy_sol_types::SolEvent;
use bourse_market::facts::{Fact, Log};
use bourse_protocols::{LogQuestion, Protocol, Scope, Statement};
use bourse_wire::{Address, Amount, TokenId};

use crate::node::LogFilter;

alloy_sol_types::sol! {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
    event TransferSingle(
        address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value
    );
    event TransferBatch(
        address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values
    );
    event MetadataUpdate(uint256 tokenId);
    event BatchMetadataUpdate(uint256 fromTokenId, uint256 toTokenId);
}

/// What currencies (ERC-20) tell under the names of tokens.
mod money {
    alloy_sol_types::sol! {
        event Transfer(address indexed from, address indexed to, uint256 amount);
    }
}

/// Bytes of a member of a log.
const WORD_BYTES: usize = 32;

/// The first topics of the logs of token contracts that are read.
pub const TOKEN_TOPICS: [B256; 7] = [
    Transfer::SIGNATURE_HASH,
    Approval::SIGNATURE_HASH,
    ApprovalForAll::SIGNATURE_HASH,
    TransferSingle::SIGNATURE_HASH,
    TransferBatch::SIGNATURE_HASH,
    MetadataUpdate::SIGNATURE_HASH,
    BatchMetadataUpdate::SIGNATURE_HASH,
];

/// The first topics of the logs by which contracts of tokens are known.
pub(crate) const TRANSFER_TOPICS: [B256; 3] =
    [Transfer::SIGNATURE_HASH, TransferSingle::SIGNATURE_HASH, TransferBatch::SIGNATURE_HASH];

/// How many topics the transfers and approvals of tokens have that are not fungible; those of fungible ones have one
/// less under the same name.
const TOPICS_OF_ONE_TOKEN: usize = 4;

/// A log has the name of an event that it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Malformed;

/// What the logs of one transaction state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecodedLogs {
    /// In the order of the logs.
    pub statements: Vec<Statement>,
    /// How many logs are not what their names say.
    pub malformed: u64,
}

/// Reads logs, knowing which contracts are those of marketplaces. All others may be contracts of tokens.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    protocols: Vec<VenueLogs>,
}

/// How a marketplace is spoken with, and the contracts that write its logs.
#[derive(Clone, Debug)]
struct VenueLogs {
    addresses: Vec<Address>,
    protocol: Arc<dyn Protocol>,
}

impl Decoder {
    /// A decoder for the logs of tokens, and of marketplaces that are spoken with in these ways.
    pub fn new(protocols: Vec<Arc<dyn Protocol>>) -> Self {
        let venue = |protocol: Arc<dyn Protocol>| VenueLogs { addresses: protocol.log_addresses(), protocol };
        Self { protocols: protocols.into_iter().map(venue).collect() }
    }

    /// The contracts of all marketplaces.
    pub(crate) fn addresses(&self) -> BTreeSet<Address> {
        self.protocols.iter().flat_map(|venue| &venue.addresses).copied().collect()
    }

    /// The first topics of all logs that are read.
    pub(crate) fn topics(&self) -> Vec<B256> {
        let of_venues = self.protocols.iter().flat_map(|venue| venue.protocol.log_topics());
        let topics: BTreeSet<B256> = TOKEN_TOPICS.iter().chain(of_venues).copied().collect();
        topics.into_iter().collect()
    }

    /// The logs of marketplaces that name a collection in a topic. What is found by the same topics is asked for together.
    pub(crate) fn collection_filters(&self, collection: Address) -> Vec<LogFilter> {
        let mut filters: Vec<LogFilter> = Vec::new();
        for VenueLogs { addresses, protocol } in &self.protocols {
            for topics in protocol.collection_topics(collection) {
                match filters.iter_mut().find(|filter| filter.topics == topics) {
                    Some(filter) => filter.addresses.extend(addresses),
                    None => filters.push(LogFilter { addresses: addresses.clone(), topics }),
                }
            }
        }
        filters
    }

    /// What must be asked before it is known what a log states, with who knows what follows from the answer.
    pub(crate) fn questions(&self, log: &Log) -> Vec<(&dyn Protocol, LogQuestion)> {
        let writers = self.protocols.iter().filter(|venue| venue.addresses.contains(&log.address));
        writers.filter_map(|venue| Some((&*venue.protocol, venue.protocol.log_question(log)?))).collect()
    }

    /// What the logs of one transaction state: some marketplaces tell only together which order was filled.
    pub fn read(&self, logs: &[&Log]) -> DecodedLogs {
        let mut decoded = DecodedLogs::default();
        let mut is_venue = vec![false; logs.len()];
        for VenueLogs { addresses, protocol } in &self.protocols {
            let written = logs.iter().enumerate().filter(|(_, log)| addresses.contains(&log.address));
            let (places, written): (Vec<usize>, Vec<&Log>) =
                written.map(|(place, log)| (place, *log)).unzip();
            for place in &places {
                is_venue[*place] = true;
            }
            if written.is_empty() {
                continue;
            }
            for statement in protocol.decode_logs(&written) {
                match statement {
                    Ok(of) => decoded.statements.push(Statement { log: places[of.log], ..of }),
                    Err(_) => decoded.malformed += 1,
                }
            }
        }
        for (place, log) in logs.iter().enumerate().filter(|(place, _)| !is_venue[*place]) {
            match token_facts(log) {
                Ok(facts) => decoded.statements.extend(facts.into_iter().map(|fact| Statement {
                    log: place,
                    scope: Scope::Collection(log.address),
                    fact,
                })),
                Err(Malformed) => decoded.malformed += 1,
            }
        }
        // Several marketplaces may be one contract's, and state things of the same logs.
        decoded.statements.sort_by_key(|statement| statement.log);
        decoded
    }
}

/// What a log of a contract of tokens states of them; nothing for one of another kind.
fn token_facts(log: &Log) -> Result<Vec<Fact>, Malformed> {
    let Some(topic) = log.topics.first() else { return Ok(Vec::new()) };
    let fact = match *topic {
        // The same names mean fungible tokens when the amount is not a topic.
        Transfer::SIGNATURE_HASH if log.topics.len() < TOPICS_OF_ONE_TOKEN => return Ok(paid(log)),
        Approval::SIGNATURE_HASH if log.topics.len() < TOPICS_OF_ONE_TOKEN => return Ok(Vec::new()),
        Transfer::SIGNATURE_HASH => {
            let event: Transfer = event(log)?;
            Fact::Transfer {
                token_id: TokenId::from(event.tokenId),
                from: address(event.from),
                to: address(event.to),
                quantity: Amount::from(1),
                single: true,
            }
        }
        Approval::SIGNATURE_HASH => {
            let event: Approval = event(log)?;
            Fact::TokenApproval { token_id: TokenId::from(event.tokenId), operator: address(event.approved) }
        }
        ApprovalForAll::SIGNATURE_HASH => {
            let event: ApprovalForAll = event(log)?;
            Fact::Approval {
                owner: address(event.owner),
                operator: address(event.operator),
                approved: event.approved,
            }
        }
        TransferSingle::SIGNATURE_HASH => {
            let event: TransferSingle = event(log)?;
            several(event.from, event.to, event.id, event.value)
        }
        TransferBatch::SIGNATURE_HASH => return batch(log),
        MetadataUpdate::SIGNATURE_HASH => {
            let token = TokenId::from(event::<MetadataUpdate>(log)?.tokenId);
            Fact::MetadataChanged { first: token, last: token }
        }
        BatchMetadataUpdate::SIGNATURE_HASH => {
            let event: BatchMetadataUpdate = event(log)?;
            let (first, last) = (TokenId::from(event.fromTokenId), TokenId::from(event.toTokenId));
            if first > last {
                return Err(Malformed);
            }
            Fact::MetadataChanged { first, last }
        }
        _ => return Ok(Vec::new()),
    };
    Ok(vec![fact])
}

/// Money that changed hands. Old contracts have other members in topics, and mean something else.
fn paid(log: &Log) -> Vec<Fact> {
    let event = event::<money::Transfer>(log).ok().filter(|_| log.data.len() == WORD_BYTES);
    let fact = |event: money::Transfer| Fact::Paid {
        from: address(event.from),
        to: address(event.to),
        amount: Amount::from(event.amount),
    };
    event.map(fact).into_iter().collect()
}

fn batch(log: &Log) -> Result<Vec<Fact>, Malformed> {
    let event: TransferBatch = event(log)?;
    if event.ids.len() != event.values.len() {
        return Err(Malformed);
    }
    let moved = event.ids.iter().zip(&event.values);
    Ok(moved.map(|(id, value)| several(event.from, event.to, *id, *value)).collect())
}

fn several(
    from: alloy_primitives::Address,
    to: alloy_primitives::Address,
    id: alloy_primitives::U256,
    value: alloy_primitives::U256,
) -> Fact {
    Fact::Transfer {
        token_id: TokenId::from(id),
        from: address(from),
        to: address(to),
        quantity: Amount::from(value),
        single: false,
    }
}

fn event<E: SolEvent>(log: &Log) -> Result<E, Malformed> {
    E::decode_raw_log_validate(log.topics.iter().copied(), &log.data).map_err(|_| Malformed)
}

fn address(given: alloy_primitives::Address) -> Address {
    Address::from_bytes(given.into_array())
}

#[cfg(test)]
mod tests;
