//! Keeping what is in memory up to date with the store.

use std::sync::Arc;
use std::time::Instant;

use bourse_store::{CollectionId, CollectionKey, Mark, StoreError, Versions};
use hashbrown::{HashMap, HashSet};

use super::load::LoadOutcome;
use super::under_way::UnderWay;
use super::{Inner, Resident, Slot, lock};

/// Versions that this process itself committed, and took over at once, after which memory is measured again: they are
/// small, and may come many times a second.
const OWN_VERSIONS_UNWEIGHED: u64 = 16;

impl Resident {
    /// Takes over a version of a collection, when it is resident or about to be: whoever asks after this returns sees
    /// what was committed as that version. Where it cannot be taken over, nothing older is in memory any more.
    pub(crate) async fn follow(&self, key: CollectionKey, committed: Mark) {
        self.follow_from(key, |_| Some(committed)).await;
    }

    /// Takes over what the store has, which may be less than what is in memory: it failed over to an older copy.
    pub(crate) async fn follow_stored(&self, key: CollectionKey, stored: Mark) {
        self.follow_from(key, |known| Some(stored).filter(|stored| *stored >= known)).await;
    }

    /// Takes over a version that may depend on the one that is known, or whatever is stored when there is none.
    async fn follow_from(&self, key: CollectionKey, until: impl FnOnce(Mark) -> Option<Mark>) {
        self.0.roster.note(key);
        let Some(slot) = self.after_load(key).await else { return };
        if let Err(error) = self.0.catch_up(&slot, until(slot.mark())).await {
            self.0.note_trouble(key, &error);
            self.0.unload(&slot);
        }
    }

    /// What is in memory of a collection that changed, and may be old. A load under way is told of the change: what comes of
    /// it is not.
    pub(super) async fn after_load(&self, key: CollectionKey) -> Option<Arc<Slot>> {
        let under_way = lock(&self.0.loads).get_mut(&key).map(UnderWay::note_change);
        match under_way {
            // Nobody is answered before it has what is new. Whoever wrote that need not wait until everything else is there.
            Some(None) => return None,
            // A load that failed left nothing that could be old.
            Some(Some(load)) => drop(load.await),
            None => {}
        }
        self.0.slots.get(&key)
    }

    /// Takes over what changed in the store; tells whether all of it could be. A collection that cannot be read fails alone.
    /// One that the store does not know of is forgotten: the database failed over to an older copy, or was restored from one.
    pub(crate) async fn refresh(&self) -> Result<bool, StoreError> {
        let inner = &self.0;
        let resident: Vec<CollectionId> = inner.slots.all().iter().map(|slot| slot.id()).collect();
        let look = inner.lookout.look(&inner.store, &resident).await?;
        let mut slots = inner.slots.all();
        slots.retain(|slot| look.may_have_changed(slot.id()));
        let (marks, unread) = inner.read_versions(&mut slots).await?;
        // One without any version has no number to be known by, and is loaded in no time.
        let is_known = |slot: &Slot| marks.contains_key(&slot.id()) && slot.mark() != Mark::default();
        for slot in slots.iter().filter(|slot| !is_known(slot)) {
            inner.unload(slot);
        }
        let behind = |slot: &Slot| match marks.get(&slot.id()) {
            Some(stored) if *stored != slot.mark() => {
                stored.version.saturating_sub(slot.mark().version).max(1)
            }
            Some(_) | None => 0,
        };
        inner.metrics.lag_versions.set(largest(slots.iter().map(|slot| behind(slot))));
        for slot in slots.iter().filter(|slot| is_known(slot) && behind(slot) > 0) {
            let ahead = marks.get(&slot.id()).copied().filter(|stored| *stored > slot.mark());
            if let Err(error) = inner.catch_up(slot, ahead).await
                && inner.note_trouble(slot.key(), &error)
            {
                inner.unload(slot);
            }
            slot.weigh(1);
        }
        for slot in &slots {
            slot.weigh(OWN_VERSIONS_UNWEIGHED);
            if behind(slot) == 0 {
                inner.troubles.end(slot.key());
            }
        }
        slots.retain(|slot| inner.slots.holds(&slot.key(), slot));
        let left = largest(slots.iter().map(|slot| behind(slot)));
        let unsettled = slots.iter().filter(|slot| behind(slot) > 0 || !is_known(slot));
        let unsettled = unsettled.map(|slot| slot.id()).chain(unread.iter().copied());
        inner.lookout.settle(look, unsettled);
        inner.metrics.lag_versions.set(left);
        inner.budget.settle();
        Ok(left == 0 && unread.is_empty())
    }
}

