//! The service's own marketplaces: two contracts that keep orders on the chain, under numbers.

mod abi;
mod calls;
mod logs;
#[cfg(test)]
mod tests;

use bourse_wire::{Address, Marketplace};

pub use logs::{TOPICS, decode};

/// Where the first version is on most chains.
pub const V1_ADDRESS: Address = Address::from_bytes([
    0xb5, 0x37, 0xa1, 0x60, 0x47, 0x21, 0x83, 0xf2, 0x15, 0x0d, 0x42, 0xeb, 0x1c, 0x3d, 0xd6, 0x68, 0x4a,
    0x55, 0xf7, 0x4c,
]);
/// Where the second version is on most chains.
pub const V2_ADDRESS: Address = Address::from_bytes([
    0xfd, 0xb4, 0x2a, 0x19, 0x8a, 0x93, 0x2c, 0x8d, 0x3b, 0x50, 0x6f, 0xfa, 0x5e, 0x85, 0x5b, 0xc4, 0xb3,
    0x48, 0xa7, 0x12,
]);

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
