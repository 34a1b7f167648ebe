//! What is resident of a collection: its tokens, properties, owners and order book, indexed so that a page of a million
//! tokens is found in microseconds, and kept as texts that answers are put together from. Pure: no I/O, no clock.
//!
//! A [`Collection`] is made by a [`Loader`], follows the store by [`Collection::apply`] or, while others read it, within
//! [`Versions`], and is asked by
//! [`Collection::query`], [`Collection::count`], [`Collection::listing_floor`], [`Collection::facets`] and
//! [`Collection::search`]. Before it is asked, [`Collection::make_ready`] tells it the time.

mod arena;
mod balances;
mod book;
mod chains;
mod collection;
mod common;
mod common_words;
mod currencies;
mod digest;
mod facets;
mod filter;
mod held_by_text;
mod holders;
mod kept;
mod large_holders;
mod loader;
mod members;
mod names;
mod ordinals;
mod picked;
mod properties;
mod query;
mod sorted_list;
mod sums;
mod tokens;
mod versions;
mod write;

pub use balances::{HeldPage, IdRanges};
pub use book::PreparedOrder;
pub use collection::{Collection, Identity, Update};
pub use digest::{ChangedMeanwhile, Digest, Digester};
pub use facets::{Facet, FacetKind};
pub use filter::{Condition, OrderFilter, PriceRange, PropertyFilter, TokenFilter, Value};
pub use kept::LAYOUT;
pub use loader::{Loader, PreparedToken, TokenPreparer};
pub use members::write_token_of_nobody;
pub use names::fold;
pub use properties::properties_of;
pub use query::{BookQuery, Column, Key, OrdersQuery, Position, Query, Row, Rows, Sort, Start, TokensQuery};
pub use versions::{Draft, Edit, Progress, Versions};
