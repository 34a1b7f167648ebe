//! Operations on hosted collections.

use crate::route::Credential::SecretToken;
use crate::route::Route;
use crate::route::Service::Collections;
use crate::rpc::collections as c;

pub(super) fn operations() -> Vec<Route> {
    let mut operations = collection_operations();
    operations.extend(contract_link_operations());
    operations.extend(token_operations());
    operations.extend(asset_operations());
    operations
}

fn collection_operations() -> Vec<Route> {
    vec![
        Collections
            .writes(
                "CreateCollection",
                SecretToken,
                "Makes a hosted collection.",
                c::create_collection::handle,
            )
            .example(r#"{"collection":{"metadata":{"name":"Tide charts"}}}"#),
        Collections
            .reads("GetCollection", SecretToken, "Reads a hosted collection.", c::get_collection::handle)
            .example(r#"{"collectionId":1}"#),
        Collections.reads(
            "ListCollections",
            SecretToken,
            "Lists hosted collections.",
            c::list_collections::handle,
        ),
        Collections.writes(
            "UpdateCollection",
            SecretToken,
            "Changes a hosted collection.",
            c::update_collection::handle,
        ),
        Collections.writes(
            "DeleteCollection",
            SecretToken,
            "Deletes a hosted collection with its tokens, assets and contract links.",
            c::delete_collection::handle,
        ),
        Collections
            .writes(
                "PublishCollection",
                SecretToken,
                "Shows a collection at its public addresses; with `recursive`, its private tokens too.",
                c::publish_collection::handle,
            )
            .example(r#"{"collectionId":1,"recursive":true}"#),
        Collections.writes(
            "UnpublishCollection",
            SecretToken,
            "Hides a collection from its public addresses.",
            c::unpublish_collection::handle,
        ),
    ]
}

fn contract_link_operations() -> Vec<Route> {
    vec![
        Collections.writes(
            "CreateContractCollection",
            SecretToken,
            "Links a contract with the collection that serves its metadata.",
            c::create_contract_collection::handle,
        ),
        Collections.reads(
            "GetContractCollection",
            SecretToken,
            "Reads which collection serves a contract.",
            c::get_contract_collection::handle,
        ),
        Collections.reads(
            "ListContractCollections",
            SecretToken,
            "Lists which collections serve which contracts.",
            c::list_contract_collections::handle,
        ),
        Collections.writes(
            "UpdateContractCollection",
            SecretToken,
            "Links a contract with another collection.",
            c::update_contract_collection::handle,
        ),
        Collections.writes(
            "DeleteContractCollection",
            SecretToken,
            "Unlinks a contract.",
            c::delete_contract_collection::handle,
        ),
    ]
}

fn token_operations() -> Vec<Route> {
    vec![
        Collections
            .writes("CreateToken", SecretToken, "Adds a token to a collection.", c::create_token::handle)
            .example(r#"{"collectionId":1,"token":{"tokenId":"13","name":"Harbour fog"}}"#),
        Collections
            .reads("GetToken", SecretToken, "Reads a token and its assets.", c::get_token::handle)
            .example(r#"{"projectId":1,"collectionId":1,"tokenId":"1"}"#),
        Collections
            .reads("ListTokens", SecretToken, "Lists the tokens of a collection.", c::list_tokens::handle)
            .example(r#"{"collectionId":1,"page":{"page":1,"pageSize":5}}"#),
        Collections.writes("UpdateToken", SecretToken, "Changes a token.", c::update_token::handle),
        Collections.writes(
            "DeleteToken",
            SecretToken,
            "Deletes a token and its assets.",
            c::delete_token::handle,
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
                c::create_asset::handle,
            )
            .example(r#"{"asset":{"collectionId":1,"tokenId":"13","metadataField":"image"}}"#),
        Collections.reads("GetAsset", SecretToken, "Reads an asset.", c::get_asset::handle),
        Collections.writes("UpdateAsset", SecretToken, "Changes an asset.", c::update_asset::handle),
        Collections.writes("DeleteAsset", SecretToken, "Deletes an asset.", c::delete_asset::handle),
    ]
}
