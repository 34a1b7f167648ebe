//! Who follows a chain, when several processes could.

use bourse_wire::{ChainId, Timestamp};

use crate::{Store, StoreError};

impl Store {
    /// Takes or renews the right to follow a chain until a time; `false` when another holder's has not ended.
    pub async fn hold_lease(
        &self,
        chain: ChainId,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let _ = (chain, holder, now, until);
        Err(StoreError::Closed)
    }

    /// Gives the right to follow a chain back, if this holder has it.
    pub async fn release_lease(&self, chain: ChainId, holder: &str) -> Result<(), StoreError> {
        let _ = (chain, holder);
        Err(StoreError::Closed)
    }
}
