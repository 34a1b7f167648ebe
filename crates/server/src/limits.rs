//! The rate limit: so many compute units a minute for each project, or for each address without one. Servers tell each other what
//! was used through them; no request waits for that. Of several servers, minutes are those of the database's clock, which they learn
//! as they tell: clocks of machines are never compared.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bourse_store::{RateUse, RatesExchanged, Store, StoreError};
use bourse_wire::{Code, Error, ProjectId, RecordId, Timestamp};
use hashbrown::HashMap;

use crate::clock::Clock;
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

/// Counts in one-minute windows. Only the current minute is remembered, so memory is bounded by its callers. Whoever shares one with
/// other servers asks `Clock::steady` for the time.
pub struct RateLimiter {
    limit: u64,
    minute: Mutex<Minute>,
}

#[derive(Default)]
struct Minute {
    number: i64,
    used: HashMap<Bucket, Used>,
    /// Milliseconds by which the time of all servers is ahead of what callers here take for the time.
    ahead: i64,
}

/// What was used of a bucket in a minute.
#[derive(Clone, Copy, Default)]
struct Used {
    here: u64,
    /// How much of that other servers were told of in this minute.
    told: u64,
    /// What they have told.
    elsewhere: u64,
}

/// Other servers are told of those who used one part of so many of their allowance: of most callers nobody has to be told.
const PARTS_TOLD: u64 = 16;
const MILLIS_PER_MINUTE: i64 = 60_000;
const NANOS_PER_MILLI: i128 = 1_000_000;
/// How far two servers may be apart in what time it is, each way: what is within that moves no minute.
const SLACK_MS: i64 = 500;

fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.unix_nanos().div_euclid(NANOS_PER_MILLI)).unwrap_or(i64::MAX)
}

impl Minute {
    /// Milliseconds since 1970 by the time of all servers.
    fn millis_at(&self, now: Timestamp) -> i64 {
        millis(now).saturating_add(self.ahead)
    }

    /// Forgets what was used when another minute begins.
    fn turn(&mut self, now: Timestamp) {
        let number = self.millis_at(now).div_euclid(MILLIS_PER_MINUTE);
        if self.number != number {
            (self.number, self.used) = (number, HashMap::new());
        }
    }

