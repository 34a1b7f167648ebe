//! What accounts hold of contracts.

use bourse_wire::{Address, ChainRef, Error, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::balances::answer;
use super::types::{AskedBalances, ContractStatus, Names, Wanted};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::PageInput;
use crate::route::request;

/// Whose balances, and of what.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenBalancesByContractRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Which balances.
    filter: Filter,
    /// Whether to leave out what is known of contracts and tokens.
    #[serde(default)]
    omit_metadata: bool,
    /// Which page.
    page: Option<PageInput>,
}
request!(Request);

/// Which balances.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TokenBalancesByContractFilterInput")]
struct Filter {
    /// The contracts: at most 50.
    contract_addresses: Vec<Address>,
    /// The accounts: at most 50. Where tokens are named, everybody who holds one of them when none are named.
    #[serde(default)]
    account_addresses: Vec<Address>,
    /// Which of the contracts count; all when nothing is said.
    contract_status: Option<ContractStatus>,
    /// Which tokens of the contracts: at most 50; all when none are named.
    #[serde(rename = "tokenIDs", default)]
    token_ids: Vec<TokenId>,
}

const NAMES: Names = Names {
    accounts: "filter.accountAddresses",
    contracts: "filter.contractAddresses",
    excluded: "filter.contractAddresses",
    tokens: "filter.tokenIDs",
};

impl AskedBalances for Request {
    fn page(&self) -> Option<PageInput> {
        self.page.clone()
    }

    fn wanted(self, call: &Call) -> Result<Wanted, Error> {
        let filter = self.filter;
        if filter.contract_addresses.is_empty() {
            let reason = "is required: GetTokenBalancesDetails answers for all contracts";
            return Err(Error::invalid(NAMES.contracts, reason));
        }
        let wanted = Wanted {
            accounts: filter.account_addresses,
            contracts: filter.contract_addresses,
            tokens: filter.token_ids,
            status: filter.contract_status,
            is_of_anybody: true,
            with_metadata: !self.omit_metadata,
            ..Wanted::default()
        };
        wanted.checked(call, &NAMES)
    }
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    answer(&call, chain, request).await
}
