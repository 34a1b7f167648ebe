//! What is followed, and how storefronts are.

mod create_collection;
mod delete_collection;
mod get_storefront;
mod put_storefront;

use crate::route::Credential::SecretToken;
use crate::route::Route;
use crate::route::Service::Admin;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    vec![
        Admin.writes(
            "CreateCollection",
            SecretToken,
            "Follows a contract's tokens and orders on its chain, as part of the project's market.",
            create_collection::handle,
        )
        .example(
            r#"{"chainId":"amoy","contractAddress":"0x2222222222222222222222222222222222222222","fromBlock":1}"#,
        ),
        Admin.writes(
            "DeleteCollection",
            SecretToken,
            "Stops following a contract's tokens and orders, unless somebody else follows them.",
            delete_collection::handle,
        )
        .example(r#"{"chainId":"amoy","contractAddress":"0x2222222222222222222222222222222222222222"}"#),
        Admin.reads(
            "GetStorefront",
            SecretToken,
            "What the project said of its storefront.",
            get_storefront::handle,
        ),
        Admin.writes(
            "PutStorefront",
            SecretToken,
            "Has the project's storefront be another one: looks, pages, what trades and what is sold.",
            put_storefront::handle,
        )
        .example(
            r#"{"storefront":{"settings":{"title":"Relics"},"market":{"enabled":true},"marketCollections":[{"chainId":80002,"itemsAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","feePercentage":2.5}]}}"#,
        ),
    ]
}
