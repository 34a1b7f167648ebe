//! Answering with no less than a version that any server of the installation committed.

use std::sync::Arc;
use std::time::Duration;

use bourse_store::{CollectionKey, Mark};
use bourse_wire::{Code, Error};

use super::{LoadError, Resident, Slot};
use crate::failure::Failure;

/// How long a request waits until what it wants to read is taken over.
const REACH_TIMEOUT: Duration = Duration::from_secs(2);

impl Resident {
    /// Takes over versions that were committed, of collections that are resident with less: whoever asks after this returns
    /// reads no less. What is there already costs a look into memory. Where a version cannot be taken over, what is in memory
    /// stays as it is: others have not asked for so much.
    pub(crate) async fn reach(&self, versions: &[(CollectionKey, Mark)]) -> Result<(), Failure> {
        let reached = tokio::time::timeout(REACH_TIMEOUT, async {
            for (key, committed) in versions {
                self.reach_one(*key, *committed).await?;
            }
            Ok(())
        });
        reached.await.unwrap_or_else(|_elapsed| {
            let message = format!(
                "this server has not taken over what Data-Version names within {} s: try again shortly",
                REACH_TIMEOUT.as_secs()
            );
            Err(Error::new(Code::Overloaded, message).into())
        })
    }

    async fn reach_one(&self, key: CollectionKey, committed: Mark) -> Result<(), Failure> {
        self.0.roster.note(key);
        let is_there = |slot: &Slot| slot.mark().version >= committed.version;
        if self.0.slots.get(&key).is_some_and(|slot| is_there(&slot)) {
            return Ok(());
        }
        // What is loaded from now on has it.
        let Some(slot) = self.after_load(key).await.filter(|slot| !is_there(slot)) else { return Ok(()) };
        if let Err(error) = self.0.catch_up(&slot, Some(committed)).await {
            if self.0.note_trouble(key, &error) {
                self.0.unload(&slot);
            }
            return Err(LoadError::Store(Arc::new(error)).into());
        }
        if is_there(&slot) || !self.0.slots.holds(&key, &slot) {
            return Ok(());
        }
        // It was stored before anybody could name it, and is not by now.
        let message = format!(
            "the database does not have what Data-Version names of collection {} on chain {}: it was set back to an older \
             copy of itself. Leave the header out, and read what became of your writes",
            key.address, key.chain
        );
        Err(Error::conflict(message).into())
    }
}
