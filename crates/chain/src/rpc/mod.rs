//! JSON-RPC: one node over HTTP, and several behind one name.

mod answers;
mod http;
mod message;
mod pool;
pub(crate) mod refusals;
mod wire;

pub(crate) use http::client;
pub use http::{HttpNode, HttpOptions, NodeUrl, NodeUrlError};
pub use pool::{Pool, PoolOptions};
