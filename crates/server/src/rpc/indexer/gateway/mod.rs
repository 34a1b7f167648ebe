//! The Indexer's operations on several chains at once: one part of the answer for each chain, and where one fails, why.

mod balances;
mod chains;
mod history;
mod native;
mod parts;
mod prices;
mod updates;

use crate::route::Credential::AccessKey;
use crate::route::Route;
use crate::route::Service::IndexerGateway;
use crate::rpc::indexer::{get_token_balances, get_token_balances_by_contract};
use crate::rpc::version;

/// Bodies to try operations with.
const HELD: &str = r#"{"chainIds":["amoy"],"accountAddress":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096","page":{"pageSize":2}}"#;
const HELD_OF: &str = r#"{"chainIds":["amoy"],"filter":{"contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"],"accountAddresses":["0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"]},"omitMetadata":true,"page":{"pageSize":2}}"#;
const DETAILS: &str = r#"{"chainIds":["amoy"],"filter":{"accountAddresses":["0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"],"omitNativeBalances":false},"omitMetadata":true,"page":{"pageSize":2}}"#;
const ACCOUNT: &str =
    r#"{"chainIds":["amoy"],"accountAddress":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"}"#;

const HISTORY: &str = r#"{"chainIds":["amoy"],"filter":{"accountAddress":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"},"page":{"pageSize":2}}"#;
const UPDATES: &str = r#"{"chainIds":["amoy"],"contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","lastBlockNumber":0}"#;
const PRICE: &str = r#"{"q":{"chainID":"amoy","queries":[{"contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}]}}"#;
const PRICES: &str = r#"{"q":[{"chainID":"amoy","queries":[{"contractAddress":"0x0000000000000000000000000000000000000000"}]}]}"#;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    let mut operations = balance_operations();
    operations.extend(change_operations());
    operations.extend(chain_operations());
    operations
}

fn change_operations() -> Vec<Route> {
    vec![
        IndexerGateway
            .reads_raw::<_, updates::Answer, _, _>(
                "GetBalanceUpdates",
                AccessKey,
                "The balances of a contract that changed since a block, on several chains.",
                updates::handle,
            )
            .example(UPDATES),
        IndexerGateway
            .reads_raw::<_, history::Answer, _, _>(
                "GetTransactionHistory",
                AccessKey,
                "What accounts gave and got on several chains, transaction by transaction.",
                history::handle,
            )
            .example(HISTORY),
        IndexerGateway
            .reads(
                "GetTokenPrice",
                AccessKey,
                "What tokens of a chain are worth in US dollars.",
                prices::handle,
            )
            .example(PRICE),
        IndexerGateway
            .reads(
                "GetTokenPrices",
                AccessKey,
                "What tokens of several chains are worth in US dollars.",
                prices::several,
            )
            .example(PRICES),
    ]
}

fn balance_operations() -> Vec<Route> {
    vec![
        IndexerGateway
            .reads_raw::<_, balances::Answer, _, _>(
                "GetTokenBalances",
                AccessKey,
                "What one account holds on several chains.",
                balances::handle::<get_token_balances::Request>,
            )
            .example(HELD),
        IndexerGateway
            .reads_raw::<_, balances::Answer, _, _>(
                "GetTokenBalancesByContract",
                AccessKey,
                "What accounts hold of contracts on several chains.",
                balances::handle::<get_token_balances_by_contract::Request>,
            )
            .example(HELD_OF),
        IndexerGateway
            .reads_raw::<_, balances::DetailsAnswer, _, _>(
                "GetTokenBalancesDetails",
                AccessKey,
                "All that accounts hold on several chains, token by token.",
                balances::details,
            )
            .example(DETAILS),
        IndexerGateway
            .reads_raw::<_, balances::DetailsAnswer, _, _>(
                "GetTokenBalancesSummary",
                AccessKey,
                "All that accounts hold on several chains, contract by contract.",
                balances::summary,
            )
            .example(DETAILS),
        IndexerGateway
            .reads(
                "GetNativeTokenBalance",
                AccessKey,
                "How much an account has of the own currency of several chains.",
                native::handle,
            )
            .example(ACCOUNT),
    ]
}

fn chain_operations() -> Vec<Route> {
    vec![
        IndexerGateway.reads("GetChains", AccessKey, "The chains that can be asked about.", chains::handle),
        version::operation(IndexerGateway),
        IndexerGateway.reads(
            "RuntimeStatus",
            AccessKey,
            "Whether the service can answer, and how far each chain is followed.",
            chains::runtime_status,
        ),
    ]
}
