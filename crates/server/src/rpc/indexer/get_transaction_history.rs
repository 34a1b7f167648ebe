//! Who gave tokens to whom, transaction by transaction.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use bourse_wire::{
    Address, Amount, ChainId, ChainRef, ContractInfo, ContractType, Error, Timestamp, TokenId, TokenMetadata,
};
use indexmap::IndexSet;
use schemars::JsonSchema;
use serde::Deserialize;

use super::get_token_balances::MetadataOptions;
use super::hash::Hash;
use super::history::{NAMED_MAX, Place, Wanted, write_rows};
use super::types::check_sort;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{PageAnswer, PageInput, PagePlan};
use crate::route::request;
use crate::rpc::begin_answer;
use crate::rpc::metadata::check_batch;

/// Which transactions.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTransactionHistoryRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Which transactions: accounts, contracts or transactions must be named.
    filter: Filter,
    /// Which page.
    pub(super) page: Option<PageInput>,
    /// Whether what is known of contracts and tokens comes with them.
    #[serde(default)]
    include_metadata: bool,
    /// Which contracts count.
    metadata_options: Option<MetadataOptions>,
}
request!(Request);

/// Which transactions. What several members say must all be so.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TransactionHistoryFilterInput")]
struct Filter {
    /// An account that gave or got tokens.
    account_address: Option<Address>,
    /// More of them: 10 at most in all.
    #[serde(default)]
    account_addresses: Vec<Address>,
    /// A contract whose tokens were moved.
    contract_address: Option<Address>,
    /// More of them: 50 at most in all, and 10 where neither accounts nor transactions are named.
    #[serde(default)]
    contract_addresses: Vec<Address>,
    /// The transactions: 10 at most.
    #[serde(default)]
    transaction_hashes: Vec<Hash>,
    /// Names that relayers give transactions; none are known here, so that nothing may be in it.
    #[serde(rename = "metaTransactionIDs", default)]
    meta_transaction_ids: Vec<String>,
    /// The first block that counts.
    from_block: Option<u64>,
    /// The last block that counts.
    to_block: Option<u64>,
    /// The token that was moved, where contracts are named.
    #[serde(rename = "tokenID")]
    token_id: Option<TokenId>,
    /// Whether to leave out what things are worth. It is never told here.
    #[expect(dead_code, reason = "clients send it, and the document shows it")]
    #[serde(default)]
    omit_prices: bool,
}

/// A page of transactions.
#[derive(JsonSchema)]
#[schemars(rename = "GetTransactionHistoryAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The transactions, the newest first.
    transactions: Vec<Transaction>,
    /// The page. One may have fewer transactions than asked for, or none, while there are more.
    page: PageAnswer<'static>,
}

/// A transaction.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Transaction {
    /// Its name.
    txn_hash: Hash,
    /// Height of its block.
    block_number: u64,
    /// Name of its block.
    block_hash: Hash,
    /// Chain.
    chain_id: ChainId,
    /// What it moved, of what is asked for, in the order of its logs. One that moved very much goes on as the first of the next page.
    transfers: Vec<Transfer>,
    /// When its block was made.
    timestamp: Timestamp,
}

/// Tokens that changed hands.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TxnTransfer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Transfer {
    /// `SEND` where an account that is asked for gave them, `RECEIVE` where it got them, else `UNKNOWN`.
    transfer_type: String,
    /// Contract.
    contract_address: Address,
    /// Its standard.
    contract_type: ContractType,
    /// The former holder; the zero address where they were made.
    from: Address,
    /// The new holder; the zero address where they were burnt.
    to: Address,
    /// Which tokens.
    token_ids: Vec<TokenId>,
    /// How many of each.
    amounts: Vec<Amount>,
    /// Place of the log that tells it among those of its block.
    log_index: u64,
    /// What the contract says of itself, when it is asked for and known.
    contract_info: Option<ContractInfo>,
    /// What is known of the tokens by their ids, when it is asked for.
    token_metadata: Option<BTreeMap<String, TokenMetadata>>,
}

impl Request {
    /// What is asked for, unless it is too much for one request or makes no sense.
    pub(super) fn wanted(self, call: &Call) -> Result<Wanted, Error> {
        let (filter, limits) = (self.filter, &call.app.settings.limits);
        let accounts: IndexSet<Address> =
            filter.account_address.into_iter().chain(filter.account_addresses).collect();
        let contracts: IndexSet<Address> =
            filter.contract_address.into_iter().chain(filter.contract_addresses).collect();
        let transactions: IndexSet<B256> = filter.transaction_hashes.into_iter().map(|hash| hash.0).collect();
        if !filter.meta_transaction_ids.is_empty() {
            let reason = "names of relayers are not known here: leave it out";
            return Err(Error::invalid("filter.metaTransactionIDs", reason));
        }
        if accounts.is_empty() && contracts.is_empty() && transactions.is_empty() {
            let reason = "is required, or filter.contractAddresses or filter.transactionHashes: nobody looks through a chain";
            return Err(Error::invalid("filter.accountAddress", reason));
        }
        let options = self.metadata_options.unwrap_or_default();
        let (max, admitted) = (limits.batch_contracts_max, &options.include_contracts);
        let read_each = NAMED_MAX.min(max);
        let contracts_max = if accounts.is_empty() && transactions.is_empty() { read_each } else { max };
        check_batch("filter.accountAddresses", "accounts", accounts.len(), read_each)?;
        check_batch("filter.contractAddresses", "contracts", contracts.len(), contracts_max)?;
        check_batch("filter.transactionHashes", "transactions", transactions.len(), read_each)?;
        check_batch("metadataOptions.includeContracts", "contracts", admitted.len(), max)?;
        if filter.token_id.is_some() && contracts.is_empty() {
            let reason =
                "ids mean something within a contract only: name contracts in filter.contractAddresses";
            return Err(Error::invalid("filter.tokenID", reason));
        }
        Ok(Wanted {
            accounts,
            contracts,
            transactions,
            token: filter.token_id,
            from_block: filter.from_block.unwrap_or(0),
            to_block: filter.to_block.unwrap_or(u64::MAX),
            status: options.status(),
            admitted: options.include_contracts,
            with_metadata: self.include_metadata,
        })
    }
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    let page = PagePlan::<Place>::new(request.page.clone(), &call.app.settings.limits)?;
    check_sort(&page)?;
    let wanted = request.wanted(&call)?;
    let mut answer = begin_answer(br#"{"transactions":"#);
    let next = write_rows(&call, chain, &wanted, (&page.begin, page.limit()), &mut answer).await?;
    page.write(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}
