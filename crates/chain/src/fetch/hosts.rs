//! Whom to ask how often: places for each host, and quiet after it failed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bourse_wire::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::pace::later;

/// Hosts that are remembered; those without any trouble are forgotten beyond it.
const HOSTS_MAX: usize = 10_000;
/// How long something is put off at least, and at most, whose host has enough to do.
const PUT_OFF_MIN: Duration = Duration::from_secs(1);
const PUT_OFF_MAX: Duration = Duration::from_hours(1);
/// How long a fetch is thought to take before any was seen.
const FETCH_GUESS: Duration = Duration::from_millis(200);
/// How much what was thought before counts, against what was seen last.
const MEMORY: u32 = 7;
/// Quiet grows up to this many times doubled.
const DOUBLINGS_MAX: u32 = 16;

/// What is known of hosts.
pub(super) struct Hosts {
    places: usize,
    quiet_min: Duration,
    quiet_max: Duration,
    known: Mutex<HashMap<String, Host>>,
}

struct Host {
    places: Arc<Semaphore>,
    waiting: usize,
    failures: u32,
    quiet_until: Timestamp,
    /// How long a fetch takes.
    takes: Duration,
    /// When the last of those that were put off comes back. They come one after another, as fast as the host works: all
    /// at once, most of them would only be put off again.
    last_back: Timestamp,
}

impl Host {
    /// When the next one that is put off is to come back.
    fn put_off(&mut self, now: Timestamp, places: usize) -> Timestamp {
        let pace = self.takes / u32::try_from(places).unwrap_or(u32::MAX).max(1);
        let back = later(self.last_back.max(later(now, PUT_OFF_MIN)), pace);
        self.last_back = back.min(later(now, PUT_OFF_MAX));
        self.last_back
    }
}

impl Hosts {
    /// So many places for each host, and so long quiet after its first failure and at most.
    pub(super) fn new(places: usize, quiet_min: Duration, quiet_max: Duration) -> Self {
        Self { places, quiet_min, quiet_max, known: Mutex::default() }
    }

    /// Nothing panics while it is held, and what is there is right at any moment.
    fn known(&self) -> MutexGuard<'_, HashMap<String, Host>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, host: &str, change: impl FnOnce(&mut Host) -> T) -> T {
        let mut known = self.known();
        if known.len() >= HOSTS_MAX && !known.contains_key(host) {
            let is_idle = |host: &Host| host.waiting == 0 && host.places.available_permits() == self.places;
            known.retain(|_, host| host.failures > 0 || !is_idle(host));
        }
        change(known.entry(host.to_owned()).or_insert_with(|| Host {
            places: Arc::new(Semaphore::new(self.places)),
            waiting: 0,
            failures: 0,
            quiet_until: Timestamp::ZERO,
            takes: FETCH_GUESS,
            last_back: Timestamp::ZERO,
        }))
    }

    /// Waits for a place at a host. When too many wait already, or it is to be left alone: when to come back.
    pub(super) async fn enter(&self, host: &str, now: Timestamp) -> Result<OwnedSemaphorePermit, Timestamp> {
        let places = self.with(host, |known| {
            if known.quiet_until > now {
                return Err(known.quiet_until);
            }
            if known.waiting >= self.places {
                return Err(known.put_off(now, self.places));
            }
            known.waiting += 1;
            Ok(Arc::clone(&known.places))
        })?;
        let waiting = Waiting { hosts: self, host };
        let place = places.acquire_owned().await;
        drop(waiting);
        place.map_err(|_| later(now, PUT_OFF_MIN))
    }

    /// Until when a host is to be left alone, if it is.
    pub(super) fn quiet_until(&self, host: &str, now: Timestamp) -> Option<Timestamp> {
        self.known().get(host).map(|known| known.quiet_until).filter(|until| *until > now)
    }

    /// A fetch took so long.
    pub(super) fn took(&self, host: &str, time: Duration) {
        self.with(host, |known| known.takes = (known.takes * MEMORY + time) / (MEMORY + 1));
    }

    /// Hosts that nothing should be taken from the queue for.
    pub(super) fn busy(&self, now: Timestamp) -> Vec<String> {
        let known = self.known();
        let busy = known.iter().filter(|(_, host)| host.quiet_until > now || host.waiting >= self.places);
        // Some are enough: what is taken for another one is put off.
        busy.map(|(name, _)| name.clone()).take(500).collect()
    }

    /// Leaves a host alone, longer with every failure.
    pub(super) fn failed(&self, host: &str, now: Timestamp, retry_after: Option<Duration>) {
        self.with(host, |known| {
            let doubled = self.quiet_min.saturating_mul(1 << known.failures.min(DOUBLINGS_MAX));
            let quiet = doubled.min(self.quiet_max).max(retry_after.unwrap_or_default());
            known.failures = known.failures.saturating_add(1);
            known.quiet_until = known.quiet_until.max(later(now, quiet));
        });
    }

    /// A host works.
    pub(super) fn succeeded(&self, host: &str) {
        self.with(host, |known| known.failures = 0);
    }
}

