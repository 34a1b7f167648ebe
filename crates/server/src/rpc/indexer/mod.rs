//! Who holds what, and how much there is.

mod balances;
mod chain_status;
mod contract;
mod event_filter;
mod fetch_transaction_receipt;
pub(crate) mod gateway;
mod get_balance_updates;
mod get_marketplace_orders;
mod get_marketplace_top_orders;
mod get_orderbook_orders;
mod get_token_balances;
mod get_token_balances_by_contract;
mod get_token_balances_details;
mod get_token_supplies_map;
mod get_transaction_history;
mod hash;
mod history;
mod market;
mod market_orders;
mod native;
mod receipt;
mod rows;
mod subscribe_balance_updates;
mod subscribe_events;
mod subscribe_receipts;
mod sync_balance;
mod token_ids;
mod token_prices;
mod types;
mod walk;
mod webhooks;

pub(crate) use self::native::refused;
pub(crate) use self::subscribe_balance_updates::balance_lines;
pub(crate) use self::subscribe_receipts::{Receipts, receipt_line};
use crate::route::Credential::AccessKey;
use crate::route::Route;
use crate::route::Service::Indexer;
use crate::rpc::version;

/// Bodies to try operations with.
const HELD: &str = r#"{"chainId":"amoy","accountAddress":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096","page":{"pageSize":2}}"#;
const HELD_OF: &str = r#"{"chainId":"amoy","filter":{"contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"],"accountAddresses":["0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"]},"omitMetadata":true,"page":{"pageSize":2}}"#;
const DETAILS: &str = r#"{"chainId":"amoy","filter":{"accountAddresses":["0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"],"omitNativeBalances":false},"omitMetadata":true,"page":{"pageSize":2}}"#;
const ACCOUNT: &str = r#"{"chainId":"amoy","accountAddress":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"}"#;
const TRANSACTION: &str = r#"{"chainId":"amoy","txnHash":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af5ea9c1d27b04f83e6a1590dc","maxBlockWait":0}"#;
const TRANSACTION_WHERE: &str = r#"{"chainId":"amoy","filter":{"txnHash":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af5ea9c1d27b04f83e6a1590dc"},"maxBlockWait":0}"#;
const EVENTS: &str =
    r#"{"chainId":"amoy","filter":{"contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"]}}"#;
const RECEIPTS: &str =
    r#"{"chainId":"amoy","filter":{"contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}}"#;
const CONTRACT: &str = r#"{"chainId":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","page":{"pageSize":2}}"#;
const UPDATES: &str = r#"{"chainId":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","lastBlockNumber":0}"#;
const HISTORY: &str = r#"{"chainId":"amoy","filter":{"accountAddress":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096"},"page":{"pageSize":2}}"#;
const SYNCED: &str = r#"{"chainId":"amoy","accountAddress":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#;
const PRICE: &str =
    r#"{"chainId":"amoy","q":{"contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}}"#;
const PRICES: &str = r#"{"chainId":"amoy","q":[{"contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","tokenID":"1"},{"contractAddress":"0x0000000000000000000000000000000000000000"}]}"#;
const RANGES: &str = r#"{"chainId":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#;
const SUPPLIES: &str =
    r#"{"chainId":"amoy","tokenMap":{"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af":["1","2"]}}"#;
