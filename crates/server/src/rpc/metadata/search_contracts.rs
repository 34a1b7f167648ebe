//! Contracts by name, symbol or address.

use bourse_catalog::fold;
use bourse_store::StoredContract;
use bourse_wire::{ChainId, ChainRef, ContractInfo, ContractType, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::PAGE_SIZE_DEFAULT;
use super::{check_batch, write_record};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, NextPage, PageInput, PagePlan};
use crate::route::request;
use crate::rpc::begin_answer;

/// Chains and types that one call may name.
const WORDS_MAX: usize = 50;
/// Contracts that one call looks at.
const CONTRACTS_MAX: u64 = 20_000;
/// Contracts that are read at once.
const CONTRACTS_AT_ONCE: u64 = 500;

/// Which contracts. What is empty or absent restricts nothing.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SearchContractsRequest")]
pub(crate) struct Request {
    /// A part of the name, the symbol or the address, in any letter case.
    #[serde(default)]
    q: Text<256>,
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Chains, on one of which a contract must be: at most 50.
    #[serde(rename = "chainIDs", default)]
    chain_ids: Vec<ChainRef>,
    /// Standards, one of which a contract must follow: `ERC20`, `ERC721`, `ERC1155` or `UNKNOWN`; at most 50.
    #[serde(default)]
    types: Vec<Text<64>>,
    /// Which page.
    page: Option<PageInput>,
}
request!(Request);

/// A page of contracts.
#[derive(JsonSchema)]
#[schemars(rename = "SearchContractsAnswer", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The contracts, in the order in which they came to be known.
    contract_info: Vec<ContractInfo>,
    /// The page to ask for next; null when there is no more. A call looks at at most 20,000 contracts: a page may
    /// have fewer than asked for, or none, while there is a next one.
    next_page: Option<NextPage>,
}

/// A place among the contracts.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct ContractCursor {
    /// Number of the last collection that was looked at.
    #[serde(rename = "d")]
    done: u64,
    /// Contracts to pass over from there on.
    #[serde(rename = "s")]
    skip: u64,
}

/// What is looked for.
struct ContractQuery {
    /// Folded.
    text: String,
    /// Nothing for any; a word that is no type is one that no contract has.
    types: Option<Vec<ContractType>>,
}

/// What of a contract's information is looked at.
#[derive(Deserialize)]
struct SearchedInfo {
    name: String,
    symbol: String,
    r#type: ContractType,
}

impl ContractQuery {
    fn matches(&self, contract: &StoredContract) -> Result<bool, serde_json::Error> {
        let info: SearchedInfo = serde_json::from_str(&contract.info)?;
        let has_text = |text: &str| fold(text).contains(&self.text);
        let has_type = self.types.as_ref().is_none_or(|types| types.contains(&info.r#type));
        Ok(has_type
            && (has_text(&info.name)
                || has_text(&info.symbol)
                || has_text(&contract.key.address.to_string())))
    }
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    check_batch("chainIDs", "chains", request.chain_ids.len(), WORDS_MAX)?;
    check_batch("types", "types", request.types.len(), WORDS_MAX)?;
    let named = request.chain_ids.iter().chain(&request.chain_id);
    let mut chains: Vec<ChainId> = named.map(|chain| call.chain(Some(chain))).collect::<Result<_, _>>()?;
    if chains.is_empty() {
        chains.extend(call.named_chain(None)?);
    }
    let types = request.types.iter().filter_map(|word| word.as_str().to_ascii_uppercase().parse().ok());
    let query = ContractQuery {
        text: fold(request.q.as_str()).into_owned(),
        types: (!request.types.is_empty()).then(|| types.collect()),
    };
    let page =
        PagePlan::with_default(request.page, PAGE_SIZE_DEFAULT, &call.app.settings.limits)?.in_order(&[])?;
    let (found, next) = scan(&call, &chains, &query, &page).await?;
    let mut answer = begin_answer(br#"{"contractInfo":["#);
    let first = answer.len();
    for contract in &found {
        write_record(&mut answer, first, contract.info.as_bytes());
    }
    answer.push(b']');
    page.write_next(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}

/// The contracts of a page, and where the next one begins.
async fn scan(
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
    for _ in 0..CONTRACTS_MAX / CONTRACTS_AT_ONCE {
        let some = call.app.store.contracts(chains, place.done, CONTRACTS_AT_ONCE).await?;
        let is_last = (some.len() as u64) < CONTRACTS_AT_ONCE;
        for contract in some {
            let number = contract.collection;
            if query.matches(&contract)? {
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
