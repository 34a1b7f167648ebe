//! The rate limit: so many compute units a minute for each project, or for each address without one. Servers tell each other what
//! was used through them; no request waits for that.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bourse_store::{RateUse, Store, StoreError};
use bourse_wire::{Code, Error, ProjectId, RecordId, Timestamp};
use hashbrown::HashMap;

pub use crate::shares::{Exhausted, Share, Shares};

/// Who shares an allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// A project, whatever its credentials.
    Project(ProjectId),
    /// Whoever has one access key of a project.
    Key(ProjectId, RecordId),
    /// Whoever comes from one address, of IPv6 from the network of 64 bits that one customer gets: `Bucket::of_address`.
    Address(IpAddr),
    /// A hash of what somebody is called.
    Name(u64),
}

impl Bucket {
    /// Whoever comes from where an address is.
    pub fn of_address(address: IpAddr) -> Self {
        Self::Address(network_of(address))
    }

    /// As other servers are told of it; `None` for what only this process knows.
    fn text(self) -> Option<String> {
        match self {
            Self::Project(project) => Some(format!("project {project}")),
            Self::Key(project, key) => Some(format!("key {project} {key}")),
            Self::Address(address) => Some(format!("address {address}")),
            Self::Name(_) => None,
        }
    }

    /// What another server tells of; `None` for what only a newer version of the program knows.
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<u64>().ok();
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            ["project", project] => Some(Self::Project(number(project)?.try_into().ok()?)),
            ["key", project, key] => {
                Some(Self::Key(number(project)?.try_into().ok()?, number(key)?.try_into().ok()?))
            }
            ["address", address] => Some(Self::Address(address.parse().ok()?)),
            _ => None,
        }
    }
}

/// Where an address is: itself, or of IPv6 the network of 64 bits that one customer gets.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
        address @ IpAddr::V4(_) => address,
    }
}

/// What is left of a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// How much a minute has.
    pub limit: u64,
    /// How much of it is left.
    pub remaining: u64,
    /// Seconds until the next minute.
    pub reset_seconds: u64,
    /// Whether what was asked for was more than was left, and so was not taken.
    pub refused: bool,
}

impl Allowance {
    /// Refuses what was more than was left, of a caller who is known or of an address.
    pub(crate) fn check(self, is_known: bool) -> Result<(), Error> {
        if !self.refused {
            return Ok(());
        }
        let message =
            format!("{} requests a minute are used up: try again in {} s", self.limit, self.reset_seconds);
        let code = if is_known { Code::QuotaRateLimit } else { Code::RateLimited };
        Err(Error::new(code, message))
    }
}

/// Counts in one-minute windows. Only the current minute is remembered, so memory is bounded by its callers.
pub struct RateLimiter {
    limit: u64,
    minute: Mutex<Minute>,
}

#[derive(Default)]
struct Minute {
    number: i64,
    used: HashMap<Bucket, Used>,
}

/// What was used of a bucket in a minute.
#[derive(Clone, Copy, Default)]
struct Used {
    here: u64,
    /// How much of that other servers were told of.
    told: u64,
    /// What they have told.
    elsewhere: u64,
}

/// Other servers are told of those who used one part of so many of their allowance: of most callers nobody has to be told.
const PARTS_TOLD: u64 = 16;

impl RateLimiter {
    /// A limiter with so much for each bucket and minute; 0 for no limit.
    pub fn new(limit_per_minute: u32) -> Self {
        Self { limit: limit_per_minute.into(), minute: Mutex::default() }
    }

    /// Takes `cost` from a bucket, or refuses; `None` when there is no limit.
    pub fn take(&self, bucket: Bucket, cost: u64, now: Timestamp) -> Option<Allowance> {
        if self.limit == 0 {
            return None;
        }
        let mut minute = self.minute_at(now);
        let used = minute.used.entry(bucket).or_default();
        let refused = used.here + used.elsewhere + cost > self.limit;
        if !refused {
            used.here += cost;
        }
        Some(Allowance {
            limit: self.limit,
            remaining: self.limit.saturating_sub(used.here + used.elsewhere),
            reset_seconds: 60 - now.unix_seconds().rem_euclid(60).unsigned_abs(),
            refused,
        })
    }

