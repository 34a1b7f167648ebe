//! A walk over contracts, in the order in which they came to be known: what every operation that lists them shares.

use bourse_catalog::fold;
use bourse_store::StoredContract;
use bourse_wire::{Address, ChainId, ContractType};
use serde::{Deserialize, Serialize};

use super::write_record;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PagePlan};
use crate::rpc::begin_answer;
use crate::settings::Networks;

/// Contracts that a call looks at, where it may go on at another time.
const LOOKED_AT_MAX: u64 = 2_000;
/// Contracts that a call looks at to tell which chains have any.
const CONTRACTS_MAX: u64 = 20_000;
/// Contracts that are read at once.
const CONTRACTS_AT_ONCE: u64 = 500;
/// Chains that are known to have collections.
const CHAINS_MAX: u64 = 1_000;

/// A place among the contracts.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct ContractCursor {
    /// Number of the last collection that was looked at.
    #[serde(rename = "d")]
    done: u64,
    /// Contracts to pass over from there on.
    #[serde(rename = "s")]
    skip: u64,
}

/// Which contracts are looked for.
#[derive(Default)]
pub(super) struct ContractQuery {
    /// A part of the name, the symbol or the address, folded.
    pub(super) text: String,
    /// Whether it may be a part of the description as well.
    pub(super) in_descriptions: bool,
    /// Nothing for any; a word that is no type is one that no contract has.
    pub(super) types: Option<Vec<ContractType>>,
    /// Those that may be shown to people who asked for none of them by name: none that deceive, and where no chain was named
    /// none of test networks unless they are wanted.
    pub(super) presentable: Option<Presentable>,
    /// Those that are shown before others.
    pub(super) featured: bool,
}

/// What may be shown to people who asked for nothing by name.
#[derive(Clone, Copy)]
pub(super) struct Presentable {
    /// Whether that is so of contracts of test networks.
    pub(super) testnets: bool,
}

/// What of a contract's information is looked at.
#[derive(Deserialize)]
struct SearchedInfo {
    name: String,
    symbol: String,
    r#type: ContractType,
    #[serde(default)]
    extensions: SearchedExtensions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SearchedExtensions {
    description: String,
    featured: bool,
    blacklist: bool,
}

impl ContractQuery {
    pub(super) fn matches(
        &self,
        networks: &Networks,
        contract: &StoredContract,
    ) -> Result<bool, serde_json::Error> {
        let is_hidden = |shown: &Presentable| !shown.testnets && networks.is_testnet(contract.key.chain.0);
        if self.presentable.as_ref().is_some_and(is_hidden) {
            return Ok(false);
        }
        let info: SearchedInfo = serde_json::from_str(&contract.info)?;
        let has_text = |text: &str| fold(text).contains(&self.text);
        let has_type = self.types.as_ref().is_none_or(|types| types.contains(&info.r#type));
        let is_shown = self.presentable.is_none() || !info.extensions.blacklist;
        Ok(has_type
            && is_shown
            && (info.extensions.featured || !self.featured)
            && (has_text(&info.name)
                || has_text(&info.symbol)
                || self.in_descriptions && has_text(&info.extensions.description)
                || has_text(&contract.key.address.to_string())))
    }
}

/// What is known of contracts at some addresses, on whichever chain.
pub(super) async fn contracts_at(call: &Call, addresses: &[Address]) -> Result<Vec<StoredContract>, Failure> {
    Ok(call.app.store.contracts_at(&chains(call).await?, addresses, CONTRACTS_MAX).await?)
}

/// The chains that there are collections of.
pub(super) async fn chains(call: &Call) -> Result<Vec<ChainId>, Failure> {
    Ok(call.app.store.chains_of_collections(CHAINS_MAX).await?)
}

/// Every chain for which a contract is found that is looked for, among as many as a call looks at.
pub(super) async fn chains_with(
    call: &Call,
    chains: &[ChainId],
    query: &ContractQuery,
) -> Result<Vec<ChainId>, Failure> {
    let mut left = chains.to_vec();
    let mut done = 0;
    for _ in 0..CONTRACTS_MAX / CONTRACTS_AT_ONCE {
        if left.is_empty() {
            break;
        }
        let some = call.app.store.contracts(&left, done, CONTRACTS_AT_ONCE).await?;
        let Some(last) = some.last() else { break };
        done = last.collection;
        for contract in &some {
            if query.matches(&call.app.settings.networks, contract)? {
                left.retain(|chain| *chain != contract.key.chain);
            }
        }
    }
    Ok(chains.iter().copied().filter(|chain| !left.contains(chain)).collect())
}

/// The contracts of a page on any of these chains, and where the next one begins.
pub(super) async fn scan(
    call: &Call,
    chains: &[ChainId],
    query: &ContractQuery,
    page: &PagePlan<ContractCursor>,
) -> Result<(Vec<StoredContract>, Option<ContractCursor>), Failure> {
    let mut place = match page.begin {
        Begin::Skip(skip) => ContractCursor { done: 0, skip },
        Begin::After(place) => place,
    };
    let mut found: Vec<StoredContract> = Vec::new();
    for _ in 0..LOOKED_AT_MAX / CONTRACTS_AT_ONCE {
        let some = call.app.store.contracts(chains, place.done, CONTRACTS_AT_ONCE).await?;
        let is_last = (some.len() as u64) < CONTRACTS_AT_ONCE;
        for contract in some {
            let number = contract.collection;
            if query.matches(&call.app.settings.networks, &contract)? {
                if place.skip > 0 {
                    place.skip -= 1;
                } else if found.len() < page.limit() {
                    found.push(contract);
                } else {
                    return Ok((found, Some(place)));
                }
            }
            place.done = number;
        }
        if is_last {
            return Ok((found, None));
        }
    }
    Ok((found, Some(place)))
}

/// An answer that begins with contracts.
pub(super) fn begin(head: &[u8], found: &[StoredContract]) -> Vec<u8> {
    let mut answer = begin_answer(head);
    let first = answer.len();
    for contract in found {
        write_record(&mut answer, first, contract.info.as_bytes());
    }
    answer.push(b']');
    answer
}
