//! A contract as rows of balances name it.

use bourse_market::facts::BlockHash;
use bourse_store::CollectionKey;
use bourse_wire::{ContractType, STORED_EXTRA_BYTES, write_stored};
use serde::Deserialize;

use crate::call::Call;
use crate::failure::Failure;
use crate::followed::Checkpoint;

/// A contract, with what rows need of it.
#[derive(Clone, Debug)]
pub(super) struct Contract {
    pub(super) key: CollectionKey,
    pub(super) contract_type: ContractType,
    pub(super) is_verified: bool,
    /// What it says of itself, as JSON text with all members that answers have.
    pub(super) info: Option<Vec<u8>>,
    /// What all rows of what is held of it have in common, as JSON text: up to the account, and between the balance and of how
    /// many tokens that is.
    pub(super) before: String,
    pub(super) between: String,
}

/// What of a contract's information matters here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Known {
    r#type: String,
    extensions: KnownExtensions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KnownExtensions {
    verified: bool,
}

impl Contract {
    /// A contract of which this is known.
    pub(super) async fn read(call: &Call, key: CollectionKey, info: Option<String>) -> Result<Self, Failure> {
        let block = match call.app.nodes.get(key.chain) {
            Some(_) => call.app.followed.block_of(&call.app.store, key, call.now).await?,
            None => None,
        };
        Ok(Self::known(key, info, block))
    }

    /// A contract of which this is known, and the block as of which its balances are told; nothing where its chain is not followed.
    pub(super) fn known(key: CollectionKey, info: Option<String>, block: Option<Checkpoint>) -> Self {
        // What is stored was written here; of what cannot be read nothing is known.
        let known: Known =
            info.as_deref().and_then(|info| serde_json::from_str(info).ok()).unwrap_or_default();
        let contract_type = ContractType::ALL.iter().find(|kind| kind.word() == known.r#type);
        let contract_type = contract_type.copied().unwrap_or_default();
        let (hash, number) = block.map_or((BlockHash::ZERO, 0), |block| (block.hash, block.number));
        let (address, chain, kind) = (key.address, key.chain, contract_type.word());
        let before = format!(r#"{{"contractType":"{kind}","contractAddress":"{address}","accountAddress":""#);
        let between = format!(
            r#"","balanceUSD":"0","priceUSD":"0","blockHash":"{hash:#x}","blockNumber":{number},"chainId":{chain},"uniqueCollectibles":""#
        );
        let is_verified = known.extensions.verified;
        let info = info.map(|info| shown(info.as_bytes()));
        Self { key, contract_type, is_verified, info, before, between }
    }
}

/// A stored record of a contract or a token as answers show it.
pub(super) fn shown(stored: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(stored.len() + STORED_EXTRA_BYTES);
    write_stored(&mut text, stored);
    text
}
