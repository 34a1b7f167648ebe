//! Properties of tokens: read from their metadata, indexed by value, and told apart by kind.

mod extract;
mod index;
mod ladder;
mod slots;
mod spans;

pub use extract::properties_of;
pub(crate) use extract::{IndexedMetadata, Shape, extract, extract_stored};
pub(crate) use index::{Properties, Property};
pub(crate) use slots::SlotsOfTokens;
