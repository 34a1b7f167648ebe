//! How marketplaces are spoken with: which calls do what, and what their logs state. One module for each family.

pub mod own;

use bourse_wire::{Address, Marketplace};

use crate::facts::{Fact, Log};

/// What a log of a marketplace states.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// Of which collections.
    pub concerns: Concerns,
    /// What.
    pub fact: Fact,
}

/// Which collections a log of a marketplace is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concerns {
    /// The one of this contract.
    Collection(Address),
    /// Every collection that has orders of that maker on that marketplace.
    EveryCollection,
}

/// Why a log states nothing, although it has the name of an event that does.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("log {index} of transaction {tx_hash} by {address} is no {event}: {reason}")]
pub struct LogError {
    /// The contract that wrote it.
    pub address: Address,
    /// Its transaction.
    pub tx_hash: alloy_primitives::B256,
    /// Its place among the logs of its block.
    pub index: u64,
    /// The event that it has the name of.
    pub event: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a log that the contract of a marketplace wrote; `None` when it is about something else than orders.
pub fn decode(log: &Log, marketplace: Marketplace) -> Result<Option<Decoded>, LogError> {
    match marketplace {
        Marketplace::OwnV1 | Marketplace::OwnV2 => own::decode(log, marketplace),
        _ => Ok(None),
    }
}
