//! What is followed.

pub(crate) mod create_collection;
