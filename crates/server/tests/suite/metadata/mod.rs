//! Tokens of a collection by text and properties, and the properties to choose from.

mod search;
mod token_collection_filters;
