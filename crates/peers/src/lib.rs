//! Servers of one installation that share collections, so that together they hold as many as their memories have room for.
//!
//! ```text
//!   client ──► any server ──► resident here? ──► answers
//!                   │ no
//!                   ▼
//!              who ranks first for it among those alive?
//!                   │ another                    │ this one
//!                   ▼                            ▼
//!              is asked, over a kept         loads it, and answers
//!              connection, and answers
//!              wherever it is held
//! ```
//!
//! Nothing depends on servers agreeing on who is alive: every server can answer everything by loading it. What they agree on
//! only decides how often something is loaded.

mod client;
mod heat;
mod membership;
mod peers;
mod proof;
mod rank;
mod server;

pub use client::{Question, Reply};
pub use membership::{BEAT_INTERVAL, Membership, SILENCE_MAX, Sighting};
pub use peers::{PeerMetrics, Peers};
pub use proof::{ANSWERED, Admission, DATA_AGE, FORWARDED, Seal};
pub use rank::{first, score};
pub use server::{Build, PeerState, Server, ServerId, Trouble};
