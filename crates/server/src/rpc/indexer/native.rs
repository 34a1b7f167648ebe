//! The chain's own currency: who has how much of it, asked of a node.

use bourse_wire::{Address, Amount, ChainId, ChainRef, Code, Error, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::token_prices::dollars;
use crate::app::App;
use crate::call::Call;
use crate::chains::Unanswered;
use crate::failure::Failure;
use crate::route::request;

/// Whose.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetNativeTokenBalanceRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// The account.
    account_address: Option<Address>,
    /// Whether to leave out what it is worth.
    #[serde(default)]
    pub(super) omit_prices: bool,
}
request!(Request);

/// How much an account has.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetNativeTokenBalanceAnswer")]
pub(crate) struct Answer {
    balance: NativeTokenBalance,
}

/// How much an account has of a chain's own currency.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NativeTokenBalance {
    /// The account.
    account_address: Address,
    /// Chain.
    chain_id: ChainId,
    /// Name of the currency; empty when nothing is known of it.
    name: String,
    /// Its symbol.
    symbol: String,
    /// How much, in base units.
    balance: Amount,
    /// What that is worth in US dollars; `0` when that is not known.
    #[serde(rename = "balanceUSD")]
    balance_usd: String,
    /// What a whole unit is worth.
    #[serde(rename = "priceUSD")]
    price_usd: String,
    /// When that was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    price_updated_at: Option<Timestamp>,
    /// Why nothing is known of the balance, which is then `0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error_reason: Option<String>,
}

/// How much an account has, in base units.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetEtherBalanceAnswer")]
pub(crate) struct EtherAnswer {
    balance: EtherBalance,
}

/// How much an account has of the chain's own currency.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EtherBalance {
    /// The account.
    account_address: Address,
    /// How much, in base units.
    balance_wei: Amount,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let (chain, account) = (call.chain(request.chain_id.as_ref())?, account_of(&request)?);
    Ok(Answer { balance: balance(&call, chain, account, request.omit_prices).await? })
}

pub(crate) async fn ether(call: Call, request: Request) -> Result<EtherAnswer, Failure> {
    let (chain, account) = (call.chain(request.chain_id.as_ref())?, account_of(&request)?);
    let balance_wei =
        funds(&call, chain, &[account]).await.map_err(|error| refused(&call.app, chain, error))?;
    let balance_wei = balance_wei.first().copied().unwrap_or_default();
    Ok(EtherAnswer { balance: EtherBalance { account_address: account, balance_wei } })
}

/// The account that a request names.
pub(super) fn account_of(request: &Request) -> Result<Address, Error> {
    request.account_address.ok_or_else(|| {
        let reason = "is required: a key or a token is a project's, and names no wallet";
        Error::invalid("accountAddress", reason)
    })
}

/// How much an account has, with what it is worth.
pub(super) async fn balance(
    call: &Call,
    chain: ChainId,
    account: Address,
    omit_prices: bool,
) -> Result<NativeTokenBalance, Failure> {
    let found = funds(call, chain, &[account]).await.map_err(|error| refused(&call.app, chain, error))?;
    Ok(record(call, (chain, account), Ok(found.first().copied().unwrap_or_default()), omit_prices))
}

/// The same of several accounts; where nobody can be asked, each says why.
pub(super) async fn balances(
    call: &Call,
    chain: ChainId,
    accounts: &[Address],
    omit_prices: bool,
) -> Vec<NativeTokenBalance> {
    let found = funds(call, chain, accounts).await;
    let of_account = |(index, account): (usize, &Address)| {
        let balance = found.as_ref().map(|found| found.get(index).copied().unwrap_or_default());
        record(call, (chain, *account), balance.map_err(|error| *error), omit_prices)
    };
    accounts.iter().enumerate().map(of_account).collect()
}

async fn funds(call: &Call, chain: ChainId, accounts: &[Address]) -> Result<Vec<Amount>, Unanswered> {
    let found = call.app.chains.funds(chain, accounts.to_vec()).await?;
    Ok(found.into_iter().map(Amount::from).collect())
}

/// What a caller is told where a chain says nothing.
pub(crate) fn refused(app: &App, chain: ChainId, error: Unanswered) -> Error {
    let network = app.settings.networks.label(chain.0);
    match error {
        Unanswered::NoNode => {
            let reason = format!("network {network} has no node (`networks.*.rpc_url`) that could be asked");
            Error::invalid("chainId", reason)
        }
        Unanswered::Silent => {
            let message = format!("no node of network {network} answered in time: try again shortly");
            Error::new(Code::ChainUnavailable, message)
        }
    }
}

fn record(
    call: &Call,
    (chain, account): (ChainId, Address),
    balance: Result<Amount, Unanswered>,
    omit_prices: bool,
) -> NativeTokenBalance {
    let currencies = call.app.resident.currencies(chain);
    let coin = currencies.iter().find(|currency| currency.contract_address == Address::ZERO);
    let amount = balance.unwrap_or_default();
    let told = coin.filter(|_| !omit_prices).and_then(|coin| coin.rate.as_ref());
    NativeTokenBalance {
        account_address: account,
        chain_id: chain,
        name: coin.map(|coin| coin.name.clone()).unwrap_or_default(),
        symbol: coin.map(|coin| coin.symbol.clone()).unwrap_or_default(),
        balance: amount,
        balance_usd: coin
            .filter(|_| told.is_some())
            .map_or_else(|| "0".to_owned(), |coin| dollars(coin, amount)),
        price_usd: told.map_or_else(|| "0".to_owned(), |told| told.rate.to_string()),
        price_updated_at: told.map(|told| told.at),
        error_reason: balance.err().map(|error| error.to_string()),
    }
}
