//! Properties of tokens: read from their metadata, indexed by value, and told apart by kind.

mod extract;
mod index;
mod ladder;

pub(crate) use extract::{Shape, extract};
pub(crate) use index::{Properties, Property};
