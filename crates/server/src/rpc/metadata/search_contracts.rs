//! Contracts by name, symbol or address.

use bourse_catalog::fold;
use bourse_wire::{ChainId, ChainRef, ContractInfo, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::check_batch;
use super::contracts::{ContractQuery, begin, scan};
use super::search::PAGE_SIZE_DEFAULT;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{NextPage, PageInput, PagePlan};
use crate::route::request;

/// Chains and types that one call may name.
const WORDS_MAX: usize = 50;

/// Which contracts. What is empty or absent restricts nothing.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SearchContractsRequest")]
pub(crate) struct Request {
    /// A part of the name, the symbol or the address, in any letter case.
    #[serde(default)]
    q: Text<256>,
    /// Whether it may be a part of the description as well.
    #[serde(rename = "inDescriptions", default)]
    in_descriptions: bool,
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
    /// The page to ask for next; null when there is no more. A call looks at at most 2,000 contracts: a page may
    /// have fewer than asked for, or none, while there is a next one.
    next_page: Option<NextPage>,
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
        in_descriptions: request.in_descriptions,
        types: (!request.types.is_empty()).then(|| types.collect()),
        ..ContractQuery::default()
    };
    let page =
        PagePlan::with_default(request.page, PAGE_SIZE_DEFAULT, &call.app.settings.limits)?.in_order(&[])?;
    let (found, next) = scan(&call, &chains, &query, &page).await?;
    let mut answer = begin(br#"{"contractInfo":["#, &found);
    page.write_next(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}
