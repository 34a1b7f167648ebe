//! Large collections in files, as they are in memory: a start reads them, and follows what was committed since. The store
//! stays the truth. A file that is damaged, of another build, of another database or older than the change log is thrown away.

use std::io::{self, Read as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use bourse_budget::{Held as _, Share};
use bourse_catalog::{Collection, Identity, LAYOUT};
use bourse_files::{Keep, KeptEntry, Label};
use bourse_settings::Storage;
use bourse_store::{CollectionId, CollectionKey, Mark};
use bourse_wire::Currency;
use hashbrown::HashMap;

use super::{Inner, Resident, Slot, lock};
use crate::entropy;

/// How long a stop may take for writing files: what is not written by then is loaded from the store, or followed from an
/// older file.
const STOP_MAX: Duration = Duration::from_secs(20);
/// How long a start is not ready for the sake of collections that are not asked for yet.
const START_MAX: Duration = Duration::from_secs(30);

/// The files.
pub(crate) struct KeptFiles {
    keep: Keep,
    /// Collections that take less memory than this are loaded in no time.
    bytes_min: usize,
    /// Versions after which a file is old enough to be written anew while the service runs.
    versions_max: u64,
    /// What the files have that are known to be good.
    marks: Mutex<HashMap<CollectionKey, Mark>>,
    /// Those to be brought in at the start, how many of them are left, and how many there were.
    waiting: Mutex<Vec<KeptEntry>>,
    left: AtomicUsize,
    found: usize,
}

impl KeptFiles {
    /// The files that settings name, if they do.
    pub(crate) fn open(storage: &Storage) -> Option<Self> {
        let keep = Keep::new(storage.kept_directory()?, storage.kept_bytes_max);
        let waiting = keep.list().unwrap_or_else(|error| {
            tracing::warn!(%error, "collections that were kept cannot be listed");
            Vec::new()
        });
        let found = waiting.len();
        Some(Self {
            keep,
            bytes_min: storage.kept_bytes_min,
            versions_max: storage.changes_kept / 4,
            marks: Mutex::default(),
            waiting: Mutex::new(waiting),
            left: AtomicUsize::new(found),
            found,
        })
    }

    /// Whether a slot says what no file does, by so many versions at least.
    fn is_behind(&self, slot: &Slot, versions: u64) -> bool {
        let (known, mark) = (lock(&self.marks).get(&slot.key()).copied(), slot.mark());
        let is_new = known.is_none_or(|known| mark.version.abs_diff(known.version) >= versions);
        is_new && known != Some(mark) && mark != Mark::default() && slot.share().bytes() >= self.bytes_min
    }
}

impl Inner {
    /// A collection from its file, brought to what is stored by now; `None` when there is no file that is of use.
    pub(super) async fn read_kept(&self, key: CollectionKey, id: CollectionId) -> Option<Arc<Slot>> {
        let kept = self.kept.as_ref()?;
        let _turn = self.turns.acquire().await;
        let ((edition, currencies), identity) = (self.currencies.of(key.chain), self.identity(key, id));
        let (keep, share) = (kept.keep.clone(), self.budget.share());
        let reading = move || read(&keep, &identity, &currencies, share);
        let read = tokio::task::spawn_blocking(reading).await;
        let read = match read.unwrap_or_else(|_| Err(io::Error::other("reading it panicked"))) {
            Ok(read) => read?,
            Err(error) => return self.throw_away(kept, key, &error.to_string()),
        };
        let slot = Arc::new(Slot::new(key, id, read, edition));
        let mark = slot.mark();
        match self.store.changes(id, mark).await {
            Ok(Some(changes)) => slot.apply(changes).await,
            Ok(None) => return self.throw_away(kept, key, "the store does not tell what changed since"),
            Err(error) => {
                error.log("a collection that was kept cannot be followed");
                return None;
            }
        }
        slot.put_currencies(&self.currencies).await;
        lock(&kept.marks).insert(key, mark);
        self.metrics.note_kept("read");
        Some(slot)
    }

    fn throw_away(&self, kept: &KeptFiles, key: CollectionKey, why: &str) -> Option<Arc<Slot>> {
        let CollectionKey { chain, address } = key;
        tracing::info!(%chain, contract = %address, why, "throwing away what was kept of a collection");
        self.metrics.note_kept("thrown_away");
        if let Err(error) = kept.keep.remove(&name(key)) {
            tracing::warn!(%error, "removing what was kept of a collection");
        }
        None
    }

    /// Writes a collection to its file, when that is behind by so many versions. Nobody may write to the collection meanwhile:
    /// they would wait.
    pub(super) async fn keep(&self, slot: &Arc<Slot>, versions: Option<u64>) {
        let Some(kept) = &self.kept else { return };
        if !kept.is_behind(slot, versions.unwrap_or(kept.versions_max)) {
            return;
        }
        let (keep, written, mark) = (kept.keep.clone(), Arc::clone(slot), slot.mark());
        let writing = move || {
            let (key, collection) = (written.key(), written.read());
            keep.write(&name(key), &entropy::word(), &label(key, written.id().number()), |mut out| {
                out.write_all(&mark.stamp.to_le_bytes())?;
                collection.keep(&mut out)
            })
        };
        let written = tokio::task::spawn_blocking(writing).await;
        match written.unwrap_or_else(|_| Err(io::Error::other("writing it panicked"))) {
            Ok(()) => {
                lock(&kept.marks).insert(slot.key(), mark);
                self.metrics.note_kept("written");
            }
            Err(error) => {
                let CollectionKey { chain, address } = slot.key();
                tracing::warn!(%error, %chain, contract = %address, "a collection cannot be kept on disk");
                self.metrics.note_kept("not_written");
            }
        }
    }
}

impl Resident {
    /// Brings in the collections that were used last, as long as there is memory for them. Files of those that are not stored
    /// any more are removed.
    pub(crate) async fn bring_in(&self) {
        let (Some(kept), started) = (&self.0.kept, Instant::now()) else { return };
        let waiting = std::mem::take(&mut *lock(&kept.waiting));
        for entry in waiting {
            let left = START_MAX.saturating_sub(started.elapsed());
            // The rest is left to whoever asks for it.
            let _ = tokio::time::timeout(left, self.bring_in_one(kept, &entry)).await;
            kept.left.fetch_sub(1, Ordering::Relaxed);
        }
    }

    async fn bring_in_one(&self, kept: &KeptFiles, entry: &KeptEntry) {
        let Some(key) = key_of(&entry.name) else { return };
        match self.0.store.collection(key).await {
            Ok(Some(id)) => {
                let bytes = usize::try_from(entry.bytes).unwrap_or(usize::MAX);
                if self.0.budget.has_room_for(bytes) {
                    // What cannot be loaded is tried again by whoever asks for it.
                    let _ = self.load(key, id).0.await;
                }
            }
            Ok(None) => drop(self.0.throw_away(kept, key, "it is not stored any more")),
            Err(error) => error.log("collections that were kept cannot be brought in"),
        }
    }

    /// How many collections are still to be brought in, of how many; `None` when all of them are.
    pub(crate) fn bringing_in(&self) -> Option<(usize, usize)> {
        let kept = self.0.kept.as_ref()?;
        Some((kept.left.load(Ordering::Relaxed), kept.found)).filter(|(left, _)| *left > 0)
    }

    /// Writes all collections that changed to their files, those used last first. To be called when nobody writes any more.
    pub(crate) async fn keep_all(&self) {
        let (Some(kept), started) = (&self.0.kept, Instant::now()) else { return };
        let mut slots = self.0.slots.all();
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.share().touched()));
        let nanos = u64::try_from(self.0.clock.now().unix_nanos()).unwrap_or_default();
        for (slot, earlier) in slots.iter().zip(0..) {
            if started.elapsed() > STOP_MAX {
                tracing::warn!("there is no time to keep all collections on disk");
                return;
            }
            self.0.keep(slot, Some(1)).await;
            // The next start takes them in this order.
            let used = SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos) - Duration::from_micros(earlier);
            if let Err(error) = kept.keep.touch(&name(slot.key()), used) {
                tracing::warn!(%error, "noting that a collection was used");
            }
        }
    }
}

