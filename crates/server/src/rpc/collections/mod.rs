//! Hosted collections: their tokens, their assets, and the contracts they serve.

pub(crate) mod create_asset;
pub(crate) mod create_collection;
pub(crate) mod create_contract_collection;
pub(crate) mod create_token;
pub(crate) mod delete_asset;
pub(crate) mod delete_collection;
pub(crate) mod delete_contract_collection;
pub(crate) mod delete_token;
pub(crate) mod get_asset;
pub(crate) mod get_collection;
pub(crate) mod get_contract_collection;
pub(crate) mod get_token;
pub(crate) mod list_collections;
pub(crate) mod list_contract_collections;
pub(crate) mod list_tokens;
pub(crate) mod publish_collection;
pub(crate) mod types;
pub(crate) mod unpublish_collection;
pub(crate) mod update_asset;
pub(crate) mod update_collection;
pub(crate) mod update_contract_collection;
pub(crate) mod update_token;
