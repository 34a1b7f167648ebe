//! Fetching what contracts and their links say of tokens.

pub mod address;
mod ask;
mod get;
mod hosts;
mod link;
mod metadata;
mod queue;

pub use ask::{CallFailed, Caller, ContractCall};
pub use get::{GetError, Getter, Lookup, Rules, SystemLookup};
pub use link::{Gateways, Link, LinkError};
pub use metadata::{ContractText, MetadataError, contract, token};
pub use queue::{Clock, FetchSettings, Fetcher, Pace};
