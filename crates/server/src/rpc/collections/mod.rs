//! Hosted collections: their tokens, their assets, and the contracts they serve.

mod create_asset;
mod create_collection;
mod create_contract_collection;
mod create_token;
mod delete_asset;
mod delete_collection;
mod delete_contract_collection;
mod delete_token;
mod get_asset;
mod get_collection;
mod get_contract_collection;
mod get_token;
mod list_collections;
mod list_contract_collections;
mod list_tokens;
mod publish_collection;
pub(crate) mod types;
mod unpublish_collection;
mod update_asset;
mod update_collection;
mod update_contract_collection;
mod update_token;

use crate::route::Credential::SecretToken;
use crate::route::Route;
use crate::route::Service::Collections;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    let mut operations = collection_operations();
    operations.extend(contract_link_operations());
    operations.extend(token_operations());
    operations.extend(asset_operations());
    operations
}

fn collection_operations() -> Vec<Route> {
    vec![
        Collections
            .writes("CreateCollection", SecretToken, "Makes a hosted collection.", create_collection::handle)
            .example(r#"{"collection":{"metadata":{"name":"Tide charts"}}}"#),
        Collections
            .reads("GetCollection", SecretToken, "Reads a hosted collection.", get_collection::handle)
            .example(r#"{"collectionId":1}"#),
        Collections.reads(
            "ListCollections",
            SecretToken,
            "Lists hosted collections.",
            list_collections::handle,
        ),
        Collections.writes(
            "UpdateCollection",
            SecretToken,
            "Changes a hosted collection.",
            update_collection::handle,
        ),
        Collections.writes(
            "DeleteCollection",
            SecretToken,
            "Deletes a hosted collection with its tokens, assets and contract links.",
            delete_collection::handle,
        ),
        Collections
            .writes(
                "PublishCollection",
                SecretToken,
                "Shows a collection at its public addresses; with `recursive`, its private tokens too.",
                publish_collection::handle,
            )
            .example(r#"{"collectionId":1,"recursive":true}"#),
        Collections.writes(
            "UnpublishCollection",
            SecretToken,
            "Hides a collection from its public addresses.",
            unpublish_collection::handle,
        ),
    ]
}

fn contract_link_operations() -> Vec<Route> {
    vec![
        Collections.writes(
            "CreateContractCollection",
            SecretToken,
            "Links a contract with the collection that serves its metadata.",
            create_contract_collection::handle,
        ),
        Collections.reads(
            "GetContractCollection",
            SecretToken,
            "Reads which collection serves a contract.",
            get_contract_collection::handle,
        ),
        Collections.reads(
            "ListContractCollections",
            SecretToken,
            "Lists which collections serve which contracts.",
            list_contract_collections::handle,
        ),
        Collections.writes(
            "UpdateContractCollection",
            SecretToken,
            "Links a contract with another collection.",
            update_contract_collection::handle,
        ),
        Collections.writes(
            "DeleteContractCollection",
            SecretToken,
            "Unlinks a contract.",
            delete_contract_collection::handle,
        ),
    ]
}

fn token_operations() -> Vec<Route> {
    vec![
        Collections
            .writes("CreateToken", SecretToken, "Adds a token to a collection.", create_token::handle)
            .example(r#"{"collectionId":1,"token":{"tokenId":"13","name":"Harbour fog"}}"#),
        Collections
            .reads("GetToken", SecretToken, "Reads a token and its assets.", get_token::handle)
            .example(r#"{"projectId":1,"collectionId":1,"tokenId":"1"}"#),
        Collections
            .reads("ListTokens", SecretToken, "Lists the tokens of a collection.", list_tokens::handle)
            .example(r#"{"collectionId":1,"page":{"page":1,"pageSize":5}}"#),
        Collections.writes("UpdateToken", SecretToken, "Changes a token.", update_token::handle),
        Collections.writes(
            "DeleteToken",
            SecretToken,
            "Deletes a token and its assets.",
            delete_token::handle,
        ),
    ]
}

fn asset_operations() -> Vec<Route> {
    vec![
        Collections
            .writes(
                "CreateAsset",
                SecretToken,
                "Makes an asset, for which a file can then be uploaded.",
                create_asset::handle,
            )
            .example(r#"{"asset":{"collectionId":1,"tokenId":"13","metadataField":"image"}}"#),
        Collections.reads("GetAsset", SecretToken, "Reads an asset.", get_asset::handle),
        Collections.writes("UpdateAsset", SecretToken, "Changes an asset.", update_asset::handle),
        Collections.writes("DeleteAsset", SecretToken, "Deletes an asset.", delete_asset::handle),
    ]
}
