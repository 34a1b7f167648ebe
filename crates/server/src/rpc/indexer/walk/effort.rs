//! What one call may spend on collections that are not in memory.

use bourse_store::CollectionKey;

use crate::call::Call;
use crate::failure::Failure;
use crate::resident::{Patience, Residence};

/// So many collections are brought into memory by one call; a page ends where it would be more.
const LOADS_MAX: usize = 10;
/// So often one call reads balances in the store; a page ends where it would be more often.
const READS_MAX: usize = 100;

/// What one call may still spend on collections that are not in memory, on however many chains: time, how many are loaded, and how
/// often the store is read.
pub(in crate::rpc::indexer) struct Effort {
    patience: Patience,
    loads: usize,
    reads: usize,
}

impl Effort {
    pub(in crate::rpc::indexer) fn of(call: &Call) -> Self {
        Self { patience: call.patience(), loads: LOADS_MAX, reads: READS_MAX }
    }

    /// Whether a collection is left for the next page, as it is not in memory.
    pub(super) fn is_spent_for(&self, call: &Call, key: CollectionKey) -> bool {
        self.loads == 0 && !call.app.resident.has(&key)
    }

    /// Whether balances may still be read in the store.
    pub(super) fn has_reads(&self) -> bool {
        self.reads > 0
    }

    /// Notes that balances were read in the store.
    pub(super) fn note_read(&mut self) {
        self.reads = self.reads.saturating_sub(1);
    }

    /// Finds a collection, and waits for it as long as is left.
    pub(super) async fn find(&mut self, call: &Call, key: CollectionKey) -> Result<Residence, Failure> {
        let is_loaded = !call.app.resident.has(&key);
        let found = call.app.resident.find_within(key, &mut self.patience).await?;
        if is_loaded && matches!(found, Residence::Resident(_)) {
            self.loads = self.loads.saturating_sub(1);
        }
        Ok(found)
    }
}
