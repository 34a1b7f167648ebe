//! Starting over.

use bourse_wire::ChainId;

use crate::{Store, StoreError};

impl Store {
    /// Forgets how far a chain is followed and everything it stated, so that its collections are read anew.
    pub async fn resync_chain(&self, chain: ChainId) -> Result<(), StoreError> {
        let _ = chain;
        Err(StoreError::Closed)
    }
}
