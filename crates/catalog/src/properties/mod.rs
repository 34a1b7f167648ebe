//! Properties of tokens: read from their metadata, indexed by value, and told apart by kind.

mod extract;
mod index;
mod ladder;

pub use extract::properties_of;
pub(crate) use extract::{Extracted, Shape, extract, extract_kept};
pub(crate) use index::{Properties, Property};
