//! The Indexer's operations on several chains at once: one part of the answer for each chain, and where one fails, why.

mod balances;
mod chains;
mod native;

use crate::route::Credential::AccessKey;
use crate::route::Route;
use crate::route::Service::IndexerGateway;
use crate::rpc::indexer::{get_token_balances, get_token_balances_by_contract};

/// Bodies to try operations with.
const HELD: &str = r#"{"chainIds":["amoy"],"accountAddress":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096","page":{"pageSize":2}}"#;
const HELD_OF: &str = r#"{"chainIds":["amoy"],"filter":{"contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"],"accountAddresses":["0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"]},"omitMetadata":true,"page":{"pageSize":2}}"#;
const DETAILS: &str = r#"{"chainIds":["amoy"],"filter":{"accountAddresses":["0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"],"omitNativeBalances":false},"omitMetadata":true,"page":{"pageSize":2}}"#;
const ACCOUNT: &str =
    r#"{"chainIds":["amoy"],"accountAddress":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"}"#;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
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
        IndexerGateway.reads("GetChains", AccessKey, "The chains that can be asked about.", chains::handle),
        IndexerGateway.reads("Version", AccessKey, "Which build answers.", chains::version),
        IndexerGateway.reads(
            "RuntimeStatus",
            AccessKey,
            "Whether the service can answer, and how far each chain is followed.",
            chains::runtime_status,
        ),
    ]
}
