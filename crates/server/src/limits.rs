//! The rate limit: so many compute units a minute for each project, or for each address without one.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use bourse_wire::{ProjectId, RecordId, Timestamp};
use hashbrown::HashMap;

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

/// Counts in one-minute windows. Only the current minute is remembered, so memory is bounded by its callers.
pub struct RateLimiter {
    limit: u64,
    minute: Mutex<Minute>,
}

#[derive(Default)]
struct Minute {
    number: i64,
    used: HashMap<Bucket, u64>,
}

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
        let seconds = now.unix_seconds();
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        if minute.number != seconds.div_euclid(60) {
            *minute = Minute { number: seconds.div_euclid(60), used: HashMap::new() };
        }
        let used = minute.used.entry(bucket).or_default();
        let refused = *used + cost > self.limit;
        if !refused {
            *used += cost;
        }
        Some(Allowance {
            limit: self.limit,
            remaining: self.limit - *used,
            reset_seconds: 60 - seconds.rem_euclid(60).unsigned_abs(),
            refused,
        })
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
    fn zero_is_no_limit() {
        assert_eq!(RateLimiter::new(0).take(Bucket::Address([127, 0, 0, 1].into()), 1, at(0)), None);
    }
}
