//! The service's own marketplaces: two contracts that keep orders on the chain, under numbers.

mod abi;
mod calls;
mod logs;
mod standing;
#[cfg(test)]
mod tests;
mod venues;

use bourse_wire::{Address, Marketplace};

pub use logs::TOPICS;
pub(crate) use venues::FAMILY;
pub use venues::OwnContracts;

/// One of the service's own marketplaces on one chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    marketplace: Marketplace,
    contract: Address,
    payable_helper: Option<Address>,
}

impl Own {
    /// The first version: orders in ERC-20 currencies only.
    pub fn v1(contract: Address) -> Self {
        Self { marketplace: Marketplace::OwnV1, contract, payable_helper: None }
    }

    /// The second version. The helper, where there is one, pays several listings with native currency in one call.
    pub fn v2(contract: Address, payable_helper: Option<Address>) -> Self {
        Self { marketplace: Marketplace::OwnV2, contract, payable_helper }
    }
}