/// Somebody waits for a place, until this is dropped.
struct Waiting<'a> {
    hosts: &'a Hosts,
    host: &'a str,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.hosts.with(self.host, |known| known.waiting -= 1);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn at(second: u64) -> Timestamp {
        later(Timestamp::ZERO, Duration::from_secs(1_000_000 + second))
    }

    fn hosts() -> Hosts {
        Hosts::new(2, Duration::from_secs(1), Duration::from_mins(1))
    }

    #[tokio::test]
    async fn quiet_doubles_and_ends_with_the_first_success() {
        let hosts = hosts();
        for (now, quiet) in [(0, 1), (10, 2), (20, 4), (30, 8)] {
            hosts.failed("a", at(now), None);
            assert_eq!(hosts.enter("a", at(now)).await.err(), Some(at(now + quiet)));
            assert!(hosts.enter("a", at(now + quiet)).await.is_ok());
        }
        for _ in 0..40 {
            hosts.failed("a", at(40), None);
        }
        assert_eq!(hosts.enter("a", at(40)).await.err(), Some(at(100)));
        hosts.succeeded("a");
        hosts.failed("a", at(200), Some(Duration::from_secs(30)));
        assert_eq!(hosts.enter("a", at(200)).await.err(), Some(at(230)), "as long as it asked for");
        assert!(hosts.enter("b", at(200)).await.is_ok());
        assert_eq!(hosts.busy(at(229)), ["a"]);
        assert!(hosts.busy(at(230)).is_empty());
    }

    #[tokio::test]
    async fn places_are_few_and_so_are_those_who_wait() {
        let hosts = hosts();
        let first = hosts.enter("a", at(0)).await.unwrap();
        let _second = hosts.enter("a", at(0)).await.unwrap();
        let (third, fourth) = (hosts.enter("a", at(0)), hosts.enter("a", at(0)));
        tokio::pin!(third);
        tokio::pin!(fourth);
        let (waits, waits_too) =
            ((&mut third).now_or_never().is_none(), (&mut fourth).now_or_never().is_none());
        assert!(waits && waits_too);
        let millis = |millis| later(at(0), Duration::from_millis(millis));
        assert_eq!(hosts.enter("a", at(0)).await.err(), Some(millis(1_100)));
        assert_eq!(hosts.enter("a", at(0)).await.err(), Some(millis(1_200)), "one after another");
        for _ in 0..100 {
            hosts.took("a", Duration::from_secs(20));
        }
        let back = hosts.enter("a", at(0)).await.unwrap_err();
        assert!(back > at(10) && back < at(12), "as fast as the host works: {back}");
        assert_eq!(hosts.busy(at(0)), ["a"]);
        drop(first);
        assert!(third.await.is_ok());
        assert!(hosts.busy(at(0)).is_empty());
    }

    #[test]
    fn hosts_without_trouble_are_forgotten() {
        let hosts = hosts();
        hosts.failed("bad", at(0), None);
        for number in 0..3 * HOSTS_MAX {
            hosts.succeeded(&number.to_string());
        }
        assert!(hosts.known().len() <= HOSTS_MAX);
        assert_eq!(hosts.quiet_until("bad", at(0)), Some(at(1)));
    }
}
