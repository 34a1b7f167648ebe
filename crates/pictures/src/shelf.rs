//! Small copies on disk, up to so many bytes: after a restart they need not be fetched and made again. What was used longest ago
//! goes first. It may be deleted at any time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;
use std::{fs, io};

use bourse_wire::Timestamp;

use crate::picture::Picture;
use crate::{Key, lock};

/// What files take on disk is counted in blocks of so many bytes: most copies are smaller than two of them.
const BLOCK_BYTES: u64 = 4096;
/// How long a copy is kept: what a link leads to may change.
const KEPT_SECONDS: i64 = 24 * 3600;

pub(crate) struct Shelf(Arc<Inner>);

struct Inner {
    directory: PathBuf,
    bytes_max: u64,
    /// What is there; read from the directory when it is first asked.
    entries: Mutex<Option<Entries>>,
}

#[derive(Default)]
struct Entries {
    bytes: u64,
    /// Counts uses, to find what was used longest ago.
    used: u64,
    by_name: HashMap<String, Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    bytes: u64,
    used: u64,
}

impl Shelf {
    pub(crate) fn new(directory: PathBuf, bytes_max: u64) -> Self {
        Self(Arc::new(Inner { directory, bytes_max, entries: Mutex::default() }))
    }

    /// A copy that is there and not too old.
    pub(crate) async fn get(&self, key: &Key, now: Timestamp) -> Option<Arc<Picture>> {
        let (inner, name) = (Arc::clone(&self.0), name(key));
        tokio::task::spawn_blocking(move || inner.get(&name, now)).await.ok()?
    }

    /// Puts a copy there. Where that fails it is made again another time.
    pub(crate) async fn put(&self, key: &Key, picture: &Arc<Picture>) {
        let (inner, name, picture) = (Arc::clone(&self.0), name(key), Arc::clone(picture));
        let put = move || {
            if let Err(error) = inner.put(&name, &picture.content) {
                tracing::debug!(%error, "a small picture could not be kept");
            }
        };
        let _ = tokio::task::spawn_blocking(put).await;
    }
}

fn name((hash, size): &Key) -> String {
    format!("{}-{}", const_hex::encode(hash), size.width())
}

impl Inner {
    fn get(&self, name: &str, now: Timestamp) -> Option<Arc<Picture>> {
        let mut guard = lock(&self.entries);
        let entries = guard.get_or_insert_with(|| Entries::read(&self.directory));
        entries.used += 1;
        let used = entries.used;
        entries.by_name.get_mut(name)?.used = used;
        drop(guard);
        let path = self.directory.join(name);
        let made = fs::metadata(&path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let age = now.unix_seconds() - i64::try_from(made.as_secs()).unwrap_or(i64::MAX);
        if age >= KEPT_SECONDS {
            return None;
        }
        Picture::new(fs::read(path).ok()?).ok()
    }

    fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        bourse_server::make_private_directory(&self.directory)?;
        let aside = self.directory.join(format!("{name}.new"));
        fs::write(&aside, content)?;
        fs::rename(aside, self.directory.join(name))?;
        let mut guard = lock(&self.entries);
        let entries = guard.get_or_insert_with(|| Entries::read(&self.directory));
        entries.add(name.to_owned(), content.len() as u64);
        for gone in entries.make_room(self.bytes_max) {
            let _ = fs::remove_file(self.directory.join(gone));
        }
        Ok(())
    }
}

impl Entries {
    /// What an earlier process left, that made last as what was used last.
    fn read(directory: &Path) -> Self {
        let mut found: Vec<_> = fs::read_dir(directory)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let metadata = entry.metadata().ok()?;
                Some((metadata.modified().ok()?, entry.file_name().into_string().ok()?, metadata.len()))
            })
            .collect();
        found.sort_unstable();
        let mut entries = Self::default();
        for (_, name, bytes) in found {
            entries.add(name, bytes);
        }
        entries
    }

    fn add(&mut self, name: String, length: u64) {
        let bytes = length.max(1).next_multiple_of(BLOCK_BYTES);
        self.used += 1;
        let before = self.by_name.insert(name, Entry { bytes, used: self.used });
        self.bytes = self.bytes + bytes - before.map_or(0, |before| before.bytes);
    }

    /// Takes out so many that a tenth is free, so that not every copy needs a look at all others.
    fn make_room(&mut self, bytes_max: u64) -> Vec<String> {
        if self.bytes <= bytes_max {
            return Vec::new();
        }
        let mut by_use: Vec<(u64, String)> =
            self.by_name.iter().map(|(name, entry)| (entry.used, name.clone())).collect();
        by_use.sort_unstable();
        let mut gone = Vec::new();
        for (_, name) in by_use {
            if self.bytes <= bytes_max / 10 * 9 {
                break;
            }
            if let Some(entry) = self.by_name.remove(&name) {
                self.bytes -= entry.bytes;
                gone.push(name);
            }
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thumbnail::Size;

    fn picture(bytes: usize) -> Vec<u8> {
        let mut content = b"GIF89a\x01\0\x01\0\0\0\0;".to_vec();
        content.resize(bytes, 0);
        content
    }

    fn on_disk(directory: &Path) -> u64 {
        let blocks = |length: u64| length.div_ceil(4096) * 4096;
        fs::read_dir(directory).unwrap().map(|entry| blocks(entry.unwrap().metadata().unwrap().len())).sum()
    }

    #[test]
    fn there_is_never_more_than_there_is_room_for_and_a_restart_finds_it() {
        let place = tempfile::tempdir().unwrap();
        let now = Timestamp::from_unix_nanos(0);
        let shelf = Shelf::new(place.path().join("x"), 40_960);
        let named = |number: u8| name(&([number; 32], Size::Small));
        for number in 0..30 {
            shelf.0.put(&named(number), &picture(1000)).unwrap();
            assert!(shelf.0.get(&named(0), now).is_some() || number > 10);
        }
        assert!(on_disk(&place.path().join("x")) <= 40_960);
        assert!(shelf.0.get(&named(29), now).is_some());
        assert!(shelf.0.get(&named(5), now).is_none());
        let again = Shelf::new(place.path().join("x"), 40_960);
        assert!(again.0.get(&named(29), now).is_some());
        let later = Timestamp::from_unix_nanos(4_000_000_000 * 1_000_000_000);
        assert!(again.0.get(&named(29), later).is_none(), "it is made again after a day");
        for number in 40..60 {
            again.0.put(&named(number), &picture(1000)).unwrap();
        }
        assert!(on_disk(&place.path().join("x")) <= 40_960, "what was there before counts");
    }

    #[test]
    fn what_is_no_picture_any_more_is_not_shown() {
        let place = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(place.path().to_path_buf(), 40_960);
        let name = name(&([1; 32], Size::Large));
        shelf.0.put(&name, &picture(100)).unwrap();
        fs::write(place.path().join(&name), "<script>").unwrap();
        assert!(shelf.0.get(&name, Timestamp::from_unix_nanos(0)).is_none());
    }
}
