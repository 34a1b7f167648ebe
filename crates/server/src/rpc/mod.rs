//! The operations, one file each.

pub(crate) mod admin;
pub(crate) mod analytics;
pub(crate) mod builder;
pub(crate) mod collections;
pub(crate) mod indexer;
pub(crate) mod ingest;
pub(crate) mod marketplace;
pub(crate) mod metadata;
pub(crate) mod runtime_status;
pub(crate) mod storefront;
pub(crate) mod version;

/// Room for most answers, so that they are not copied again and again while they grow.
const ANSWER_BYTES: usize = 4096;

/// An answer that begins so, for operations that put its JSON together themselves.
fn begin_answer(head: &[u8]) -> Vec<u8> {
    let mut answer = Vec::with_capacity(ANSWER_BYTES);
    answer.extend_from_slice(head);
    answer
}
