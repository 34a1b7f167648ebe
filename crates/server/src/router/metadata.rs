//! Operations on token and contract metadata.

use crate::route::Credential::AccessKey;
use crate::route::Route;
use crate::route::Service::Metadata;
use crate::rpc::metadata;

/// Bodies to try operations on metadata with.
const COLLECTION: &str =
    r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#;
const CONTRACT: &str =
    r#"{"chainHandle":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#;
const TOKENS: &str =
    r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","tokenIDs":["1"]}"#;
const SEARCH: &str = r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","filter":{"text":"a"}}"#;

pub(super) fn operations() -> Vec<Route> {
    let mut operations = record_operations();
    operations.extend(search_operations());
    operations.extend(refresh_operations());
    operations
}

fn record_operations() -> Vec<Route> {
    use metadata::{
        get_contract_info, get_contract_info_batch, get_token_metadata, get_token_metadata_batch,
        token_collection_filters,
    };
    vec![
        Metadata.reads_raw::<_, get_token_metadata_batch::Answer, _, _>(
            "GetTokenMetadataBatch",
            AccessKey,
            "Metadata of tokens of several contracts. Tokens that are not known are left out.",
            get_token_metadata_batch::handle,
        ).example(r#"{"chainID":"amoy","contractTokenMap":{"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af":["1","2"]}}"#),
        Metadata.reads_raw::<_, get_contract_info_batch::Answer, _, _>(
            "GetContractInfoBatch",
            AccessKey,
            "Information about several contracts. Contracts that are not known are left out.",
            get_contract_info_batch::handle,
        ).example(r#"{"chainID":"amoy","contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"]}"#),
        Metadata.reads_raw::<_, get_token_metadata::Answer, _, _>(
            "GetTokenMetadata",
            AccessKey,
            "Metadata of tokens of one contract. Tokens that are not known are left out.",
            get_token_metadata::handle,
        ).example(r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","tokenIDs":["1"]}"#),
        Metadata.reads_raw::<_, get_contract_info::Answer, _, _>(
            "GetContractInfo",
            AccessKey,
            "Information about one contract.",
            get_contract_info::handle,
        ).example(r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#),
        Metadata.reads(
            "TokenCollectionFilters",
            AccessKey,
            "The properties of a collection as filters to choose from.",
            token_collection_filters::handle,
        )
        .example(COLLECTION),
        Metadata.reads(
            "GetTokenMetadataPropertyFilters",
            AccessKey,
            "The properties of a collection as filters to choose from.",
            token_collection_filters::handle,
        )
        .example(COLLECTION),
    ]
}

fn search_operations() -> Vec<Route> {
    use metadata::{search, search_contracts, search_tokens};
    vec![
        Metadata
            .reads_raw::<_, search::MetadataAnswer, _, _>(
                "SearchTokenMetadata",
                AccessKey,
                "Tokens of a collection by text and properties.",
                search::metadata,
            )
            .example(SEARCH),
        Metadata
            .reads_raw::<_, search::IdsAnswer, _, _>(
                "SearchTokenIDs",
                AccessKey,
                "Ids of the tokens of a collection by text and properties.",
                search::ids,
            )
            .example(SEARCH),
        Metadata
            .reads_raw::<_, search_tokens::Answer, _, _>(
                "SearchTokens",
                AccessKey,
                "Tokens of all collections of a chain by name, with the contract each is of.",
                search_tokens::handle,
            )
            .example(r#"{"chainID":"amoy","q":"a","page":{"pageSize":2}}"#),
        Metadata
            .reads_raw::<_, search_contracts::Answer, _, _>(
                "SearchContracts",
                AccessKey,
                "Contracts by name, symbol or address.",
                search_contracts::handle,
            )
            .example(r#"{"chainID":"amoy","q":"0x5ea9c1","types":["ERC721","ERC1155"]}"#),
    ]
}

fn refresh_operations() -> Vec<Route> {
    use metadata::{
        enqueue_tokens_for_refresh, get_task, refresh_all_contract_tokens, refresh_contract_info,
        refresh_contract_tokens, refresh_token_metadata,
    };
    vec![
        Metadata
            .writes(
                "RefreshTokenMetadata",
                AccessKey,
                "Fetches the metadata of tokens anew, and answers with the number of the task.",
                refresh_token_metadata::handle,
            )
            .example(TOKENS),
        Metadata
            .writes(
                "EnqueueTokensForRefresh",
                AccessKey,
                "The same as RefreshTokenMetadata.",
                enqueue_tokens_for_refresh::handle,
            )
            .example(TOKENS),
        Metadata
            .writes(
                "RefreshContractTokens",
                AccessKey,
                "Fetches the metadata of tokens anew, and answers with the task.",
                refresh_contract_tokens::handle,
            )
            .example(TOKENS),
        Metadata
            .writes(
                "RefreshAllContractTokens",
                AccessKey,
                "Fetches the metadata of all tokens of a contract anew.",
                refresh_all_contract_tokens::handle,
            )
            .example(CONTRACT),
        Metadata
            .writes(
                "RefreshContractInfo",
                AccessKey,
                "Fetches anew what a contract says of itself.",
                refresh_contract_info::handle,
            )
            .example(CONTRACT),
        Metadata
            .reads("GetTask", AccessKey, "How far something is that the project asked for.", get_task::handle)
            .example(r#"{"taskId":1}"#),
    ]
}