/// What a file has, the number drawn with its version, and the memory that it takes.
fn read(
    keep: &Keep,
    identity: &Identity,
    currencies: &[Currency],
    share: Share,
) -> io::Result<Option<(Collection, u64, Share)>> {
    let key = CollectionKey { chain: identity.chain, address: identity.address };
    let Some(mut opened) = keep.read(&name(key), &label(key, identity.number))? else { return Ok(None) };
    let bytes = usize::try_from(opened.bytes).unwrap_or(usize::MAX);
    // Where there is no room the store is asked, which says so.
    if share.grow(bytes).is_err() {
        return Ok(None);
    }
    let mut stamp = [0; 8];
    opened.frames.read_exact(&mut stamp)?;
    let collection = Collection::read_kept(identity, currencies, &mut opened.frames)?;
    opened.frames.finish()?;
    if share.grow(collection.bytes()).is_err() {
        return Ok(None);
    }
    share.set(collection.bytes());
    Ok(Some((collection, u64::from_le_bytes(stamp), share)))
}

/// The name of a collection's file.
fn name(CollectionKey { chain, address }: CollectionKey) -> String {
    format!("{chain}-{address}")
}

/// Whose file has a name.
fn key_of(name: &str) -> Option<CollectionKey> {
    let (chain, address) = name.split_once('-')?;
    Some(CollectionKey { chain: bourse_wire::ChainId(chain.parse().ok()?), address: address.parse().ok()? })
}

/// What the file of a collection begins with.
fn label(CollectionKey { chain, address }: CollectionKey, number: u64) -> Label {
    let mut owner = [0; 32];
    owner[..8].copy_from_slice(&chain.0.to_le_bytes());
    owner[8..28].copy_from_slice(address.bytes());
    Label { layout: LAYOUT, owner, number }
}
