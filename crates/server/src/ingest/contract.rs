//! Contracts.

use bourse_store::{Change, CollectionKey};
use bourse_wire::{
    Address, ChainId, ChainRef, ContractInfo, ContractInfoExtensions, ContractType, JsonObject, Text,
    Timestamp, from_value,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Reader, Rejection};

/// What is known of a contract. It replaces all that was known.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractRecordInput {
    /// Chain; may be left out where the request names it.
    chain_id: Option<ChainRef>,
    /// Contract.
    address: Address,
    /// Standard; it is served as `type`, and may come as that.
    #[serde(alias = "type")]
    contract_type: ContractType,
    /// Name.
    #[serde(default)]
    name: Text<2048>,
    /// Symbol.
    #[serde(default)]
    symbol: Text<256>,
    /// Decimals, for fungible tokens.
    decimals: Option<u8>,
    /// Link to the logo.
    #[serde(default, rename = "logoURI")]
    logo_uri: Text<262_144>,
    /// Whether there is code at the address.
    #[serde(default)]
    deployed: bool,
    /// Hash of the code, in hexadecimal.
    #[serde(default)]
    bytecode_hash: Text<128>,
    /// More about the contract.
    #[serde(default)]
    extensions: ContractExtensionsInput,
    /// When the information last changed.
    #[serde(default)]
    updated_at: Timestamp,
}

/// More about a contract.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(rename_all = "camelCase", default)]
struct ContractExtensionsInput {
    /// Link to the project's page.
    link: Text<8192>,
    /// Description.
    description: Text<65536>,
    /// Link to an image for previews.
    og_image: Text<262_144>,
    /// Name for previews.
    og_name: Text<2048>,
    /// Chain the contract comes from, 0 when it is its own.
    origin_chain_id: u64,
    /// Address the contract comes from; its own when left out or empty.
    origin_address: Text<64>,
    /// Whether somebody vouches for it.
    verified: bool,
    /// Who does.
    verified_by: Text<256>,
    /// Whether it is one of those that are shown before others.
    featured: bool,
    /// Whether it is known to deceive people, and is not shown in the directory.
    blacklist: bool,
}

impl Reader<'_> {
    /// Reads what is known of a contract.
    pub fn contract(&self, members: JsonObject) -> Result<(CollectionKey, ContractInfo), Rejection> {
        let input: ContractRecordInput = from_value(Value::Object(members))?;
        let chain = self.chain(input.chain_id.as_ref())?;
        let collection = CollectionKey { chain, address: input.address };
        Ok((collection, input.info(chain)?))
    }
}

impl ContractRecordInput {
    fn info(self, chain_id: ChainId) -> Result<ContractInfo, Rejection> {
        Ok(ContractInfo {
            chain_id,
            address: self.address,
            name: self.name.into_string(),
            r#type: self.contract_type,
            symbol: self.symbol.into_string(),
            decimals: self.decimals.map(u64::from),
            owner: None,
            logo_uri: self.logo_uri.into_string(),
            deployed: self.deployed,
            bytecode_hash: self.bytecode_hash.into_string(),
            extensions: self.extensions.of(self.address)?,
            source: String::new(),
            status: None,
            queued_at: None,
            updated_at: self.updated_at,
        })
    }
}

impl ContractExtensionsInput {
    fn of(self, contract: Address) -> Result<ContractInfoExtensions, Rejection> {
        let origin_address = match self.origin_address.as_str() {
            "" => contract,
            text => text.parse().map_err(|error| Rejection::invalid("extensions.originAddress", error))?,
        };
        Ok(ContractInfoExtensions {
            link: self.link.into_string(),
            description: self.description.into_string(),
            og_image: self.og_image.into_string(),
            og_name: self.og_name.into_string(),
            origin_chain_id: self.origin_chain_id,
            origin_address,
            verified: self.verified,
            verified_by: self.verified_by.into_string(),
            featured: self.featured,
            blacklist: self.blacklist,
        })
    }
}

/// The change that makes a contract what was read. Whether it came with its time makes a difference where nothing else does.
pub fn contract_change(contract: &ContractInfo, is_dated: bool) -> Result<Change, Rejection> {
    let info = contract.to_json().map_err(|error| Rejection::too_large(&error))?;
    Ok(if is_dated { Change::Contract(info) } else { Change::UndatedContract(info) })
}
