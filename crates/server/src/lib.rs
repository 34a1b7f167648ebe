//! The HTTP service: routes, credentials, limits, and one file per operation.
//!
//! A request goes route -> method -> content type -> credential -> limits and metering -> body -> handler; the table of
//! operations is [`router`], from which routing, metrics, metering, permissions and the OpenAPI document derive.

mod app;
mod audience_counts;
pub mod auth;
mod background;
mod backstage;
mod body;
mod call;
mod chains;
mod clock;
mod compression;
mod consents;
pub mod counting;
mod data_version;
mod dispatch;
mod door;
pub mod entropy;
mod failure;
mod followed;
mod forwarding;
mod http;
pub mod ingest;
pub mod limits;
pub mod logbook;
mod meter;
mod metrics;
mod openapi;
pub mod outcomes;
mod paging;
mod resident;
mod rest;
mod route;
pub mod router;
mod rpc;
mod sales;
mod self_check;
mod shares;
mod sources;
pub mod spreadsheet;
mod static_answer;
mod storefronts;
mod streams;
mod trial;
mod unused_files;

pub use app::{App, StartError, make_private_directory};
pub use background::Background;
pub use backstage::{Asker, Backstage, Guest};
pub use body::{BodyMemory, ReceivedBody};
pub use bourse_files as files;
pub use bourse_files::{FileError, Files};
pub use bourse_protocols::Sale;
pub use bourse_settings as settings;
pub use call::Media;
pub use chains::{Chains, NetworkNodes, Nodes, NodesError, Unanswered};
pub use clock::Clock;
pub use door::{Peer, serve};
pub use failure::Failure;
pub use http::{Entrance, service};
pub use openapi::document;
pub use rest::{AssetOwner, FILE_POLICY, StoredFile};
pub use route::{Credential, Effect, Route, Service};
pub use static_answer::StaticAnswer;
pub use storefronts::Parts as StorefrontParts;
