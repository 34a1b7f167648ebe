//! Fetching what contracts and their links say of tokens.

pub mod address;
mod ask;
mod get;
mod guard;
mod hosts;
mod link;
mod metadata;
mod post;
mod queue;

pub use ask::{CallFailed, Caller, ContractCall};
pub use get::Getter;
pub use guard::{GetError, Lookup, Rules, SystemLookup};
pub use link::{Gateways, Link, LinkError};
pub use metadata::{ContractText, MetadataError, contract, token};
pub use post::Poster;
pub use queue::{Clock, FetchSettings, Fetcher, Pace};
