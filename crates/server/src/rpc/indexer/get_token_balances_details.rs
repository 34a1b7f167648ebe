//! All that accounts hold: one row for each token, or for each contract. One file for two operations that differ in that only.

use bourse_wire::{Address, ChainId, ChainRef, Error, Text, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::balances::{page_of, write_page};
use super::native::{self, NativeTokenBalance};
use super::types::{ContractStatus, Names, TokenBalance, Wanted};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{PageAnswer, PageInput};
use crate::route::request;
use crate::rpc::begin_answer;
use crate::rpc::metadata::check_batch;

/// Whose balances, and of what.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenBalancesDetailsRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Which balances.
    filter: Filter,
    /// Whether to leave out what is known of contracts and tokens.
    #[serde(default)]
    omit_metadata: bool,
    /// Which page.
    pub(super) page: Option<PageInput>,
}
request!(Request);

/// Which balances.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TokenBalancesFilterInput")]
struct Filter {
    /// The accounts: at most 50.
    #[serde(default)]
    account_addresses: Vec<Address>,
    /// Which contracts count. When nothing is said: those that `contractWhitelist` names, whatever they are, and verified ones
    /// where it names none.
    contract_status: Option<ContractStatus>,
    /// Which standards count, `ERC20`, `ERC721`, `ERC1155` or `UNKNOWN`; any when none is named, and no contract is of any other.
    #[serde(default)]
    contract_types: Vec<Text<64>>,
    /// These contracts only: at most 50.
    #[serde(default)]
    contract_whitelist: Vec<Address>,
    /// None of these contracts: at most 50.
    #[serde(default)]
    contract_blacklist: Vec<Address>,
    /// Whether to leave out the chain's own currency.
    #[serde(default)]
    omit_native_balances: bool,
    /// Whether to leave out what the chain's own currency is worth.
    #[serde(default)]
    omit_prices: bool,
    /// Which tokens of the contracts named in `contractWhitelist`: at most 50; all when none are named.
    #[serde(rename = "tokenIDs", default)]
    token_ids: Vec<TokenId>,
}

/// A page of balances, with those of the chain's own currency.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenBalancesDetailsAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// What accounts have of the chain's own currency; on the first page only.
    native_balances: Vec<NativeTokenBalance>,
    /// The balances, by account, contract and token.
    balances: Vec<TokenBalance>,
    /// The page. One may have fewer rows than asked for, or none, while there are more.
    page: PageAnswer<'static>,
}

const NAMES: Names = Names {
    accounts: "filter.accountAddresses",
    contracts: "filter.contractWhitelist",
    excluded: "filter.contractBlacklist",
    tokens: "filter.tokenIDs",
};

/// What a request asks for.
pub(super) struct Resolved {
    pub(super) wanted: Wanted,
    omit_prices: bool,
    omits_native: bool,
}

pub(super) fn resolve(call: &Call, request: Request, is_summary: bool) -> Result<Resolved, Error> {
    let filter = request.filter;
    let max = call.app.settings.limits.batch_contracts_max;
    check_batch("filter.contractTypes", "standards", filter.contract_types.len(), max)?;
    let types = filter.contract_types.iter().filter_map(|word| word.as_str().parse().ok());
    let wanted = Wanted {
        accounts: filter.account_addresses,
        contracts: filter.contract_whitelist,
        excluded: filter.contract_blacklist,
        tokens: filter.token_ids,
        types: (!filter.contract_types.is_empty()).then(|| types.collect()),
        status: filter.contract_status,
        is_summary,
        with_metadata: !request.omit_metadata,
        ..Wanted::default()
    };
    let (omit_prices, omits_native) = (filter.omit_prices, filter.omit_native_balances);
    Ok(Resolved { wanted: wanted.checked(call, &NAMES)?, omit_prices, omits_native })
}

impl Resolved {
    /// What the accounts have of the chain's own currency, where that is asked for.
    pub(super) async fn native(&self, call: &Call, chain: ChainId) -> Vec<NativeTokenBalance> {
        if self.omits_native {
            return Vec::new();
        }
        native::balances(call, chain, &self.wanted.accounts, self.omit_prices).await
    }
}

pub(crate) async fn details(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    answer(&call, request, false).await
}

pub(crate) async fn summary(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    answer(&call, request, true).await
}

async fn answer(call: &Call, request: Request, is_summary: bool) -> Result<Vec<u8>, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    let page = page_of(call, request.page.clone())?;
    let resolved = resolve(call, request, is_summary)?;
    let mut rows = Vec::new();
    write_page(call, chain, &resolved.wanted, &page, &mut rows).await?;
    let native = if page.is_first() { resolved.native(call, chain).await } else { Vec::new() };
    let mut answer = begin_answer(br#"{"nativeBalances":"#);
    serde_json::to_writer(&mut answer, &native)?;
    answer.push(b',');
    answer.append(&mut rows);
    answer.push(b'}');
    Ok(answer)
}