const MARKET_ORDERS: &str = r#"{"chainId":"amoy","marketplaceContractAddress":"0xfdb42a198a932c8d3b506ffa5e855bc4b348a712","collectionAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","filter":{"isListing":true,"orderStatuses":["OPEN"]},"page":{"pageSize":2}}"#;
const BOOK_ORDERS: &str = r#"{"chainId":"amoy","orderbookContractAddress":"0xfdb42a198a932c8d3b506ffa5e855bc4b348a712","collectionAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","filters":[{"isListing":true}],"orderStatuses":["OPEN"],"page":{"pageSize":2}}"#;
const TOP_ORDERS: &str = r#"{"chainId":"amoy","marketplaceContractAddress":"0xfdb42a198a932c8d3b506ffa5e855bc4b348a712","collectionAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","filter":{"tokenIds":["1","2"],"isListing":true,"priceSort":"ASC"}}"#;
const TOP_BOOK_ORDERS: &str = r#"{"chainId":"amoy","orderbookContractAddress":"0xfdb42a198a932c8d3b506ffa5e855bc4b348a712","collectionAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","tokenIDs":["1","2"],"isListing":true,"priceSort":"ASC"}"#;
const CHAIN: &str = r#"{"chainId":"amoy"}"#;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    let mut operations = balance_operations();
    operations.extend(token_operations());
    operations.extend(node_operations());
    operations.extend(change_operations());
    operations.extend(price_operations());
    operations.extend(market_operations());
    operations.extend(webhooks::operations());
    operations.extend(status_operations());
    operations
}

fn balance_operations() -> Vec<Route> {
    vec![
        Indexer
            .reads_raw::<_, get_token_balances::Answer, _, _>(
                "GetTokenBalances",
                AccessKey,
                "What one account holds, of everything or of one contract or token.",
                get_token_balances::handle,
            )
            .example(HELD),
        Indexer
            .reads_raw::<_, get_token_balances::Answer, _, _>(
                "GetTokenBalancesByContract",
                AccessKey,
                "What accounts hold of contracts, token by token.",
                get_token_balances_by_contract::handle,
            )
            .example(HELD_OF),
        Indexer
            .reads_raw::<_, get_token_balances_details::Answer, _, _>(
                "GetTokenBalancesDetails",
                AccessKey,
                "All that accounts hold, token by token, with the chain's own currency.",
                get_token_balances_details::details,
            )
            .example(DETAILS),
        Indexer
            .reads_raw::<_, get_token_balances_details::Answer, _, _>(
                "GetTokenBalancesSummary",
                AccessKey,
                "All that accounts hold, contract by contract, with the chain's own currency.",
                get_token_balances_details::summary,
            )
            .example(DETAILS),
    ]
}

fn change_operations() -> Vec<Route> {
    vec![
        Indexer
            .reads_raw::<_, get_balance_updates::Answer, _, _>(
                "GetBalanceUpdates",
                AccessKey,
                "The balances of a followed contract that changed since a block.",
                get_balance_updates::handle,
            )
            .example(UPDATES),
        Indexer
            .reads_raw::<_, get_transaction_history::Answer, _, _>(
                "GetTransactionHistory",
                AccessKey,
                "What accounts gave and got, and what contracts had moved, transaction by transaction.",
                get_transaction_history::handle,
            )
            .example(HISTORY),
        Indexer
            .streams::<_, subscribe_balance_updates::Answer, _>(
                "SubscribeBalanceUpdates",
                AccessKey,
                "What accounts hold of a contract, as it changes, line by line.",
                subscribe_balance_updates::handle,
            )
            .example(RANGES),
        Indexer
            .streams::<_, subscribe_events::Answer, _>(
                "SubscribeEvents",
                AccessKey,
                "What happens in contracts as far as a filter lets it through, as logs, line by line.",
                subscribe_events::handle,
            )
            .example(EVENTS),
        Indexer
            .streams::<_, subscribe_receipts::Answer, _>(
                "SubscribeReceipts",
                AccessKey,
                "What became of transactions in which something happens to a contract's tokens, line by line.",
                subscribe_receipts::handle,
            )
            .example(RECEIPTS),
        Indexer
            .reads(
                "SyncBalance",
                AccessKey,
                "Says that a balance is that of the chain, as those of followed contracts always are.",
                sync_balance::handle,
            )
            .example(SYNCED),
    ]
}

fn price_operations() -> Vec<Route> {
    vec![
        Indexer
            .reads(
                "GetTokenPrice",
                AccessKey,
                "What a token is worth in US dollars: a currency by its rate, others by their cheapest listing.",
                token_prices::handle,
            )
            .example(PRICE),
        Indexer
            .reads("GetTokenPrices", AccessKey, "What tokens are worth in US dollars.", token_prices::several)
            .example(PRICES),
        Indexer
            .reads_raw::<_, token_prices::ListAnswer, _, _>(
                "ListTokenPrices",
                AccessKey,
                "What the currencies of a chain are worth in US dollars.",
                token_prices::list,
            )
            .example(CHAIN),
    ]
}

