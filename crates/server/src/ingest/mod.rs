//! Records of collections and currencies as they are given: lines of an import, items of an `Ingest` operation. There
//! is one way to read each, so both mean the same.

mod balance;
mod contract;
mod currency;
mod event;
mod order;
mod rejection;
mod token;

use bourse_protocols::venues::Registry;
use bourse_wire::{ChainId, ChainRef, ServiceName, Timestamp};

use crate::settings::Networks;

pub use balance::{BalanceInput, balance_not_stated};
pub use contract::{ContractRecordInput, contract_change};
pub use currency::CurrencyInput;
pub use event::{EventInput, EventPropertiesInput};
pub(crate) use order::dated;
pub use order::{OrderKeyInput, OrderSubmission, SignedOrderInput, not_stated, unasked};
pub use rejection::{Reason, Rejection};
pub use token::{TokenRecordInput, token_change};

/// What the words of a record are understood by.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The service's own name, which some marketplaces carry.
    pub service: &'a ServiceName,
    /// The networks that chains are named after.
    pub networks: &'a Networks,
    /// The marketplaces that signed orders are for.
    pub registry: &'a Registry,
    /// The chains that records may be of.
    pub chains: Chains,
    /// When they are told.
    pub now: Timestamp,
}

/// The chains that records may be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chains {
    /// Each record names its own.
    Named,
    /// A record that names none is of this one.
    Usually(ChainId),
    /// All records are of this one, and none may name another.
    Only(ChainId),
}

impl Reader<'_> {
    /// The chain of a record that names this one, or none.
    pub fn chain(&self, named: Option<&ChainRef>) -> Result<ChainId, Rejection> {
        let named = named.map(|chain| self.resolve(chain)).transpose()?;
        match (named, self.chains) {
            (Some(named), Chains::Only(only)) if named != only => {
                let message = format!("chainId: the record names chain {named}, the path chain {only}");
                Err(Rejection::new(Reason::WrongChain, message))
            }
            (Some(chain), _) | (None, Chains::Usually(chain) | Chains::Only(chain)) => Ok(chain),
            (None, Chains::Named) => Err(Rejection::invalid("chainId", "is required")),
        }
    }

    fn resolve(&self, chain: &ChainRef) -> Result<ChainId, Rejection> {
        let unknown = || {
            let message = format!("chainId: `{chain:.64}` is not the name or number of a network");
            Rejection::new(Reason::UnknownChain, message)
        };
        self.networks.resolve(chain.as_str()).map(ChainId).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests;