    /// Takes over what time it is for all servers, as it was told between two instants. Where it is another minute than was thought,
    /// what was used of that was used of this one, and others are to be told so.
    fn agree(&mut self, told: Timestamp, [asked, answered]: [Timestamp; 2]) {
        self.turn(answered);
        let ahead = |than: Timestamp| millis(told).saturating_sub(millis(than));
        let least = ahead(answered).saturating_sub(SLACK_MS);
        let most = ahead(asked).saturating_add(SLACK_MS);
        self.ahead = self.ahead.clamp(least, most.max(least));
        let number = self.millis_at(answered).div_euclid(MILLIS_PER_MINUTE);
        if self.number != number {
            self.number = number;
            self.used.values_mut().for_each(|used| used.told = 0);
        }
    }
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
        let mut minute = self.minute_at(now);
        let used = minute.used.entry(bucket).or_default();
        let refused = used.here + used.elsewhere + cost > self.limit;
        if !refused {
            used.here += cost;
        }
        Some(Allowance {
            limit: self.limit,
            remaining: self.limit.saturating_sub(used.here + used.elsewhere),
            reset_seconds: 60 - minute.millis_at(now).rem_euclid(MILLIS_PER_MINUTE).unsigned_abs() / 1_000,
            refused,
        })
    }

    fn minute_at(&self, now: Timestamp) -> MutexGuard<'_, Minute> {
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        minute.turn(now);
        minute
    }

    /// Tells other servers what was used here in this minute, under a name for this limit, and counts what they tell from here
    /// on. Nothing is asked where nobody used enough of this minute to be told of.
    pub(crate) async fn share(
        &self,
        store: &Store,
        (server, name): (&str, &str),
        clock: &Clock,
    ) -> Result<(), StoreError> {
        let asked = clock.steady();
        let Some((number, untold)) = self.untold(asked) else { return Ok(()) };
        let told = untold.iter().filter_map(|(bucket, used)| {
            Some(RateUse { bucket: format!("{name} {}", bucket.text()?), used: *used })
        });
        let RatesExchanged { now, elsewhere } =
            store.exchange_rate_uses(server.to_owned(), number, told.collect()).await?;
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        minute.agree(now, [asked, clock.steady()]);
        // In another minute, which it turned out to be or which began meanwhile, nothing was told.
        let Some(elsewhere) = elsewhere.filter(|_| minute.number == number) else { return Ok(()) };
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
    use std::time::Duration;

    use bourse_store::testing::TestDatabase;
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3_600;
    const LIMIT: u32 = 100;

    /// A server whose clock shows what a test sets it to, and where time passes when a test says so.
    struct Server {
        name: String,
        limiter: RateLimiter,
        clock: Clock,
        shown: Arc<AtomicI64>,
        passed: Arc<AtomicU64>,
    }

    impl Server {
        fn at(unix_seconds: i64) -> Self {
            let (shown, passed) = (Arc::new(AtomicI64::new(unix_seconds)), Arc::new(AtomicU64::new(0)));
            let (told, went) = (Arc::clone(&shown), Arc::clone(&passed));
            let clock = Clock::new(
                move || at(told.load(Ordering::Relaxed).into()),
                move || Duration::from_secs(went.load(Ordering::Relaxed)),
            );
            let name = format!("server of {unix_seconds}");
            Self { name, limiter: RateLimiter::new(LIMIT), clock, shown, passed }
        }

        fn take(&self, cost: u64) -> Allowance {
            let bucket = Bucket::Project(1.try_into().unwrap());
            self.limiter.take(bucket, cost, self.clock.steady()).unwrap()
        }

        async fn share(&self, store: &Store) {
            self.limiter.share(store, (&self.name, "requests"), &self.clock).await.unwrap();
        }
    }

    /// Has all servers tell each other until each says that so much is left.
    async fn come_to(servers: &[Server], store: &Store, left: u64) {
        for _ in 0..20 {
            for server in servers {
                server.share(store).await;
            }
            if servers.iter().all(|server| server.take(0).remaining == left) {
                return;
            }
        }
        let found: Vec<u64> = servers.iter().map(|server| server.take(0).remaining).collect();
        panic!("{left} should be left, and they say {found:?}");
    }

    #[tokio::test]
    async fn servers_whose_clocks_are_hours_apart_and_are_set_share_a_limit() {
        let database = TestDatabase::fresh().await.unwrap();
        let store = database.open().await.unwrap();
        let day = 1_800_000_000;
        let servers = [0, 40, -7 * HOUR, 31 * HOUR].map(|ahead| Server::at(day + ahead));
        for (server, cost) in servers.iter().zip([10, 20, 30, 25]) {
            assert!(!server.take(cost).refused);
        }
        come_to(&servers, &store, 15).await;
        for (server, set_by) in servers.iter().zip([-HOUR, 90, 0, 1_000 * HOUR]) {
            server.shown.fetch_add(set_by, Ordering::Relaxed);
        }
        assert!(!servers[0].take(9).refused);
        come_to(&servers, &store, 6).await;
        assert!(servers.iter().all(|server| server.take(7).refused));
        // One that starts later counts what was used before it was there, from when something is used through it.
        let late = Server::at(day - 400 * HOUR);
        late.take(6);
        let servers: Vec<Server> = servers.into_iter().chain([late]).collect();
        come_to(&servers, &store, 0).await;
        for server in &servers {
            server.passed.fetch_add(60, Ordering::Relaxed);
            assert_eq!(server.take(0).remaining, u64::from(LIMIT), "another minute");
        }
        store.close().await;
    }

    #[test]
    fn what_was_used_stays_used_when_a_minute_turns_out_to_be_another() {
        let mut minute = Minute::default();
        minute.turn(at(130));
        let bucket = Bucket::Name(1);
        minute.used.insert(bucket, Used { here: 5, told: 4, elsewhere: 3 });
        minute.agree(at(130 + 7 * i128::from(HOUR)), [at(130), at(131)]);
        assert_eq!(minute.number, 2 + 7 * 60);
        let used = minute.used[&bucket];
        assert_eq!((used.here, used.told, used.elsewhere), (5, 0, 3), "of this one nothing was told");
        // A little more or less is no reason to change anything.
        let ahead = minute.ahead;
        minute.agree(at(130 + 7 * i128::from(HOUR)), [at(130), at(132)]);
        assert_eq!(minute.ahead, ahead);
        minute.turn(at(190));
        assert!(minute.used.is_empty(), "the next minute");
    }

    proptest! {
        #[test]
        fn it_is_the_same_minute_for_all_servers(
            day in 4_000_000_000_i64..4_000_000_000_000,
            clocks in prop::collection::vec((-1_000 * HOUR..1_000 * HOUR, 0_i64..5_000, 0_i64..5_000), 1..5),
        ) {
            let millis_of = |millis: i64| Timestamp::from_unix_nanos(i128::from(millis) * NANOS_PER_MILLI);
            for (ahead, there, back) in clocks {
                let here = |millis: i64| millis_of(millis + ahead * 1_000);
                let mut minute = Minute::default();
                minute.agree(millis_of(day + there), [here(day), here(day + there + back)]);
                let off = minute.millis_at(here(day)) - day;
                prop_assert!(-(SLACK_MS + back) <= off && off <= SLACK_MS + there, "off by {off}");
            }
        }
    }

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
