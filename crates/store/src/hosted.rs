//! What projects host here: collections, tokens, assets and the contracts they serve.

mod assets;
mod collections;
mod files;
mod links;
mod tokens;

pub use assets::{AssetFile, AssetRecord, FileChange, Upload};
pub use collections::{HostedCollection, Visibility};
pub(crate) use links::linking_projects;
pub use tokens::{HostedToken, HostedTokenEdit, NewHostedToken};
