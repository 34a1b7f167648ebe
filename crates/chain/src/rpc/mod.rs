//! JSON-RPC: one node over HTTP, several behind one name, and word of new blocks over a WebSocket.

mod answers;
mod http;
mod message;
mod pool;
pub(crate) mod refusals;
mod socket;
mod subscription;
mod urls;
mod wire;

pub(crate) use http::client;
pub use http::{HttpNode, HttpOptions};
pub use pool::{Pool, PoolOptions};
pub use subscription::{Subscription, SubscriptionOptions};
pub use urls::{NodeUrl, NodeUrlError, SocketUrl, SocketUrlError};
