//! Contracts as settings name them.

use bourse_wire::{Address, Marketplace, ServiceName};

use super::{Api, Conduit, Deployment, Kind, Version};
use crate::native::Word;

/// A contract of a marketplace whose orders are signed: its name, the contract, and what else its protocol needs to
/// know, with spaces between.
///
/// - `opensea`, `magic_eden`, `mintify`, `alienswap`: conduits as `KEY@ADDRESS`, the one for takers first; without any
///   the contract itself moves everything
/// - `looks_rare`: the contract that moves tokens
/// - `payment_processor`: the version, `1`, `2` or `2.1`
/// - `blur`: the contract that moves tokens
/// - `x2y2`: the contracts that move ERC-721 and ERC-1155 tokens
/// - `zerox`: nothing
pub fn configured(text: &str) -> Result<(Marketplace, Deployment), String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [name, contract, rest @ ..] = words.as_slice() else {
        return Err("must be the name of a marketplace and its contract, with a space between".to_owned());
    };
    let known = Marketplace::parse(name, &ServiceName::new("service"));
    let marketplace = known.filter(|known| !known.is_own() && *known != Marketplace::Unknown);
    let marketplace = marketplace.ok_or_else(|| format!("`{name}` is no marketplace of signed orders"))?;
    let deployment = Deployment { contract: address(contract)?, kind: kind(marketplace, rest)? };
    Ok((marketplace, deployment))
}

fn kind(marketplace: Marketplace, rest: &[&str]) -> Result<Kind, String> {
    let seaport = |name, version, api| {
        let conduits = rest.iter().map(|word| conduit(word)).collect::<Result<_, _>>()?;
        let (signed_zones, fee_recipient) = (Vec::new(), None);
        Ok(Kind::Seaport { signed_for: (name, version), conduits, signed_zones, api, fee_recipient })
    };
    match (marketplace, rest) {
        (Marketplace::Opensea, _) => seaport("Seaport", "1.6", Some(Api::OpenSea)),
        (Marketplace::MagicEden, _) => seaport("Seaport", "1.6", Some(Api::Reservoir)),
        (Marketplace::Mintify, _) => seaport("MintifyExchange", "1.6", None),
        (Marketplace::Alienswap, _) => seaport("Alienswap", "1.4", None),
        (Marketplace::LooksRare, [manager]) => Ok(Kind::LooksRare { transfer_manager: address(manager)? }),
        (Marketplace::LooksRare, _) => Err("looks_rare needs the contract that moves tokens".to_owned()),
        (Marketplace::Zerox, []) => Ok(Kind::Zerox),
        (Marketplace::PaymentProcessor, ["1"]) => Ok(Kind::PaymentProcessorV1),
        (Marketplace::PaymentProcessor, ["2"]) => Ok(Kind::PaymentProcessor { version: Version::V2 }),
        (Marketplace::PaymentProcessor, ["2.1"]) => Ok(Kind::PaymentProcessor { version: Version::V21 }),
        (Marketplace::PaymentProcessor, _) => {
            Err("payment_processor needs its version, 1, 2 or 2.1".to_owned())
        }
        (Marketplace::Blur, [delegate]) => Ok(Kind::Blur { delegate: address(delegate)? }),
        (Marketplace::Blur, _) => Err("blur needs the contract that moves tokens".to_owned()),
        (Marketplace::X2y2, [one, many]) => {
            Ok(Kind::X2y2 { erc721_delegate: address(one)?, erc1155_delegate: address(many)? })
        }
        (Marketplace::X2y2, _) => {
            Err("x2y2 needs the contracts that move ERC-721 and ERC-1155 tokens".to_owned())
        }
        _ => Err(format!("nothing is known to follow the contract: `{}`", rest.join(" "))),
    }
}

fn conduit(text: &str) -> Result<Conduit, String> {
    let parts = text.split_once('@');
    let (key, of) = parts.ok_or_else(|| format!("`{text}` is no conduit: it must be KEY@ADDRESS"))?;
    Ok(Conduit { key: key.parse::<Word>()?.0, address: address(of)? })
}

fn address(text: &str) -> Result<Address, String> {
    match text.parse() {
        Ok(Address::ZERO) => Err("must be a contract, not the zero address".to_owned()),
        Ok(address) => Ok(address),
        Err(error) => Err(format!("{error}")),
    }
}
