//! The contracts of the demo: their code, as `contracts/build` makes it, and what is called on them.

use alloy_primitives::U256;
use alloy_sol_types::{SolValue as _, sol};
use bourse_wire::Address;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sender::Sending;
use crate::context::CommandError;

sol! {
    function mint(address to, uint256 amount);
    function setDefaultRoyalty(address recipient, uint96 fee);
    function setTokenURI(uint256 tokenId, string uri);
    function setTokenSaleDetails(uint256 tokenId, uint256 cost, uint256 remainingSupply, uint64 startTime,
        uint64 endTime, bytes32 merkleRoot);

    interface Stacks {
        function mintBatch(address to, uint256[] tokenIds, uint256[] amounts);
    }

    interface Sale {
        function mint(address to, uint256[] tokenIds, uint256[] amounts, bytes data, address expectedPaymentToken,
            uint256 maxTotal, bytes32[] proof) payable;
    }
}

/// Digits after the point of the demo's currency.
pub(super) const CURRENCY_DECIMALS: u8 = 6;

/// An artifact is the interface of a contract and the code that makes it.
macro_rules! artifact {
    ($name:literal) => {
        include_str!(concat!("../../../../../contracts/artifacts/", $name, ".json"))
    };
}

/// The contracts in the order in which they are made.
const ARTIFACTS: [&str; 7] = [
    artifact!("MarketV1"),
    artifact!("Market"),
    artifact!("BatchPayableHelper"),
    artifact!("TestERC721"),
    artifact!("TestERC1155"),
    artifact!("TestERC20"),
    artifact!("Sale"),
];

/// How many contracts there are.
pub(super) const COUNT: usize = ARTIFACTS.len();

/// Where the contracts are.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Contracts {
    pub(super) market_v1: Address,
    pub(super) market_v2: Address,
    pub(super) batch_helper: Address,
    pub(super) relics: Address,
    pub(super) provisions: Address,
    pub(super) currency: Address,
    pub(super) sale: Address,
}

impl Contracts {
    /// All of them, in their order; none while some are missing.
    pub(super) fn of(made: &[Address]) -> Option<Self> {
        let [market_v1, market_v2, batch_helper, relics, provisions, currency, sale] = *made else {
            return None;
        };
        Some(Self { market_v1, market_v2, batch_helper, relics, provisions, currency, sale })
    }
}

/// What makes the contract that comes after those that are there.
pub(super) fn creation(made: &[Address], studio: Address) -> Result<Option<Sending>, CommandError> {
    let Some(artifact) = ARTIFACTS.get(made.len()) else { return Ok(None) };
    let broken =
        |what: &str| CommandError::Other(format!("a contract of this program cannot be read: {what}"));
    let artifact: Value = serde_json::from_str(artifact).map_err(|error| broken(&error.to_string()))?;
    let code = artifact["bytecode"].as_str().and_then(|code| const_hex::decode(code).ok());
    let code = code.ok_or_else(|| broken("it has no bytecode"))?;
    let data = [code, arguments(made, studio)].concat();
    Ok(Some(Sending { to: None, data, value: U256::ZERO }))
}

/// What the constructor of the next contract is given.
fn arguments(made: &[Address], studio: Address) -> Vec<u8> {
    let studio = abi(studio);
    match *made {
        [] | [_] => studio.abi_encode(),
        [_, _, _] => ("Harbour Relics", "RELIC").abi_encode_params(),
        [_, _, _, _] => ("Guild Provisions", "PROVISION", "").abi_encode_params(),
        [_, _, _, _, _] => ("Harbour Crown", "CROWN", U256::from(CURRENCY_DECIMALS)).abi_encode_params(),
        [_, _, _, _, provisions, _] => {
            (studio, studio, abi(provisions), true, abi(Address::ZERO)).abi_encode_params()
        }
        _ => Vec::new(),
    }
}

/// The address as the encoder takes it.
pub(super) fn abi(address: Address) -> alloy_primitives::Address {
    alloy_primitives::Address::from(*address.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contract_has_code_and_takes_its_arguments() {
        let studio = Address::from_bytes([9; 20]);
        let mut made = Vec::new();
        while let Some(sending) = creation(&made, studio).unwrap() {
            assert!(sending.data.len() > 1000, "{}", made.len());
            made.push(Address::from_bytes([u8::try_from(made.len()).unwrap() + 1; 20]));
        }
        assert_eq!(made.len(), COUNT);
        let contracts = Contracts::of(&made).unwrap();
        assert_eq!((contracts.market_v1, contracts.sale), (made[0], made[6]));
        assert!(Contracts::of(&made[..6]).is_none());
        let sale = creation(&made[..6], studio).unwrap().unwrap().data;
        let arguments = sale.len() - 5 * 32;
        assert_eq!(sale[arguments + 76..arguments + 96], *contracts.provisions.bytes());
    }
}
