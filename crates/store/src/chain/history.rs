//! Reading what older blocks state of one collection.

use super::{History, HistoryCommitted};
use crate::{Store, StoreError};

impl Store {
    /// Takes what a range of blocks up to the checkpoint states of a collection that is not live, in one transaction.
    pub async fn commit_history(&self, batch: History) -> Result<HistoryCommitted, StoreError> {
        drop(batch);
        Err(StoreError::Closed)
    }
}
