//! The operations, one file each.

pub(crate) mod admin;
pub(crate) mod analytics;
pub(crate) mod builder;
pub(crate) mod collections;
pub(crate) mod ingest;
pub(crate) mod marketplace;
pub(crate) mod metadata;
