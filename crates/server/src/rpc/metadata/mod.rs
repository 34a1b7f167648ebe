//! Token and contract metadata.

mod contracts;
mod enqueue_tokens_for_refresh;
mod find_contract_info;
mod find_contract_info_batch;
mod get_contract_info;
mod get_contract_info_batch;
mod get_task;
mod get_task_status;
mod get_token_directory;
mod get_token_directory_networks;
mod get_token_metadata;
mod get_token_metadata_batch;
mod refresh_all_contract_tokens;
mod refresh_contract_info;
mod refresh_contract_info_batch;
mod refresh_contract_tokens;
mod refresh_token_metadata;
mod runtime_status;
mod search;
mod search_contracts;
mod search_token_directory;
mod search_token_metadata_by_query;
mod search_tokens;
mod token_collection_filters;
mod token_walk;
mod types;

use std::collections::HashMap;

use bourse_store::CollectionKey;
use bourse_wire::{Error, STORED_EXTRA_BYTES, TokenId, write_stored};

use crate::call::Call;
use crate::failure::Failure;
use crate::resident::{Patience, Residence};
use crate::route::Credential::AccessKey;
use crate::route::Service::Metadata;
use crate::route::{Handler, Route};
use crate::rpc::version;

/// Bodies to try operations on metadata with.
const COLLECTION: &str =
    r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#;
const CONTRACT: &str =
    r#"{"chainHandle":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#;
const TOKENS: &str =
    r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","tokenIDs":["1"]}"#;
const SEARCH: &str = r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","filter":{"text":"a"}}"#;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    let mut operations = record_operations();
    operations.extend(search_operations());
    operations.extend(directory_operations());
    operations.extend(refresh_operations());
    operations.push(version::operation(Metadata));
    operations.push(Route::for_anybody::<runtime_status::Answer>(
        Metadata,
        "RuntimeStatus",
        "How the service does.",
        Handler::Open(runtime_status::handle),
    ));
    operations
}