fn largest(lags: impl Iterator<Item = u64>) -> i64 {
    lags.max().unwrap_or_default().cast_signed()
}

impl Inner {
    /// The versions of collections, and those whose version is not known: they are taken out, and left as they are in memory.
    async fn read_versions(
        &self,
        slots: &mut Vec<Arc<Slot>>,
    ) -> Result<(HashMap<CollectionId, Mark>, HashSet<CollectionId>), StoreError> {
        let (resting, asked): (Vec<_>, Vec<_>) =
            slots.drain(..).partition(|slot| self.troubles.is_resting(slot.key()));
        let mut unread: HashSet<CollectionId> = resting.iter().map(|slot| slot.id()).collect();
        let ids = asked.iter().map(|slot| slot.id()).collect();
        let Versions { found, failed } = self.store.versions_apart(ids).await?;
        for (ids, error) in failed {
            error.log("the versions of some collections cannot be read");
            let ids: HashSet<CollectionId> = ids.into_iter().collect();
            for slot in asked.iter().filter(|slot| ids.contains(&slot.id())) {
                self.metrics.follow_failures.inc();
                if self.troubles.note(slot.key(), &error) {
                    self.unload(slot);
                }
            }
            unread.extend(ids);
        }
        slots.extend(asked.into_iter().filter(|slot| !unread.contains(&slot.id())));
        Ok((found.into_iter().collect(), unread))
    }

    /// Brings a slot to a version at least, or to the latest when none is named. One follower at a time: what it brings,
    /// those who waited need not. Where the database has become what it is without the version that the slot has, that is
    /// loaded anew.
    pub(super) async fn catch_up(&self, slot: &Arc<Slot>, until: Option<Mark>) -> Result<(), StoreError> {
        let _following = slot.following().await;
        if until.is_some_and(|until| slot.has_been(until)) {
            return Ok(());
        }
        let (started, known) = (Instant::now(), slot.mark());
        if known == Mark::default() {
            // It has no number to be known by.
            return self.reload(slot).await;
        }
        let own = until.and_then(|until| self.store.take_own_changes(slot.id(), known, until));
        if let Some(versions) = own {
            // One after the other, so that nobody who reads has to wait for all of them.
            for changes in versions {
                slot.apply(changes).await;
            }
            slot.put_currencies(&self.currencies).await;
            self.metrics.follow_seconds.observe(started.elapsed().as_secs_f64());
            return Ok(());
        }
        match self.store.changes(slot.id(), known).await? {
            Some(changes) => slot.apply(changes).await,
            None => self.reload(slot).await?,
        }
        slot.put_currencies(&self.currencies).await;
        self.metrics.follow_seconds.observe(started.elapsed().as_secs_f64());
        Ok(())
    }

    /// Loads the whole of a slot again. Whoever calls this is the one who brings it up to date.
    async fn reload(&self, slot: &Arc<Slot>) -> Result<(), StoreError> {
        // A database that was set back may give its number to another collection.
        if self.store.collection(slot.key()).await? != Some(slot.id()) {
            self.unload(slot);
            return Ok(());
        }
        match self.load_slot(slot.key(), slot.id(), &Arc::default()).await? {
            LoadOutcome::Whole(whole) => slot.replace(whole).await,
            // Once it is gone there is memory to load it.
            LoadOutcome::NoRoom => self.unload(slot),
            // It outgrew the memory there is: better read from the store than old.
            LoadOutcome::TooLarge => {
                self.too_large.note(slot.key(), self.clock.passed());
                self.unload(slot);
            }
        }
        Ok(())
    }

    /// Sets the time of a slot back to what the clock says, when that was wrong: orders that ended too early are good again.
    pub(super) async fn set_back(&self, slot: &Arc<Slot>) -> Result<(), StoreError> {
        if !slot.is_ahead_of(self.clock.now()) {
            return Ok(());
        }
        let _following = slot.following().await;
        let now = self.clock.now();
        // Somebody may have been faster.
        if slot.is_ahead_of(now) && !slot.go_back(now).await {
            tracing::info!(chain = %slot.key().chain, contract = %slot.key().address, "the clock went back: loading anew");
            self.reload(slot).await?;
        }
        Ok(())
    }
}
