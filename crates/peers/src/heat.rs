//! Collections that are asked for so often that a second server had better hold them as well.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bourse_store::CollectionKey;
use hashbrown::HashMap;

/// What is counted of a collection, halved every second, from which on it is hot: about a hundred requests a second. Asking
/// another server costs both of them some ten times what an answer from memory does, so that at this pace a load, which takes
/// as long as thousands of such requests, pays within a minute; what is asked for less often is better held once.
const HOT: u32 = 200;
/// Collections that are counted at most.
const COUNTED_MAX: usize = 4_096;

#[derive(Clone, Copy, Default)]
struct Count {
    count: u32,
    second: u64,
}

impl Count {
    /// What is left of it by a second.
    fn at(self, second: u64) -> u32 {
        let passed = u32::try_from(second.saturating_sub(self.second)).unwrap_or(u32::MAX);
        self.count.checked_shr(passed).unwrap_or_default()
    }
}

/// How often other servers were asked for each collection lately.
#[derive(Default)]
pub(crate) struct Heat(Mutex<HashMap<CollectionKey, Count>>);

impl Heat {
    /// Notes that another server is asked, at an instant since this process began; tells whether that is too often by now. Who
    /// is told so is told again only when it is so once more.
    pub(crate) fn note(&self, key: CollectionKey, at: Duration) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let second = at.as_secs();
        if counts.len() >= COUNTED_MAX && !counts.contains_key(&key) {
            // What is asked for now and then is not worth counting.
            counts.retain(|_, count| count.at(second) > 1);
            if counts.len() >= COUNTED_MAX {
                return false;
            }
        }
        let count = counts.entry(key).or_default();
        *count = Count { count: count.at(second) + 1, second };
        let is_hot = count.count >= HOT;
        if is_hot {
            counts.remove(&key);
        }
        is_hot
    }
}

#[cfg(test)]
mod tests {
    use bourse_wire::{Address, ChainId};

    use super::*;

    fn key(number: u8) -> CollectionKey {
        CollectionKey { chain: ChainId(1), address: Address::from_bytes([number; 20]) }
    }

    /// Whether a collection is hot at any time within a minute at so many requests a second.
    fn is_ever_hot(pace: u32) -> bool {
        let heat = Heat::default();
        let mut times = (0..60).flat_map(|second| (0..pace).map(move |_| Duration::from_secs(second)));
        times.any(|at| heat.note(key(1), at))
    }

    #[test]
    fn what_is_asked_for_often_is_hot_and_what_is_not_never_gets_so() {
        assert!(!is_ever_hot(90));
        assert!(is_ever_hot(110));
    }

    #[test]
    fn who_was_told_is_told_again_only_after_as_many_requests() {
        let heat = Heat::default();
        let told = |count: u32| (0..count).filter(|_| heat.note(key(1), Duration::from_secs(9))).count();
        assert_eq!(told(HOT - 1), 0);
        assert_eq!(told(1), 1);
        assert_eq!(told(HOT - 1), 0);
        assert_eq!(told(1), 1);
    }

    #[test]
    fn no_more_are_counted_than_there_is_room_for() {
        let heat = Heat::default();
        for number in 0..2 * COUNTED_MAX as u64 {
            let mut address = [0; 20];
            address[12..].copy_from_slice(&number.to_be_bytes());
            let key = CollectionKey { chain: ChainId(1), address: Address::from_bytes(address) };
            assert!(!heat.note(key, Duration::from_secs(1)));
        }
        assert!(heat.0.lock().unwrap().len() <= COUNTED_MAX);
    }
}