fn record_operations() -> Vec<Route> {
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
            .reads_raw::<_, search::TokenIdsAnswer, _, _>(
                "SearchTokenMetadataTokenIDs",
                AccessKey,
                "The same as SearchTokenIDs, answered as tokenIDs.",
                search::token_ids,
            )
            .example(SEARCH),
        Metadata
            .reads_raw::<_, token_walk::Answer, _, _>(
                "SearchTokenMetadataByQuery",
                AccessKey,
                "Tokens of one collection, or of all in the project's market, by name, with the contract each is of.",
                search_token_metadata_by_query::handle,
            )
            .example(r#"{"chainID":"amoy","q":"a","page":{"pageSize":2}}"#),
        Metadata
            .reads_raw::<_, token_walk::Answer, _, _>(
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
        Metadata
            .reads_raw::<_, search_contracts::Answer, _, _>(
                "SearchContractsByQuery",
                AccessKey,
                "The same as SearchContracts.",
                search_contracts::handle,
            )
            .example(r#"{"q":"0x5ea9c1"}"#),
    ]
}

fn directory_operations() -> Vec<Route> {
    vec![
        Metadata
            .reads_raw::<_, find_contract_info::Answer, _, _>(
                "FindContractInfo",
                AccessKey,
                "Information about one address on every chain.",
                find_contract_info::handle,
            )
            .example(r#"{"contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#),
        Metadata
            .reads_raw::<_, find_contract_info_batch::Answer, _, _>(
                "FindContractInfoBatch",
                AccessKey,
                "Information about several addresses on every chain. Those that are not known are left out.",
                find_contract_info_batch::handle,
            )
            .example(r#"{"contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"]}"#),
        Metadata
            .reads(
                "GetTokenDirectoryNetworks",
                AccessKey,
                "The chains that the directory has contracts of.",
                get_token_directory_networks::handle,
            )
            .example(r#"{"includeTestnets":true}"#),
        Metadata
            .reads_raw::<_, get_token_directory::Answer, _, _>(
                "GetTokenDirectory",
                AccessKey,
                "The contracts that are known here, but for blacklisted ones.",
                get_token_directory::handle,
            )
            .example(r#"{"includeTestnets":true,"page":{"pageSize":2}}"#),
        Metadata
            .reads_raw::<_, get_token_directory::Answer, _, _>(
                "SearchTokenDirectory",
                AccessKey,
                "The contracts that are known here by name, symbol or address, but for blacklisted ones.",
                search_token_directory::handle,
            )
            .example(r#"{"query":"0x5ea9c1","includeTestnets":true}"#),
    ]
}

fn refresh_operations() -> Vec<Route> {
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
            .writes(
                "RefreshContractInfoBatch",
                AccessKey,
                "Fetches anew what several contracts say of themselves, and answers with the number of the task.",
                refresh_contract_info_batch::handle,
            )
            .example(r#"{"chainID":"amoy","contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"]}"#),
        Metadata
            .reads("GetTask", AccessKey, "How far something is that the project asked for.", get_task::handle)
            .example(r#"{"taskId":1}"#),
        Metadata
            .reads(
                "GetTaskStatus",
                AccessKey,
                "How far something is that the project asked for, in a word.",
                get_task_status::handle,
            )
            .example(r#"{"taskId":1}"#),
    ]
}

/// Room for what closes an answer.
const ANSWER_END_BYTES: usize = 8;

/// Appends the metadata of tokens to an answer as a JSON array, in the order asked for, leaving out unknown ones.
async fn write_tokens(
    call: &Call,
    answer: &mut Vec<u8>,
    key: CollectionKey,
    tokens: &[TokenId],
    patience: &mut Patience,
) -> Result<(), Failure> {
    answer.push(b'[');
    let first = answer.len();
    match call.app.resident.find_within(key, patience).await? {
        Residence::Missing => call.check_known(key.chain).await?,
        Residence::Resident(slot) => {
            let collection = slot.read();
            let fragments = collection.tokens(tokens);
            // Once, and as much as is needed: growing would copy, and too large a piece is dear to get.
            answer.reserve(
                fragments.iter().map(|fragment| fragment.len() + STORED_EXTRA_BYTES + 1).sum::<usize>()
                    + ANSWER_END_BYTES,
            );
            for fragment in fragments {
                write_record(answer, first, fragment);
            }
        }
        Residence::Stored(id) => {
            let stored = call.app.store.tokens(id, tokens.to_vec()).await?;
            let found: HashMap<TokenId, &str> =
                stored.iter().map(|token| (token.token_id, token.metadata.as_str())).collect();
            for metadata in tokens.iter().filter_map(|token| found.get(token)) {
                write_record(answer, first, metadata.as_bytes());
            }
        }
    }
    answer.push(b']');
    Ok(())
}

/// The information about a contract, as JSON text.
async fn contract_info(
    call: &Call,
    key: CollectionKey,
    patience: &mut Patience,
) -> Result<Option<Vec<u8>>, Failure> {
    let shown = |info: &str| {
        let mut shown = Vec::with_capacity(info.len() + STORED_EXTRA_BYTES);
        write_stored(&mut shown, info.as_bytes());
        shown
    };
    Ok(match call.app.resident.find_within(key, patience).await? {
        Residence::Missing => {
            call.check_known(key.chain).await?;
            None
        }
        Residence::Resident(slot) => slot.read().contract().map(shown),
        Residence::Stored(id) => call.app.store.contract(id).await?.as_deref().map(shown),
    })
}

/// Appends a stored record as an item.
fn write_record(answer: &mut Vec<u8>, first: usize, stored: &[u8]) {
    write_item(answer, first, b"");
    write_stored(answer, stored);
}

/// Appends a comma-separated item; `first` is where the list began.
fn write_item(answer: &mut Vec<u8>, first: usize, item: &[u8]) {
    if answer.len() > first {
        answer.push(b',');
    }
    answer.extend_from_slice(item);
}

/// Refuses a batch that is larger than the limit, by name.
pub(crate) fn check_batch(member: &str, things: &str, count: usize, count_max: usize) -> Result<(), Error> {
    if count > count_max {
        return Err(Error::invalid(
            member,
            format!("{count} {things} where at most {count_max} are allowed"),
        ));
    }
    Ok(())
}