fn market_operations() -> Vec<Route> {
    vec![
        Indexer
            .reads_raw::<_, market_orders::Answer, _, _>(
                "GetMarketplaceOrders",
                AccessKey,
                "The orders of a collection at one of the service's own marketplaces, whatever became of them.",
                get_marketplace_orders::handle,
            )
            .example(MARKET_ORDERS),
        Indexer
            .reads_raw::<_, market_orders::Answer, _, _>(
                "GetOrderbookOrders",
                AccessKey,
                "The same as GetMarketplaceOrders, for older clients.",
                get_orderbook_orders::handle,
            )
            .example(BOOK_ORDERS),
        Indexer
            .reads(
                "GetMarketplaceTopOrders",
                AccessKey,
                "The best order of each token at one of the service's own marketplaces.",
                get_marketplace_top_orders::handle,
            )
            .example(TOP_ORDERS),
        Indexer
            .reads(
                "GetTopOrders",
                AccessKey,
                "The same as GetMarketplaceTopOrders, for older clients.",
                get_marketplace_top_orders::before,
            )
            .example(TOP_BOOK_ORDERS),
    ]
}

fn node_operations() -> Vec<Route> {
    vec![
        Indexer
            .reads(
                "GetNativeTokenBalance",
                AccessKey,
                "How much an account has of the chain's own currency, as a node tells it.",
                native::handle,
            )
            .example(ACCOUNT),
        Indexer
            .reads(
                "GetEtherBalance",
                AccessKey,
                "The same as GetNativeTokenBalance in base units alone.",
                native::ether,
            )
            .example(ACCOUNT),
        Indexer
            .reads(
                "FetchTransactionReceipt",
                AccessKey,
                "What became of a transaction, as a node tells it, waiting some blocks for it.",
                fetch_transaction_receipt::handle,
            )
            .example(TRANSACTION),
        Indexer
            .reads(
                "FetchTransactionReceiptWithFilter",
                AccessKey,
                "The same, where the transaction is as a filter wants it.",
                fetch_transaction_receipt::with_filter,
            )
            .example(TRANSACTION_WHERE),
    ]
}

fn token_operations() -> Vec<Route> {
    vec![
        Indexer
            .reads_raw::<_, token_ids::SuppliesAnswer, _, _>(
                "GetTokenSupplies",
                AccessKey,
                "The tokens of a contract, and how much there is of each.",
                token_ids::supplies,
            )
            .example(CONTRACT),
        Indexer
            .reads_raw::<_, get_token_supplies_map::Answer, _, _>(
                "GetTokenSuppliesMap",
                AccessKey,
                "How much there is of some tokens of several contracts. Tokens that are not known are left out.",
                get_token_supplies_map::handle,
            )
            .example(SUPPLIES),
        Indexer
            .reads_raw::<_, token_ids::IdsAnswer, _, _>(
                "GetTokenIDs",
                AccessKey,
                "The ids of the tokens of a contract.",
                token_ids::ids,
            )
            .example(CONTRACT),
        Indexer
            .reads(
                "GetTokenIDRanges",
                AccessKey,
                "The ids of the tokens of a contract as ranges.",
                token_ids::ranges,
            )
            .example(RANGES),
    ]
}

fn status_operations() -> Vec<Route> {
    vec![
        Indexer
            .reads("GetChainID", AccessKey, "The chain that the address names.", chain_status::chain_id)
            .example(CHAIN),
        version::operation(Indexer),
        Indexer
            .reads(
                "RuntimeStatus",
                AccessKey,
                "Whether the service can answer, and how far the chain is followed.",
                chain_status::runtime_status,
            )
            .example(CHAIN),
    ]
}
