//! Making a collection resident that was loaded, with everything that was committed meanwhile.

use std::sync::Arc;
use std::time::Instant;

use bourse_store::{CollectionId, CollectionKey, StoreError};

use super::load::LoadOutcome;
use super::under_way::{LoadProgress, UnderWay};
use super::{Inner, Slot, lock};

/// What came of a load that did not fail.
#[derive(Clone, Copy)]
pub(super) enum Loaded {
    /// The collection is resident, or known to be larger than the memory there is.
    Done,
    /// There was no memory for it beside what else is being loaded.
    NoRoom,
}

impl Inner {
    /// Loads a collection from where it is quickest to be had.
    pub(super) async fn load(
        &self,
        key: CollectionKey,
        id: CollectionId,
        progress: &Arc<LoadProgress>,
    ) -> Result<Loaded, StoreError> {
        let started = Instant::now();
        let loaded = match self.read_kept(key, id).await {
            Some(slot) => Ok(LoadOutcome::Whole(slot)),
            None => self.load_slot(key, id, progress).await,
        };
        self.end_load(key, loaded, started).await
    }

    /// Makes what was loaded resident, with everything that was committed meanwhile.
    pub(super) async fn end_load(
        &self,
        key: CollectionKey,
        mut loaded: Result<LoadOutcome, StoreError>,
        started: Instant,
    ) -> Result<Loaded, StoreError> {
        let is_behind = lock(&self.loads).get_mut(&key).is_some_and(UnderWay::close);
        if let Ok(LoadOutcome::Whole(slot)) = &loaded
            && is_behind
        {
            loaded = match self.bring_forward(slot).await {
                Ok(true) => loaded,
                Ok(false) => Ok(LoadOutcome::NoRoom),
                Err(error) => Err(error),
            };
        }
        let has_room = !matches!(loaded, Ok(LoadOutcome::NoRoom));
        let slot = match self.install(key, loaded, started) {
            Ok(slot) => slot,
            Err(error) => {
                self.note_trouble(key, &error);
                return Err(error);
            }
        };
        self.troubles.end(key);
        let Some(slot) = slot else { return Ok(if has_room { Loaded::Done } else { Loaded::NoRoom }) };
        // Whoever was told of changes meanwhile did not know of this slot.
        let caught_up = self.catch_up(&slot, None).await;
        if let Err(error) = &caught_up {
            self.note_trouble(key, error);
            self.unload(&slot);
        }
        caught_up.map(|()| Loaded::Done)
    }

    /// Ends a load: the slot, when there is one now.
    fn install(
        &self,
        key: CollectionKey,
        loaded: Result<LoadOutcome, StoreError>,
        started: Instant,
    ) -> Result<Option<Arc<Slot>>, StoreError> {
        let mut loads = lock(&self.loads);
        loads.remove(&key);
        let slot: Arc<Slot> = match loaded? {
            LoadOutcome::Whole(slot) => slot,
            LoadOutcome::TooLarge => {
                self.too_large.note(key, self.clock.passed());
                return Ok(None);
            }
            LoadOutcome::NoRoom => return Ok(None),
        };
        self.metrics.load_seconds.observe(started.elapsed().as_secs_f64());
        self.too_large.end(&key);
        self.slots.insert(key, Arc::clone(&slot));
        self.lookout.forget(slot.id());
        Ok(Some(slot))
    }
}
