//! Contract information.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::token::bounded_json;
use crate::{Address, ChainId, ContractType, Error, MetadataStatus, Timestamp};

/// What is known of a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractInfo {
    /// Chain.
    pub chain_id: ChainId,
    /// Contract address.
    pub address: Address,
    /// Name.
    pub name: String,
    /// Standard: ERC721, ERC1155, ERC20.
    pub r#type: ContractType,
    /// Symbol, may be empty.
    pub symbol: String,
    /// Decimals, for fungible tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimals: Option<u64>,
    /// Who the contract says owns it, when it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Address>,
    /// Link to the logo.
    #[serde(rename = "logoURI")]
    pub logo_uri: String,
    /// Whether there is code at the address.
    pub deployed: bool,
    /// Hash of the code, in hexadecimal.
    pub bytecode_hash: String,
    /// More about the contract.
    pub extensions: ContractInfoExtensions,
    /// Whether it is there, or is being fetched. Not stored of what was brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<MetadataStatus>,
    /// Since when it waits to be fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<Timestamp>,
    /// When the information last changed; the zero time when that is not known.
    pub updated_at: Timestamp,
    /// Where the information comes from: `contract` when it was fetched from there, `import` when it was brought, `hosted` when
    /// some of it is kept in a hosted collection. Stored only of that, and last, where `is_hosted` looks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

impl ContractInfo {
    /// A contract of which nothing is known. Whoever says something goes on from it.
    pub fn unknown(chain_id: ChainId, address: Address) -> Self {
        Self {
            chain_id,
            address,
            name: String::new(),
            r#type: ContractType::default(),
            symbol: String::new(),
            decimals: None,
            owner: None,
            logo_uri: String::new(),
            deployed: false,
            bytecode_hash: String::new(),
            extensions: ContractInfoExtensions {
                link: String::new(),
                description: String::new(),
                og_image: String::new(),
                og_name: String::new(),
                origin_chain_id: 0,
                origin_address: address,
                verified: false,
                verified_by: String::new(),
                featured: false,
                blacklist: false,
            },
            status: None,
            queued_at: None,
            updated_at: Timestamp::ZERO,
            source: String::new(),
        }
    }

    /// The record as JSON text, as it is stored and served; refused when larger than a record may be.
    pub fn to_json(&self) -> Result<String, Error> {
        bounded_json("contract", self)
    }
}

/// More about a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractInfoExtensions {
    /// Link to the project's page.
    pub link: String,
    /// Description.
    pub description: String,
    /// Link to an image for previews.
    pub og_image: String,
    /// Name for previews.
    pub og_name: String,
    /// Chain the contract comes from, 0 when it is its own.
    pub origin_chain_id: u64,
    /// Address the contract comes from; its own when it is bridged from nowhere. Clients refuse an empty one.
    pub origin_address: Address,
    /// Whether somebody vouches for it.
    pub verified: bool,
    /// Who does.
    pub verified_by: String,
    /// Whether it is one of those that are shown before others; left out when it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub featured: bool,
    /// Whether it is known to deceive people, and is not shown in the directory; left out when it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blacklist: bool,
}
