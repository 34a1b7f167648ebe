//! What one account holds.

use bourse_wire::{Address, ChainRef, Error, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::balances::answer;
use super::types::{AskedBalances, ContractStatus, Names, TokenBalance, Wanted};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{PageAnswer, PageInput};
use crate::route::request;

/// Whose balances, and of what.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenBalancesRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// The account.
    account_address: Option<Address>,
    /// A contract; all of them when none is named.
    contract_address: Option<Address>,
    /// A token of the contract; all of them when none is named.
    #[serde(rename = "tokenID")]
    token_id: Option<TokenId>,
    /// Whether what is known of contracts and tokens comes with them.
    #[serde(default)]
    include_metadata: bool,
    /// Which contracts count.
    metadata_options: Option<MetadataOptions>,
    /// A row for each token rather than for each contract, where no contract is named.
    #[serde(default)]
    include_collection_tokens: bool,
    /// Which page.
    page: Option<PageInput>,
}
request!(Request);

/// Which contracts count; all when nothing is said.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "MetadataOptionsInput")]
pub(super) struct MetadataOptions {
    /// Those whose information says `extensions.verified`.
    verified_only: bool,
    /// The others.
    unverified_only: bool,
    /// These, in any case.
    pub(super) include_contracts: Vec<Address>,
}

impl MetadataOptions {
    pub(super) fn status(&self) -> ContractStatus {
        match (self.verified_only, self.unverified_only) {
            (true, false) => ContractStatus::Verified,
            (false, true) => ContractStatus::Unverified,
            _ => ContractStatus::All,
        }
    }
}

/// A page of balances.
#[derive(JsonSchema)]
#[schemars(rename = "TokenBalancesAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The balances, by account, contract and token.
    balances: Vec<TokenBalance>,
    /// The page. One may have fewer rows than asked for, or none, while there are more.
    page: PageAnswer<'static>,
}

const NAMES: Names = Names {
    accounts: "accountAddress",
    contracts: "contractAddress",
    excluded: "contractAddress",
    tokens: "tokenID",
};

impl AskedBalances for Request {
    fn page(&self) -> Option<PageInput> {
        self.page.clone()
    }

    fn wanted(self, call: &Call) -> Result<Wanted, Error> {
        let options = self.metadata_options.unwrap_or_default();
        let wanted = Wanted {
            accounts: self.account_address.into_iter().collect(),
            is_summary: self.contract_address.is_none() && !self.include_collection_tokens,
            contracts: self.contract_address.into_iter().collect(),
            tokens: self.token_id.into_iter().collect(),
            status: Some(options.status()),
            admitted: options.include_contracts,
            with_metadata: self.include_metadata,
            ..Wanted::default()
        };
        wanted.checked(call, &NAMES)
    }
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    answer(&call, chain, request).await
}
