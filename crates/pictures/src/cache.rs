//! Pictures that were fetched, up to so many bytes; those asked for longest ago go first.

use std::collections::HashMap;

use bourse_wire::Timestamp;

use crate::{Key, PictureResult};

/// How long a picture is kept: what a link leads to may change.
const KEPT_SECONDS: i64 = 3600;
/// How long it is remembered that there is none: its host may come back.
const MISSED_SECONDS: i64 = 60;
/// What an entry takes at least, so that there is a bound for those without a picture too.
const ENTRY_BYTES: usize = 1024;

pub(crate) struct PictureCache {
    bytes_max: usize,
    bytes: usize,
    /// Counts uses, to find what was used longest ago.
    used: u64,
    entries: HashMap<Key, Entry>,
}

struct Entry {
    found: PictureResult,
    put_at: Timestamp,
    used: u64,
}

impl Entry {
    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.found.as_ref().map_or(0, |picture| picture.content.len())
    }

    fn is_over(&self, now: Timestamp) -> bool {
        let seconds = if self.found.is_ok() { KEPT_SECONDS } else { MISSED_SECONDS };
        now.unix_seconds() - self.put_at.unix_seconds() >= seconds
    }
}

impl PictureCache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, bytes: 0, used: 0, entries: HashMap::new() }
    }

    /// What is known of a link.
    pub(crate) fn get(&mut self, key: &Key, now: Timestamp) -> Option<PictureResult> {
        if self.entries.get(key)?.is_over(now) {
            self.drop(key);
        }
        self.used += 1;
        let entry = self.entries.get_mut(key)?;
        entry.used = self.used;
        Some(entry.found.clone())
    }

    pub(crate) fn put(&mut self, key: Key, found: PictureResult, now: Timestamp) {
        self.drop(&key);
        self.used += 1;
        let entry = Entry { found, put_at: now, used: self.used };
        self.bytes += entry.bytes();
        self.entries.insert(key, entry);
        while self.bytes > self.bytes_max {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            let Some(oldest) = oldest else { return };
            self.drop(&oldest);
        }
    }

    fn drop(&mut self, key: &Key) {
        if let Some(gone) = self.entries.remove(key) {
            self.bytes -= gone.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoPicture, Picture, Size};

    fn key(number: u8) -> Key {
        ([number; 32], Size::Whole)
    }

    fn at(second: i128) -> Timestamp {
        Timestamp::from_unix_nanos(second * 1_000_000_000)
    }

    fn picture(bytes: usize) -> PictureResult {
        let mut content = b"<svg>".to_vec();
        content.resize(bytes, b' ');
        Picture::new(content)
    }

    #[test]
    fn there_is_never_more_than_there_is_room_for() {
        let mut cache = PictureCache::new(10 * ENTRY_BYTES);
        for number in 0..4 {
            cache.put(key(number), picture(2 * ENTRY_BYTES), at(0));
        }
        assert_eq!(cache.bytes, 9 * ENTRY_BYTES);
        assert!(cache.get(&key(0), at(0)).is_none(), "the first went to make room");
        assert!(cache.get(&key(1), at(0)).is_some());
        cache.put(key(9), picture(2 * ENTRY_BYTES), at(0));
        assert!(cache.get(&key(2), at(0)).is_none() && cache.get(&key(1), at(0)).is_some());
        cache.put(key(10), picture(20 * ENTRY_BYTES), at(0));
        assert_eq!((cache.bytes, cache.entries.len()), (0, 0), "what is larger than the cache is not kept");
        for number in 0..100 {
            cache.put(key(number), Err(NoPicture::Unnamed), at(0));
        }
        assert_eq!(cache.entries.len(), 10);
    }

    #[test]
    fn what_is_kept_is_asked_for_again_after_a_while() {
        let mut cache = PictureCache::new(1 << 20);
        cache.put(key(1), picture(100), at(0));
        cache.put(key(2), Err(NoPicture::Unusable("gone".to_owned())), at(0));
        assert!(cache.get(&key(1), at(3599)).is_some() && cache.get(&key(2), at(59)).is_some());
        assert!(cache.get(&key(1), at(3600)).is_none() && cache.get(&key(2), at(60)).is_none());
        assert_eq!(cache.bytes, 0);
        cache.put(key(1), picture(100), at(0));
        cache.put(key(1), picture(200), at(0));
        assert_eq!(cache.bytes, ENTRY_BYTES + 200, "what takes its place does not add to it");
    }
}
