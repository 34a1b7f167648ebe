//! The tokens of a contract: one by one, as ranges, and how much there is of each. One file for operations that read the same
//! list of ids.

use bourse_catalog::{Collection, Position, Rows, Start, TokenFilter, TokensQuery};
use bourse_store::CollectionKey;
use bourse_wire::{Address, ChainRef, ContractType, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Contract;
use super::rows::{separate, write_supply};
use super::types::{TokenSupply, check_sort};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PageAnswer, PageInput, PagePlan};
use crate::route::request;
use crate::rpc::begin_answer;
use crate::rpc::marketplace::searchable;

/// Ranges in an answer.
const RANGES_MAX: usize = 15_000;

/// Of which contract.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenSuppliesRequest")]
pub(crate) struct SuppliesRequest {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// The contract.
    contract_address: Address,
    /// Whether what is known of the contract and of tokens comes with them.
    #[serde(default)]
    include_metadata: bool,
    /// Which page.
    page: Option<PageInput>,
}
request!(SuppliesRequest);

/// Of which contract.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenIDsRequest")]
pub(crate) struct IdsRequest {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// The contract.
    contract_address: Address,
    /// Which page.
    page: Option<PageInput>,
}
request!(IdsRequest);

/// Of which contract, and from where on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenIDRangesRequest")]
pub(crate) struct RangesRequest {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// The contract.
    contract_address: Address,
    /// Ids after this one only: the `end` of the last range of an answer that had more.
    #[serde(rename = "lastTokenID")]
    last_token_id: Option<TokenId>,
}
request!(RangesRequest);

/// How much there is of each token.
#[derive(JsonSchema)]
#[schemars(rename = "GetTokenSuppliesAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct SuppliesAnswer {
    /// Standard of the contract.
    #[serde(rename = "contractType")]
    contract_type: ContractType,
    /// The tokens, by id.
    #[serde(rename = "tokenIDs")]
    token_ids: Vec<TokenSupply>,
    /// The page.
    page: PageAnswer<'static>,
}

/// The ids of tokens.
#[derive(JsonSchema)]
#[schemars(rename = "GetTokenIDsAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct IdsAnswer {
    /// Standard of the contract.
    #[serde(rename = "contractType")]
    contract_type: ContractType,
    /// The ids, ascending.
    #[serde(rename = "tokenIDs")]
    token_ids: Vec<TokenId>,
    /// The page.
    page: PageAnswer<'static>,
}

/// Ids as ranges.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenIDRangesAnswer")]
pub(crate) struct RangesAnswer {
    /// Standard of the contract.
    contract_type: ContractType,
    /// The ranges, ascending: at most 15,000.
    #[serde(rename = "tokenIDRanges")]
    token_id_ranges: Vec<TokenIdRange>,
    /// Whether more follow.
    more_ranges: bool,
}

/// Ids that follow each other without a gap.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TokenIDRange")]
pub(crate) struct TokenIdRange {
    /// The first.
    start: TokenId,
    /// The last.
    end: TokenId,
}

pub(crate) async fn supplies(call: Call, request: SuppliesRequest) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let with_metadata = request.include_metadata;
    list(&call, key, request.page, |answer, contract, collection, rows| {
        for token in collection.ids(rows) {
            separate(answer, 0);
            let mut text = Vec::new();
            let metadata = (with_metadata && collection.write_token(&mut text, token)).then_some(&*text);
            let supply = collection.supply(token).unwrap_or_default();
            write_supply(answer, contract, (token, supply), metadata);
        }
    })
    .await
}

pub(crate) async fn ids(call: Call, request: IdsRequest) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    list(&call, key, request.page, |answer, _, collection, rows| {
        for token in collection.ids(rows) {
            separate(answer, 0);
            answer.extend_from_slice(format!("\"{token}\"").as_bytes());
        }
    })
    .await
}

pub(crate) async fn ranges(call: Call, request: RangesRequest) -> Result<RangesAnswer, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let Some(slot) = searchable(&call, key).await? else {
        let contract_type = ContractType::Unknown;
        return Ok(RangesAnswer { contract_type, token_id_ranges: Vec::new(), more_ranges: false });
    };
    let (found, info) = {
        let collection = slot.read();
        let info = collection.contract().map(str::to_owned);
        (collection.id_ranges(request.last_token_id, RANGES_MAX), info)
    };
    let contract = Contract::read(&call, key, info).await?;
    let range = |(start, end)| TokenIdRange { start, end };
    Ok(RangesAnswer {
        contract_type: contract.contract_type,
        token_id_ranges: found.ranges.into_iter().map(range).collect(),
        more_ranges: found.more,
    })
}

/// Answers with a page of the tokens of a contract, as `write` puts them into a list that is empty yet.
async fn list(
    call: &Call,
    key: CollectionKey,
    page: Option<PageInput>,
    write: impl Fn(&mut Vec<u8>, &Contract, &Collection, &Rows),
) -> Result<Vec<u8>, Failure> {
    let page = PagePlan::<TokenId>::new(page, &call.app.settings.limits)?;
    check_sort(&page)?;
    let (mut listed, mut next, mut contract_type) = (Vec::new(), None, ContractType::Unknown);
    if let Some(slot) = searchable(call, key).await? {
        let info = slot.read().contract().map(str::to_owned);
        let contract = Contract::read(call, key, info).await?;
        contract_type = contract.contract_type;
        let (tokens, limit) = (TokenFilter::default(), page.limit());
        let collection = slot.read();
        let start = match page.begin {
            Begin::Skip(count) => Start::Skip(count),
            Begin::After(token) => Start::After(Position::of_token(token)),
        };
        let rows = collection.search(&TokensQuery { tokens: &tokens, start, limit });
        write(&mut listed, &contract, &collection, &rows);
        next = rows.next.map(|Position { token, .. }| token);
    }
    let mut answer = begin_answer(br#"{"contractType":""#);
    answer.extend_from_slice(contract_type.word().as_bytes());
    answer.extend_from_slice(br#"","tokenIDs":["#);
    answer.append(&mut listed);
    answer.push(b']');
    page.write(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}
