//! The follower: what nodes say of blocks and logs becomes facts; and what contracts and their links say of tokens
//! becomes metadata.

mod bloom;
mod calls;
pub mod decode;
pub mod fetch;
mod follow;
mod held;
mod node;
mod offers;
mod pace;
pub mod questions;
mod rates;
mod receipt;
mod rehearsal;
mod royalties;
pub mod rpc;
mod sources;
mod standings;
mod status;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tls;
mod word;

pub use calls::{Caller, MULTICALL3};
pub use follow::{Books, FollowError, FollowOptions, Follower, Turn};
pub use held::{HeldReport, compare_held};
pub use node::{Call, CallResults, Failure, Header, LogFilter, Node, Reverted, Span, SpanLogs, TimedLog};
pub use offers::{FollowedChain, OfferOptions, OfferWatch, Offers, OffersError};
pub use pace::{Pace, RealPace};
pub use rates::{RateError, RateSource, RateTeller, follow_rates};
pub use receipt::Receipt;
pub use rehearsal::{Outcome, Played, Rehearsal, Unable, Unplayed, Way};
pub use royalties::RoyaltyWatch;
pub use sources::{Source, SourceError, SourceOptions};
pub use standings::Standings;
pub use status::{NodeTrouble, Phase, Progress, Snapshot, Status, SubscriptionState, Trouble};
pub use tls::config as tls_config;
pub use word::Word;
