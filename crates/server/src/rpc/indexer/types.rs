//! What operations on balances share: whose, of what, and what a row of an answer is.

use bourse_wire::{Address, Amount, ChainId, ContractInfo, ContractType, Error, TokenId, TokenMetadata};
use indexmap::IndexSet;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::paging::{PageInput, PagePlan};
use crate::rpc::metadata::check_batch;

/// Which contracts count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum ContractStatus {
    /// Those whose information says `extensions.verified`.
    Verified,
    /// The others.
    Unverified,
    /// All.
    All,
}

impl ContractStatus {
    /// Whether it lets a contract through.
    pub(super) fn admits(self, is_verified: bool) -> bool {
        match self {
            Self::Verified => is_verified,
            Self::Unverified => !is_verified,
            Self::All => true,
        }
    }
}

/// What of a request for balances is asked for.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Whose balances.
    pub(super) accounts: Vec<Address>,
    /// Of which contracts; of all when none are named.
    pub(super) contracts: Vec<Address>,
    /// Not of these.
    pub(super) excluded: Vec<Address>,
    /// Of these contracts whatever their status.
    pub(super) admitted: Vec<Address>,
    /// Which tokens of the contracts; all when none are named.
    pub(super) tokens: Vec<TokenId>,
    /// Of which standards; of any when nothing is said.
    pub(super) types: Option<Vec<ContractType>>,
    /// Which contracts count, where that is said.
    pub(super) status: Option<ContractStatus>,
    /// One row for each contract rather than for each token.
    pub(super) is_summary: bool,
    /// Whether everybody is meant where tokens are named and no account is.
    pub(super) is_of_anybody: bool,
    /// Whether what is known of contracts and tokens comes with them.
    pub(super) with_metadata: bool,
}

impl Wanted {
    /// Refuses what is too much for one request, and what makes no sense. What is named twice counts once.
    pub(super) fn checked(mut self, call: &Call, names: &Names) -> Result<Self, Error> {
        for addresses in [&mut self.accounts, &mut self.contracts] {
            let named: IndexSet<Address> = addresses.drain(..).collect();
            addresses.extend(named);
        }
        let tokens: IndexSet<TokenId> = self.tokens.drain(..).collect();
        self.tokens.extend(tokens);
        let limits = &call.app.settings.limits;
        let is_anybody_meant = self.is_of_anybody && !self.tokens.is_empty();
        if self.accounts.is_empty() && !is_anybody_meant {
            let reason = "is required: a key or a token is a project's, and names no wallet";
            return Err(Error::invalid(names.accounts, reason));
        }
        check_batch(names.accounts, "accounts", self.accounts.len(), limits.batch_contracts_max)?;
        check_batch(names.contracts, "contracts", self.contracts.len(), limits.batch_contracts_max)?;
        check_batch(names.excluded, "contracts", self.excluded.len(), limits.batch_contracts_max)?;
        let admitted = "metadataOptions.includeContracts";
        check_batch(admitted, "contracts", self.admitted.len(), limits.batch_contracts_max)?;
        check_batch(names.tokens, "token ids", self.tokens.len(), limits.batch_tokens_max)?;
        if !self.tokens.is_empty() && self.contracts.is_empty() {
            let reason =
                format!("ids mean something within a contract only: name contracts in {}", names.contracts);
            return Err(Error::invalid(names.tokens, reason));
        }
        Ok(self)
    }

    /// The status that contracts must have. Whoever names contracts means them, whatever they are; only verified ones come by
    /// themselves.
    pub(super) fn status(&self) -> ContractStatus {
        let usual = if self.contracts.is_empty() { ContractStatus::Verified } else { ContractStatus::All };
        self.status.unwrap_or(usual)
    }
}

/// A request for a page of balances.
pub(crate) trait AskedBalances: Send {
    /// The page.
    fn page(&self) -> Option<PageInput>;

    /// What is asked for.
    fn wanted(self, call: &Call) -> Result<Wanted, Error>;
}

/// What members of a request are called, to be named where they are refused.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) accounts: &'static str,
    pub(super) contracts: &'static str,
    pub(super) excluded: &'static str,
    pub(super) tokens: &'static str,
}

/// What an account holds.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written member by member")]
pub(crate) struct TokenBalance {
    /// Standard of the contract.
    contract_type: ContractType,
    /// Contract.
    contract_address: Address,
    /// Who holds it.
    account_address: Address,
    /// The token; absent where the row is of all tokens of the contract.
    #[serde(rename = "tokenID")]
    token_id: Option<TokenId>,
    /// How much; of all tokens together where the row is of all.
    balance: Amount,
    /// Always `0`: tokens have no price.
    #[serde(rename = "balanceUSD")]
    balance_usd: String,
    /// Always `0`.
    #[serde(rename = "priceUSD")]
    price_usd: String,
    /// The block at whose end it was so, or a later one; zeros where the contract's chain is not followed.
    block_hash: String,
    /// Its height; 0 where the contract's chain is not followed.
    block_number: u64,
    /// Chain.
    chain_id: ChainId,
    /// Of how many tokens of the contract the row is.
    unique_collectibles: String,
    /// Whether the row is of all tokens of the contract together.
    is_summary: bool,
    /// What the contract says of itself, when it is asked for and known.
    contract_info: Option<ContractInfo>,
    /// What is known of the token, when it is asked for and the row is of one.
    token_metadata: Option<TokenMetadata>,
}

/// How much there is of a token.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written member by member")]
pub(crate) struct TokenSupply {
    /// The token.
    #[serde(rename = "tokenID")]
    token_id: TokenId,
    /// How much of it all its holders have; `0` when it is burnt, or nothing is known of holders.
    supply: Amount,
    /// Chain.
    chain_id: ChainId,
    /// What the contract says of itself, when it is asked for and known.
    contract_info: Option<ContractInfo>,
    /// What is known of the token, when it is asked for.
    token_metadata: Option<TokenMetadata>,
}

/// Refuses an order that rows do not come in.
pub(super) fn check_sort<P: Serialize + DeserializeOwned>(page: &PagePlan<P>) -> Result<(), Error> {
    if page.is_sorted() {
        let reason = "rows come by account, contract and token: leave `sort` out";
        return Err(Error::invalid("page.sort", reason));
    }
    Ok(())
}
