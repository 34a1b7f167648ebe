//! What the logs of token contracts and marketplaces state.

use std::collections::BTreeSet;
use std::sync::Arc;

use alloy_primitives::B256;
use alloy_sol_types::SolEvent;
use bourse_market::facts::{Fact, Log};
use bourse_protocols::{self as protocols, Concerns, Decoded, Protocol};
use bourse_wire::{Address, Amount, Marketplace, TokenId};

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

/// How many topics the transfers and approvals of tokens have that are not fungible; those of fungible ones have one
/// less under the same name.
const TOPICS_OF_ONE_TOKEN: usize = 4;

/// What a log states, and of which collections.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Of which.
    pub concerns: Concerns,
    /// Place among what the log states.
    pub part: u32,
    /// What.
    pub fact: Fact,
}

/// A log has the name of an event that it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A marketplace whose orders are signed and kept outside of chains.
pub type Signed = Arc<dyn Protocol + Send + Sync>;

/// Reads logs, knowing which contracts are marketplaces.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    markets: Vec<(Address, Marketplace)>,
    signed: Vec<(Vec<Address>, Signed)>,
}

impl Decoder {
    /// A decoder for these marketplaces, whose orders are on the chain.
    pub fn new(markets: Vec<(Address, Marketplace)>) -> Self {
        Self { markets, signed: Vec::new() }
    }

    /// The same that also reads what happens to orders of these marketplaces.
    pub fn with_signed(self, protocols: Vec<Signed>) -> Self {
        let signed = protocols.into_iter().map(|protocol| (protocol.writers(), protocol)).collect();
        Self { signed, ..self }
    }

    /// The contracts of marketplaces whose orders are on the chain.
    pub fn market_addresses(&self) -> impl Iterator<Item = Address> {
        self.markets.iter().map(|(address, _)| *address)
    }

    /// The contracts of all marketplaces.
    pub(crate) fn writers(&self) -> BTreeSet<Address> {
        let signed = self.signed.iter().flat_map(|(writers, _)| writers).copied();
        self.market_addresses().chain(signed).collect()
    }

    /// The first topics of all logs that are read.
    pub(crate) fn topics(&self) -> Vec<B256> {
        let signed = self.signed.iter().flat_map(|(_, protocol)| protocol.topics());
        let topics: BTreeSet<B256> =
            TOKEN_TOPICS.iter().chain(&protocols::own::TOPICS).chain(signed).copied().collect();
        topics.into_iter().collect()
    }

    /// What the logs of one transaction state of signed orders, each with the place of its log, and how many are not
    /// what their names say.
    pub fn read_signed(&self, logs: &[&Log]) -> (Vec<(usize, Finding)>, u64) {
        let (mut findings, mut malformed) = (Vec::new(), 0);
        let mut parts = vec![0; logs.len()];
        for (writers, protocol) in &self.signed {
            let written = logs.iter().enumerate().filter(|(_, log)| writers.contains(&log.address));
            let (places, logs): (Vec<usize>, Vec<&Log>) = written.map(|(place, log)| (place, *log)).unzip();
            if logs.is_empty() {
                continue;
            }
            for decoded in protocol.decode(&logs) {
                let Ok(Decoded { place, concerns, fact }) = decoded else {
                    malformed += 1;
                    continue;
                };
                let place = places[place];
                findings.push((place, Finding { concerns, part: parts[place], fact }));
                parts[place] += 1;
            }
        }
        // Several marketplaces may be one contract's, and state things of the same logs.
        findings.sort_by_key(|(place, _)| *place);
        (findings, malformed)
    }

    /// What a log states; nothing for one of another kind.
    pub fn read(&self, log: &Log) -> Result<Vec<Finding>, Malformed> {
        let market = self.markets.iter().find(|(address, _)| *address == log.address);
        let Some((_, marketplace)) = market else { return token_log(log) };
        let decoded = protocols::own::decode(log, *marketplace).map_err(|_| Malformed)?;
        Ok(decoded
            .map(|decoded| Finding { concerns: decoded.concerns, part: 0, fact: decoded.fact })
            .into_iter()
            .collect())
    }
}

fn token_log(log: &Log) -> Result<Vec<Finding>, Malformed> {
    let Some(topic) = log.topics.first() else { return Ok(Vec::new()) };
    let fact = match *topic {
        // The same names mean fungible tokens when the amount is not a topic.
        Transfer::SIGNATURE_HASH | Approval::SIGNATURE_HASH if log.topics.len() < TOPICS_OF_ONE_TOKEN => {
            return Ok(Vec::new());
        }
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
    Ok(vec![of_writer(log, 0, fact)])
}

fn batch(log: &Log) -> Result<Vec<Finding>, Malformed> {
    let event: TransferBatch = event(log)?;
    if event.ids.len() != event.values.len() {
        return Err(Malformed);
    }
    let parts = event.ids.iter().zip(&event.values).zip(0..);
    Ok(parts
        .map(|((id, value), part)| of_writer(log, part, several(event.from, event.to, *id, *value)))
        .collect())
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

fn of_writer(log: &Log, part: u32, fact: Fact) -> Finding {
    Finding { concerns: Concerns::Collection(log.address), part, fact }
}

fn event<E: SolEvent>(log: &Log) -> Result<E, Malformed> {
    E::decode_raw_log_validate(log.topics.iter().copied(), &log.data).map_err(|_| Malformed)
}

fn address(given: alloy_primitives::Address) -> Address {
    Address::from_bytes(given.into_array())
}

#[cfg(test)]
mod tests;