    fn minute_at(&self, now: Timestamp) -> MutexGuard<'_, Minute> {
        let number = now.unix_seconds().div_euclid(60);
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        if minute.number != number {
            *minute = Minute { number, used: HashMap::new() };
        }
        minute
    }

    /// Tells other servers what was used here in this minute, under a name for this limit, and counts what they tell from here
    /// on. Nothing is asked where nobody used enough of this minute to be told of.
    pub(crate) async fn share(
        &self,
        store: &Store,
        (server, name): (&str, &str),
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some((number, untold)) = self.untold(now) else { return Ok(()) };
        let told = untold.iter().filter_map(|(bucket, used)| {
            Some(RateUse { bucket: format!("{name} {}", bucket.text()?), used: *used })
        });
        let elsewhere = store.exchange_rate_uses(server.to_owned(), number, told.collect()).await?;
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        if minute.number != number {
            // Another minute began meanwhile, of which nothing was told.
            return Ok(());
        }
        for (bucket, told) in untold {
            minute.used.entry(bucket).or_default().told = told;
        }
        for RateUse { bucket, used } in elsewhere {
            let bucket = bucket.strip_prefix(name).and_then(|text| Bucket::parse(text.trim_start()));
            if let Some(bucket) = bucket {
                minute.used.entry(bucket).or_default().elsewhere = used;
            }
        }
        Ok(())
    }

    /// The minute, and who used how much of it that is not told yet; `None` where nobody used enough to be told of.
    fn untold(&self, now: Timestamp) -> Option<(i64, Vec<(Bucket, u64)>)> {
        let minute = self.minute_at(now);
        let enough = (self.limit / PARTS_TOLD).max(1);
        let mut users = minute.used.iter().filter(|(_, used)| used.here >= enough).peekable();
        users.peek()?;
        let untold = users.filter(|(_, used)| used.here > used.told);
        Some((minute.number, untold.map(|(bucket, used)| (*bucket, used.here)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i128) -> Timestamp {
        Timestamp::from_unix_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn a_bucket_is_empty_until_the_next_minute_and_others_are_not() {
        let limiter = RateLimiter::new(2);
        let (a, b) = (Bucket::Project(1.try_into().unwrap()), Bucket::Address([127, 0, 0, 1].into()));
        assert_eq!(limiter.take(a, 1, at(119)).unwrap().remaining, 1);
        assert_eq!(limiter.take(a, 1, at(119)).unwrap().remaining, 0);
        let refused = limiter.take(a, 1, at(119)).unwrap();
        assert!(refused.refused && refused.reset_seconds == 1);
        assert!(!limiter.take(b, 1, at(119)).unwrap().refused);
        assert!(!limiter.take(a, 1, at(120)).unwrap().refused);
    }

    #[test]
    fn a_customer_of_ipv6_is_one_bucket() {
        let bucket = |text: &str| Bucket::of_address(text.parse().unwrap());
        assert_eq!(bucket("2001:db8:1:2::1"), bucket("2001:db8:1:2:ffff::9"));
        assert_ne!(bucket("2001:db8:1:2::1"), bucket("2001:db8:1:3::1"));
        assert_eq!(bucket("::ffff:192.0.2.1"), bucket("192.0.2.1"));
    }

    #[test]
    fn a_bucket_is_known_by_its_text() {
        let (project, key) = (7.try_into().unwrap(), 9.try_into().unwrap());
        let addresses = ["192.0.2.1", "2001:db8:1:2::"].map(|text| Bucket::of_address(text.parse().unwrap()));
        for bucket in [Bucket::Project(project), Bucket::Key(project, key), addresses[0], addresses[1]] {
            assert_eq!(Bucket::parse(&bucket.text().unwrap()), Some(bucket));
        }
        assert_eq!(Bucket::Name(5).text(), None);
        for text in ["", "project", "project x", "project 1 2", "planet 1"] {
            assert_eq!(Bucket::parse(text), None, "{text}");
        }
    }

    #[test]
    fn zero_is_no_limit() {
        assert_eq!(RateLimiter::new(0).take(Bucket::Address([127, 0, 0, 1].into()), 1, at(0)), None);
    }
}
