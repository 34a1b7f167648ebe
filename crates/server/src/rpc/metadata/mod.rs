//! Token and contract metadata.

pub(crate) mod enqueue_tokens_for_refresh;
pub(crate) mod get_contract_info;
pub(crate) mod get_contract_info_batch;
pub(crate) mod get_task;
pub(crate) mod get_token_metadata;
pub(crate) mod get_token_metadata_batch;
pub(crate) mod refresh_all_contract_tokens;
pub(crate) mod refresh_contract_info;
pub(crate) mod refresh_contract_tokens;
pub(crate) mod refresh_token_metadata;
pub(crate) mod search;
pub(crate) mod search_contracts;
pub(crate) mod search_tokens;
pub(crate) mod token_collection_filters;
mod types;

use std::collections::HashMap;

use bourse_store::CollectionKey;
use bourse_wire::{Error, TokenId};

use crate::app::App;
use crate::failure::Failure;
use crate::resident::Residence;

/// Room for what closes an answer.
const ANSWER_END_BYTES: usize = 8;

/// Appends the metadata of tokens to an answer as a JSON array, in the order asked for, leaving out unknown ones.
async fn write_tokens(
    app: &App,
    answer: &mut Vec<u8>,
    key: CollectionKey,
    tokens: &[TokenId],
) -> Result<(), Failure> {
    answer.push(b'[');
    let first = answer.len();
    match app.resident.find(key).await? {
        Residence::Missing => {}
        Residence::Resident(slot) => {
            let collection = slot.read();
            let fragments = collection.tokens(tokens);
            // Once, and as much as is needed: growing would copy, and too large a piece is dear to get.
            answer.reserve(
                fragments.iter().map(|fragment| fragment.len() + 1).sum::<usize>() + ANSWER_END_BYTES,
            );
            for fragment in fragments {
                write_item(answer, first, fragment);
            }
        }
        Residence::Stored(id) => {
            let stored = app.store.tokens(id, tokens.to_vec()).await?;
            let found: HashMap<TokenId, &str> =
                stored.iter().map(|token| (token.token_id, token.metadata.as_str())).collect();
            for metadata in tokens.iter().filter_map(|token| found.get(token)) {
                write_item(answer, first, metadata.as_bytes());
            }
        }
    }
    answer.push(b']');
    Ok(())
}

/// The information about a contract, as JSON text.
async fn contract_info(app: &App, key: CollectionKey) -> Result<Option<Vec<u8>>, Failure> {
    Ok(match app.resident.find(key).await? {
        Residence::Missing => None,
        Residence::Resident(slot) => slot.read().contract().map(|info| info.as_bytes().to_vec()),
        Residence::Stored(id) => app.store.contract(id).await?.map(String::into_bytes),
    })
}

/// Appends a comma-separated item; `first` is where the list began.
fn write_item(answer: &mut Vec<u8>, first: usize, item: &[u8]) {
    if answer.len() > first {
        answer.push(b',');
    }
    answer.extend_from_slice(item);
}

/// Refuses a batch that is larger than the limit, by name.
fn check_batch(member: &str, things: &str, count: usize, count_max: usize) -> Result<(), Error> {
    if count > count_max {
        return Err(Error::invalid(
            member,
            format!("{count} {things} where at most {count_max} are allowed"),
        ));
    }
    Ok(())
}
