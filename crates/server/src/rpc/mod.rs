//! The operations, one file each.

pub(crate) mod builder;
pub(crate) mod collections;
pub(crate) mod metadata;
