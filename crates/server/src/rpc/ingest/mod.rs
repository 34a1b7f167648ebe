//! Getting data in.

mod cancel_orders;
mod end_orders;
mod intake;
mod invalidate_orders;
mod put_balances;
mod put_contracts;
mod put_currencies;
mod put_orders;
mod put_tokens;
mod records_body;
pub(crate) mod signed;
mod stored_records;
pub(crate) mod strangers;
mod track_events;
mod types;

use crate::route::Credential::{SecretToken, ServiceKey};
use crate::route::Route;
use crate::route::Service::Ingest;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    vec![
        Ingest.writes(
            "TrackEvents",
            ServiceKey,
            "Counts what wallets did. With a secret token, or an access key that was made for this service.",
            track_events::handle,
        )
        .example(r#"{"batchId":"2026-05-01/1","events":[{"wallet":"0x1111111111111111111111111111111111111111","kind":"session"}]}"#),
        Ingest.writes(
            "PutContracts",
            SecretToken,
            "Puts what is known of contracts. A bad record spoils no other.",
            put_contracts::handle,
        )
        .example(r#"{"chainId":"amoy","contracts":[{"address":"0x2222222222222222222222222222222222222222","contractType":"ERC721","name":"My Relics","symbol":"MINE"}]}"#),
        Ingest.writes(
            "PutTokens",
            SecretToken,
            "Puts tokens, each whole. A bad record spoils no other.",
            put_tokens::handle,
        )
        .example(r#"{"chainId":"amoy","tokens":[{"contractAddress":"0x2222222222222222222222222222222222222222","tokenId":"1","name":"Brass Compass"}]}"#),
        Ingest.writes(
            "PutBalances",
            SecretToken,
            "Puts what accounts hold of tokens. A bad record spoils no other.",
            put_balances::handle,
        )
        .example(r#"{"chainId":"amoy","balances":[{"contractAddress":"0x2222222222222222222222222222222222222222","tokenId":"1","account":"0x1111111111111111111111111111111111111111","balance":"1"}]}"#),
        Ingest.writes(
            "PutCurrencies",
            SecretToken,
            "Puts currencies and their rates. A bad record spoils no other.",
            put_currencies::handle,
        )
        .example(r#"{"chainId":"amoy","currencies":[{"contractAddress":"0x3333333333333333333333333333333333333333","name":"Shells","symbol":"SHL","decimals":18,"exchangeRate":"0.24"}]}"#),
        Ingest.writes(
            "PutOrders",
            SecretToken,
            "Puts listings and offers, each whole. A bad record spoils no other.",
            put_orders::handle,
        )
        .example(r#"{"chainId":"amoy","orders":[{"collectionContractAddress":"0x2222222222222222222222222222222222222222","marketplace":"opensea","orderId":"77","side":"listing","tokenId":"1","createdBy":"0x1111111111111111111111111111111111111111","priceAmount":"2500000000000000000","priceCurrencyAddress":"0x0000000000000000000000000000000000000000","validUntil":"2099-01-01T00:00:00Z"}]}"#),
        Ingest.writes(
            "CancelOrders",
            SecretToken,
            "Marks orders as cancelled by their makers. One that is over stays as it is.",
            cancel_orders::handle,
        )
        .example(r#"{"chainId":"amoy","orders":[{"collectionContractAddress":"0x2222222222222222222222222222222222222222","marketplace":"opensea","orderId":"77"}]}"#),
        Ingest.writes(
            "InvalidateOrders",
            SecretToken,
            "Marks orders that are shown but cannot be filled as inactive. One that is over stays as it is.",
            invalidate_orders::handle,
        )
        .example(r#"{"chainId":"amoy","orders":[{"collectionContractAddress":"0x2222222222222222222222222222222222222222","marketplace":"opensea","orderId":"77"}],"reason":"the maker moved the token"}"#),
    ]
}
