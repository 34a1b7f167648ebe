//! What projects host here: collections, tokens, assets and the contracts they serve.

mod assets;
mod collections;
mod files;
mod link_pages;
mod link_queue;
mod links;
mod public_url;
mod replaced;
mod said;
mod tokens;

pub use assets::{AssetFile, AssetRecord, FileChange, Upload};
pub use collections::{HostedCollection, Visibility};
pub(crate) use link_queue::ask_within;
pub(crate) use links::linking_projects;
pub(crate) use replaced::{contract_change, forget_replaced, own_contract, token_changes};
pub(crate) use said::{speaker, tokens_said};
pub use tokens::{HostedToken, HostedTokenEdit, NewHostedToken};
