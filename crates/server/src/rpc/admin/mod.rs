//! What is followed.

mod create_collection;
mod delete_collection;

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
    ]
}
